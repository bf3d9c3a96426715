"""Whatever is wrong with a file is told in one go: after mending it nothing comes up that was there before."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.scored_files import score_files
from backend.scoring.studies.running import StudyInputs, ties_study

TRUTH = [{"query_id": n, "video": "v", "start": 0, "end": 10, "relevance": 4} for n in range(1, 7)]
RUN = [{"query_id": n, "video": "v", "start": 0, "end": 9, "score": 1.5} for n in range(1, 7)]
# Rows 1 and 2 hold wrong values, 3 and 4 the wrong kind of value, row 5 is of a query that nobody asked for.
TRUTH_FAULTS = {0: {"end": -3}, 1: {"relevance": 7}, 2: {"start": "soon"}, 3: {"video": None}}
RUN_FAULTS = {0: {"end": 0}, 1: {"start": -2}, 2: {"score": None}, 3: {"video": 7}, 4: {"query_id": "other"}}


def faulty(rows: list[dict[str, Any]], faults: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, **faults.get(number, {})} for number, row in enumerate(rows)]


def as_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows: list[dict[str, Any]]) -> str:
    lines = [rows[0], *(row.values() for row in rows)]
    return "".join(",".join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines)


def told(folder: Path, truth: str, run: str, **options: Any) -> list[tuple[str, int | None]]:
    """File and row of every problem, in the order in which they are told."""
    paths = folder / "truth", folder / "run"
    for path, text in zip(paths, (truth, run), strict=True):
        path.write_text(text)
    with pytest.raises(InputError) as refused:
        score_files(paths[0], [paths[1]], **options)
    return [(Path(problem.file).name, problem.row) for problem in refused.value.problems]


@pytest.mark.parametrize("form", [as_lines, json.dumps], ids=["lines", "list"])
def test_wrong_values_and_wrong_shapes_of_a_run_come_together(tmp_path: Path, form: Any) -> None:
    found = told(tmp_path, form(TRUTH), form(faulty(RUN, RUN_FAULTS)))
    assert found == [("run", row) for row in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize("form", [as_lines, json.dumps], ids=["lines", "list"])
def test_those_of_a_truth_and_of_a_run_come_together(tmp_path: Path, form: Any) -> None:
    found = told(tmp_path, form(faulty(TRUTH, TRUTH_FAULTS)), form(faulty(RUN, RUN_FAULTS)))
    # Row 5 of the run is not told of: the query may stand where the truth could not be read.
    assert found == [*(("truth", row) for row in (1, 2, 3, 4)), *(("run", row) for row in (1, 2, 3, 4))]


def test_in_a_table_too(tmp_path: Path) -> None:
    run = faulty(RUN, {0: {"end": 0}, 2: {"score": "high"}, 4: {"query_id": "other"}, 5: {"start": "late"}})
    found = told(tmp_path, as_csv(TRUTH), as_csv(run))
    assert found == [("run", row) for row in (2, 4, 6, 7)]


def test_a_line_that_is_no_json_hides_none_of_the_others(tmp_path: Path) -> None:
    lines = as_lines(faulty(RUN, RUN_FAULTS)).splitlines()
    found = told(tmp_path, as_lines(TRUTH), "\n".join([*lines[:5], "{oops"]))
    assert found == [("run", row) for row in (1, 2, 3, 4, 5, 6)]


def test_a_list_that_breaks_off_tells_of_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps(faulty(RUN, {0: {"end": 0}, 1: {"score": None}}))
    found = told(tmp_path, json.dumps(TRUTH), whole[: whole.index('"query_id": 4') + 20])
    assert found == [("run", row) for row in (1, 2, 4)]


def test_what_an_option_lets_pass_is_no_problem(tmp_path: Path) -> None:
    found = told(tmp_path, as_lines(TRUTH), as_lines(faulty(RUN, RUN_FAULTS)), invalid="skip", unknown="ignore")
    assert found == [("run", 3), ("run", 4)]


def test_objects_are_told_of_as_files_are() -> None:
    run = {"a": [["v", 5, 5, 1]], "b": [["v", 0, "end", 1]], "c": "nothing"}
    truth = {name: [{"video": "v", "start": 0, "end": 9, "relevance": 1}] for name in run}
    with pytest.raises(InputError) as refused:
        evaluate(truth, run)
    assert [problem.row for problem in refused.value.problems] == [1, 2, 3]


def test_a_study_tells_of_all_of_them_too(tmp_path: Path) -> None:
    texts = {"truth": as_lines(TRUTH), "good": as_lines(RUN), "poor": as_lines(faulty(RUN, RUN_FAULTS))}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    runs = {name: tmp_path / name for name in ("good", "poor")}
    with pytest.raises(InputError) as refused:
        ties_study(StudyInputs(tmp_path / "truth", runs))
    assert [problem.row for problem in refused.value.problems] == [1, 2, 3, 4, 5]


def test_a_run_is_kept_by_nobody_before_all_of_it_is_right(tmp_path: Path, corpus_project: Project) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(as_lines(faulty(RUN, {0: {"end": 0}, 2: {"score": None}})))
    with pytest.raises(InputError) as refused:
        add_run(corpus_project, OPERATOR, path, now=0)
    assert [problem.row for problem in refused.value.problems] == [1, 3]
