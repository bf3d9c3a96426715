"""The nouns that all features of a campaign share, as plain values.

The words are defined in docs/concepts.md. Units stand in the names: `_s` seconds, `_ms` milliseconds, `_px`
pixels. Instants (`at`, `until`) are seconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from backend.ground.errors import NotAllowed
from backend.ground.ids import AnnotatorId

Relevance = int
"""Consensus of a pair, 0 (unrelated) to 4 (exact)."""


class Grade(IntEnum):
    """One annotator's judgement of one pair."""

    UNRELATED = 0
    TOUCHES = 1
    PARTLY = 2
    WELL = 3
    EXACTLY = 4


class Role(StrEnum):
    """What a person may do; every page and route checks it."""

    ANNOTATOR = "annotator"
    LEAD = "lead"


class Split(StrEnum):
    """Which part of a release a query belongs to."""

    VAL = "val"
    TEST = "test"
    TRAIN = "train"


class Verdict(StrEnum):
    """What the consensus rule, or a lead, says about one pair."""

    OPEN = "open"
    """Fewer than two grades so far."""
    ESCALATED = "escalated"
    """The first two grades differ by more than 1: two further annotators are needed."""
    CONSENSUS = "consensus"
    DISCARDED = "discarded"
    """Four grades, and the middle two still differ by more than 1."""
    ADJUDICATED = "adjudicated"
    """A lead decided; overrides the rule, erases nothing."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may sign in."""

    annotator_id: AnnotatorId
    name: str
    role: Role
    suspended: bool = False


def require_lead(person: Person) -> None:
    """Refuse anybody but a lead."""
    if person.role is not Role.LEAD:
        raise NotAllowed(f"only leads may do this; {person.name} is signed in as {person.role}")
