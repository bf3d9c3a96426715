"""Ego4D natural language queries (Grauman et al., CVPR 2022): find the moment of a clip that answers a question."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, grounding_figures

BENCHMARK = Benchmark(
    "ego4d-nlq",
    "Ego4D NLQ",
    "the moment of a given clip that answers a question",
    "NLQ/VSLNet/utils/evaluate_ego4d_nlq.py (EGO4D/episodic-memory, 5275b95)",
    (Part(grounding_figures((1, 3, 5), (0.3, 0.5))),),
    {"arithmetic": "float64_hull", "iou_compare": "gt", "missing": "skip"},
    notes=(
        "The mean is of the queries that the run has; the published code prints how many these are.",
        "mIoU is of the first prediction: the published code takes the best three of one.",
    ),
    repair="nothing",
)
