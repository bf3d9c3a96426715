"""Pure: the thresholds of an encoder, from pairs that people, or a published pool, call alike or different.

Of a threshold t, Youden's J (Youden, "Index for rating diagnostic tests", Cancer 1950) is the share of alike pairs with
a similarity of t or more, plus the share of different pairs with less, minus 1. Between two classes that lie apart
many thresholds are nearly as good as the best; t_pos is the highest and t_neg the lowest of those, so that what is
between them, which nobody can tell, becomes neither positive nor negative.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

STEP = 0.01
NEARLY = 0.03
"""How much less than the best J a threshold may have."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What was found: `t_pos` and `t_neg`, the best J and where it is, and how the labelled pairs then lie.

    `kept_alike` is the share of alike pairs at `t_pos` or more, `kept_different` that of different pairs at `t_neg` or
    less; `alike_below` counts alike pairs at `t_neg` or less, `different_above` different ones at `t_pos` or more.
    """

    t_pos: float
    t_neg: float
    best: float
    youden: float
    alike: int
    different: int
    kept_alike: float
    kept_different: float
    alike_below: int
    different_above: int


def calibrate(alike: Doubles, different: Doubles) -> Thresholds:
    """Thresholds in hundredths, from similarities of pairs that are alike and of pairs that are not.

    Args:
        alike: similarities from -1 to 1; at least one.
        different: the same.

    >>> found = calibrate(np.array([0.9, 0.8]), np.array([0.1, 0.3]))
    >>> found.t_pos, found.t_neg, found.youden
    (0.8, 0.31, 1.0)
    """
    steps = np.round(np.arange(round(-1 / STEP), round(1 / STEP) + 1) * STEP, 2)
    # How many pairs are below each threshold.
    low_alike, low_different = (np.searchsorted(np.sort(some), steps, side="left") for some in (alike, different))
    youden = 1 - low_alike / len(alike) - (1 - low_different / len(different))
    good = np.flatnonzero(youden >= youden.max() - NEARLY)
    return judged(float(steps[good[-1]]), float(steps[good[0]]), alike, different, float(steps[youden.argmax()]))


def judged(t_pos: float, t_neg: float, alike: Doubles, different: Doubles, best: float | None = None) -> Thresholds:
    """How labelled pairs lie between two thresholds; `best` is that of the largest J, `t_pos` unless told."""
    at = t_pos if best is None else best
    return Thresholds(
        t_pos=t_pos,
        t_neg=t_neg,
        best=at,
        youden=float(np.mean(alike >= at) - np.mean(different >= at)),
        alike=len(alike),
        different=len(different),
        kept_alike=float(np.mean(alike >= t_pos)),
        kept_different=float(np.mean(different <= t_neg)),
        alike_below=int(np.sum(alike <= t_neg)),
        different_above=int(np.sum(different >= t_pos)),
    )
