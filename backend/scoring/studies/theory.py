"""Closed forms: what Gaussian noise in an IoU does to R@1,theta and to AxIoU@1.

The IoU of the top moment is seen as r_hat ~ N(r, gamma^2), not cut to [0, 1]. R@1,theta should be 1{r >= theta}
and is seen as 1 with probability p = P(r_hat >= theta) = Phi((r - theta) / gamma), so

    bias = p - 1{r >= theta}     variance = p (1 - p)     MSE = bias^2 + variance

and MSE = 1 - p where theta <= r, p elsewhere. AxIoU@1 is r_hat itself: bias 0, variance = MSE = gamma^2.
Source: AxIoU (Togashi et al., CVPR 2022), appendix, Figures 2 and 10, which write the threshold as >=.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.ground.timespan import Floats
from backend.scoring.studies.study import Cell

AXIOU = "axiou@1"
STEPS = 101
"""Points on a curve over r in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Error:
    """Squared bias, variance and their sum, of one shape."""

    squared_bias: Floats
    variance: Floats
    mse: Floats


def recall_error(r: Floats, theta: Floats, gamma: Floats) -> Error:
    """Of R@1,theta at true IoU r under noise gamma > 0; the arguments broadcast.

    With r on the threshold half of the draws fall below it:

    >>> recall_error(np.array(0.5), np.array(0.5), np.array(0.1))
    Error(squared_bias=array(0.25), variance=array(0.25), mse=array(0.5))
    """
    # SciPy takes 0.2 s and 27 MB to load, which the desk and most commands need not pay.
    from scipy.special import ndtr

    # The probability of the wrong side, rather than 1 - p, so that nothing is lost where it is tiny.
    wrong = ndtr(-np.abs(r - theta) / gamma)
    squared_bias, variance = np.asarray(wrong**2), np.asarray(wrong * (1 - wrong))
    return Error(squared_bias, variance, np.asarray(wrong))


def axiou_error(gamma: Floats) -> Error:
    """Of AxIoU@1 under noise gamma, whatever the true IoU."""
    return Error(np.zeros(np.shape(gamma)), np.asarray(gamma**2), np.asarray(gamma**2))


def closed_forms(thetas: Sequence[float], gammas: Sequence[float], steps: int = STEPS) -> list[dict[str, Cell]]:
    """The curves over r in [0, 1]: a row for each gamma, measure and r. AxIoU@1 has no theta."""
    r = np.linspace(0, 1, steps)
    rows: list[dict[str, Cell]] = []
    for gamma in gammas:
        curves = [(f"recall@1,{theta!r}", recall_error(r, np.array(theta), np.array(gamma))) for theta in thetas]
        curves.append((AXIOU, axiou_error(np.full(steps, gamma))))
        for measure, error in curves:
            columns = zip(r, error.squared_bias, error.variance, error.mse, strict=True)
            rows += [
                {
                    "measure": measure,
                    "gamma": gamma,
                    "r": float(at),
                    "squared_bias": float(bias),
                    "variance": float(variance),
                    "mse": float(mse),
                }
                for at, bias, variance, mse in columns
            ]
    return rows
