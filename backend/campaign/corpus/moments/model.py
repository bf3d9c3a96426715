"""Define the data types of moments, compute moments from shots or windows, and check the times of a moment.

Nothing here reads files or the database.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from backend.core.errors import Problem
from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.ids import MomentId
from backend.core.messages import said


class Origin(StrEnum):
    """Where a moment comes from: an annotation file, detected shots, windows, an annotator's description, or runs.

    `POOLED` moments are predictions in the runs of search systems. Moments that a lead adds or changes by hand count as
    `IMPORTED`.
    """

    IMPORTED = "imported"
    SHOTS = "shots"
    WINDOWS = "windows"
    DESCRIBED = "described"
    POOLED = "pooled"


@dataclass(frozen=True, slots=True)
class ByShots:
    """Options for making moments from the detected shots of a video.

    Shots shorter than `shortest_s` seconds are joined with others, and shots longer than `longest_s` are split evenly.
    """

    shortest_s: float = 2.0
    longest_s: float = 20.0


@dataclass(frozen=True, slots=True)
class ByWindows:
    """Options for making moments of fixed lengths that cover a whole video.

    `lengths_s` are the lengths in seconds. `stride` is the distance between the starts of two successive windows, as a
    fraction of their length.
    """

    lengths_s: tuple[float, ...] = (5.0, 10.0, 20.0)
    stride: float = 0.5


@dataclass(frozen=True, slots=True)
class ProposeReport:
    """The result of making moments from shots or windows, for `videos` videos.

    `moments` counts all moments made, and `new` those that the project lacked. `gone` counts moments from an earlier
    run that were removed, and `stayed` those kept because something uses them. `shots` counts the shots of all videos;
    0 for windows. `problems` are the videos whose shots could not be detected. If the same was asked for before and
    nothing changed, `done` says when and by whom.
    """

    videos: int
    moments: int
    new: int
    gone: int
    stayed: int
    shots: int
    problems: tuple[Problem, ...]
    done: str = ""


@dataclass(frozen=True, slots=True)
class MomentRow:
    """A moment with its numbers of captions and of pairs (query and moment) to grade.

    If something uses it, such as a caption or a pair, `used` is True and the moment cannot be changed.
    """

    moment_id: MomentId
    video: str
    start_s: float
    end_s: float
    origin: Origin
    captions: int
    pairs: int
    used: bool


@dataclass(frozen=True, slots=True)
class VideoMoments:
    """A video with its numbers of moments by origin, such as shots or imported.

    `shots` is the number of its detected shots; None if none were detected yet. `used` counts moments that cannot be
    changed, because something uses them.
    """

    name: str
    duration_s: float
    has_file: bool
    shots: int | None
    moments: dict[Origin, int]
    used: int

    @property
    def total(self) -> int:
        """The number of all moments of the video."""
        return sum(self.moments.values())


@dataclass(frozen=True, slots=True)
class TakenMoments:
    """The result of importing a file of `moments` moments.

    `new` counts those that the project lacked. `gone` counts moments that were removed because the file lacks them, and
    `stayed` those kept although the file lacks them, because something uses them. If the same was imported before and
    nothing changed, `done` says when and by whom.
    """

    moments: int
    new: int
    gone: int
    stayed: int
    done: str = ""


def _moments_words(payload: Payload) -> str:
    def spans(name: str) -> str:
        return ", ".join(f"{start:.2f}–{end:.2f} s" for start, end in payload.get(name) or ())

    went, came, video = spans("before"), spans("after"), value_text(payload.get("video"))
    if went and came:
        return said("changed moments of {video}: {went} became {came}", came=came, went=went, video=video)
    if came:
        return said("added moments to {video}: {came}", came=came, video=video)
    return said("removed moments from {video}: {went}", went=went, video=video)


MOMENTS_PROPOSED = Event(
    "moments_proposed",
    EventGroup.MATERIAL,
    said("proposed moments of {videos} videos by {by}: {moments} new, {gone} removed"),
)
"""by (shots, windows), videos, moments: how many are new, gone: how many unused earlier proposals were removed,
asked"""
MOMENTS_CHANGED = Event("moments_changed", EventGroup.MATERIAL, _moments_words)
"""video, before, after: starts and ends (s) of the removed and of the added moments"""
MOMENTS_TAKEN = Event(
    "moments_taken",
    EventGroup.MATERIAL,
    said("imported moments of {videos} videos from {file}: {moments} new, {gone} removed"),
)
"""file, videos, moments: how many are new, gone, asked"""
Span = tuple[float, float]
MOST = 2_000_000
"""The most moments that windows may propose at once; a larger number is surely a mistake."""
_DIGITS = 3


def option_problem(how: ByShots | ByWindows) -> str | None:
    """Return what is wrong with the options for making moments; None if they are valid.

    The message names the options as on the command line.

    >>> option_problem(ByShots(5.0, 8.0))
    '--longest is 8: write at least twice --shortest, 10, so that halves of a long shot are long enough'
    """
    if isinstance(how, ByShots):
        if not 0 <= how.shortest_s < math.inf:
            return said("--shortest is {shortest_s:g}: write a number of seconds, 0 or more", shortest_s=how.shortest_s)
        if not (how.longest_s > 0 and how.longest_s >= 2 * how.shortest_s):
            return said(
                "--longest is {longest:g}: write at least twice --shortest, {least:g}, so that halves of "
                "a long shot are long enough",
                longest=how.longest_s,
                least=2 * how.shortest_s,
            )
        return None
    if not how.lengths_s or not all(0 < length < math.inf for length in how.lengths_s):
        return said("--lengths: write seconds above 0, such as 5,10,20")
    if not 0 < how.stride <= 1:
        return said(
            "--stride is {stride:g}: write a share of a window's length, above 0 and up to 1", stride=how.stride
        )
    return None


def from_shots(shots: Sequence[Span], how: ByShots) -> list[Span]:
    """Make moments of shots: join each short shot with its shorter neighbour, and split long ones evenly.

    The moments cover the same span as the shots, in order and without gaps.

    >>> from_shots([(0.0, 8.0), (8.0, 9.0), (9.0, 12.0), (12.0, 60.0)], ByShots(2.0, 20.0))
    [(0.0, 8.0), (8.0, 12.0), (12.0, 28.0), (28.0, 44.0), (44.0, 60.0)]
    """
    joined = [*shots]
    while len(joined) > 1:
        n = min(range(len(joined)), key=lambda n: (_length(joined[n]), n))
        if _length(joined[n]) >= how.shortest_s:
            break
        beside = [m for m in (n - 1, n + 1) if 0 <= m < len(joined)]
        other = min(beside, key=lambda m: (_length(joined[m]), -m))
        first, last = sorted((n, other))
        joined[first : last + 1] = [(joined[first][0], joined[last][1])]
    return [part for shot in joined for part in _split(shot, how.longest_s)]


def windows(duration_s: float, how: ByWindows) -> list[Span]:
    """Return windows of the chosen lengths that cover a video, as (start, end) in seconds.

    The last window of each length ends at the end of the video. If the video is shorter than a length, the whole
    video is the only window of this length.

    >>> windows(12.0, ByWindows((5.0,), 0.5))
    [(0.0, 5.0), (2.5, 7.5), (5.0, 10.0), (7.0, 12.0)]
    >>> windows(4.0, ByWindows((5.0, 10.0)))
    [(0.0, 4.0)]
    """
    spans: set[Span] = set()
    for length_s in how.lengths_s:
        if length_s >= duration_s:
            spans.add((0.0, duration_s))
            continue
        step_s = length_s * how.stride
        count = math.floor((duration_s - length_s) / step_s) + 1
        starts = [n * step_s for n in range(count)]
        if starts[-1] + length_s < duration_s - 10**-_DIGITS:
            starts.append(duration_s - length_s)
        for start_s in starts:
            spans.add((round(start_s, _DIGITS), min(round(start_s + length_s, _DIGITS), duration_s)))
    return sorted(spans)


def window_count(duration_s: float, how: ByWindows) -> int:
    """Estimate how many windows `windows` would return, without making them."""
    return sum(max(1, int((duration_s - length) / (length * how.stride)) + 2) for length in how.lengths_s)


def span_problem(start_s: float, end_s: float, duration_s: float) -> str | None:
    """Return why a span (in seconds) cannot be a moment of a video of `duration_s` seconds; None if it can.

    >>> span_problem(3.0, 2.0, 10.0)
    'the end 2 is not after the start 3'
    """
    if not (math.isfinite(start_s) and math.isfinite(end_s)):
        return said("start and end have to be numbers of seconds")
    if start_s < 0:
        return said("the start {start_s:g} is negative", start_s=start_s)
    if end_s <= start_s:
        return said("the end {end_s:g} is not after the start {start_s:g}", end_s=end_s, start_s=start_s)
    if end_s > duration_s + 10**-_DIGITS:
        return said(
            "the end {end_s:g} is after that of the video, which lasts {duration_s:g} s",
            end_s=end_s,
            duration_s=duration_s,
        )
    return None


def hull(spans: Iterable[Span]) -> Span:
    """Return the span that covers all given spans, from the first start to the last end."""
    spans = list(spans)
    return min(start for start, _ in spans), max(end for _, end in spans)


def _length(span: Span) -> float:
    return span[1] - span[0]


def _split(shot: Span, longest_s: float) -> list[Span]:
    start_s, end_s = shot
    parts = max(1, math.ceil(_length(shot) / longest_s - 1e-9))
    times = [start_s, *(round(start_s + n * (end_s - start_s) / parts, _DIGITS) for n in range(1, parts)), end_s]
    return list(pairwise(times))
