"""TVR (Lei et al., ECCV 2020): find moments in a corpus (VCMR) or in the query's own video (SVMR), or videos (VR)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from backend.scoring.benchmarks.benchmark import Benchmark, Part, PublishedFigure, unchanged_run, unchanged_truth
from backend.scoring.matching.columns import Run, Truth

FIRST = 100
"""How many predictions of a query count; for SVMR this limit applies before those of other videos are removed."""
TYPES = {"v": "the video", "t": "subtitles", "vt": "both"}
"""The types of sentences, and what each type is about."""
_CUTOFFS = (1, 5, 10, 100)

OfTruth = Callable[[Truth], Truth]
OfRun = Callable[[Run, Truth], Run]


def of_type(name: str) -> OfTruth:
    """Return a function that keeps the truth's queries of the type `name`: `v` (video), `t` (subtitles) or `vt` (both).

    It keeps no query if the truth has no types.
    """

    def taken(truth: Truth) -> Truth:
        types = truth.types or ("",) * len(truth.queries)
        return truth.of_queries(np.array([query_type == name for query_type in types], dtype=bool))

    return taken


def videos_of(truth: Truth) -> Truth:
    """Return the truth with every moment replaced by its video, as a span of one second."""
    return replace(truth, start_s=np.zeros(len(truth.video)), end_s=np.ones(len(truth.video)))


def run_of_videos(run: Run, _truth: Truth) -> Run:
    """Return the run with every prediction replaced by its video, as a span of one second; the truth is not used."""
    return replace(run, start_s=np.zeros(len(run.video)), end_s=np.ones(len(run.video)))


def in_own_videos(run: Run, truth: Truth) -> Run:
    """Return a run with only the predictions that lie in a video where the truth has a moment of the same query."""
    queries = {str(query): number for number, query in enumerate(truth.queries)}
    videos = {video: number for number, video in enumerate(truth.videos)}
    query = np.array([queries.get(str(one), -1) for one in run.queries], dtype=np.int64)[run.query]
    video = np.array([videos.get(one, -1) for one in run.videos], dtype=np.int64)[run.video]
    own = np.isin(query * len(videos) + video, truth.query * len(videos) + truth.video)
    return run.take(np.flatnonzero(own & (query >= 0) & (video >= 0)))


def of_task(task: str, then: OfRun, *, some: bool) -> Callable[[Run, Truth], Run | None]:
    """Return a function that selects the predictions of one task (`VCMR`, `SVMR` or `VR`) from a run.

    It takes the first 100 predictions of each query, applies `then` to them and returns the result. It returns None if
    the run lacks the task. If `some` is true, only queries of the truth are kept.
    """

    def taken(run: Run, truth: Truth) -> Run | None:
        part = run.tasks.get(task)
        if part is None:
            return None
        if some:
            known = {str(query) for query in truth.queries}
            part = part.of_queries(np.array([str(query) in known for query in part.queries], dtype=bool))
        place = np.arange(len(part.video)) - np.repeat(part.offsets[:-1], np.diff(part.offsets))
        return then(part.take(np.flatnonzero(place < FIRST)), truth)

    return taken


def _parts(of_truth: OfTruth, prefix: str = "", about: str = "") -> tuple[Part, ...]:
    some = of_truth is not unchanged_truth

    def moments(task: str) -> tuple[PublishedFigure, ...]:
        return tuple(
            PublishedFigure(f"{task} {prefix}{theta}-r{k}", f"recall@{k},{theta}", about)
            for theta in (0.5, 0.7)
            for k in _CUTOFFS
        )

    alone = ", ".join(filter(None, ("of whole videos", about)))
    videos = tuple(PublishedFigure(f"VR {prefix}r{k}", f"recall@{k},0.5", alone) for k in _CUTOFFS)
    return (
        Part(moments("VCMR"), of_truth=of_truth, of_run=of_task("VCMR", unchanged_run, some=some)),
        Part(moments("SVMR"), of_truth=of_truth, of_run=of_task("SVMR", in_own_videos, some=some)),
        Part(
            videos,
            of_truth=lambda truth: videos_of(of_truth(truth)),
            of_run=of_task("VR", run_of_videos, some=some),
        ),
    )


BENCHMARK = Benchmark(
    "tvr",
    "TVR",
    "moments in a corpus, in their own video, and videos alone",
    "standalone_eval/eval.py (jayleicn/TVRetrieval, d99a9ea)",
    (
        *_parts(unchanged_truth),
        *(
            part
            for name, about in TYPES.items()
            for part in _parts(of_type(name), f"{name}-", f"sentences about {about}")
        ),
    ),
    {"arithmetic": "float32", "missing": "error"},
    notes=(
        "Tasks that a file has no predictions for have no figures; a run of another form is one of VCMR.",
        f"Only a query's first {FIRST} predictions are looked at, in SVMR before those of other videos are left out.",
    ),
    tasks=True,
)
