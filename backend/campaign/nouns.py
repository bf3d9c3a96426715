"""The nouns that all features of a campaign share, as plain values.

The words are defined in docs/concepts.md. Units stand in the names: `_s` seconds, `_ms` milliseconds, `_px`
pixels. Instants (`at`, `until`) are seconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup, Payload
from backend.core.ids import AnnotatorId
from backend.core.messages import said, said_n

Relevance = int
"""Consensus of a pair, a grade of the campaign's scale."""


FIRST_ROUND_SEATS = (1, 2)
"""The seats of every pair. The schema knows the shape of seats too; a test compares them."""
SECOND_ROUND_SEATS = (3, 4)
"""Two more after escalation."""
RE_OPENED_SEATS = (5, 6)
"""Two more after a lead re-opened a discarded pair."""


@dataclass(frozen=True, slots=True)
class GradeMeaning:
    """One grade as people see it.

    `label` fits on a button, `meaning` below it, `detail` in the guideline; `example` says in words what a clip of
    this grade shows.
    """

    grade: int
    label: str
    meaning: str
    detail: str
    example: str


GRADE_COLOURS = (
    ("#5c5a7a", "#fff"),
    ("#3f67b1", "#fff"),
    ("#157f76", "#fff"),
    ("#62b85f", "#10240f"),
    ("#f0cf3a", "#2b2300"),
)
"""The colour of each grade, and of text on it, on every page and chart. They go from dark to bright as well as from
blue to yellow, so their order shows without seeing hues."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The grades of a campaign, from 0 (the least relevant) upwards without a gap.

    >>> scale = Scale((GradeMeaning(0, "No", "", "", ""), GradeMeaning(1, "Yes", "", "", "")))
    >>> scale.grades, scale.highest, scale.words, 2 in scale
    (range(0, 2), 1, '0 to 1', False)
    """

    meanings: tuple[GradeMeaning, ...]

    def __post_init__(self) -> None:
        if [meaning.grade for meaning in self.meanings] != list(self.grades) or len(self.meanings) < 2:
            raise ValueError("a scale needs at least two grades, counting up from 0")

    def __contains__(self, grade: object) -> bool:
        """Whether this is a grade that may be given."""
        return grade in self.grades

    @property
    def grades(self) -> range:
        """All grades, the lowest first."""
        return range(len(self.meanings))

    @property
    def highest(self) -> int:
        """The best grade."""
        return len(self.meanings) - 1

    def label(self, grade: int) -> str:
        """What stands on the button of a grade."""
        return self.meanings[grade].label

    @property
    def words(self) -> str:
        """The whole scale in a sentence: `0 to 4`."""
        return said("0 to {highest}", highest=self.highest)


class Rounding(StrEnum):
    """What becomes of a mean halfway between two grades."""

    HALF_UP = "half_up"
    HALF_DOWN = "half_down"


class Role(StrEnum):
    """What a person may do; `backend.campaign.setup.people.permissions` decides by it, and nothing else."""

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
    """Two further annotators are needed: the first two grades differ by more than the tolerance, or a lead re-opened
    the pair."""
    CONSENSUS = "consensus"
    DISCARDED = "discarded"
    """Four grades, or six, and the middle two still differ by more than the tolerance."""
    ADJUDICATED = "adjudicated"

    @property
    def is_settled(self) -> bool:
        """Whether nobody is asked for a further grade."""
        return self not in (Verdict.OPEN, Verdict.ESCALATED)

    """A lead decided; overrides the rule, erases nothing."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may sign in."""

    annotator_id: AnnotatorId
    name: str
    role: Role
    suspended: bool = False


class Lead(Person):
    """A lead, as `backend.campaign.setup.people.permissions` has just checked; it alone makes them."""

    __slots__ = ()


class Annotator(Person):
    """An annotator, as `backend.campaign.setup.people.permissions` has just checked; it alone makes them."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Operator:
    """Who runs commands on the machine that holds the project, and could read and write its files anyway.

    Nobody in the record: what an operator does names no person.
    """

    annotator_id: None = None


OPERATOR = Operator()


FROM_EXAM = "exam:"
"""What the event key of a judgement begins with that was an answer of an exam; no key press is named so."""


def _returned_words(payload: Payload) -> str:
    pairs = payload.get("pairs")
    return said_n("gave back {n} pair", "gave back {n:,} pairs", len(pairs) if isinstance(pairs, list) else pairs or 0)


SEATS_RETURNED = Event("seats_returned", EventGroup.DESK, _returned_words)
"""pairs, why"""


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which somebody is handed no pairs. `by` is the lead who said so; None where a rule did."""

    at: float
    by: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class PersonReview:
    """One row of the lead's people page."""

    person: Person
    has_password: bool
    judgements: int
    """Pairs with a current grade of this person."""
    last_at: float | None
    today: int = 0
    skips: int = 0
    pause: Pause | None = None
    """The current pause, if there is one."""
    is_archived: bool = False


def _invitation_words(payload: Payload) -> str:
    return said("made a new sign-in link") if payload.get("replaced") else said("made a sign-in link")


PERSON_ADDED = Event("person_added", EventGroup.PEOPLE, said("added {name} as {role}"))
"""name, role"""
IDENTITY_BOUND = Event("identity_bound", EventGroup.PEOPLE, said("linked the account to {issuer}"))
"""issuer"""
PASSWORD_SET = Event("password_set", EventGroup.PEOPLE, said("set a password"))
"""(empty)"""
INVITED = Event("invited", EventGroup.PEOPLE, _invitation_words)
"""replaced: how many older links became void; a lead made a new one for somebody who is here already"""
