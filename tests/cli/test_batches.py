"""The commands about next batches: what they say, do and refuse."""

import json

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from cli.conftest import Run
from settled_batches import settle
from support import Judging


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Three queries with a decision to make: the rule says open, open, do not open."""
    settle(judging)
    return judging


def test_what_the_rule_says_is_told_accepted_and_then_nothing_is_left(reelrank: Run, settled: Judging) -> None:
    folder = settled.project.folder
    code, out, err = reelrank("batches", folder, "--list")
    assert (code, err) == (0, "")
    assert out.startswith(
        "The rule, version 1: a next batch is worth opening if the last 5 have a mean relevance of 2.0 or "
    )
    rows = [line.split() for line in out.splitlines()]
    assert ["open", "2", "40"] in rows
    assert ["do", "not", "open", "1", "20"] in rows
    assert "(val), batch 2: mean 2.4 of 2.0, 3 of 5 graded 3 or more: open; " in out
    assert f"Next: reelrank batches accept {folder}" in out
    document = json.loads(reelrank("batches", "show", folder, "--json")[1])
    assert [one["word"] for one in document["queries"]] == ["open", "open", "do not open"]
    assert document["rule"]["rule"] == {"last": 5, "mean": 2.0, "finds": 3, "grade": 3}
    assert document["queries_by_batches"] == {"val": {"1": 2}, "test": {"1": 1}}

    code, out, err = reelrank("batches", "accept", folder, "--decline")
    assert (code, err) == (0, "")
    assert "2 batches are open: 40 pairs went to the annotators." in out
    assert "1 were declined" in out
    code, _, err = reelrank("batches", "accept", folder)
    assert (code, err) == (
        1,
        "reelrank: there is nothing to accept: no query waits for a decision about its next batch\n",
    )
    counts = status_counts(settled.project, OPERATOR)
    assert (counts["batches"], counts["queries_by_batches"]) == (
        {"1": 3, "2": 2},
        {"val": {"2": 2}, "test": {"1": 1}},
    )
    shown = reelrank("status", folder)[1]
    assert "val, with 2 batches" in shown
    assert "test, with 1 batch " in shown


def test_the_rule_is_printed_and_changed_with_a_reason(reelrank: Run, settled: Judging) -> None:
    folder = settled.project.folder
    first = "1  the last 5 have a mean relevance of 2.0 or more, or 3 of them are graded 3 or more\n"
    assert reelrank("batches", "rule", folder) == (0, first, "")
    assert "another rule needs a reason" in reelrank("batches", "rule", folder, "--mean", 3)[2]
    assert (
        "a mean is above 0 and at most 4, not 7" in reelrank("batches", "rule", folder, "--mean", 7, "--reason", "x")[2]
    )
    told = reelrank("batches", "rule", folder, "--mean", 0, "--finds", 4, "--reason", "only sure ones")
    assert told == (
        0,
        f"{first}2  4 of the last 5 are graded 3 or more (set by the command line: only sure ones)\n",
        "",
    )
    assert ["do", "not", "open", "3", "60"] in [line.split() for line in reelrank("batches", folder)[1].splitlines()]
