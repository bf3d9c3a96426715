"""How much of a run the truth has judged is told of each, and a run is named that the truth may punish for it."""

from typing import Any

import pytest

from backend.scoring.evaluate import evaluate
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.presets import settle
from backend.scoring.scoreboard import Scoreboard, score_runs
from backend.scoring.views.table import legend

GRADED = {"a": 3, "b": 1, "c": 0}
POOLED = [*"cab"]
"""All graded, the irrelevant one first: of the ideal NDCG@3 .659; bpref 0."""
NEW = [*"xya"]
"""Two that nobody graded, then the best: NDCG@3 .413; bpref 1/2."""


def board(runs: dict[str, list[str]], grades: dict[str, int] = GRADED, **asked: Any) -> Scoreboard:
    truth = {"q": [{"video": v, "start": 0, "end": 9, "relevance": grade} for v, grade in grades.items()]}
    columns = {name: parse_run_mapping({"q": [[v, 0, 9, 0] for v in videos]}) for name, videos in runs.items()}
    return score_runs(parse_truth_mapping(truth), columns, settle("paper", [3], [0.5], {}, **asked))


def test_each_run_says_how_much_of_it_is_judged() -> None:
    summary = board({"pooled": POOLED, "new": NEW}).summary()
    assert [run["judged"] for run in summary["runs"]] == [{"judged@3,0.5": 1}, {"judged@3,0.5": pytest.approx(1 / 3)}]
    assert legend(summary)[-1].startswith("judged@3,0.5: pooled 100.0%, new 33.3%; share of the K best predictions")


def test_what_is_in_the_table_is_not_told_again() -> None:
    summary = board({"new": NEW}, measures=["ndcg", "judged"]).summary()
    assert [line.partition(":")[0] for line in legend(summary)] == ["ndcg@K,mu", "judged@K,mu"]


def test_what_is_told_is_the_measure_and_changes_no_other() -> None:
    """Beside the measures asked for, whether Judged@K is one of them or not."""
    truth = {"q": [{"video": v, "start": 0, "end": 9, "relevance": grade} for v, grade in GRADED.items()]}
    asked = ("recall", "judged", "ndcg")
    plain = evaluate(truth, {"q": [[v, 0, 9, 0] for v in NEW]}, measures=asked, k=[3], mu=[0.5], theta=[0.5])["mean"]
    for measures in (asked, ("recall", "ndcg"), ("recall@3,0.5", "ndcg")):
        (run,) = board({"new": NEW}, theta=[0.5], measures=measures).runs
        assert run.means == {key: value for key, value in plain.items() if key.partition("@")[0] in str(measures)}
        assert len(run.values) == len(run.means)
        assert run.judged == {"judged@3,0.5": plain["judged@3,0.5"]}


def test_a_run_that_is_below_by_ndcg_and_above_by_bpref_is_named() -> None:
    (warning,) = board({"pooled": POOLED, "new": NEW}).warnings
    assert "33% of its 3 best predictions show a graded moment, of pooled's 100%" in warning
    assert "ndcg@3,0.5 ranks it lower, bpref@0.5, which ignores ungraded moments, higher" in warning


@pytest.mark.parametrize(
    "other",
    [
        pytest.param([*"xyc"], id="below by bpref too"),
        pytest.param([*"acb"], id="as judged as the other"),
        pytest.param([*"axb"], id="above by NDCG"),
    ],
)
def test_a_run_that_is_not_punished_is_not_named(other: list[str]) -> None:
    assert board({"pooled": POOLED, "new": other}).warnings == ()


def test_nothing_is_told_where_no_grades_or_no_ndcg_are_asked_for() -> None:
    """A truth of one relevance is one of moments that were described, not of what systems found."""
    for found in (
        board({"pooled": POOLED, "new": NEW}, {"a": 1, "b": 1}),
        board({"pooled": POOLED, "new": NEW}, measures=["recall"]),
    ):
        assert not any("judged" in run for run in found.summary()["runs"])
        assert found.warnings == ()
