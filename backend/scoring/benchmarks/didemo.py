"""DiDeMo (Hendricks et al., ICCV 2017): find the moment that several annotators marked, in segments of five seconds."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure

BENCHMARK = Benchmark(
    "didemo",
    "DiDeMo",
    "the moment of whole segments that people agree on",
    "utils/eval.py (LisaAnne/LocalizingMoments, b6a555c)",
    (
        Part(
            (
                PublishedFigure("Average rank@1", "didemo_rank1"),
                PublishedFigure("Average rank@5", "didemo_rank5"),
                PublishedFigure("Average iou", "didemo_miou"),
            )
        ),
    ),
    {"arithmetic": "float64", "missing": "error"},
    digits=6,
    percent=False,
    notes=("A run ranks every moment of whole segments, in seconds: segments 1 to 2 are 5 to 15.",),
)
