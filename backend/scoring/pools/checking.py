"""Read the entries of a file of pools and check them for wrong structures, unknown videos and mixed time scales.

A pool is the list of videos in which a query is searched.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from backend.core.captioned import query_id
from backend.core.errors import InputError, Problem
from backend.core.typed_text import nfc
from backend.scoring.files.words import Doubled, short, text_fault

Span = tuple[float, float]

_LISTS = ("timestamps", "sentences", "pos_moments", "retrieval_pool")


@dataclass(frozen=True, slots=True)
class RawPositive:
    """A moment that matches a query, as a file of pools writes it: `[video, sentence, [start, end]]`.

    Its times are seconds or frames, as in the entry of `video`.
    """

    video: str
    sentence: str
    span: Span


@dataclass(frozen=True, slots=True)
class RawVideo:
    """The entry of one video, as written in a file of pools.

    `row` counts from 1. `fps` is None where times are already in seconds. The lists have one item for each sentence of
    the video: its span, its text, its matching moments in other videos, and the videos to search for it.
    """

    row: int
    duration_s: float
    fps: float | None
    spans: list[Span]
    sentences: list[str]
    positives: list[list[RawPositive]]
    pools: list[list[str]]

    def seconds(self, span: Span) -> Span:
        """Return a span in seconds, given a span in the unit of this video's entry (seconds or frames)."""
        return span if self.fps is None else (span[0] / self.fps, span[1] / self.fps)


def raw_videos(content: object, file: str) -> tuple[dict[str, RawVideo | None], list[Problem]]:
    """Return the entries of a file of pools by video name, and their problems. A faulty entry is None."""
    if not isinstance(content, Mapping) or not content:
        raise InputError.single(
            file, "is not a file of pools: it must be an object `video -> {duration, timestamps, ...}`"
        )
    videos: dict[str, RawVideo | None] = {}
    problems: list[Problem] = []
    rows: dict[str, int] = {}
    for row, (written, entry) in enumerate(content.items(), start=1):
        name, faults = nfc(written), list[str]()
        video = _video(name, entry, row, faults)
        if (first := rows.setdefault(name, row)) != row:
            faults.append(f"video {name} was already given in row {first}")
        videos[name] = None if faults else video
        problems += [Problem(file, row, fault) for fault in faults]
    return videos, problems


def _video(name: str, entry: object, row: int, faults: list[str]) -> RawVideo | None:
    """Return the entry of the video `name`, and append its problems to `faults`.

    If there are problems, the result is None or incomplete.
    """
    if fault := text_fault(name):
        faults.append(f"the name of a video {fault}")
    if not isinstance(entry, Mapping):
        faults.append(f"video {name}: is not an object with `timestamps` and `sentences`")
        return None
    if isinstance(entry, Doubled):
        faults += [f"video {name}: has the field `{field}` twice" for field in sorted(entry.twice)]
    lists: dict[str, list[object]] = {}
    for field in _LISTS:
        if isinstance(entry.get(field), list):
            lists[field] = entry[field]
        else:
            faults.append(f"video {name}: has no list `{field}`")
    length = _length(name, entry, faults)
    if faults or length is None:
        return None
    sizes = {field: len(value) for field, value in lists.items()}
    if len(set(sizes.values())) > 1:
        sizes_text = ", ".join(f"{size} in `{field}`" for field, size in sizes.items())
        faults.append(f"video {name}: its lists have different lengths: {sizes_text}")
        return None
    spans, sentences, positives, pools = lists.values()
    places = range(sizes["sentences"])
    return RawVideo(
        row,
        *length,
        [_span(spans[n], f"query {query_id(name, n)}, own moment in video {name}", faults) for n in places],
        [_sentence(sentences[n], f"query {query_id(name, n)}", faults) for n in places],
        [_positives(positives[n], f"query {query_id(name, n)}", faults) for n in places],
        [_pool(pools[n], f"query {query_id(name, n)}", faults) for n in places],
    )


def _length(name: str, entry: Mapping[str, object], faults: list[str]) -> tuple[float, float | None] | None:
    """Return the duration in seconds, and the frame rate if times are frames (else None).

    If a value is wrong, append that to `faults` and return None.
    """
    if "duration" not in entry and not {"fps", "num_frames"} <= entry.keys():
        faults.append(f"video {name}: has neither `duration` (times in seconds) nor `fps` and `num_frames` (in frames)")
        return None
    fields = ["duration"] if "duration" in entry else ["fps", "num_frames"]
    numbers = [_number(entry[field]) for field in fields]
    for field, number in zip(fields, numbers, strict=True):
        if number is None or number <= 0:
            faults.append(f"video {name}: `{field}` is {short(entry[field])}, not a number above 0")
    good = [number for number in numbers if number is not None and number > 0]
    if len(good) < len(fields):
        return None
    return (good[0], None) if len(good) == 1 else (good[1] / good[0], good[0])


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _span(value: object, where: str, faults: list[str]) -> Span:
    numbers = [_number(part) for part in value] if isinstance(value, list) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        faults.append(f"{where}: {short(value)} is not [start, end]")
        return 0.0, 0.0
    start, end = numbers[0], numbers[1]
    if not 0 <= start < end:
        faults.append(f"{where}: [{start:g}, {end:g}] does not start at 0 or later and end after its start")
    return start, end


