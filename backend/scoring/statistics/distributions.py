"""Compute p-values of Student's t, Wilson's interval and Kendall's tau-b.

SciPy is not used, because it would double the size of an installation.
"""

import math
from statistics import NormalDist

import numpy as np

from backend.core.timespan import Floats

_EXACT_GAMMA = 80.0
"""Up to this value `math.gamma` is exact in all digits; above it, the series is."""
_LARGEST = 1e100
"""The largest t, used in place of infinity; its square is still finite."""
_NODES = np.arange(-4.0, 4.0 + 1e-9, 1 / 16)
"""Nodes of the trapezoidal rule. Twice as many would change no digit."""
CONFIDENCE = 0.95
TIE = 1e-12
"""Values and means that differ by less than this are equal; only the order of computation makes them differ."""


def two_sided_p(t: Floats, freedom: float) -> Floats:
    """Return the two-sided p-value of Student's t: the probability of a value at least as far from 0. NaN stays NaN.

    With n degrees of freedom the density at s is c (1 + s^2 / n)^(-(n + 1) / 2), where c is Gamma((n + 1) / 2) /
    (Gamma(n / 2) sqrt(n pi)). p is twice its integral from |t| to infinity. The double exponential rule for (0, inf)
    computes it: s - |t| = w exp(pi / 2 sinh u), trapezoidal in u. All terms are positive, so relative errors stay below
    1e-12, also in the far tails. Source: Takahasi and Mori, Publications of the RIMS 9 (1974), 721-741.

    Args:
        t: values of t, of any shape.
        freedom: degrees of freedom n, above 0.

    With one degree of freedom the distribution is Cauchy's, and half of it lies beyond 1. With ten, 5 % lie beyond the
    2.228 of printed tables:

    >>> two_sided_p(np.array([1.0, 0.0, np.nan]), 1).round(12).tolist()
    [0.5, 1.0, nan]
    >>> round(float(two_sided_p(np.array(2.228), 10)), 4)
    0.05
    """
    t = np.minimum(np.abs(np.asarray(t, dtype=np.float64)), _LARGEST)
    power, scale = (freedom + 1) / 2, freedom + np.square(t)
    width = 1 / (np.sqrt(2 * power / scale) + 2 * power * t / scale)  # about the width of the tail
    total = np.zeros_like(t)
    for u in _NODES.tolist():
        step = width * math.exp(math.pi / 2 * math.sinh(u))
        # The last factor is the density at t + step relative to that at t.
        total += step * math.cosh(u) * np.exp(-power * np.log1p(step * (2 * t + step) / scale))
    integral = total * math.pi / 2 * (_NODES[1] - _NODES[0])
    density = _gamma_ratio(freedom / 2) / math.sqrt(freedom * math.pi) * np.exp(-power * np.log1p(t * t / freedom))
    return np.asarray(np.minimum(2 * density * integral, 1))


def _gamma_ratio(a: float) -> float:
    """Return Gamma(a + 1/2) / Gamma(a), for large a by the series of DLMF, section 5.11(iii).

    >>> math.isclose(_gamma_ratio(0.5), 1 / math.sqrt(math.pi))
    True
    """
    if a <= _EXACT_GAMMA:
        return math.gamma(a + 0.5) / math.gamma(a)
    series = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return math.sqrt(a) * math.fsum(part / a**n for n, part in enumerate(series))


def wilson(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's score interval of a share, within [0, 1].

    With p = hits / n and z the (1 + confidence) / 2 quantile of the normal distribution (1.96 for 95 %):

        (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction.

    Raises:
        ValueError: `n` is not positive, or `hits` is not 0..n.

    >>> [round(bound, 4) for bound in wilson(81, 263)]
    [0.2553, 0.3662]
    """
    if not 0 <= hits <= n or n < 1:
        raise ValueError(f"{hits} of {n} is no share")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = hits / n
    middle = p + z * z / (2 * n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    # At the ends the formula would give 0 and 1 only up to rounding errors.
    low = 0.0 if hits == 0 else (middle - reach) / whole
    return low, 1.0 if hits == n else (middle + reach) / whole


def pair_signs(scores: Floats) -> Floats:
    """Return for every two systems which one is ahead: 1 (the first), 0 (tied) or -1 (the second).

    `scores` has shape (..., systems), and the result has shape (..., pairs of systems).

    >>> pair_signs(np.array([0.5, 0.2, 0.5])).tolist()
    [1.0, 0.0, -1.0]
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    ahead = scores[..., first] - scores[..., second]
    return np.where(np.abs(ahead) <= TIE, 0.0, np.sign(ahead))


def tau_b(x: Floats, y: Floats) -> Floats:
    """Compute Kendall's tau-b along the last axis, in [-1, 1]; NaN where x or y ties all systems.

        tau_b = (C - D) / sqrt((P - T_x) (P - T_y))

    P is the number of pairs of systems. C is the number of pairs that x and y rank alike, and D of those that they rank
    oppositely. T_x and T_y are the numbers of pairs tied in x and in y. Over pairs of systems, tau-b is the cosine of
    the vectors sign(x_i - x_j) and sign(y_i - y_j), i < j. Thousands of rankings then need only array products.
    Source: Kendall, Rank Correlation Methods (1948), chapter 3; used on measures in AxIoU (Togashi et al., CVPR 2022),
    section 6.2.

    Of three pairs two are ranked alike and one is tied in y: 2 / sqrt(3 * 2).

    >>> round(float(tau_b(np.array([3.0, 2.0, 1.0]), np.array([2.0, 1.0, 1.0]))), 6)
    0.816497
    """
    signs_x, signs_y = pair_signs(x), pair_signs(y)
    alike = (signs_x * signs_y).sum(axis=-1)
    base = np.sqrt(np.abs(signs_x).sum(axis=-1) * np.abs(signs_y).sum(axis=-1))
    result = np.full(np.shape(base), np.nan)
    np.divide(alike, base, out=result, where=base > 0)
    return np.clip(result, -1, 1)
