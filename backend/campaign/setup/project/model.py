"""The settings of a campaign, its scale and its guideline as values."""

from dataclasses import dataclass
from typing import Literal

from backend.campaign.nouns import Rounding, Scale

People = Literal["counted", "joined", "apart"]
"""How imprecise captions put several people: `two people`, `two women`, or `a woman and another woman`."""


@dataclass(frozen=True, slots=True)
class ExamSettings:
    """The defaults of an exam; `most_missed` is in percent."""

    queries: int
    pairs: int
    most_missed: float


@dataclass(frozen=True, slots=True)
class GoldSettings:
    """Whether pairs with known grades are mixed into the work, at which share of it, and what follows.

    `share` is above 0 and at most 0.5. Accuracy is that of the last `window` answers, once there are `fewest`: below
    `warn` percent the person is told, below `pause` percent, or below `warn` again, they are paused.
    """

    on: bool
    share: float
    window: int
    fewest: int
    warn: float
    pause: float


@dataclass(frozen=True, slots=True)
class Question:
    """One of the questions that annotators ask themselves before they grade."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Grading:
    """Everything about grades that differs between campaigns.

    `tolerance` is how far two grades may differ and still agree, `rounding` what becomes of a mean between two grades;
    the scale's examples are of `example_query`. `questions` and `reminders` are the guideline's beside the grades.
    """

    scale: Scale
    tolerance: int
    rounding: Rounding
    example_query: str
    questions: tuple[Question, ...]
    reminders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GuidelineVersion:
    """The guideline in force from `since` on (None: from the beginning) until the next version."""

    version: int
    since: float | None
    by: str | None
    """The lead who wrote it; None for the command line, and for the first."""
    reason: str
    grading: Grading


@dataclass(frozen=True, slots=True)
class Campaign:
    """The settings of a campaign that the database keeps.

    `rule_version` names the rule that settles pairs; `seats` are there from the start, `further_seats` after
    escalation.
    """

    batch_size: int
    grading: Grading
    rule_version: str
    seats: int
    further_seats: int
    exam: ExamSettings
    gold: GoldSettings
    tutorial: bool
    """Whether newcomers are shown the tutorial before their first clip."""

    @property
    def scale(self) -> Scale:
        """The grades that people may give."""
        return self.grading.scale

    @property
    def tolerance(self) -> int:
        """How far two grades may differ and still agree."""
        return self.grading.tolerance


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which licence releases are handed on, and how to cite them; an empty text where nobody said.

    `by` is the name of a lead, None where the command line said it.
    """

    licence: str = ""
    citation: str = ""
    reason: str = ""
    by: str | None = None
    at: float | None = None
