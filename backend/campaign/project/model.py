"""What a campaign is, as values."""

from dataclasses import dataclass
from typing import Literal

from backend.campaign.nouns import Scale

People = Literal["counted", "joined", "apart"]
"""How imprecise captions put several people: `two people`, `two women`, or `a woman and another woman`."""


@dataclass(frozen=True, slots=True)
class ExamSettings:
    """What an exam is drawn with where nobody says otherwise; `most_missed` is in percent."""

    queries: int
    pairs: int
    most_missed: float


@dataclass(frozen=True, slots=True)
class GoldSettings:
    """Whether pairs with known grades are mixed into the work, and at which share of it (0 to 1)."""

    on: bool
    share: float


@dataclass(frozen=True, slots=True)
class Campaign:
    """The facts of a campaign.

    `tolerance` is how far two grades may differ and still agree; `rule_version` names the rule that settles pairs;
    `seats` are there from the start, `further_seats` after escalation; the scale's examples are of `example_query`.
    """

    batch_size: int
    scale: Scale
    tolerance: int
    rule_version: str
    seats: int
    further_seats: int
    exam: ExamSettings
    gold: GoldSettings
    example_query: str
