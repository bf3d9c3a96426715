"""MomentSeeker (Yuan et al., 2025): rank the clips of a long video for a query of text, image or video."""

from dataclasses import replace

import numpy as np

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure
from backend.scoring.matching.columns import Truth


def hulls(truth: Truth) -> Truth:
    """Return the truth with one moment for each query, from its earliest start to its latest end."""
    truth = truth.answered()
    first = truth.offsets[:-1]
    if not len(first):
        return truth
    starts_s, ends_s = np.minimum.reduceat(truth.start_s, first), np.maximum.reduceat(truth.end_s, first)
    return replace(truth.take(first), start_s=starts_s, end_s=ends_s)


BENCHMARK = Benchmark(
    "momentseeker",
    "MomentSeeker",
    "the clips of a given long video for a query",
    "evaluation_code/MomentSeeker/evaluate_uniir.py (yhy-2000/MomentSeeker, cc1090a)",
    (
        Part(tuple(PublishedFigure(f"Recall@{k}", f"recall@{k},1.0") for k in (1, 3, 5, 10))),
        Part(
            (PublishedFigure("mAP@5", "momentseeker_map"),),
            of_truth=hulls,
            options={"arithmetic": "float64_hull"},
        ),
    ),
    {"arithmetic": "exact", "missing": "error"},
    notes=(
        "Recall asks for the very clip of the truth: the IoU must be 1.",
        "mAP@5 sums precisions times IoUs, and is not divided by anything: it may exceed 100.",
        "The annotations (Hugging Face) were not at hand: their form is that which the published code reads.",
    ),
    repair="nothing",
)
