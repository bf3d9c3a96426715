"""Kendall's tau-b of many rankings at once, and the agreement of measures about an order of systems.

    tau_b = (C - D) / sqrt((P - T_x) (P - T_y))

with P the pairs of systems, C and D those that both rank alike and oppositely, T_x and T_y those tied in x and
in y. Source: Kendall, Rank Correlation Methods (1948), chapter 3; used on measures in AxIoU (Togashi et al.,
CVPR 2022), section 6.

Written over pairs of systems it is a cosine, that of the vectors sign(x_i - x_j) and sign(y_i - y_j), i < j, so
that thousands of rankings are one matrix product.
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.statistics.resampling import TIE
from backend.scoring.studies.study import Cell, SystemValues


def pair_signs(scores: Floats) -> Floats:
    """Which of two systems is ahead: shape (..., systems) to (..., pairs), each 1, 0 (tied) or -1.

    >>> pair_signs(np.array([0.5, 0.2, 0.5])).tolist()
    [1.0, 0.0, -1.0]
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    ahead = scores[..., first] - scores[..., second]
    return np.where(np.abs(ahead) <= TIE, 0.0, np.sign(ahead))


def tau_b(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b along the last axis, in [-1, 1]; NaN where x or y ties all systems.

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


def agreement(table: SystemValues) -> list[dict[str, Cell]]:
    """tau-b between the orders of systems under every two measures: one row for each cell of the matrix."""
    means = table.means
    matrix = tau_b(means[:, None], means[None])
    tied = np.all(pair_signs(means) == 0, axis=1)
    rows: list[dict[str, Cell]] = []
    for i, first in enumerate(table.measures):
        for j, second in enumerate(table.measures):
            reason = " and ".join(f"{table.measures[n]} ties all systems" for n in sorted({i, j}) if tied[n])
            value = None if reason else float(matrix[i, j])
            rows.append({"first": first, "second": second, "tau_b": value, "reason": reason})
    return rows
