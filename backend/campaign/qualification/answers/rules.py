"""Compare answers with the answer key: what exam, gold questions and practice share."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from backend.core.ids import PairId, QueryId


class KnownPair(NamedTuple):
    """A pair and the grade that is right."""

    pair_id: PairId
    right: int
    query_id: QueryId


class GoldExclusion(StrEnum):
    """Why the grade of a settled pair is not known well enough to measure people by it."""

    DISCARDED = "discarded"
    """It has no relevance."""
    NO_CLIP = "no clip"
    """Its clip cannot be shown."""
    EXAMPLE = "example"
    """The guideline shows its grade."""
    CORRECTABLE = "correctable"
    """Whoever graded it last may still correct the grade."""
    ROUNDED = "rounded"
    """Its relevance is a rounded mean."""


def misses(answer: int, right: int, tolerance: int) -> bool:
    """Whether an answer misses the key: they agree within the same tolerance as two grades of a pair.

    >>> misses(3, 4, 1), misses(2, 4, 1)
    (False, True)
    """
    return abs(answer - right) > tolerance


def missed(answers: Iterable[tuple[int, int]], tolerance: int) -> int:
    """How many of some (answer, right grade) miss.

    >>> missed([(3, 4), (2, 4), (0, 4)], 1)
    2
    """
    return sum(misses(answer, right, tolerance) for answer, right in answers)
