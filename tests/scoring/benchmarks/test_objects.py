"""From Python the benchmarks have the figures that the command prints, of files and of what a program holds."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.scored_files import score_files
from golden_benchmarks import read_golden


def percent(figures: Mapping[str, float | None]) -> dict[str, str]:
    return {name: "-" if value is None else f"{100 * value:.2f}" for name, value in figures.items()}


@pytest.mark.parametrize(
    ("benchmark", "evaluator"), [("qvhighlights", "QVHighlights"), ("tvr", "TVR"), ("charades-sta", "TALL")]
)
def test_files_have_every_figure(benchmark: str, evaluator: str, tmp_path: Path) -> None:
    golden = read_golden(benchmark.replace("-", "_"), tmp_path)
    found = percent(evaluate(golden.truth, golden.run, benchmark=benchmark).figures)
    assert {name: found[name] for name in golden.printed[evaluator]} == golden.printed[evaluator]


def test_what_a_program_holds_has_those_of_moments(tmp_path: Path) -> None:
    golden = read_golden("qvhighlights", tmp_path)
    truth, run = ([json.loads(line) for line in path.read_text().splitlines()] for path in (golden.truth, golden.run))
    found = percent(evaluate(truth, run, benchmark="qvhighlights").figures)
    expected = {name: value for name, value in golden.printed["QVHighlights"].items() if name.startswith("MR")}
    assert found == expected


def test_a_benchmark_in_pools_takes_pools_for_truth(tmp_path: Path) -> None:
    golden = read_golden("mvmr", tmp_path)
    expected = golden.printed["MVMR"]
    found = percent(evaluate(None, golden.run, pools=golden.truth, benchmark="mvmr").figures)
    assert {name: found[name] for name in expected} == expected
    with pytest.raises(InputError, match="give pools and no truth"):
        evaluate(golden.truth, golden.run, benchmark="mvmr")


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    golden = read_golden("qvhighlights", tmp_path)
    lines = golden.run.read_text().splitlines()
    entry = json.loads(lines[4])
    entry["pred_saliency_scores"][0] = "high"
    entry["pred_relevant_windows"][0] = [9, "late", 0.5]
    golden.run.write_text("\n".join([*lines[:4], json.dumps(entry), *lines[5:]]))
    with pytest.raises(InputError) as refused:
        evaluate(golden.truth, golden.run, benchmark="qvhighlights")
    assert [problem.row for problem in refused.value.problems] == [5, 5]
    with pytest.raises(InputError) as by_files:
        score_files(golden.truth, [golden.run], benchmark="qvhighlights")
    assert by_files.value.problems == refused.value.problems
    with pytest.raises(InputError, match="sets its own measures"):
        evaluate(golden.truth, golden.run, benchmark="qvhighlights", k=5)


def test_a_file_that_is_not_there_is_told_of_once(tmp_path: Path) -> None:
    golden = read_golden("qvhighlights", tmp_path)
    with pytest.raises(InputError) as refused:
        evaluate(golden.truth, tmp_path / "none.jsonl", benchmark="qvhighlights")
    assert len(refused.value.problems) == 1


def test_an_impossible_prediction_keeps_its_rank_as_in_the_published_evaluator() -> None:
    """The figures are what moment_detr's standalone_eval/eval.py (b7e553a) prints for these windows."""
    truth = [{"qid": qid, "vid": "v", "relevant_windows": [[0, 10]]} for qid in (1, 2, 3)]
    windows = [[5, 5, 0.9], [0, 10, 0.8]], [[0, 10, 0.9]], [[0, 10, 0.9]]
    run = [{"qid": qid, "vid": "v", "pred_relevant_windows": row} for qid, row in enumerate(windows, start=1)]
    found = percent(evaluate(truth, run, benchmark="qvhighlights").figures)
    assert (found["MR-full-R1@0.5"], found["MR-full-mAP"]) == ("66.67", "83.33")
    skipped = percent(evaluate(truth, run, benchmark="qvhighlights", invalid="skip").figures)
    assert (skipped["MR-full-R1@0.5"], skipped["MR-full-mAP"]) == ("100.00", "100.00")
