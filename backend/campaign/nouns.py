"""Define the data types that all parts of a campaign share: scale, split, role, verdict, person and others.

docs/concepts.md explains the terms. The end of a name gives the unit: `_s` seconds, `_ms` milliseconds, `_px` pixels.
Times (`at`, `until`) are in seconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup, Payload
from backend.core.ids import AnnotatorId
from backend.core.messages import said, said_n

Relevance = int
"""The consensus of a pair: a grade of the campaign's scale."""


FIRST_ROUND_SEATS = (1, 2)
"""The seats that every pair has. The database schema repeats these numbers, and a test compares both."""
SECOND_ROUND_SEATS = (3, 4)
"""The two seats that escalation adds."""
RE_OPENED_SEATS = (5, 6)
"""The two seats that a pair gets when a lead re-opens it after it was discarded."""


@dataclass(frozen=True, slots=True)
class GradeMeaning:
    """One grade of the scale, with the texts that explain it to annotators.

    `label` is the text on the grade's button. `meaning` is shown below the button, and `detail` in the guideline.
    `example` describes in words a clip that deserves this grade.
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
"""The colour of each grade, and of text on it, on every page and chart. The colours go from dark to bright as well as
from blue to yellow, so people who cannot tell hues apart see their order too."""


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
        """Return whether a value is a grade of this scale."""
        return grade in self.grades

    @property
    def grades(self) -> range:
        """The grades, from the lowest to the highest."""
        return range(len(self.meanings))

    @property
    def highest(self) -> int:
        """The highest grade."""
        return len(self.meanings) - 1

    def label(self, grade: int) -> str:
        """Return the text on the button of a grade."""
        return self.meanings[grade].label

    @property
    def words(self) -> str:
        """The range of the scale in words, such as `0 to 4`."""
        return said("0 to {highest}", highest=self.highest)


class Rounding(StrEnum):
    """How the mean of two grades is rounded if it is halfway between two whole numbers."""

    HALF_UP = "half_up"
    HALF_DOWN = "half_down"


class Role(StrEnum):
    """The role of a user, which alone decides what they may do; see `backend.campaign.setup.people.permissions`."""

    ANNOTATOR = "annotator"
    LEAD = "lead"


class Split(StrEnum):
    """The part of a release that a query belongs to: validation, test or training; training queries are not graded."""

    VAL = "val"
    TEST = "test"
    TRAIN = "train"


class Verdict(StrEnum):
    """What is known about the relevance of a pair, by the consensus rule for its grades or by a lead's decision."""

    OPEN = "open"
    """Fewer than two grades so far."""
    ESCALATED = "escalated"
    """The pair needs two further annotators: its first two grades differ by more than the tolerance, or a lead
    re-opened it."""
    CONSENSUS = "consensus"
    DISCARDED = "discarded"
    """The pair has four or six grades, and the middle two still differ by more than the tolerance."""
    ADJUDICATED = "adjudicated"
    """A lead decided the relevance. This overrides the rule, and all grades stay on record."""

    @property
    def is_settled(self) -> bool:
        """Whether the pair needs no further grades."""
        return self not in (Verdict.OPEN, Verdict.ESCALATED)


@dataclass(frozen=True, slots=True)
class Person:
    """A user of a project: an annotator or a lead, who may sign in unless suspended."""

    annotator_id: AnnotatorId
    name: str
    role: Role
    suspended: bool = False


class Lead(Person):
    """A lead whose permission was just checked. Only `backend.campaign.setup.people.permissions` creates one."""

    __slots__ = ()


class Annotator(Person):
    """An annotator whose permission was just checked. Only `backend.campaign.setup.people.permissions` creates one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Operator:
    """A user who runs commands on the machine that holds the project, and so could read and write its files anyway.

    The database records no person for what an operator does, so `annotator_id` is None.
    """

    annotator_id: None = None


OPERATOR = Operator()


FROM_EXAM = "exam:"
"""The prefix of a judgement's event key if the judgement was an answer in an exam. No other event key has it."""


def _returned_words(payload: Payload) -> str:
    pairs = payload.get("pairs")
    return said_n("gave back {n} pair", "gave back {n:,} pairs", len(pairs) if isinstance(pairs, list) else pairs or 0)


SEATS_RETURNED = Event("seats_returned", EventGroup.DESK, _returned_words)
"""pairs, why"""


@dataclass(frozen=True, slots=True)
class Pause:
    """A period during which an annotator gets no pairs.

    `by` names the lead who paused them. It is None if a rule of the campaign did. `at` is its start, in seconds since
    1970.
    """

    at: float
    by: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class PersonReview:
    """A user with counts of their work, one row of the lead's page of people.

    `last_at` is when they last graded, in seconds since 1970. `today` counts the pairs that they first graded today,
    and `skips` those that they skipped.
    """

    person: Person
    has_password: bool
    judgements: int
    """Number of pairs with a current grade of this person."""
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
"""tokens: how many personal tokens were revoked with it"""
INVITED = Event("invited", EventGroup.PEOPLE, _invitation_words)
"""replaced: how many older links became void, if a lead made a new link for somebody with an account"""
