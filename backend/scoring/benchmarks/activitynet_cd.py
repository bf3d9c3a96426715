"""ActivityNet-CD (Yuan et al., HUMA 2021): ActivityNet Captions with other moments in tests than in training."""

from dataclasses import replace

from backend.scoring.benchmarks import charades_cd

BENCHMARK = replace(charades_cd.BENCHMARK, name="activitynet-cd", title="ActivityNet-CD")
