"""Every digit that a published evaluator prints; the files in golden/ say how the numbers were got."""

from pathlib import Path
from typing import Any

import pytest

from golden_benchmarks import read_golden, score

STRICT = {"iou_compare": "gt"}
TAN = {"iou_compare": "gt", "arithmetic": "float64_hull"}
CASES = [
    ("charades-sta", "TALL", {}),
    ("charades-sta", "2D-TAN", STRICT),
    ("activitynet", "LGI", {}),
    ("activitynet", "2D-TAN", STRICT),
    ("qvhighlights", "QVHighlights", {}),
    ("qvhighlights", "CG-DETR", {"also": ["miou", "recall@1,0.3", "map@0.6"]}),
    ("tacos", "MMN", {}),
    ("tacos", "MMN, NMS 0.4", {"nms": 0.4}),
    ("tacos", "2D-TAN", TAN),
    ("tacos", "2D-TAN, NMS 0.4", {**TAN, "nms": 0.4}),
    ("tvr", "TVR", {}),
    ("tvr-ranking", "TVR-Ranking", {}),
    ("didemo", "DiDeMo", {}),
    ("ego4d-nlq", "Ego4D", {}),
    ("charades-cd", "BSSARD", {}),
    ("activitynet-cd", "BSSARD", {}),
    ("charades-cg", "TFVTG", {}),
    ("mad", "MAD", {}),
    ("mad", "CONE", {}),
    ("hirest", "HiREST", {}),
    ("tvsum", "UMT", {}),
    ("tvsum", "CG-DETR", {}),
    ("youtube-highlights", "UMT", {}),
    ("momentseeker", "MomentSeeker", {}),
    ("youcook2", "GVL", {}),
]


@pytest.mark.parametrize(("benchmark", "evaluator", "options"), CASES, ids=lambda value: str(value)[:20])
def test_every_printed_digit_is_that_of_the_published_evaluator(
    benchmark: str, evaluator: str, options: dict[str, Any], tmp_path: Path
) -> None:
    golden = read_golden(benchmark.replace("-", "_"), tmp_path)
    expected = golden.printed[evaluator]
    found = score(benchmark, golden, **options)
    assert {name: found[name] for name in expected} == expected
