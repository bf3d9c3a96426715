"""Apply non-maximum suppression: drop predictions that overlap a better one of the same query and video too much.

This is done as is usual after inference (moment_detr, TVR, 2D-TAN). Go through a query's predictions for a video by
falling score. Drop every later prediction whose IoU with a kept one is above the threshold. The remaining predictions
are ranked by score; equal scores keep their order.
"""

from collections.abc import Callable

import numpy as np

from backend.core.timespan import Flags, decimal_fraction, reaches, to_lattice
from backend.scoring.matching.columns import Indices, Run, order_within
from backend.scoring.matching.greedy import Arithmetic, ious

Overlap = Callable[[Indices, Indices], Flags]
"""A function of two arrays of prediction numbers, shape (N,): whether the IoU of each pair is above the level."""


def suppress(run: Run, level: float, *, arithmetic: Arithmetic) -> Run:
    """Return the predictions of a run that non-maximum suppression keeps, ranked by score.

    Args:
        run: the run; its scores are numbers.
        level: the largest IoU, in (0, 1], that a prediction may have with a better one of its query and video.
        arithmetic: the arithmetic in which IoUs are compared.

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
        # Keep the best remaining prediction of every query and video at once, then drop what overlaps it.
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
    # All times are converted to whole numbers together, once.
    times = to_lattice(np.concatenate([np.where(finite, run.start_s, 0.0), np.where(finite, run.end_s, 0.0)]))
    starts, ends, threshold = times[: len(finite)], times[len(finite) :], decimal_fraction(level)

    def overlap(first: Indices, second: Indices) -> Flags:
        inter = np.maximum(np.minimum(ends[first], ends[second]) - np.maximum(starts[first], starts[second]), 0)
        union = (ends[first] - starts[first]) + (ends[second] - starts[second]) - inter
        return reaches(inter, np.maximum(union, 1), threshold, strict=True)

    return overlap


def _rounded(run: Run, level: float, arithmetic: Arithmetic) -> Overlap:
    def overlap(first: Indices, second: Indices) -> Flags:
        times = (run.start_s[first], run.end_s[first], run.start_s[second], run.end_s[second])
        return ious(*times, arithmetic=arithmetic).reach(level, strict=True)

    return overlap
