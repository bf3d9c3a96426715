"""YouCook2 (Zhou et al., AAAI 2018) for grounding: find the moment of each step in a given cooking video."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, grounding_figures

BENCHMARK = Benchmark(
    "youcook2",
    "YouCook2",
    "the moment of a given cooking video for a step",
    "densevid_eval3/eval_grounding.py (zjr2000/GVL, 91c237e)",
    (Part(grounding_figures((1, 5), (0.1, 0.3, 0.5, 0.7))),),
    {"arithmetic": "float64_hull", "iou_epsilon": 1e-8, "missing": "zero"},
    notes=("The published code adds 1e-8 s to the union, so that an IoU of exactly theta does not reach it.",),
    repair="nothing",
)
