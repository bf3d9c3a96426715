"""A scoreboard compares runs query by query, whatever the order of their files."""

import json
import math
from pathlib import Path

import pytest

from backend.scoring.scored_files import evaluate_files, score_files
from backend.scoring.statistics.sureness import Sureness, add_statistics
from scored import QUERIES, write_files


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Path]]:
    truth, runs = write_files(tmp_path)
    good = json.loads(runs[0].read_text())
    (tmp_path / "backwards.json").write_text(json.dumps(dict(reversed(good.items()))))
    return truth, [*runs, tmp_path / "backwards.json"]


def test_one_run_in_another_order_of_queries_differs_from_itself_nowhere(files: tuple[Path, list[Path]]) -> None:
    board = score_files(*files, k=[5])
    for key in board.settings.keys:
        queries, values = board.shared(key)
        assert len(queries) == QUERIES
        assert values[0].tolist() == values[3].tolist()
    summary = board.summary()
    add_statistics(summary, board, Sureness("good", resamples=200))
    for found in summary["runs"][3]["comparison"].values():
        assert (found["difference"], found["difference_low"]) == (0, 0)
        assert (found["wins"], found["losses"], found["p"]) == (0, 0, 1)
    assert summary["runs"][0]["intervals"] == summary["runs"][3]["intervals"]


def test_runs_are_compared_over_the_queries_that_count_for_all(files: tuple[Path, list[Path]]) -> None:
    board = score_files(*files, k=[5], missing="skip")
    queries, values = board.shared("ndcg@5,0.5")
    assert [board.queries[i] for i in queries] == [f"q{n}" for n in range(2, QUERIES)]
    each = {(run, query): named["ndcg@5,0.5"] for run, query, _, named in board.per_query()}
    for run, row in zip(board.runs, values, strict=True):
        assert row.tolist() == [each[run.name, board.queries[i]] for i in queries]
    assert {run.name: len(run.query) for run in board.runs}["good"] == QUERIES


def test_the_sign_flip_p_of_few_queries_is_the_share_of_all_sign_patterns(files: tuple[Path, list[Path]]) -> None:
    board = score_files(*files, k=[5], measures=["ndcg"])
    summary = board.summary()
    add_statistics(summary, board, Sureness("poor", resamples=100))
    _, values = board.shared("ndcg@5,0.3")
    gaps = (values[0] - values[1]).tolist()
    sums = [
        abs(math.fsum(-gap if pattern >> i & 1 else gap for i, gap in enumerate(gaps))) for pattern in range(2**QUERIES)
    ]
    expected = sum(value >= abs(math.fsum(gaps)) - 1e-9 for value in sums) / len(sums)
    assert summary["runs"][0]["comparison"]["ndcg@5,0.3"]["p"] == pytest.approx(expected, abs=1e-12)


def test_the_focus_is_the_middle_whatever_the_order_of_the_cut_offs(files: tuple[Path, list[Path]]) -> None:
    board = score_files(*files, k=[40, 10, 20], mu=[0.7, 0.3, 0.5])
    assert board.middle == (20, 0.5)
    assert board.focus == "ndcg@20,0.5"
    # What was asked for first still stands first.
    assert board.settings.keys[0] == "ndcg@40,0.7"


def test_names_of_other_papers_are_scored_under_ours_with_a_note(files: tuple[Path, list[Path]]) -> None:
    summary = evaluate_files(*files, k=[5], theta=[0.5], measures=["rank", "ap", "recall"])
    assert list(summary["runs"][0]["measures"]) == ["recall@5,0.5", "axiou_ap@5,0.5"]
    assert [note.partition(":")[0] for note in summary["notes"]] == ["rank is called recall", "ap is called axiou_ap"]
    assert "notes" not in evaluate_files(*files, k=[5], measures=["recall"])