def _sentence(value: object, where: str, faults: list[str]) -> str:
    fault = text_fault(value) if isinstance(value, str) else f"is {short(value)}, not text"
    if fault:
        faults.append(f"{where}: its sentence {fault}")
    return str(value)


def _positives(value: object, where: str, faults: list[str]) -> list[RawPositive]:
    if not isinstance(value, list):
        faults.append(f"{where}: `pos_moments` has {short(value)} for it, not a list")
        return []
    positives = []
    for number, item in enumerate(value, start=1):
        place = f"{where}, positive {number}"
        if not (isinstance(item, list) and len(item) == 3 and isinstance(item[0], str)):
            faults.append(f"{place}: {short(item)} is not [video, sentence, [start, end]]")
            continue
        place = f"{place} in video {item[0]}"
        positives.append(RawPositive(nfc(item[0]), _sentence(item[1], place, faults), _span(item[2], place, faults)))
    return positives


def _pool(value: object, where: str, faults: list[str]) -> list[str]:
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        faults.append(f"{where}: `retrieval_pool` has {short(value)} for it, not a list of videos")
        return []
    return [nfc(name) for name in value]


PAST_END_S = 0.5
"""Seconds by which a moment may end after its video.

Some published moments do: by seven frames in TACoS, by 0.01 s in ActivityNet.
"""
OTHER_SCALE = 4.0
"""Spans that differ by at least this factor may be frames and seconds: videos have more frames per second."""
_ROUNDING = 0.02
"""The relative difference that rounding may cause between two spans in different time scales."""


def scale_problems(videos: Mapping[str, RawVideo], file: str) -> list[Problem]:
    """Return a problem if some videos of the file give their times in seconds and others in frames."""
    seconds = [name for name, video in videos.items() if video.fps is None]
    frames = [name for name, video in videos.items() if video.fps is not None]
    if not (seconds and frames):
        return []
    message = (
        f"mixes seconds and frames: times are seconds in {_videos(seconds)}, by `duration`, but frames "
        f"in {_videos(frames)}, by `fps` and `num_frames`; convert all to seconds with `duration`"
    )
    return [Problem(file, None, message)]


def pool_problems(videos: Mapping[str, RawVideo], known: Collection[str], file: str) -> list[Problem]:
    """Return the problems in each query's times, its matching moments and its pool of videos.

    `videos` has the readable entries. `known` holds all videos of the file, including those without a readable entry.
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
            yield f"{query}: has positives but an empty pool; give it a pool that begins with video {name}"
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
    elif own_span := _in_another_scale(positive, video):
        own_unit, positive_unit = ("frames", "seconds") if video.fps else ("seconds", "frames or another unit")
        yield (
            f"mixes seconds and frames: the video has this sentence at {_span_text(own_span)} {own_unit}, but the "
            f"positive at {_span_text(positive.span)}, which looks like {positive_unit}"
        )


def _time_fault(span: Span, video: RawVideo) -> str | None:
    """Return what is wrong with a span in the unit of its video's entry (seconds or frames), or None."""
    if video.fps is not None and not (span[0].is_integer() and span[1].is_integer()):
        return (
            f"{_span_text(span)} are not frame numbers, but a video with `fps` and without `duration` has its "
            "times in frames; if they are seconds, give `duration` for all videos"
        )
    end_s = video.seconds(span)[1]
    if end_s <= video.duration_s + PAST_END_S:
        return None
    if video.fps is not None:
        return f"{_span_text(span)} ends after the video's last frame, {video.duration_s * video.fps:.0f}"
    return (
        f"{_span_text(span)} ends after the video, which lasts {video.duration_s:g} s; if times are frames, "
        "give `fps` and `num_frames` instead of `duration` for all videos"
    )


def _in_another_scale(positive: RawPositive, video: RawVideo) -> Span | None:
    """Return a matching moment's span as its video's own entry has it, if the two seem to differ only in their unit.

    For example, `positive` gives the span in seconds, and the entry of `video` has it in frames. Return None if the
    spans are equal, or if no unit explains the difference.
    """
    own_spans = [
        span
        for span, sentence in zip(video.spans, video.sentences, strict=True)
        if sentence.split() == positive.sentence.split()
    ]
    if positive.span in own_spans:
        return None
    return next((span for span in own_spans if _rescaled(span, positive.span)), None)


def _rescaled(first: Span, second: Span) -> bool:
    """Return whether two spans are the same span in two time scales.

    >>> _rescaled((141, 354), (4.796, 12.041)), _rescaled((0, 60), (0, 2)), _rescaled((4, 12), (5, 12))
    (True, True, False)
    """
    small, large = sorted((first, second), key=lambda span: span[1])
    ratio = large[1] / small[1]
    return ratio >= OTHER_SCALE and abs(large[0] - ratio * small[0]) <= _ROUNDING * large[1]


def _span_text(span: Span) -> str:
    return f"[{span[0]:g}, {span[1]:g}]"


def _videos(names: list[str]) -> str:
    return f"{len(names)} video{'' if len(names) == 1 else 's'} such as {names[0]}"
