"""What leads explore, as values."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Funnel:
    """How far the pairs came that were handed out, and where they ended; those of a probe alone are not counted.

    `pairs` is the sum of `waiting_first`, `settled_by_two`, `decided_at_once` and `escalated`; `escalated` that of
    all others.
    """

    pairs: int
    waiting_first: int
    """Fewer than two grades."""
    settled_by_two: int
    decided_at_once: int
    """Decided by a lead, without further people having been asked."""
    escalated: int
    """The first two grades disagreed, so further people were asked; whatever came of it."""
    waiting_further: int
    """Of them, those that lack grades still."""
    settled_by: Mapping[int, int]
    """Of them, those in consensus by so many people: four, and six where pairs were re-opened."""
    discarded: int
    """Of them, those without a consensus, that no lead decided."""
    decided: int
    """Of them, those that a lead decided."""

    @property
    def graded_by_two(self) -> int:
        """Pairs that have their first two grades, or needed none."""
        return self.pairs - self.waiting_first
