"""ActivityNet Captions for grounding: find the moment of each sentence in a given video."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, grounding_figures

BENCHMARK = Benchmark(
    "activitynet",
    "ActivityNet Captions",
    "the moment of a given video for a sentence",
    "LGI, src/utils/eval_utils.py (JonghwanMun/LGI4temporalgrounding, 199e7ab); mIoU: 2D-TAN",
    (Part(grounding_figures((1, 5), (0.3, 0.5, 0.7))),),
    {"arithmetic": "float64_hull", "missing": "error"},
    notes=(
        "LGI counts IoU >= theta; 2D-TAN counts IoU > theta, as --option iou_compare=gt does.",
        "mIoU is of the first prediction, as in 2D-TAN; LGI takes the best of the first five.",
    ),
)
