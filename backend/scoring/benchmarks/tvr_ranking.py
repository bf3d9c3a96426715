"""TVR-Ranking (Liang et al., 2024): rank all moments of a corpus that match a query, with graded relevance."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure

BENCHMARK = Benchmark(
    "tvr-ranking",
    "TVR-Ranking",
    "all moments of a corpus for a query, graded",
    "modules/ndcg_iou.py (Ranking-VMR/TVR-Ranking, db1dc44)",
    (
        Part(
            tuple(
                PublishedFigure(f"NDCG@{k}, IoU={mu}", f"ndcg@{k},{mu}") for k in (10, 20, 40) for mu in (0.3, 0.5, 0.7)
            )
        ),
    ),
    preset="tvr-ranking",
    digits=6,
    percent=False,
    notes=(
        "The mean is of the queries that the run has: compare runs only where they have the same ones.",
        "The published code is not the paper's formula: it counts IoU > mu and takes 2^relevance - 1 as gain.",
    ),
)
