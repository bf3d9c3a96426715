"""Prior: where moments lie in videos, whatever is asked; what a system reaches that is blind to query and video.

Otani, Nakashima, Rahtu and Heikkilä, "Uncovering Hidden Challenges in Query-Based Video Moment Retrieval", BMVC 2020,
found such baselines near the best systems; the study of AxIoU (Togashi et al., CVPR 2022, section 6.1) has one, too.
Here: with a training moment `[s, e)` of a video that lasts d, the point `(s / d, (e - s) / d)` falls into one
of `BINS` x `BINS` equal bins; the share of the moments in a bin is its density. The span that stands for a bin is the
mean of its points, so that moments which begin with their video stay at its beginning.

All videos are equally likely, so the best span comes first in every video, in an order drawn for each query; then the
second-best, and so on.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from backend.core.errors import InputError
from backend.core.progress import Steps
from backend.systems.model import TOP, Answers, KnownMoment, SearchTask, generator, in_ms, require_searchable

BINS = 20
"""Along either axis: a bin is 5 % of a video, about 4 s of an episode's clip in TVR."""


class LikelySpan(NamedTuple):
    """A span as shares of its video: where it begins, how long it is, and which share of the training moments is so."""

    start: float
    length: float
    density: float


def density(moments: Sequence[KnownMoment], durations: Mapping[str, float], bins: int = BINS) -> list[LikelySpan]:
    """The bins that hold moments, the densest first; of equal ones the earlier, then the shorter.

    Parts of moments before or after their video do not count.

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


def _mean(found: Sequence[tuple[float, float]], total: int) -> LikelySpan:
    starts, lengths = zip(*found, strict=True)
    return LikelySpan(sum(starts) / len(found), sum(lengths) / len(found), len(found) / total)


def answer(task: SearchTask, seed: int = 0, *, top: int = TOP, progress: Steps | None = None) -> Answers:
    """The likeliest spans of each video; scores are densities.

    Raises:
        InputError: there are no training moments, or it is not known how long one's video lasts; or see
            `require_searchable`.
    """
    require_searchable(task)
    for video in dict.fromkeys(one.video for one in task.training):
        lasts = task.training_durations.get(video)
        if lasts is None or not 0 < lasts < inf:
            told = "unknown" if lasts is None else f"{lasts:g} s"
            raise InputError.single(
                task.source, f"video {video}: training moments lie in it, and its duration is {told}"
            )
    spans = density(task.training, task.training_durations)
    if not spans:
        raise InputError.single(task.source, "has no training moments: where moments lie is learnt from them")
    videos = task.videos
    found: Answers = {}
    for done, query in enumerate(task.queries, start=1):
        order = [videos[n] for n in generator(seed, query).permutation(len(videos))[:top]]
        found[query] = [
            in_ms(name, *_within(span, task.durations[name]), span.density)
            for span in spans[: -(-top // len(order))]
            for name in order
        ][:top]
        if progress:
            progress(done, len(task.queries))
    return found


def _within(span: LikelySpan, duration_s: float) -> tuple[float, float]:
    return span.start * duration_s, min(span.start + span.length, 1.0) * duration_s
