"""Best is best only among runs that are averaged over the same queries, and a dagger says which way."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.scoring.scored_files import score_files
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.views.ranking import means as score_means_named
from backend.scoring.views.table import Mark
from scored import write_files


@pytest.fixture
def leaving_out(tmp_path: Path) -> tuple[Path, list[Path]]:
    """Three runs: `good`, the same without the two queries it answers worst, and `poor`."""
    truth, (good, poor, _) = write_files(tmp_path)
    each = score_files(truth, [good], k=[5], mu=[0.5], measures=["ndcg"]).per_query()
    worst = [query for _, query in sorted((values["ndcg@5,0.5"], str(query)) for _, query, _, values in each)[:2]]
    left = {query: found for query, found in json.loads(good.read_text()).items() if query not in worst}
    (tmp_path / "left.json").write_text(json.dumps(left))
    return truth, [good, tmp_path / "left.json", poor]


def summary_of(files: tuple[Path, list[Path]], missing: str) -> dict[str, Any]:
    board = score_files(*files, k=[5], mu=[0.5], measures=["ndcg"], missing=missing)
    summary = board.summary()
    add_statistics(summary, board, Sureness("poor", resamples=300))
    return summary


def test_a_run_that_leaves_out_what_it_answers_worst_is_best_of_nothing(leaving_out: tuple[Path, list[Path]]) -> None:
    summary = summary_of(leaving_out, "skip")
    table = score_means_named(summary)
    (row,) = table.rows
    good, left, poor = row[2:]
    assert float(left.value or 0) > float(good.value or 0) > float(poor.value or 0), "or the test shows nothing"
    assert [Mark.BEST in cell.marks for cell in (good, left, poor)] == [True, False, False]
    assert table.notes[-1] == (
        "Not every run counts the same queries: good 12, left 10, poor 12; best is marked only among good, poor, which "
        "count the same."
    )


def test_where_missing_queries_count_zero_all_runs_count_the_same(leaving_out: tuple[Path, list[Path]]) -> None:
    table = score_means_named(summary_of(leaving_out, "zero"))
    assert [Mark.BEST in cell.marks for cell in table.rows[0][2:]] == [True, False, False]
    assert not any("Not every run" in note for note in table.notes)


def test_no_two_runs_over_the_same_queries_have_no_best(leaving_out: tuple[Path, list[Path]]) -> None:
    truth, (good, left, _) = leaving_out
    table = score_means_named(score_files(truth, [good, left], missing="skip").summary())
    assert not any(Mark.BEST in cell.marks for row in table.rows for cell in row)
    assert table.notes[-1].endswith("no value is marked as best.")


def test_a_dagger_says_whether_the_run_is_above_or_below(leaving_out: tuple[Path, list[Path]]) -> None:
    summary = summary_of(leaving_out, "zero")
    table = score_means_named(summary)
    assert [cell.sign for cell in table.rows[0][2:]] == ["†↑", "†↑", ""]
    summary["runs"][0]["comparison"]["ndcg@5,0.5"]["difference"] *= -1
    assert table.texts()[1][2].endswith("†↑")
    assert score_means_named(summary).texts()[1][2].endswith("†↓")
