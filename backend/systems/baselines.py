"""Define the baseline systems that need no video frames, and `answer`, which runs any baseline."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from backend.core.errors import InputError
from backend.core.progress import Progress, Steps, steps_of
from backend.encoders.cache import encode_cached
from backend.encoders.clip import Clip
from backend.encoders.search import top_moments
from backend.encoders.sentence import Encoder
from backend.scoring.files.formats import read_run, read_videos
from backend.scoring.matching.columns import Run
from backend.scoring.pools.model import TOP_VIDEOS
from backend.systems.model import (
    TOP,
    Answers,
    KnownMoment,
    Predicted,
    SearchTask,
    Windowing,
    generator,
    in_ms,
    require_searchable,
    require_texts,
)

BASELINES = {
    "random": "has seen how long videos last",
    "prior": "has seen where training moments are in their videos, but no query and no video",
    "caption": "is an UPPER BOUND: it has seen the captions of the moments, which no system that searches videos has",
    "clip": "has seen the frames of the videos; CLIP, trained on none of them",
    "two-step": "has seen two runs: the best videos of one, the moments of the other",
}
"""What each baseline has seen, by name."""
_RENAMED = {"prmr": "two-step"}


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """The options of all baselines; each baseline uses only some of them.

    The baselines are `random`, `prior` (usual places of moments), `caption` (similar captions), `clip` (similar frames)
    and `two-step` (two runs combined). A run is a file of predicted moments.

    Attributes:
        seed: the random seed of `random` and `prior`.
        top: how many moments are predicted for each query.
        windowing: the windows of each video that `clip` compares with a query.
        first: the run file from which `two-step` takes the best videos of each query.
        second: the run file from which `two-step` takes the moments in these videos.
        best: how many videos of `first` the baseline `two-step` keeps for each query.
        index: a JSON file `{name: [duration in seconds, video number]}`, for run files that have video numbers instead
            of names.
    """

    seed: int = 0
    top: int = TOP
    windowing: Windowing = field(default_factory=Windowing)
    first: Path | None = None
    second: Path | None = None
    best: int = TOP_VIDEOS
    index: Path | None = None

    def __post_init__(self) -> None:
        """Raise an `InputError` if an option is out of range."""
        for option, number in (("top", self.top), ("best videos", self.best)):
            if number < 1:
                raise InputError.single(option, f"{number} is not at least 1")


def fault_of_name(name: str) -> str | None:
    """Return why there is no baseline of this name, to be said after the name; None if there is one.

    >>> fault_of_name("prmr")
    'is now called two-step'
    """
    if name in BASELINES:
        return None
    if name in _RENAMED:
        return f"is now called {_RENAMED[name]}"
    return f"is not one of {', '.join(BASELINES)}"


def require_baseline(name: str, options: BaselineOptions) -> None:
    """Raise an error if there is no such baseline, or its options lack an input.

    Raises:
        InputError: there is no such baseline, or `two-step` is not given the two runs (prediction files) that it
            combines.
    """
    if fault := fault_of_name(name):
        raise InputError.single(name, fault)
    if name == "two-step" and (options.first is None or options.second is None):
        raise InputError.single(name, "needs two runs: one that ranks the videos, and one that ranks moments")


def answer(
    name: str,
    task: SearchTask,
    options: BaselineOptions,
    *,
    encoder: Callable[[], Encoder],
    clip: Callable[[], Clip],
    embeddings: Path,
    progress: Progress | None = None,
) -> tuple[Answers, tuple[str, ...]]:
    """Return the moments that a baseline predicts for the queries of a task.

    Args:
        name: the name of the baseline.
        task: the queries and videos.
        options: see `BaselineOptions`.
        encoder: loads the sentence encoder; called only if the baseline needs one.
        clip: loads the CLIP model; called only if the baseline needs one.
        embeddings: the folder that caches vectors.
        progress: called with (name of the step, number done, number of all).

    Returns:
        The predicted moments of each query, and the reason for each video that could not be read.

    Raises:
        InputError: the task or a run lacks data that the baseline needs; or see `require_baseline`.
        EncoderUnavailable: a model cannot be built.
    """
    require_baseline(name, options)
    top = options.top
    if name == "random":
        return random_answers(task, options.seed, top=top, progress=steps_of(progress, "drawing")), ()
    if name == "prior":
        return prior_answers(task, options.seed, top=top, progress=steps_of(progress, "drawing")), ()
    if name == "caption":
        return answer_by_captions(task, encoder(), embeddings, top=top, progress=progress), ()
    if name == "clip":
        from backend.systems import clip_windows  # PyAV

        return clip_windows.answer(task, clip(), embeddings, options.windowing, top=top, progress=progress)
    if options.first is None or options.second is None:
        raise AssertionError("require_baseline has seen two runs")
    index = read_videos(options.index) if options.index else None
    videos, moments = (read_run(path, index) for path in (options.first, options.second))
    return two_step_answers(task, videos, moments, best=options.best, top=top), ()


def random_answers(task: SearchTask, seed: int = 0, *, top: int = TOP, progress: Steps | None = None) -> Answers:
    """Draw `top` random moments for each query: each is a random video and two random times in it.

    The earlier time is the start. Scores fall from 1 in equal steps. If l is the length of a moment divided by that of
    its video, l has the density `2 (1 - l)` and the mean 1/3. Real moments are shorter; the baseline `prior` imitates
    them.

    Raises:
        InputError: see `require_searchable`.

    >>> found = random_answers(SearchTask("t", {"q": "a man"}, {"v": 10.0}), top=2)["q"]
    >>> [one.score for one in found], all(0 <= one.start_s < one.end_s <= 10 for one in found)
    ([1.0, 0.5], True)
    """
    require_searchable(task)
    videos = task.videos
    answers: Answers = {}
    for done, query in enumerate(task.queries, start=1):
        draw = generator(seed, query)
        chosen = draw.integers(len(videos), size=top)
        shares = draw.random((top, 2))
        shares.sort(axis=1)
        answers[query] = [
            in_ms(name, start * task.durations[name], end * task.durations[name], 1 - rank / top)
            for rank, (name, (start, end)) in enumerate(zip((videos[n] for n in chosen), shares, strict=True))
        ]
        if progress:
            progress(done, len(task.queries))
    return answers


def two_step_answers(task: SearchTask, videos: Run, moments: Run, *, best: int = TOP_VIDEOS, top: int = TOP) -> Answers:
    """Return the moments that one system predicts, but only those in the best videos of another system.

    This is the two-step search that papers compare with (Yang et al., "MVMR", CIKM 2024, section 7; TVR-Ranking,
    section 5): a system for whole videos keeps the best five, and only moments in these are answers. Both inputs are
    runs (the ranked predictions of a system), so any two systems can be combined.

    The order of predictions within a run is kept. A query that is missing in one of the runs gets no answer.

    Args:
        task: the queries and videos.
        videos: the run of the first step, which ranks videos; the times of its predictions do not matter.
        moments: the run of the second step, which ranks moments.
        best: how many videos the first step keeps.
        top: how many predictions a query gets.

    Raises:
        InputError: no query of the task is in both runs.
    """
    first = {query: _videos(videos, rows, best) for query, rows in _by_query(videos)}
    second = dict(_by_query(moments))
    answers = {
        query: list(_predicted(moments, second[query], first[query], top))
        for query in task.queries
        if query in first and query in second
    }
    if not answers:
        raise InputError.single(task.source, f"shares no query with both {videos.file} and {moments.file}")
    return answers


def _by_query(run: Run) -> Iterator[tuple[str, range]]:
    for number, query in enumerate(run.queries):
        yield str(query), range(int(run.offsets[number]), int(run.offsets[number + 1]))


def _videos(run: Run, rows: range, best: int) -> frozenset[str]:
    return frozenset(list(dict.fromkeys(run.videos[run.video[row]] for row in rows))[:best])


def _predicted(run: Run, rows: range, videos: frozenset[str], top: int) -> Iterator[Predicted]:
    left = [row for row in rows if run.videos[run.video[row]] in videos][:top]
    for place, row in enumerate(left):
        score = float(run.score[row])
        finite_score = score if np.isfinite(score) else 1 - place / len(left)
        yield Predicted(run.videos[run.video[row]], float(run.start_s[row]), float(run.end_s[row]), finite_score)


def answer_by_captions(
    task: SearchTask, encoder: Encoder, embeddings: Path, *, top: int = TOP, progress: Progress | None = None
) -> Answers:
    """Return the moments whose captions are most similar to each query; scores are cosines.

    This is an upper bound: systems that search videos do not know the captions, and a query may have been written from
    one of them. It shows what text alone can reach if the moments are given.

    A moment with several captions gets the score of the most similar one. Moments of equal score stay in the order of
    the task.

    Args:
        task: queries and videos, with captions.
        encoder: the sentence encoder.
        embeddings: the folder that caches vectors.
        top: how many predictions a query gets.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: no moment has a caption, or a query has no text; or see `require_searchable`.
        EncoderUnavailable: the encoder cannot be built.
    """
    require_searchable(task)
    require_texts(task)
    moments, described = _described(task.captions)
    if not described:
        raise InputError.single(task.source, "has no captions, and this baseline ranks moments by theirs")
    vectors = encode_cached(encoder, list(described), embeddings, progress=steps_of(progress, "encoding captions"))
    texts = list(task.queries.values())
    query_vectors = encode_cached(encoder, texts, embeddings, progress=steps_of(progress, "encoding queries"))
    ranking = top_moments(
        query_vectors, vectors, list(described.values()), top, progress=steps_of(progress, "searching")
    )
    return {
        query: [Predicted(*moments[match.moment_id], float(match.similarity)) for match in matches]
        for query, matches in zip(task.queries, ranking, strict=True)
    }


def _described(captions: Sequence[KnownMoment]) -> tuple[list[tuple[str, float, float]], dict[str, list[int]]]:
    """Return the distinct captioned moments as (video, start, end), and the moments that each caption text describes.

    The dictionary maps a text to indices in the list of moments.
    """
    number: dict[tuple[str, float, float], int] = {}
    described: dict[str, list[int]] = {}
    for known in captions:
        if text := known.caption.strip():
            of_text = described.setdefault(text, [])
            moment = number.setdefault(known[:3], len(number))
            if moment not in of_text:
                of_text.append(moment)
    return list(number), described


BINS = 20
"""Along either axis: a bin is 5 % of a video, about 4 s of an episode's clip in TVR."""


