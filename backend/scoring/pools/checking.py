"""Check what a file of pools says, once its shapes are right: names that lead nowhere, scales that differ."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from backend.core.captioned import query_id
from backend.core.errors import Problem
from backend.scoring.pools.entries import RawPositive, RawVideo, Span

PAST_END_S = 0.5
"""How far a moment may end after its video: seven frames in the published TACoS file, 0.01 s in ActivityNet's."""
OTHER_SCALE = 4.0
"""Frames are more to a second than this, so a span this many times another is one of another scale."""
_ROUNDING = 0.02
"""Part of a time by which a span of another scale may differ, for being rounded."""


def scale_problems(videos: Mapping[str, RawVideo], file: str) -> list[Problem]:
    """A file of which some videos count seconds and some frames."""
    seconds = [name for name, video in videos.items() if video.fps is None]
    frames = [name for name, video in videos.items() if video.fps is not None]
    if not (seconds and frames):
        return []
    message = (
        f"mixes scales: times are seconds in {_videos(seconds)}, by `duration`, and frames in {_videos(frames)}, by"
        " `fps` and `num_frames`; bring all to seconds with `duration`"
    )
    return [Problem(file, None, message)]


def pool_problems(videos: Mapping[str, RawVideo], known: Collection[str], file: str) -> list[Problem]:
    """Everything that is wrong with queries, their positives and their pools, by query and video.

    `known` are the videos of the file, those without a readable entry too.
    """
    return [
        Problem(file, video.row, message)
        for name, video in videos.items()
        for number in range(len(video.pools))
        for message in _query_faults(name, video, number, videos, known)
    ]


def _query_faults(
    name: str, video: RawVideo, number: int, videos: Mapping[str, RawVideo], known: Collection[str]
) -> Iterator[str]:
    query = f"query {query_id(name, number)}"
    pool, positives = video.pools[number], video.positives[number]
    if fault := _time_fault(video.spans[number], video):
        yield f"{query}, own moment in video {name}: {fault}"
    if not pool:
        if positives:
            yield f"{query}: has positives and an empty pool; give it a pool that begins with video {name}"
        return
    if name not in pool:
        yield f"{query}: its own video {name} is not in its pool"
    for other, count in Counter(pool).items():
        if count > 1:
            yield f"{query}: video {other} is {count} times in its pool"
        if other not in known:
            yield f"{query}: video {other} of its pool is not in the file"
    for place, positive in enumerate(positives, start=1):
        for fault in _positive_faults(positive, pool, videos, known):
            yield f"{query}, positive {place} in video {positive.video}: {fault}"


def _positive_faults(
    positive: RawPositive, pool: list[str], videos: Mapping[str, RawVideo], known: Collection[str]
) -> Iterator[str]:
    if positive.video not in pool:
        yield "the video is not in the pool"
        if positive.video not in known:
            yield "the video is not in the file"
    video = videos.get(positive.video)
    if video is None:
        return
    if fault := _time_fault(positive.span, video):
        yield fault
    elif said := _in_another_scale(positive, video):
        there, here = ("frames", "seconds") if video.fps else ("seconds", "frames or another unit")
        yield (
            f"mixes scales: the video has this sentence at {_told(said)} {there}, the positive at"
            f" {_told(positive.span)}, which look like {here}"
        )


def _time_fault(span: Span, video: RawVideo) -> str | None:
    """What is wrong with a span in the scale of its video."""
    if video.fps is not None and not (span[0].is_integer() and span[1].is_integer()):
        return (
            f"{_told(span)} are no frames, which the times of a video with `fps` and no `duration` are; if they are"
            " seconds, give `duration` for all videos"
        )
    end_s = video.seconds(span)[1]
    if end_s <= video.duration_s + PAST_END_S:
        return None
    if video.fps is not None:
        return f"{_told(span)} ends after the video's last frame, {video.duration_s * video.fps:.0f}"
    return (
        f"{_told(span)} ends after the video, which lasts {video.duration_s:g} s; if times are frames, give `fps` and"
        " `num_frames` instead of `duration` for all videos"
    )


def _in_another_scale(positive: RawPositive, video: RawVideo) -> Span | None:
    """Where the video has the sentence, if that is the positive's span times a constant far from 1."""
    said = [
        span
        for span, sentence in zip(video.spans, video.sentences, strict=True)
        if sentence.split() == positive.sentence.split()
    ]
    if positive.span in said:
        return None
    return next((span for span in said if _rescaled(span, positive.span)), None)


def _rescaled(one: Span, other: Span) -> bool:
    """Whether two spans are one in two scales.

    >>> _rescaled((141, 354), (4.796, 12.041)), _rescaled((0, 60), (0, 2)), _rescaled((4, 12), (5, 12))
    (True, True, False)
    """
    small, large = sorted((one, other), key=lambda span: span[1])
    ratio = large[1] / small[1]
    return ratio >= OTHER_SCALE and abs(large[0] - ratio * small[0]) <= _ROUNDING * large[1]


def _told(span: Span) -> str:
    return f"[{span[0]:g}, {span[1]:g}]"


def _videos(names: list[str]) -> str:
    return f"{len(names)} video{'' if len(names) == 1 else 's'} such as {names[0]}"
