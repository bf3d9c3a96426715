"""Where the pairs of a board come from, and when they were graded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.campaign.monitoring.quality.rules.pairs import Codes, GradedPairs


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """Where pairs come from and when grades were given, as codes into names; -1 where that is not known.

    `split` and `query` have shape [pairs], `day` shape [rows], `week` (that of each day) shape [days], `query_split`
    (that of each query, a name) shape [queries].
    """

    split: Codes
    splits: Sequence[str]
    query: Codes
    queries: Sequence[str]
    query_split: Sequence[str]
    day: Codes
    days: Sequence[str]
    week: Codes
    weeks: Sequence[str]
    imported: int = 0
    simulated: int = 0


def no_origins(grades: GradedPairs) -> Origins:
    """Those of a file of grades, which tells nothing of the kind."""
    nothing = np.full(grades.pairs, -1)
    unknown = np.full(len(grades.grade), -1)
    return Origins(nothing, (), nothing, (), (), unknown, (), np.empty(0, dtype=np.int64), ())


def first_of_pair(grades: GradedPairs, day: Codes) -> Codes:
    """The day of each pair's first grade, -1 where it is not known; `day` is that of each grade."""
    found = np.full(grades.pairs, -1, dtype=np.int64)
    found[grades.pair[::-1]] = day[::-1]  # written last, the first grade stays
    return found
