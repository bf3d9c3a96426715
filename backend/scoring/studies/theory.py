"""Closed forms: what Gaussian noise in an IoU does to R@1,theta and to AxIoU@1.

The IoU of the top moment is seen as r_hat ~ N(r, gamma^2), not cut to [0, 1]. R@1,theta should be 1{r >= theta}
and is seen as 1 with probability p = P(r_hat >= theta) = Phi((r - theta) / gamma), so

    bias = p - 1{r >= theta}     variance = p (1 - p)     MSE = bias^2 + variance

and MSE = 1 - p where theta <= r, p elsewhere. AxIoU@1 is r_hat itself: bias 0, variance = MSE = gamma^2.
Source: AxIoU (Togashi et al., CVPR 2022), appendix, Figures 2 and 10, which write the threshold as >=.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.studies.study import Cell

_erfc = np.vectorize(math.erfc, otypes=[np.float64])
Over = Literal["r", "theta"]
AXIOU, RECALL = "axiou@1", "recall@1,theta"
STEPS = 101
"""Points on a curve over r, or theta, in [0, 1]."""


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
    # The probability of the wrong side, rather than 1 - p, so that nothing is lost where it is tiny.
    wrong = _erfc(np.abs(r - theta) / gamma / math.sqrt(2)) / 2
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
        for theta in thetas:
            error = recall_error(r, np.array(theta), np.array(gamma))
            rows += _curve(f"recall@1,{theta!r}", gamma, error, r=r.tolist(), theta=[theta] * steps)
        rows += _curve(AXIOU, gamma, axiou_error(np.full(steps, gamma)), r=r.tolist(), theta=[None] * steps)
    return rows


def closed_forms_over_theta(rs: Sequence[float], gammas: Sequence[float], steps: int = STEPS) -> list[dict[str, Cell]]:
    """The curves over theta in [0, 1]: a row for each gamma, true IoU and theta. AxIoU@1 is the same at all of them."""
    theta = np.linspace(0, 1, steps)
    rows: list[dict[str, Cell]] = []
    for gamma in gammas:
        for r in rs:
            error = recall_error(np.array(r), theta, np.array(gamma))
            rows += _curve(RECALL, gamma, error, r=[r] * steps, theta=theta.tolist())
        rows += _curve(AXIOU, gamma, axiou_error(np.full(steps, gamma)), r=[None] * steps, theta=theta.tolist())
    return rows


def _curve(
    measure: str, gamma: float, error: Error, *, r: list[float | None], theta: list[float | None]
) -> list[dict[str, Cell]]:
    columns = zip(r, theta, error.squared_bias, error.variance, error.mse, strict=True)
    return [
        {
            "measure": measure,
            "gamma": gamma,
            "r": at,
            "theta": level,
            "squared_bias": float(bias),
            "variance": float(variance),
            "mse": float(mse),
        }
        for at, level, bias, variance, mse in columns
    ]
