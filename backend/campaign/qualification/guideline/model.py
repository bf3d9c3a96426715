"""The guideline as values: what somebody has to read, what changed, and its examples."""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.ids import PairKey


class Reading(StrEnum):
    """What somebody has to read before they grade."""

    FIRST = "first"
    """They are new: the whole of it, as the tutorial."""
    CHANGED = "changed"
    """They know an earlier version: what changed since."""


@dataclass(frozen=True, slots=True)
class Change:
    """One text of the guideline that two versions have differently; an empty one was not there, or is not any more."""

    where: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Example:
    """What a lead chose to show for a grade.

    `version` is another one for every choice. `showing` is whether the pair still has this relevance, and a clip.
    """

    version: int
    grade: int
    pair: PairKey
    query: str
    note: str
    showing: bool
