"""Which queries and pairs are in a release: finished ones, and what somebody says about the others."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release, release_preview
from backend.campaign.release.export.model import Adjudicated, ReleaseOptions
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.status import status_counts
from backend.core.errors import ProjectError
from support import NOW, PARTLY, Judging

LEAVE_OUT = ReleaseOptions(adjudicated=Adjudicated.LEAVE_OUT)


def grade(judging: Judging, at: int, *grades: int) -> None:
    for who, given in enumerate(grades):
        judging.grade(who, judging.pairs()[at].pair, given)


@pytest.fixture
def judged(judging: Judging) -> Judging:
    """Of 20 pairs: query 1 has 17 in consensus, one decided by a lead, one discarded, one whose clip cannot be shown.

    Of query 2 only the first is settled. All pairs of query 3 are discarded.
    """
    for at in range(17):
        grade(judging, at, at % 5, at % 5)
    grade(judging, 17, 0, 4, 0, 4)
    adjudicate(judging.project, judging.lead, judging.pairs()[17].pair, 2, "half of it", now=NOW)
    grade(judging, 18, 0, 4, 0, 4)
    me = judging.annotators[0]
    held = {item.pair for item in desk(judging.project, me, now=NOW).items}
    assert judging.pairs()[19].pair in held
    report_clip(judging.project, me, judging.pairs()[19].pair, "it is black", now=NOW)
    grade(judging, 20, 3, 3)
    for at in range(40, 60):
        grade(judging, at, 0, 4, 0, 4)
    return judging


def released(judging: Judging, out: Path, options: ReleaseOptions) -> tuple[dict[str, Any], dict[int, dict[str, str]]]:
    """Its JSON documents, and the rows of its pairs."""
    export_release(judging.project, OPERATOR, out, options, now=NOW)
    with (out / "raw_query_moment_pair.csv").open(newline="") as file:
        pairs = {int(row["pair_id"]): row for row in csv.DictReader(file)}
    return {path.name: json.loads(path.read_text()) for path in out.glob("*.json")}, pairs


def moments(documents: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {
        moment["pair_id"]: moment
        for name in ("val.json", "test.json")
        for query in documents[name]
        for moment in query["relevant_moment"]
    }


def test_only_finished_queries_are_in_it_and_the_others_are_named(judged: Judging, tmp_path: Path) -> None:
    all_pairs = judged.pairs()
    first, second, third = (all_pairs[at].query_id for at in (0, 20, 40))
    documents, pairs = released(judged, tmp_path / "out", ReleaseOptions())
    found = moments(documents)
    assert set(found) == {pair.pair_id for pair in all_pairs[:18]}
    assert {pair for pair, moment in found.items() if moment["adjudicated"]} == {all_pairs[17].pair_id}
    manifest = documents["manifest.json"]
    assert manifest["queries_left_out"] == {"unfinished": [second], "without_relevance": [third]}
    assert manifest["released"]["moments"] == 18
    assert [query["query_id"] for name in ("val.json", "test.json") for query in documents[name]] == [first]
    # Whatever was handed out is told all the same, and what of it is truth.
    assert set(pairs) == {pair.pair_id for pair in all_pairs}
    assert {pair for pair, row in pairs.items() if row["released"] == "1"} == set(found)
    assert {pair for pair, row in pairs.items() if row["adjudicated"] == "1"} == {all_pairs[17].pair_id}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "- Queries not in the truth because pairs of them still wait for grades: 1." in card
    assert "| of them decided by a lead (`adjudicated`) | 1 |" in card


def test_unfinished_queries_are_in_it_where_somebody_says_so(judged: Judging, tmp_path: Path) -> None:
    second = judged.pairs()[20]
    documents, _ = released(judged, tmp_path / "out", PARTLY)
    assert len(moments(documents)) == 19
    assert second.pair_id in moments(documents)
    manifest = documents["manifest.json"]
    assert manifest["unfinished_queries"] == [second.query_id]
    assert manifest["queries_left_out"]["unfinished"] == []


def test_what_a_lead_decided_is_left_out_where_somebody_says_so(judged: Judging, tmp_path: Path) -> None:
    decided = judged.pairs()[17].pair_id
    documents, pairs = released(judged, tmp_path / "out", LEAVE_OUT)
    assert decided not in moments(documents)
    assert (pairs[decided]["adjudicated"], pairs[decided]["released"]) == ("1", "0")
    manifest = documents["manifest.json"]
    assert (manifest["adjudicated"], manifest["released"]["adjudicated_left_out"]) == ("leave-out", 1)


@pytest.mark.parametrize("options", [ReleaseOptions(), PARTLY, LEAVE_OUT])
def test_what_is_said_before_is_what_is_made(judged: Judging, tmp_path: Path, options: ReleaseOptions) -> None:
    said = release_preview(judged.project, judged.lead, options)
    assert export_release(judged.project, OPERATOR, tmp_path / "out", options, now=NOW).selection == said
    documents, _ = released(judged, tmp_path / "again", options)
    assert validate_release(tmp_path / "again").problems == []
    counts = status_counts(judged.project, OPERATOR)
    manifest = documents["manifest.json"]
    counted = manifest["statistics"]["parts"][-1]
    assert manifest["counts"]["pairs"] == counts["pairs"]
    assert sum(counted["by_relevance"]) == said.moments
    assert {name: counted["settled"][name] for name in ("adjudicated", "discarded", "pairs")} == {
        **{name: counts["pairs"][name] for name in ("adjudicated", "discarded")},
        "pairs": sum(counts["pairs"].values()),
    }
    assert sum(counted["settled"]["by_grades"].values()) == counts["pairs"]["consensus"]
    assert len(moments(documents)) == said.moments == documents["manifest.json"]["released"]["moments"]
    assert [query.query_id for query in said.queries] == [
        query["query_id"] for name in ("val.json", "test.json") for query in documents[name]
    ]


def test_without_a_finished_query_there_is_no_release(judging: Judging, tmp_path: Path) -> None:
    for at in range(18):
        grade(judging, at, 3, 3)
    with pytest.raises(ProjectError, match="no query is finished yet: the nearest one still has 2 pairs waiting"):
        export_release(judging.project, OPERATOR, tmp_path / "out", now=NOW)
    for at in (18, 19):
        grade(judging, at, 0, 4, 0, 4)
    export_release(judging.project, OPERATOR, tmp_path / "out", now=NOW)
    for pair in judging.pairs()[:18]:
        adjudicate(judging.project, judging.lead, pair.pair, 1, "all anew", now=NOW)
    with pytest.raises(ProjectError, match="the release would have no query"):
        export_release(judging.project, OPERATOR, tmp_path / "other", LEAVE_OUT, now=NOW)
