"""MAD (Soldan et al., CVPR 2022): find the moment of a movie for a sentence of its audio description."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure

BENCHMARK = Benchmark(
    "mad",
    "MAD",
    "the moment of a given movie for a sentence",
    "baselines/0ShotCLIP/0_shot_baseline.py (Soldelli/MAD, b1f1974)",
    (
        Part(
            tuple(
                PublishedFigure(f"R@{k}, IoU={theta}", f"recall@{k},{theta}")
                for k in (1, 5, 10, 50, 100)
                for theta in (0.1, 0.3, 0.5)
            )
        ),
    ),
    {"arithmetic": "float32", "iou_compare": "gt", "missing": "error"},
    notes=(
        "The moments are the extended ones (`ext_timestamps`); CONE's own files have the others.",
        "The published code prunes predictions first, as --nms 0.3 does; its VLG-Net counts IoU >= theta.",
    ),
    repair="nothing",
)
