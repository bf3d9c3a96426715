"""YouTube Highlights (Sun et al., ECCV 2014), highlight detection: rank the clips of a video, highlights first.

A clip is a highlight if its label is above 0. All clips count; see `tvsum` for the average precision.
"""

from backend.scoring.benchmarks.benchmark import Benchmark, Part
from backend.scoring.benchmarks.tvsum import highlight_figures

DOMAINS = ("dog", "gymnastics", "parkour", "skating", "skiing", "surfing")

BENCHMARK = Benchmark(
    "youtube-highlights",
    "YouTube Highlights",
    "the highlights of a video, by domain",
    "datasets/youtube.py (TencentARC/UMT, bde05e3)",
    (Part(()),),
    {"missing": "error"},
    digits=5,
    percent=False,
    notes=("The published code scores one domain at a time; papers give the mean of the domains.",),
    beside=highlight_figures(lambda labels: labels > 0, DOMAINS, None, "highlight AP"),
)
