"""Compute how many queries a paired t-test needs to tell two systems apart, without SciPy (see `distributions`)."""

import math
from statistics import NormalDist

import numpy as np

from backend.scoring.statistics.distributions import two_sided_p

ALPHA, POWER = 0.05, 0.8
MOST_QUERIES = 10_000_000
"""A test that needs more queries than this is refused: the difference is then too small to plan for."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_EDGES = np.concatenate([[0.0], 2.0 ** np.arange(-14, 1)])
"""Panels of the integral, as shares of its range. They get narrow where S is near 0, which matters with few queries."""
_REACH = 12.0
"""How many standard deviations of the sample's standard deviation the integral covers, on each side."""


def paired_power(difference: float, sd: float, queries: int, alpha: float = ALPHA) -> float:
    """Return the power of the two-sided paired t-test: the probability that it finds a true difference, in [0, 1].

    With n queries the test statistic has Student's noncentral t distribution with n - 1 degrees of freedom and
    noncentrality delta = difference / sd * sqrt(n). The power is the probability that it is beyond the critical value
    t_c, at which p is `alpha`. With S^2 as chi^2 / (n - 1), it is the mean over S of

        Phi(delta - t_c S) + Phi(-delta - t_c S).

    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2, for paired samples.

    Args:
        difference: the true difference of the systems' means.
        sd: the standard deviation of the difference over queries, above 0.
        queries: the number of queries n, at least 2.
        alpha: the level of the test, in (0, 1).

    The manual of G*Power has 0.832114 for 50 pairs and an effect of 0.421637 standard deviations:

    >>> round(paired_power(0.421637, 1.0, 50), 6)
    0.832114
    """
    freedom, delta = queries - 1, difference / sd * math.sqrt(queries)
    critical = _critical(freedom, alpha)
    reach = _REACH / math.sqrt(2 * freedom)
    low = max(0.0, 1 - reach)
    edges = low + (1 + reach - low) * _EDGES
    widths = np.diff(edges) / 2
    s = (edges[:-1, None] + widths[:, None] * (1 + _NODES)).ravel()
    # The density of S; its logarithm, because its factors overflow with many queries.
    half = freedom / 2
    density = np.exp(
        math.log(2) + half * math.log(half) - math.lgamma(half) + (freedom - 1) * np.log(s) - half * np.square(s)
    )
    normal = NormalDist().cdf
    beyond = np.array([normal(delta - critical * at) + normal(-delta - critical * at) for at in s.tolist()])
    return float(min(1.0, np.sum((widths[:, None] * _WEIGHTS).ravel() * density * beyond)))


def queries_needed(difference: float, sd: float, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """Return the fewest queries with which the paired t-test finds a true difference with this power.

    The arguments are those of `paired_power`. The result is None if more than `MOST_QUERIES` are needed.

    Half a standard deviation needs 34 queries, and a tenth of one 787:

    >>> queries_needed(0.5, 1.0), queries_needed(0.02, 0.2)
    (34, 787)
    """
    high = 2
    while paired_power(difference, sd, high, alpha) < power:
        if high > MOST_QUERIES:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if paired_power(difference, sd, middle, alpha) >= power else (middle, high)
    return high


def _critical(freedom: int, alpha: float) -> float:
    """Return the value of t at which the two-sided p is `alpha`."""
    low, high = 0.0, 1.0
    while float(two_sided_p(np.array(high), freedom)) > alpha:
        low, high = high, 2 * high
    for _ in range(9):  # each step divides the interval by 63
        steps = np.linspace(low, high, 64)
        place = int(np.count_nonzero(two_sided_p(steps, freedom) > alpha))
        low, high = float(steps[max(place - 1, 0)]), float(steps[min(place, 63)])
    return high
