"""Charades-STA (Gao et al., ICCV 2017): one moment of one given video for each sentence."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure

BENCHMARK = Benchmark(
    "charades-sta",
    "Charades-STA",
    "the moment of a given video for a sentence",
    "TALL, main.py (jiyanggao/TALL, 3df6794)",
    (
        Part(
            (
                *(
                    PublishedFigure(f"R@{k}, IoU={theta}", f"recall@{k},{theta}")
                    for k in (1, 5)
                    for theta in (0.3, 0.5, 0.7)
                ),
                PublishedFigure("mIoU", "miou"),
            )
        ),
    ),
    {"arithmetic": "float64_hull", "missing": "error"},
    notes=(
        "TALL counts IoU >= theta; 2D-TAN counts IoU > theta, as --option iou_compare=gt does.",
        "TALL prunes predictions first (NMS at theta - 0.05); here --nms prunes, at one IoU for every theta.",
    ),
)
