"""Compare answers with right grades, for the exam, gold questions and practice pairs."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from backend.core.ids import PairId, QueryId


class KnownPair(NamedTuple):
    """A pair and its right grade."""

    pair_id: PairId
    right: int
    query_id: QueryId


class GoldExclusion(StrEnum):
    """A reason why a graded pair cannot be a gold question: its grade is too uncertain to score annotators by it."""

    DISCARDED = "discarded"
    """The pair has no relevance."""
    NO_CLIP = "no clip"
    """The clip of the pair cannot be shown."""
    EXAMPLE = "example"
    """The guideline shows the grade of the pair."""
    CORRECTABLE = "correctable"
    """The person who graded the pair last may still correct the grade."""
    ROUNDED = "rounded"
    """The relevance of the pair is a rounded mean."""


def misses(answer: int, right: int, tolerance: int) -> bool:
    """Return whether an answer differs from the right grade by more than the tolerance.

    >>> misses(3, 4, 1), misses(2, 4, 1)
    (False, True)
    """
    return abs(answer - right) > tolerance


def count_misses(answers: Iterable[tuple[int, int]], tolerance: int) -> int:
    """Count the answers that differ from the right grade by more than the tolerance.

    Each item of `answers` is (answer, right grade).

    >>> count_misses([(3, 4), (2, 4), (0, 4)], 1)
    2
    """
    return sum(misses(answer, right, tolerance) for answer, right in answers)
