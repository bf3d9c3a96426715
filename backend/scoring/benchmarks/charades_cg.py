"""Charades-CG (Li et al., CVPR 2022, VISA): Charades-STA with new words or combinations of words in its tests."""

from backend.scoring.benchmarks.benchmark import Benchmark, Part, grounding_figures

BENCHMARK = Benchmark(
    "charades-cg",
    "Charades-CG",
    "the moment of a given video for a sentence with new words or combinations",
    "evaluate.py (minghangz/TFVTG, ed84709); the authors published data alone",
    (Part(grounding_figures((1,), (0.3, 0.5, 0.7))),),
    {"arithmetic": "float64_hull", "missing": "error"},
    notes=("Score test-trivial, novel-composition and novel-word apart: each is a file of its own.",),
    repair="nothing",
)
