"""People, and their pauses, as values."""

from dataclasses import dataclass

from backend.campaign.nouns import Person


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
