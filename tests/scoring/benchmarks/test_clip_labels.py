"""Highlight detection of TVSum and YouTube Highlights against plain loops, and with UMT's own annotations."""

import json
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.benchmarks.tvsum import above_median, clip_precisions
from backend.scoring.evaluate import evaluate
from backend.scoring.scored_files import evaluate_files
from golden_benchmarks import read_golden

LABELS = st.integers(1, 8).flatmap(
    lambda clips: st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=clips, max_size=clips)
)


def plain_precision(marks: list[bool]) -> float:
    """The area under the steps of precision over recall, as trapezoids, of clips in rank order."""
    area, before = 0.0, (0.0, 1.0)
    for place in range(1, len(marks) + 1):
        now = (sum(marks[:place]) / max(sum(marks), 1), sum(marks[:place]) / place)
        area += (now[0] - before[0]) * (now[1] + before[1]) / 2
        before = now
    return area


@given(LABELS, st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=1, max_size=10), st.sampled_from([None, 1, 5]))
def test_average_precision_is_that_of_plain_loops(
    labels: list[list[int]], scores: list[float], first: int | None
) -> None:
    marked = above_median(np.array(labels, dtype=float))
    found = clip_precisions(marked, np.array(scores), first)
    ranked = sorted(range(min(len(labels), len(scores))), key=lambda clip: -scores[clip])[:first]
    for person in range(3):
        middle = median_low([label[person] for label in labels])
        assert [label[person] > middle for label in labels] == marked[:, person].tolist()
        assert found[person] == pytest.approx(plain_precision([bool(marked[clip, person]) for clip in ranked]))
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize(
    ("benchmark", "of_video"),
    [
        ("tvsum", lambda line: {"anno": line["label"]}),
        ("youtube-highlights", lambda line: {"match": line["match"]}),
    ],
)
def test_annotations_of_umt_give_the_same_figures(benchmark: str, of_video: Any, tmp_path: Path) -> None:
    golden = read_golden(benchmark.replace("-", "_"), tmp_path)
    lines = [json.loads(line) for line in golden.truth.read_text().splitlines()]
    other = tmp_path / "umt.json"
    other.write_text(
        json.dumps({line["qid"]: {"fps": 25.0, "domain": line["domain"], **of_video(line)} for line in lines})
    )
    by_lines, by_videos = (evaluate_files(truth, [golden.run], benchmark=benchmark) for truth in (golden.truth, other))
    assert by_videos["runs"][0] == by_lines["runs"][0]
    assert by_videos["warnings"] == []
    assert by_videos["runs"][0]["missing"] == []


def test_videos_that_a_run_lacks_are_told_and_count_as_asked(tmp_path: Path) -> None:
    golden = read_golden("tvsum", tmp_path)
    whole = evaluate_files(golden.truth, [golden.run], benchmark="tvsum")["runs"][0]["figures"]
    fewer = golden.without("BK-00", tmp_path)
    with pytest.raises(InputError, match="query BK-00 is missing"):
        evaluate_files(fewer.truth, [fewer.run], benchmark="tvsum")
    (run,) = evaluate_files(fewer.truth, [fewer.run], benchmark="tvsum", missing="zero")["runs"]
    assert (run["missing"], run["queries"]) == (["BK-00"], 8)
    others = evaluate_files(fewer.truth, [fewer.run], benchmark="tvsum", missing="skip")["runs"][0]["figures"]
    assert others["mAP (BK)"] == pytest.approx(run["figures"]["mAP (BK)"] * 3 / 2)
    assert {name: value for name, value in run["figures"].items() if value == whole[name]}.keys() == whole.keys() - {
        "mAP (BK)",
        "mAP",
    }


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"domain": "XX", "anno": [[1], [2]]}, "video v is of the domain 'XX', not one of VT, "),
        ({"domain": "VT", "anno": [[1], [2, 3]]}, "row 1: its labels do not come from the same people"),
        ({"domain": "VT", "anno": [[]]}, "row 1: its labels do not come from the same people"),
    ],
)
def test_labels_with_problems_are_refused(entry: Any, message: str, tmp_path: Path) -> None:
    truth, run = tmp_path / "truth.json", tmp_path / "run.jsonl"
    truth.write_text(json.dumps({"v": entry}))
    run.write_text(json.dumps({"qid": "v", "vid": "v", "pred_saliency_scores": [0.5, 0.1]}))
    with pytest.raises(InputError) as caught:
        evaluate_files(truth, [run], benchmark="tvsum")
    assert message in str(caught.value)


def test_runs_without_scores_of_clips_and_decoded_files_are_told(tmp_path: Path) -> None:
    golden = read_golden("tvsum", tmp_path)
    run = tmp_path / "moments.json"
    run.write_text(json.dumps({"VT-00": [["VT-00", 0, 2, 0.5]]}))
    with pytest.raises(InputError, match="tvsum scores clips: give files, and runs with"):
        evaluate_files(golden.truth, [run], benchmark="tvsum")
    truth = [json.loads(line) for line in golden.truth.read_text().splitlines()]
    with pytest.raises(InputError, match="tvsum scores clips: give files"):
        evaluate(truth, [{"qid": "VT-00", "vid": "VT-00", "pred_saliency_scores": [1.0]}], benchmark="tvsum")


def test_a_truth_without_labels_is_told(tmp_path: Path) -> None:
    golden = read_golden("qvhighlights", tmp_path)
    with pytest.raises(InputError, match="has no labels of clips"):
        evaluate_files(golden.truth, [golden.run], benchmark="tvsum")
