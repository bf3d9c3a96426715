"""Rules of moments: which spans of a video are proposed, and what a moment can be."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from backend.campaign.corpus.moments.model import ByShots, ByWindows
from backend.core.messages import said

Span = tuple[float, float]
MOST = 2_000_000
"""Moments that a project can take at most from windows: more is a slip of the hand."""
_DIGITS = 3


def trouble(how: ByShots | ByWindows) -> str | None:
    """Return what is wrong with the options, None if nothing is.

    >>> trouble(ByShots(5.0, 8.0))
    '--longest is 8: it has to be at least twice --shortest, 10, so that halves of a long shot are long enough'
    """
    if isinstance(how, ByShots):
        if not 0 <= how.shortest_s < math.inf:
            return said("--shortest is {shortest_s:g}: it is a number of seconds, 0 or more", shortest_s=how.shortest_s)
        if not (how.longest_s > 0 and how.longest_s >= 2 * how.shortest_s):
            return said(
                "--longest is {longest:g}: it has to be at least twice --shortest, {least:g}, so that halves "
                "of a long shot are long enough",
                longest=how.longest_s,
                least=2 * how.shortest_s,
            )
        return None
    if not how.lengths_s or not all(0 < length < math.inf for length in how.lengths_s):
        return said("--lengths are seconds above 0, such as 5,10,20")
    if not 0 < how.stride <= 1:
        return said(
            "--stride is {stride:g}: it is a share of a window's length, above 0 and up to 1", stride=how.stride
        )
    return None


def from_shots(shots: Sequence[Span], how: ByShots) -> list[Span]:
    """Make moments of shots: short ones join the shorter of their neighbours, long ones are split into equal parts.

    They cover what the shots cover, in order and without gaps.

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
    """Return windows of each length from the start on, and one that ends with the video; a short video is one window.

    >>> windows(12.0, ByWindows((5.0,), 0.5))
    [(0.0, 5.0), (2.5, 7.5), (5.0, 10.0), (7.0, 12.0)]
    >>> windows(4.0, ByWindows((5.0, 10.0)))
    [(0.0, 4.0)]
    """
    found: set[Span] = set()
    for length_s in how.lengths_s:
        if length_s >= duration_s:
            found.add((0.0, duration_s))
            continue
        step_s = length_s * how.stride
        count = math.floor((duration_s - length_s) / step_s) + 1
        starts = [n * step_s for n in range(count)]
        if starts[-1] + length_s < duration_s - 10**-_DIGITS:
            starts.append(duration_s - length_s)
        for start_s in starts:
            found.add((round(start_s, _DIGITS), min(round(start_s + length_s, _DIGITS), duration_s)))
    return sorted(found)


def window_count(duration_s: float, how: ByWindows) -> int:
    """Estimate how many windows there will be, without making them."""
    return sum(max(1, int((duration_s - length) / (length * how.stride)) + 2) for length in how.lengths_s)


def outside(start_s: float, end_s: float, duration_s: float) -> str | None:
    """Return what keeps a span from being a moment of a video of this length, None if nothing does.

    >>> outside(3.0, 2.0, 10.0)
    'the end 2 is not after the start 3'
    """
    if not (math.isfinite(start_s) and math.isfinite(end_s)):
        return said("start and end are numbers of seconds")
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
    """Return the span from the first start to the last end."""
    spans = list(spans)
    return min(start for start, _ in spans), max(end for _, end in spans)


def _length(span: Span) -> float:
    return span[1] - span[0]


def _split(shot: Span, longest_s: float) -> list[Span]:
    start_s, end_s = shot
    parts = max(1, math.ceil(_length(shot) / longest_s - 1e-9))
    times = [start_s, *(round(start_s + n * (end_s - start_s) / parts, _DIGITS) for n in range(1, parts)), end_s]
    return list(pairwise(times))
