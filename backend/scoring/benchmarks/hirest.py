"""HiREST (Zala et al., CVPR 2023), moment retrieval: find the part of an instructional video that answers a prompt."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure

BENCHMARK = Benchmark(
    "hirest",
    "HiREST",
    "the part of a given video that answers a prompt",
    "evaluate.py, task moment_retrieval (j-min/HiREST, deffc16)",
    (Part(tuple(PublishedFigure(f"R@{theta}", f"recall@1,{theta}") for theta in (0.5, 0.7))),),
    {"arithmetic": "float64_hull", "iou_epsilon": 1e-8, "missing": "error", "unknown": "ignore"},
    notes=(
        "The published code adds 1e-8 s to the union, so that an IoU of exactly theta does not reach it.",
        "Its figures by category, and its tasks of videos, steps and captions, are not computed.",
    ),
    repair="nothing",
)