class LikelySpan(NamedTuple):
    """A typical span of a moment in its video, for videos of any length.

    Attributes:
        start: its start, divided by the video's duration.
        length: its length, divided by the video's duration.
        density: the fraction of training moments with about this start and length; see `density`.
    """

    start: float
    length: float
    density: float


def density(moments: Sequence[KnownMoment], durations: Mapping[str, float], bins: int = BINS) -> list[LikelySpan]:
    """Return the typical spans of moments in their videos, the most frequent first.

    A moment `[s, e)` of a video of duration d is the point `(s / d, (e - s) / d)`: start and length relative to the
    video. The points are sorted into a grid of `bins` x `bins` equal bins. Each bin with points gives one span. Its
    start and length are the means of these points, and its density is the fraction of all moments in the bin. Equally
    dense bins are sorted by start, then by length. A part of a moment outside its video is cut off.

    >>> moments = [KnownMoment("v", 0, 2), KnownMoment("v", 0, 1), KnownMoment("w", 6, 10)]
    >>> [tuple(round(x, 3) for x in span) for span in density(moments, {"v": 20.0, "w": 10.0}, bins=4)]
    [(0.0, 0.075, 0.667), (0.6, 0.4, 0.333)]
    """
    points: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for moment in moments:
        start = min(max(moment.start_s / durations[moment.video], 0.0), 1.0)
        length = min(max(moment.end_s / durations[moment.video], 0.0), 1.0) - start
        if length > 0:
            points[min(int(start * bins), bins - 1), min(int(length * bins), bins - 1)].append((start, length))
    total = sum(map(len, points.values()))
    order = sorted(points, key=lambda place: (-len(points[place]), place))
    return [_mean(points[place], total) for place in order]


