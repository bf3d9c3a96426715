"""Moments whose IoU is exactly the threshold while float64 says otherwise: golden/boundary.json."""

import json

import numpy as np
import pytest

from backend.core.timespan import iou_float64
from backend.scoring.evaluate import evaluate


@pytest.mark.parametrize("iou_compare", ["ge", "gt"])
@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
def test_a_moment_at_the_threshold_counts_as_its_arithmetic_says(shared, arithmetic, iou_compare):
    for case in json.loads((shared / "golden" / "boundary.json").read_text("utf-8"))["cases"]:
        start, end = case["ground_truth"]
        truth = {"q": [{"video": "v", "start": start, "end": end, "relevance": 4}]}
        run = {"q": [["v", *case["prediction"], 1.0]]}
        mu = case["threshold"]
        result = evaluate(truth, run, k=[1], mu=[mu], theta=[mu], arithmetic=arithmetic, iou_compare=iou_compare)[
            "mean"
        ]
        counts = {compare: float(case[f"{arithmetic}_{compare}"]) for compare in ("ge", "gt")}
        assert result[f"ndcg@1,{mu}"] == counts[iou_compare], case
        # These have their comparison from their papers, not from the option.
        assert result[f"recall_gt@1,{mu}"] == result[f"axiou_ap@1,{mu}"] == counts["gt"], case
        assert result[f"recall@1,{mu}"] == counts["ge"], case


def test_float64_iou_has_the_published_last_bit(shared):
    for case in json.loads((shared / "golden" / "boundary.json").read_text("utf-8"))["cases"]:
        columns = [np.array([time]) for time in (*case["prediction"], *case["ground_truth"])]
        assert iou_float64(*columns)[0] == case["iou_float64_official"]
