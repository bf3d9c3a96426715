"""Highlights beyond what golden/qvhighlights.json locks: its definition, step by step, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.benchmarks.qvhighlights import (
    average_precisions,
    read_predicted_saliency,
    read_saliency,
    score_highlights,
)
from backend.scoring.scored_files import score_files
from golden_benchmarks import read_golden, score

ENTRY = {"qid": 7, "vid": "v", "duration": 20, "relevant_windows": [[0, 4]]}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=12))
def test_the_average_precision_is_that_of_its_definition(clips: list[tuple[int, bool]]) -> None:
    scores = np.array([score for score, _ in clips], dtype=np.float64)
    marked = np.array([found for _, found in clips])
    levels = sorted({*scores}, reverse=True)
    points = [(marked[scores >= level].sum(), marked[scores >= level].mean()) for level in levels]
    recalls = sorted({right for right, _ in points if right})
    expected = [max(precision for right, precision in points if right >= recall) for recall in recalls]
    value = average_precisions(marked[:, None], scores)[0]
    assert value == pytest.approx(1.0 if marked.all() else np.mean(expected) if expected else 0.0)


def test_a_query_without_scores_counts_zero() -> None:
    graded = {"a": np.array([[4], [0]]), "b": np.array([[4], [0]])}
    found = score_highlights(graded, {"a": np.array([0.9, 0.1])})
    assert found["HL-min-Fair-mAP"] == found["HL-min-VeryGood-Hit1"] == 0.5


def test_files_without_saliency_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "truth.jsonl"
    path.write_text(json.dumps(ENTRY) + "\n")
    assert read_saliency(path) == read_predicted_saliency(path) == {}
    path.write_text("query_id,video,start,end,score\n7,v,0,9,1\n")
    assert read_predicted_saliency(path) == {}


def test_every_fault_of_the_grades_is_named_with_its_row(tmp_path: Path) -> None:
    faults = [
        ({"relevant_clip_ids": [0, 1], "saliency_scores": [[1, 2]]}, "one for each clip"),
        ({"relevant_clip_ids": [10], "saliency_scores": [[1, 2]]}, "clip 10 is not one of the 10 clips"),
        ({"relevant_clip_ids": [0], "saliency_scores": [[1, 5]]}, "not all 0 to 4"),
        ({"relevant_clip_ids": [0, 1], "saliency_scores": [[1, 2], [1]]}, "from the same people"),
        ({"relevant_clip_ids": [0], "saliency_scores": "good"}, "Expected `array"),
    ]
    path = tmp_path / "truth.jsonl"
    path.write_text("".join(json.dumps(ENTRY | fault) + "\n" for fault, _ in faults))
    with pytest.raises(InputError) as refused:
        read_saliency(path)
    assert [problem.row for problem in refused.value.problems] == [1, 2, 3, 4, 5]
    for problem, (_, message) in zip(refused.value.problems, faults, strict=True):
        assert message in problem.message
    path.write_text('{"qid": 7, "pred_saliency_scores": [0.1, "high"]}\n')
    with pytest.raises(InputError, match=r"row 1.*pred_saliency_scores"):
        read_predicted_saliency(path)
    path.write_text('{"qid": 7, "pred_saliency_scores": [0.1, NaN]}\n{"qid": 8, "pred\n')
    with pytest.raises(InputError) as refused:
        read_predicted_saliency(path)
    assert [problem.row for problem in refused.value.problems] == [1]


def test_a_run_of_highlights_alone_has_the_published_figures_and_none_of_moments(tmp_path: Path) -> None:
    golden = read_golden("qvhighlights", tmp_path)
    entries = [json.loads(line) for line in golden.run.read_text().splitlines()]
    for entry in entries:
        del entry["pred_relevant_windows"]
    alone = tmp_path / "alone.jsonl"
    alone.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    found = score("qvhighlights", replace(golden, run=alone))
    printed = golden.printed["QVHighlights"]
    assert found == {name: value if name.startswith("HL") else "-" for name, value in printed.items()}
    alone.write_text("".join(json.dumps(entry) + "\n" for entry in entries[1:]))
    with pytest.raises(InputError, match=f"query {entries[0]['qid']} is missing"):
        score("qvhighlights", replace(golden, run=alone))
    with pytest.raises(InputError, match="has highlights and no moments; score it without the other runs"):
        score_files(golden.truth, [golden.run, alone], benchmark="qvhighlights")
