"""The guideline and its practice pairs as values."""

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


@dataclass(frozen=True, slots=True)
class PracticeItem:
    """A practice pair before it is answered. `own` is what the person answered last, in this tutorial or an earlier."""

    pair: str
    query: str
    whole: bool
    own: int | None


@dataclass(frozen=True, slots=True)
class PracticeTold:
    """What somebody is told at once after they answered: `agrees` as two grades of a pair would."""

    own: int
    right: int
    agrees: bool
    explanation: str


@dataclass(frozen=True, slots=True)
class PracticeFigures:
    """A practice pair as leads see it.

    `people` answered it, `missed` of them differed at their first answer by more than the tolerance. `hidden` says why
    nobody is shown it just now; an empty text if they are.
    """

    practice_id: int
    key: str
    query: str
    video: str
    start_s: float
    end_s: float
    grade: int
    explanation: str
    hidden: str
    people: int
    missed: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A moment that a lead may choose for a text, the most similar first."""

    moment_id: int
    video: str
    start_s: float
    end_s: float
    caption: str | None
    similarity: float
