"""An upper bound is marked in every table, has no place, and is never best, however high it scores."""

import csv
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import compare
from backend.scoring.latex import to_latex
from backend.scoring.report.page import report_page
from backend.scoring.run_files import RunFile, read_run_list
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.scored_files import file_inputs, score_files, score_splits
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.tables import per_query_csv, to_csv, to_markdown
from backend.scoring.upper_bound import CAPTION, is_upper_bound
from backend.scoring.views import brief, curves, errors, paper, ranking, splits
from backend.scoring.views.table import Mark, Table
from backend.systems.baselines import BASELINES
from scored import write_files

ASKED: dict[str, Any] = {"k": [5, 10], "mu": [0.5], "measures": ["ndcg", "recall"]}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Path]]:
    """The best run is called as the baseline, and given first; beside it are two others."""
    truth, (good, poor, _) = write_files(tmp_path)
    (tmp_path / "caption.json").write_bytes(good.read_bytes())
    middle = json.loads(good.read_text()) | dict(list(json.loads(poor.read_text()).items())[:6])
    (tmp_path / "middle.json").write_text(json.dumps(middle))
    return truth, [tmp_path / "caption.json", poor, tmp_path / "middle.json"]


@pytest.fixture
def board(files: tuple[Path, list[Path]]) -> Scoreboard:
    return score_files(*files, **ASKED)


@pytest.fixture
def summary(board: Scoreboard) -> dict[str, Any]:
    found = board.summary(["duration", "relevance"], errors=True)
    add_statistics(found, board, Sureness("poor", resamples=200))
    return found


def test_the_baselines_that_call_themselves_upper_bounds_are_known_by_their_names() -> None:
    assert [name for name, seen in BASELINES.items() if "UPPER BOUND" in seen] == [CAPTION]
    assert [name for name in BASELINES if is_upper_bound(name)] == [CAPTION]


