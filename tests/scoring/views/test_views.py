"""What people see of scores: one view, rendered by terminal, CSV, LaTeX, Markdown, report and page alike."""

import csv
import html
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend import cli
from backend.core.timespan import Floats
from backend.scoring import measures as family
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.report.page import report_page
from backend.scoring.requested_values import split as split_measures
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.scored_files import file_inputs, score_files
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.tables import SCORE_FORMATS, per_query_csv
from backend.scoring.tables import to_csv as score_csv
from backend.scoring.views.case import case_view as score_case
from backend.scoring.views.case import notable_queries
from backend.scoring.views.errors import outcomes as score_outcomes
from backend.scoring.views.ranking import means as score_means_named
from backend.scoring.views.ranking import narrow_means as score_means
from backend.scoring.views.ranking import ranking as score_ranking
from backend.scoring.views.splits import groups as score_groups
from backend.scoring.views.splits import narrow_groups
from backend.scoring.views.table import Mark
from backend.scoring.views.table import named_keys as score_names
from scored import QUERIES, write_files

TITLE = "Reach@5, IoU>0.5 (a paper)"


def reached(found: Matches, cutoffs: tuple[int, ...], thresholds: tuple[float, ...]) -> Floats:
    """How many predictions of a query exceed the threshold, twice counted: above 1, as no measure of ours is."""
    counts = [np.bincount(found.query, 2 * found.reaches(tau, strict=True), found.queries) for tau in thresholds]
    return np.stack([np.stack(counts) for _ in cutoffs])


