"""Charades-CD (Yuan et al., HUMA 2021): Charades-STA with other moments in its test splits than in training."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure, grounding_figures

_THETA = (0.3, 0.5, 0.7)

BENCHMARK = Benchmark(
    "charades-cd",
    "Charades-CD",
    "the moment of a given video for a sentence, in other distributions",
    "utils/runner_utils_t7.py (qzhb/BSSARD, 23a146d); the authors published data alone",
    (
        Part(
            (
                *grounding_figures((1,), _THETA),
                *(PublishedFigure(f"dR@1, IoU={theta}", f"dr@1,{theta}") for theta in _THETA),
            )
        ),
    ),
    {"arithmetic": "float64_hull", "missing": "error"},
    notes=("Score test-iid and test-ood apart: each is a file of its own.",),
    repair="cut",
)
