"""`reelrank consensus` of a release's own raw annotations says what the release and the status say."""

import csv
import json
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.earlier.raw_agreement import summarise_raw
from backend.campaign.release.earlier.rules.raw_annotation import read_raw, summarise
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.status import status_counts
from backend.core.errors import InputError
from support import NOW, PARTLY, Judging

GRADES = (
    *((1, 2), (3, 3), (0, 4, 3, 4)),  # in consensus
    *((0, 4, 1, 3), (0, 4, 4, 0), (4, 0, 2, 0)),  # discarded: the first three are left so
    *((0, 4, 0, 4), (0, 3), (1, 4, 2), (2, 2)),  # decided by a lead below
    *((4,), (0,), (3,), (2,)),  # half-graded
    *((0, 4), (1, 3)),  # escalated
    *((0, 4, 2), (2, 0, 4)),  # escalated, the fourth grade is missing
)
DECIDED = {6: 2, 7: 3, 8: 0, 9: 4}


@pytest.fixture
def released(judging: Judging, tmp_path: Path) -> tuple[dict[str, int], Path]:
    """The counts of the manifest, and the raw annotations, of a release with pairs of every kind."""
    pairs = [pair.pair for pair in judging.pairs()]
    for key, grades in zip(pairs, GRADES, strict=False):
        for who, grade in enumerate(grades):
            judging.grade(who, key, grade)
    for at, relevance in DECIDED.items():
        adjudicate(judging.project, judging.lead, pairs[at], 1, "at first", now=NOW)
        adjudicate(judging.project, judging.lead, pairs[at], relevance, "seen again", seen=1, now=NOW)
    out = tmp_path / "release"
    export_release(judging.project, OPERATOR, out, PARTLY, now=NOW)
    counts = json.loads((out / "manifest.json").read_text())["counts"]["pairs"]
    assert counts == status_counts(judging.project, OPERATOR)["pairs"]
    return counts, out / "raw_annotation.csv"


def test_it_names_what_the_release_names(released: tuple[dict[str, int], Path]) -> None:
    """It said 20 discarded where the release said 3."""
    counts, raw = released
    assert (counts["consensus"], counts["discarded"], counts["adjudicated"], counts["escalated"]) == (3, 3, 4, 4)
    found = summarise_raw(raw)
    for verdict in ("consensus", "discarded", "adjudicated"):
        assert found[verdict] == counts[verdict]
    assert found["undecided"] == {"one": 4, "two": 2, "three": 2}
    assert found["pairs"] == len(GRADES) == 3 + 3 + 4 + 8
    truth = [
        moment["relevance"]
        for split in ("val", "test")
        for query in json.loads((raw.parent / f"{split}.json").read_text())
        for moment in query["relevant_moment"]
    ]
    assert found["relevance"] == {str(grade): truth.count(grade) for grade in range(5)}
    assert found["settled_by_two"] + found["settled_by_four"] == found["consensus"]


def test_a_release_of_before_the_decisions_stood_in_it_names_the_undecided_apart(
    released: tuple[dict[str, int], Path],
) -> None:
    rows = list(csv.DictReader(released[1].open()))
    old = "pair_id,worker,relevance,round\n" + "".join(
        f"{row['pair_id']},{row['worker']},{row['relevance']},{row['round']}\n" for row in rows
    )
    found = summarise(read_raw(old.encode(), "old.csv"))
    # Of the pairs that a lead decided, one is in consensus by its grades, one discarded, two lack grades.
    assert (found["consensus"], found["discarded"], found["adjudicated"]) == (4, 4, 0)
    assert sum(found["undecided"].values()) == 10


def test_without_rounds_every_pair_without_consensus_is_discarded(released: tuple[dict[str, int], Path]) -> None:
    rows = list(csv.DictReader(released[1].open()))
    bare = "pair_id,worker,relevance\n" + "".join(
        f"{row['pair_id']},{row['worker']},{row['relevance']}\n" for row in rows
    )
    found = summarise(read_raw(bare.encode(), "bare.csv"))
    assert (found["consensus"], found["discarded"]) == (4, 14)


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (("5", "5"), "row 2: adjudicated is '5', not one of 0, 1, 2, 3, 4"),
        (("3", "2"), "row 3: pair 'p' is adjudicated 2 here and 3 above"),
        (("3", ""), "row 3: pair 'p' is adjudicated nothing here and 3 above"),
    ],
)
def test_decisions_that_cannot_be_are_refused(cells: tuple[str, str], why: str) -> None:
    text = "pair_id,worker,relevance,adjudicated\n" + "".join(f"p,{n},1,{cell}\n" for n, cell in enumerate(cells))
    with pytest.raises(InputError, match=why):
        read_raw(text.encode(), "raw.csv")
