"""Grades of a whole campaign as columns, so that what is said of people needs no loop over grades."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

NOT_MEASURED = -1
"""Stands for an elapsed time that nobody measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """Grades as columns of one length, in the order of giving."""

    pair: Integers
    """`pair_id`."""
    seat: Integers
    """1 to 6; the first round sits at 1 and 2."""
    annotator: Integers
    """`annotator_id`."""
    grade: Integers
    at: Floats
    """Seconds since 1970; of imported grades without a time of their own the time of the import."""
    timed: Truths
    """Whether `at` is when the grade was given."""
    active_ms: Integers
    """0 where nobody measured."""
    elapsed_ms: Integers
    """`NOT_MEASURED` where nobody measured."""

    def __len__(self) -> int:
        """How many grades."""
        return len(self.pair)

    def take(self, which: Integers | Truths) -> "Grades":
        """Some of them, by index or by truth."""
        return Grades(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Skips:
    """Skips that stand as columns of one length, in the order of making."""

    annotator: Integers
    pair: Integers
    broken: Truths
    """Whether the clip was reported as broken."""

    def of(self, annotator_id: int) -> "Skips":
        """Those of one person."""
        mine = self.annotator == annotator_id
        return Skips(self.annotator[mine], self.pair[mine], self.broken[mine])

    def pairs(self, only_broken: bool) -> Integers:
        """The pairs of all, or of those that were reported as broken."""
        return self.pair[self.broken] if only_broken else self.pair


NO_SKIPS = Skips(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=bool))


def standing(given: Grades) -> Grades:
    """The grades that count: of each seat the newest revision, with the times of all its revisions together.

    Whoever corrects a slip has seen the clip before, so the times add up; a seat has no elapsed time unless each of
    its revisions was measured.

    Args:
        given: every revision, the older of a seat before the newer.
    """
    if not len(given):
        return given
    key = given.pair * 8 + given.seat
    # The first of a key in the columns read backwards is its newest revision.
    _, newest, code = np.unique(key[::-1], return_index=True, return_inverse=True)
    if len(newest) == len(key):
        return given  # nobody corrected anything
    last, code = len(key) - 1 - newest, code[::-1]
    unmeasured = np.bincount(code, weights=given.elapsed_ms == NOT_MEASURED) > 0
    elapsed = np.where(unmeasured, NOT_MEASURED, _sums(code, given.elapsed_ms))
    order = np.argsort(last, kind="stable")
    kept = given.take(last[order])
    columns: dict[str, Any] = {field.name: getattr(kept, field.name) for field in fields(kept)}
    columns |= {"active_ms": _sums(code, given.active_ms)[order], "elapsed_ms": elapsed[order]}
    return Grades(**columns)


def _sums(code: Integers, values: Integers) -> Integers:
    """The sum of the values of each code; exact, as they are far below 2**53."""
    return np.bincount(code, weights=values).astype(np.int64)
