"""Tell where the pairs of a board come from and when they were graded, and narrow a board to some of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.campaign.monitoring.quality.model import WHOLE, BoardPart
from backend.campaign.monitoring.quality.rules.columns import Truths
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
    """Return the origins of a file of grades, which tells nothing of the kind."""
    nothing = np.full(grades.pairs, -1)
    unknown = np.full(len(grades.grade), -1)
    return Origins(nothing, (), nothing, (), (), unknown, (), np.empty(0, dtype=np.int64), ())


def first_of_pair(grades: GradedPairs, day: Codes) -> Codes:
    """Return the day of each pair's first grade, -1 where it is not known; `day` is that of each grade."""
    found = np.full(grades.pairs, -1, dtype=np.int64)
    found[grades.pair[::-1]] = day[::-1]  # written last, the first grade stays
    return found


def narrow(grades: GradedPairs, origins: Origins, part: BoardPart) -> tuple[GradedPairs, Origins]:
    """Return the grades of the pairs of a part, by the people who gave them; pairs and people count from 0 anew.

    How many of the grades are imported or made by a program is not told of a part.
    """
    if part == WHOLE:
        return grades, origins
    pairs = _of_part(grades, origins, part)
    rows = pairs[grades.pair]
    people, annotator = np.unique(grades.annotator[rows], return_inverse=True)
    first = grades.first_round
    narrowed = replace(
        grades,
        people=tuple(grades.people[person] for person in people.tolist()),
        pair=(np.cumsum(pairs) - 1)[grades.pair[rows]],
        annotator=annotator.astype(np.int64),
        grade=grades.grade[rows],
        decided=grades.decided[pairs],
        first_round=None if first is None else first[rows],
        re_opened=None if grades.re_opened is None else grades.re_opened[pairs],
    )
    kept = replace(
        origins, split=origins.split[pairs], query=origins.query[pairs], day=origins.day[rows], imported=0, simulated=0
    )
    return narrowed, kept


def _of_part(grades: GradedPairs, origins: Origins, part: BoardPart) -> Truths:
    """Which pairs belong to a part, shape [pairs]."""
    found = np.ones(grades.pairs, dtype=bool)
    if part.split:
        found &= _named(origins.split, origins.splits, lambda name: name == part.split)
    if part.query:
        found &= _named(origins.query, origins.queries, lambda name: name == part.query)
    if part.first or part.last:
        day = first_of_pair(grades, origins.day)
        found &= _named(day, origins.days, lambda name: part.first <= name <= (part.last or name))
    return found


def _named(codes: Codes, names: Sequence[str], wanted: Callable[[str], bool]) -> Truths:
    """Which codes have a name that is wanted; -1 has none."""
    found: Truths = np.array([*map(wanted, names), False])[codes]
    return found
