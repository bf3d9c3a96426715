"""MVMR (Yang et al., CIKM 2024): find all moments that match a query in a given pool of videos."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure

BENCHMARK = Benchmark(
    "mvmr",
    "MVMR",
    "moments in a pool of videos for each sentence",
    "CROCS/crocs/mvmr/evaluation.py (yny0506/Massive-Videos-Moment-Retrieval, 122883f)",
    (
        Part(
            tuple(
                PublishedFigure(f"R@{k},IoU@{theta}", f"recall@{k},{theta}")
                for k in (1, 5, 10, 20, 50)
                for theta in (0.3, 0.5, 0.7)
            )
        ),
    ),
    {"arithmetic": "float32", "missing": "error"},
    notes=(
        "The truth is the pools' own: a query's own moment, and its positives; queries with short pools do not count.",
        "A sentence that its video has more than once is right at every occurrence; the published code takes one.",
        "Positives of TACoS are in frames, which the published code reads as seconds; here they become seconds.",
        "Published figures are of predictions pruned within each video, as --nms does.",
    ),
    in_pools=True,
)