def _mean(spans: Sequence[tuple[float, float]], total: int) -> LikelySpan:
    starts, lengths = zip(*spans, strict=True)
    return LikelySpan(sum(starts) / len(spans), sum(lengths) / len(spans), len(spans) / total)


def prior_answers(task: SearchTask, seed: int = 0, *, top: int = TOP, progress: Steps | None = None) -> Answers:
    """Predict the spans at which moments usually lie in a video, without looking at the query.

    The score of a span is its density: the fraction of training moments that have about this start and length.

    The results show how good a system can be without seeing queries or videos. Otani, Nakashima, Rahtu and Heikkilä,
    "Uncovering Hidden Challenges in Query-Based Video Moment Retrieval", BMVC 2020, found such baselines near the best
    systems; the study of AxIoU (Togashi et al., CVPR 2022, section 6.1) has one, too. All videos are equally likely. So
    a query first gets the most typical span in every video, in a random order of videos, then the second most typical
    span, and so on.

    Raises:
        InputError: there are no training moments, or the duration of a training video is unknown; or see
            `require_searchable`.
    """
    require_searchable(task)
    for video in dict.fromkeys(known.video for known in task.training):
        lasts = task.training_durations.get(video)
        if lasts is None or not 0 < lasts < inf:
            duration = "unknown" if lasts is None else f"{lasts:g} s"
            raise InputError.single(
                task.source, f"video {video}: it has training moments, but its duration is {duration}"
            )
    spans = density(task.training, task.training_durations)
    if not spans:
        raise InputError.single(
            task.source, "has no training moments, from which this baseline learns where moments are"
        )
    videos = task.videos
    answers: Answers = {}
    for done, query in enumerate(task.queries, start=1):
        order = [videos[n] for n in generator(seed, query).permutation(len(videos))[:top]]
        answers[query] = [
            in_ms(name, *_within(span, task.durations[name]), span.density)
            for span in spans[: -(-top // len(order))]
            for name in order
        ][:top]
        if progress:
            progress(done, len(task.queries))
    return answers


def _within(span: LikelySpan, duration_s: float) -> tuple[float, float]:
    return span.start * duration_s, min(span.start + span.length, 1.0) * duration_s