def test_it_comes_last_scores_as_before_and_the_others_are_not_changed(
    board: Scoreboard, files: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    assert [(run.name, run.upper_bound) for run in board.runs] == [
        *(("poor", False), ("middle", False), ("caption", True)),
    ]
    (tmp_path / "renamed.json").write_bytes(files[1][0].read_bytes())
    renamed = score_files(files[0], [tmp_path / "renamed.json", *files[1][1:]], **ASKED)
    assert {run.name: run.means for run in board.runs} == {
        {"renamed": "caption"}.get(run.name, run.name): run.means for run in renamed.runs
    }
    assert "upper_bound" not in json.dumps(renamed.summary())
    assert "upper_bound" not in to_csv(renamed.summary())
    assert [run.get("upper_bound") for run in board.summary()["runs"]] == [None, None, True]


def all_tables(summary: dict[str, Any]) -> list[Table]:
    grid = brief.grid(brief.in_brief(summary))
    return [
        *(ranking.ranking(summary), ranking.means(summary), ranking.narrow_means(summary)),
        *paper.paper(summary),
        *(splits.groups(summary, "duration"), splits.narrow_groups(summary, "relevance")),
        *(errors.outcomes(summary), errors.fates_of_grades(summary), errors.examples(summary)),
        *([grid] if grid else []),
    ]


def test_every_table_marks_it_and_none_marks_it_as_best(summary: dict[str, Any]) -> None:
    for table in all_tables(summary):
        texts = [text for row in table.texts() for text in row]
        assert "caption (upper bound)" in texts, table.title
        assert "caption" not in texts, table.title
        for place, column in enumerate(table.columns):
            for row in table.rows:
                is_its = "upper bound" in column.title or "upper bound" in row[0].text
                assert not (is_its and Mark.BEST in row[place].marks), table.title
    means = ranking.means(summary)
    assert all(Mark.BEST in row[2].marks or Mark.BEST in row[3].marks for row in means.rows), "of the others one is"


def test_it_has_no_place(summary: dict[str, Any]) -> None:
    table = ranking.ranking(summary)
    assert [(row[0].text, row[1].text) for row in table.rows] == [
        *(("1", "middle"), ("2", "poor"), ("-", "caption (upper bound)")),
    ]
    assert table.rows[2][2].value > table.rows[0][2].value, "though it scores highest"  # type: ignore[operator]
    assert [cell.share for cell in table.cells("mean")][2] == 1, "bars end with the highest"
    assert table.notes[0].startswith("caption is an upper bound: it knows what no competing system can know")
    assert [step.run for step in curves.orders(summary)[0].steps] == ["middle", "poor"]


def test_latex_names_it_and_never_prints_it_bold(summary: dict[str, Any]) -> None:
    text = to_latex(summary)
    (row, *_) = [line for line in text.splitlines() if line.lstrip().startswith("caption (upper bound) &")]
    assert "textbf" not in row
    assert "textbf" in text
    assert "; best in bold, upper bounds aside." in text


def test_markdown_and_csv_name_it(summary: dict[str, Any], board: Scoreboard) -> None:
    assert "caption (upper bound)" in to_markdown(summary)
    for text in (to_csv(summary), per_query_csv(summary, list(board.per_query()))):
        rows = list(csv.DictReader(text.splitlines()))
        assert {(row["run"], row["upper_bound"]) for row in rows} == {
            *(("caption", "true"), ("poor", "false"), ("middle", "false")),
        }


def test_the_report_puts_it_last_without_a_place_and_marks_it_everywhere(
    board: Scoreboard, files: tuple[Path, list[Path]]
) -> None:
    page = report_page(board, file_inputs(*files), made=datetime(2026, 1, 2, tzinfo=UTC))
    (last,) = re.findall(r'<tr class="bound">.*?</tr>', page, re.DOTALL)
    assert "<b>" not in last
    names = re.findall(r">([^<>]*)</(?:th|h4)>", page.replace("<wbr>", "").replace(" <small>", "</h4><small>"))
    assert "caption" not in [name.strip() for name in names]
    assert "3 runs on val" in page
    assert "middle − poor" in page, "the two best of those that compete"
    only = score_files(files[0], files[1][:1], **ASKED)
    assert "caption (upper bound)" in report_page(
        only, file_inputs(files[0], files[1][:1]), made=datetime(2026, 1, 2, tzinfo=UTC)
    )


def test_any_run_can_be_marked(files: tuple[Path, list[Path]], tmp_path: Path) -> None:
    truth, (_, poor, middle) = files
    board = score_files(truth, [RunFile(middle, "ceiling", upper_bound=True), poor], **ASKED)
    assert [run.label for run in board.runs] == ["poor", "ceiling (upper bound)"]
    runs = {"oracle": str(middle), "poor": str(poor)}
    found = compare(str(truth), runs, k=5, mu=0.5, upper_bounds=["oracle"])
    assert list(found) == ["poor", "oracle"]
    assert "oracle (upper bound)" in repr(found)
    assert "textbf" not in found.to_latex()
    (tmp_path / "runs.toml").write_text(
        f"truth = {str(truth)!r}\n"
        f"[[run]]\nmodel = 'Oracle'\nseed = 1\nfile = {str(middle)!r}\nupper_bound = true\n"
        f"[[run]]\nmodel = 'XML'\nfile = {str(poor)!r}\n"
    )
    (split,) = score_splits(read_run_list(tmp_path / "runs.toml"), **ASKED).values()
    (table, *_) = paper.paper(split.summary())
    assert [row[0].text for row in table.rows] == ["XML", "Oracle (upper bound)"]


def test_upper_bounds_that_are_no_runs_are_refused(files: tuple[Path, list[Path]]) -> None:
    with pytest.raises(InputError, match="'mine' is not one of poor"):
        compare(str(files[0]), {"poor": str(files[1][1])}, upper_bounds=["mine"])