@pytest.fixture
def new_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a file dropped into `measures/` does: nothing else of the program knows of it."""
    measure = Measure(
        "reach", "Reach", Threshold("tau", ">"), reached, "predictions that reach, twice", "a paper", highest=None
    )
    monkeypatch.setattr(family, "MEASURES", {**family.MEASURES, "reach": measure})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Path]]:
    return write_files(tmp_path)


@pytest.fixture
def board(files: tuple[Path, list[Path]]) -> Scoreboard:
    return score_files(*files, k=[3, 5])


@pytest.fixture
def summary(board: Scoreboard) -> dict[str, Any]:
    found = board.summary(["show"], errors=True)
    add_statistics(found, board, Sureness("good", resamples=300))
    return found


def test_tables_for_people_name_no_run_as_a_formula(board: Scoreboard) -> None:
    name, summary = "=cmd|calc!A1", board.summary()
    summary["runs"] = [{**summary["runs"][0], "name": name}]
    rows = [(name, *row) for _, *row in board.per_query()]
    for text, kept in (
        (score_csv(summary, for_people=True), f"'{name}"),
        (per_query_csv(summary, rows, for_people=True), f"'{name}"),
        (score_csv(summary), name),
    ):
        assert {row["run"] for row in csv.DictReader(text.splitlines())} == {kept}


def test_a_new_measure_is_rightly_titled_wherever_scores_are_shown(
    new_measure: None,
    files: tuple[Path, list[Path]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth, runs = files
    board = score_files(truth, runs, k=[5], theta=[0.5], mu=[0.5])
    assert "reach@5,0.5" in board.settings.keys
    summary = board.summary()

    arguments = ["evaluate", "--truth", truth, *(part for run in runs for part in ("--run", run)), "--k", "5"]
    monkeypatch.setattr("sys.argv", ["reelrank", *map(str, arguments), "--mu", "0.5", "--theta", "0.5", "--all"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code in (0, None)
    terminal = capsys.readouterr().out
    assert re.search(r"^reach@5,0.5 +\d", terminal, re.MULTILINE)
    assert "reach@K,tau: Reach@K, IoU>tau (a paper); predictions that reach, twice" in terminal

    rows = csv.DictReader(SCORE_FORMATS["csv"](summary).splitlines())
    assert {row["title"] for row in rows if row["measure"] == "reach@5,0.5"} == {TITLE}

    latex = SCORE_FORMATS["latex"](summary)
    assert r"Reach@5, IoU$>\tau$ (a paper)" in latex
    assert r"Run & $\tau=0.5$" in latex

    markdown = SCORE_FORMATS["markdown"](summary)
    assert "- reach@K,tau: Reach@K, IoU&gt;tau (a paper); predictions that reach, twice" in markdown

    page = html.unescape(report_page(board, file_inputs(truth, runs), made=datetime(2026, 1, 2, tzinfo=UTC)))
    assert f"<td>{TITLE}</td>" in page
    assert "reach@K,tau: Reach@K, IoU>tau (a paper); predictions that reach, twice" in page


def test_measures_without_a_cut_off_are_rightly_titled_wherever_scores_are_shown(
    files: tuple[Path, list[Path]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, runs = files
    asked = "map@0.5,map@avg,miou,axiou@5"
    board = score_files(truth, runs, measures=split_measures(asked))
    assert board.focus == "map@0.5"
    summary = board.summary()

    arguments = ["evaluate", "--truth", truth, *(part for run in runs for part in ("--run", run)), "--measure", asked]
    monkeypatch.setattr("sys.argv", ["reelrank", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code in (0, None)
    terminal = capsys.readouterr().out
    lines = [
        "map@theta: mAP, IoU>=theta (interpolated); average precision of the first predictions (10, or",
        "map@avg: mAP, IoU>=0.5:0.05:0.95 (interpolated); mean of the same over these thresholds",
        "miou: mIoU; IoU of the first prediction",
    ]
    assert all(line in terminal for line in lines)

    rows = list(csv.DictReader(SCORE_FORMATS["csv"](summary).splitlines()))
    titles = {row["measure"]: row["title"] for row in rows}
    assert titles == {
        **{"map@0.5": "mAP, IoU>=0.5 (interpolated)", "map@avg": "mAP, IoU>=0.5:0.05:0.95 (interpolated)"},
        **{"miou": "mIoU", "axiou@5": "AxIoU@5"},
    }

    latex = SCORE_FORMATS["latex"](summary)
    assert r"\multicolumn{2}{c}{mAP, IoU$\geq\theta$} \\" in latex
    assert r"\multicolumn{2}{c}{(interpolated)} \\" in latex
    assert r"Run & $\theta=0.5$ & $\theta=0.5:0.05:0.95$ \\" in latex
    assert "    Run & mIoU \\\\\n    \\midrule" in latex

    markdown = html.unescape(SCORE_FORMATS["markdown"](summary))
    page = html.unescape(report_page(board, file_inputs(truth, runs), made=datetime(2026, 1, 2, tzinfo=UTC)))
    assert all(line in text for text in (markdown, page) for line in lines)
    assert all(f"<td>{title}</td>" in page for title in titles.values())


def test_every_measure_says_whether_iou_must_reach_or_exceed() -> None:
    for measure in family.MEASURES.values():
        title = measure.title()
        assert ("IoU>" in title) is (measure.threshold is not None), title
    titles = {name: measure.title(10, 0.5) for name, measure in family.MEASURES.items()}
    assert titles["ndcg"] == "NDCG@10, IoU>=0.5"
    assert titles["recall"] == "R@10, IoU>=0.5"
    assert titles["recall_gt"] == "R@10, IoU>0.5 (AxIoU eq. 1)"
    assert titles["axiou_ap"] == "AP@10, IoU>0.5 (AxIoU suppl. eq. 4)"
    assert titles["map"] == "mAP, IoU>=0.5 (interpolated)"
    assert family.MEASURES["map"].title(threshold="avg") == "mAP, IoU>=0.5:0.05:0.95 (interpolated)"
    assert titles["trec_ap"] == "AP@10, IoU>=0.5 (trec_eval)"
    assert len(set(titles.values())) == len(titles)
    assert titles["miou"] == "mIoU"
    # The mean of AxIoU over all ranks is not what the field calls mAP.
    assert [name for name, title in titles.items() if "mAP" in title] == ["map"]


def test_the_published_evaluator_is_titled_by_its_own_comparison(files: tuple[Path, list[Path]]) -> None:
    summary = score_files(*files, preset="tvr-ranking", k=[5], mu=[0.5]).summary()
    assert score_names(summary)["ndcg@5,0.5"].title == "NDCG@5, IoU>0.5"
    assert r"NDCG@5, IoU$>\mu$" in SCORE_FORMATS["latex"](summary)
    given = score_files(*files, iou_compare="gt", k=[5], mu=[0.5], measures=["ndcg"]).summary()
    assert "ndcg@K,mu: NDCG@K, IoU>mu; " in "".join(score_means(given).notes)


def test_the_ranking_falls_and_marks_its_baseline(summary: dict[str, Any]) -> None:
    table = score_ranking(summary)
    means = [cell.value for cell in table.cells("mean")]
    assert means == sorted(means, key=lambda mean: -float(mean or 0))
    assert [cell.share for cell in table.cells("mean")] == [
        pytest.approx(float(m or 0) / float(means[0] or 1)) for m in means
    ]
    (baseline,) = [cell for cell in table.cells("run") if Mark.BASELINE in cell.marks]
    assert baseline.text == "good"
    by_name = {run["name"]: run for run in summary["runs"]}
    for name, cell, wins in zip(table.cells("run"), table.cells("difference"), table.cells("wins"), strict=True):
        found = by_name[name.text].get("comparison", {}).get(summary["focus"])
        assert cell.value == (found["difference"] if found else None)
        assert wins.text == (f"{found['wins']} / {found['ties']} / {found['losses']}" if found else "baseline")


def test_without_statistics_there_are_no_columns_of_them(board: Scoreboard) -> None:
    table = score_ranking(board.summary())
    assert [column.name for column in table.columns] == ["place", "run", "mean", "missing"]


def test_what_is_best_and_what_is_told_apart_is_marked_for_every_measure(summary: dict[str, Any]) -> None:
    table = score_means_named(summary)
    for row in table.rows:
        key = row[0].text
        values = [run["measures"][key] for run in summary["runs"]]
        for run, cell in zip(summary["runs"], row[2:], strict=True):
            assert (Mark.BEST in cell.marks) is (cell.value == max(values))
            p = run.get("comparison", {}).get(key, {}).get("p_holm")
            gain = run["measures"][key] - values[0]  # "good" is the baseline, and every run counts every query
            assert (Mark.ABOVE in cell.marks) is (p is not None and p < 0.05 and gain > 0)
            assert (Mark.BELOW in cell.marks) is (p is not None and p < 0.05 and gain < 0)
    assert sum(cell.sign == "†↓" for row in table.rows for cell in row) > 10


def test_groups_stand_side_by_side_where_they_are_fewer_than_the_runs(summary: dict[str, Any]) -> None:
    found = summary | {"runs": [run | {"name": f"{run['name']} {n}"} for n in (1, 2) for run in summary["runs"]]}
    wide, narrow = score_groups(found, "show"), narrow_groups(found, "show")
    assert [column.title for column in narrow.columns] == ["group", *(cell.text for cell in wide.cells("group"))]
    assert [row[0].text for row in narrow.rows] == ["queries", *(run["name"] for run in found["runs"])]
    for run, row in zip(found["runs"], narrow.rows[1:], strict=True):
        assert list(row[1:]) == wide.cells(run["name"])
    one = found | {"runs": found["runs"][:1]}
    assert narrow_groups(one, "show") == score_groups(one, "show")


def test_groups_and_errors_count_everything_once(summary: dict[str, Any]) -> None:
    groups = score_groups(summary, "show")
    assert sum(int(cell.value or 0) for cell in groups.cells("queries")) == QUERIES
    assert [cell.text for cell in groups.cells("queries")] == ["12"]
    outcomes = score_outcomes(summary)
    for row in outcomes.rows:
        counted = [int(cell.value or 0) for cell in row[1:-1]]
        assert sum(counted) == summary["runs"][0]["errors"]["moments"]
        assert sum(cell.share or 0 for cell in row[1:-1]) == pytest.approx(1)
    assert all(column.help for column in outcomes.columns[1:])


def test_a_case_is_told_the_same_wherever_it_is_shown(
    board: Scoreboard, files: tuple[Path, list[Path]], make_report: Callable[..., str]
) -> None:
    facts = file_inputs(*files).facts
    number = next(iter(notable_queries(board)))
    (case,) = board.cases([number], *board.middle)
    view = score_case(board, case, ["poor", "good"], facts)
    assert [lane.run for lane in view.lanes] == ["poor", "good"]
    each = {(run, query): named for run, query, _, named in board.per_query()}
    assert [lane.value for lane in view.lanes] == [each[lane.run, view.query][board.focus] for lane in view.lanes]
    for lane in view.lanes:
        for card in lane.predictions:
            if card.takes is not None:
                (moment,) = [moment for moment in view.moments if moment.number == card.takes]
                assert moment.color == card.color
                told = moment.told[[one.run for one in view.lanes].index(lane.run)]
                assert told is not None
                assert told.rank == card.rank
            assert 0 <= card.bar.left <= card.bar.left + card.bar.width <= 100.1
    page = html.unescape(make_report(board))
    assert f"{view.lanes[0].run}: {next(t.text for m in view.moments if (t := m.told[0]))}" in page


@pytest.fixture
def make_report(files: tuple[Path, list[Path]]) -> Callable[..., str]:
    def made(board: Scoreboard) -> str:
        return report_page(board, file_inputs(*files), made=datetime(2026, 1, 2, tzinfo=UTC))

    return made
