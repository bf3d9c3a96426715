"""Non-maximum suppression: of predictions of one query and video that overlap too much only the best is kept.

As the field does it after inference (moment_detr, TVR, 2D-TAN): go through a query's predictions of a video by falling
score; whatever overlaps a kept one by an IoU above the threshold, and comes after it, is left out. What stays is ranked
by score, equals as they stood.
"""

from collections.abc import Callable

import numpy as np

from backend.core.timespan import Flags, decimal_fraction, reaches, to_lattice
from backend.scoring.matching.columns import Indices, Run, order_within
from backend.scoring.matching.greedy import Arithmetic, ious

Overlap = Callable[[Indices, Indices], Flags]
"""Whether predictions, by their places, overlap others by more than a level; shapes (N,)."""


def suppress(run: Run, level: float, *, arithmetic: Arithmetic) -> Run:
    """The predictions of a run that are kept, ranked by score.

    Args:
        run: scores are numbers.
        level: IoU in (0, 1] that a prediction may have with a better one of its query and video.
        arithmetic: in which IoUs are compared.

    >>> from backend.scoring.files.entries import parse_run_mapping
    >>> rows = [["v1", 0, 9, 0.1], ["v1", 0, 10, 0.8], ["v2", 0, 9, 0.5]]
    >>> suppress(parse_run_mapping({"q": rows}), 0.5, arithmetic="exact").score.tolist()
    [0.8, 0.5]
    """
    by_score = order_within(run.query, -run.score)
    group = (run.query * max(len(run.videos), 1) + run.video)[by_score]
    together = by_score[np.argsort(group, kind="stable")]
    overlap = _exact(run, level) if arithmetic == "exact" else _rounded(run, level, arithmetic)
    group = np.sort(group, kind="stable")
    kept = np.zeros(len(together), dtype=bool)
    alive = np.arange(len(together))
    while len(alive):
        # Of every query and video at once the best that is left, and what it leaves of the others.
        first = np.ones(len(alive), dtype=bool)
        first[1:] = group[alive][1:] != group[alive][:-1]
        best = alive[first][np.cumsum(first) - 1]
        kept[alive[first]] = True
        other, better = together[alive[~first]], together[best[~first]]
        alive = alive[~first][~overlap(other, better)]
    stays = np.zeros(len(together), dtype=bool)
    stays[together[kept]] = True
    return run.take(by_score[stays[by_score]])


def _exact(run: Run, level: float) -> Overlap:
    finite = np.isfinite(run.start_s) & np.isfinite(run.end_s)
    # One lattice for all of them, made once.
    times = to_lattice(np.concatenate([np.where(finite, run.start_s, 0.0), np.where(finite, run.end_s, 0.0)]))
    starts, ends, threshold = times[: len(finite)], times[len(finite) :], decimal_fraction(level)

    def overlap(one: Indices, other: Indices) -> Flags:
        inter = np.maximum(np.minimum(ends[one], ends[other]) - np.maximum(starts[one], starts[other]), 0)
        union = (ends[one] - starts[one]) + (ends[other] - starts[other]) - inter
        return reaches(inter, np.maximum(union, 1), threshold, strict=True)

    return overlap


def _rounded(run: Run, level: float, arithmetic: Arithmetic) -> Overlap:
    def overlap(one: Indices, other: Indices) -> Flags:
        times = (run.start_s[one], run.end_s[one], run.start_s[other], run.end_s[other])
        return ious(*times, arithmetic=arithmetic).reach(level, strict=True)

    return overlap
