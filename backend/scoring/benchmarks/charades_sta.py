"""Charades-STA (Gao et al., ICCV 2017): find the moment of each sentence in a given video."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, grounding_figures

BENCHMARK = Benchmark(
    "charades-sta",
    "Charades-STA",
    "the moment of a given video for a sentence",
    "TALL, main.py (jiyanggao/TALL, 3df6794)",
    (Part(grounding_figures((1, 5), (0.3, 0.5, 0.7))),),
    {"arithmetic": "float64_hull", "missing": "error"},
    notes=(
        "TALL counts IoU >= theta; 2D-TAN counts IoU > theta, as --option iou_compare=gt does.",
        "TALL prunes predictions first (NMS at theta - 0.05); here --nms prunes, at one IoU for every theta.",
    ),
)
