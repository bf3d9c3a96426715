"""TACoS (Regneri et al., TACL 2013) for grounding: find the moment of each sentence in a given video."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, grounding_figures

BENCHMARK = Benchmark(
    "tacos",
    "TACoS",
    "the moment of a given video for a sentence",
    "MMN, mmn/data/datasets/evaluation.py (MCG-NJU/MMN, e694e69); IoU=0.7 and mIoU: 2D-TAN",
    (Part(grounding_figures((1, 5), (0.1, 0.3, 0.5, 0.7))),),
    {"arithmetic": "float32", "missing": "error"},
    notes=(
        "MMN counts IoU >= theta, in float32; 2D-TAN > and in float64 (iou_compare=gt, arithmetic=float64_hull).",
        "Both prune predictions first, as --nms 0.4 does; without it a run is scored as it stands.",
    ),
)
