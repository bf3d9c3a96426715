"""People as values."""

from dataclasses import dataclass

from backend.campaign.nouns import Person


@dataclass(frozen=True, slots=True)
class Pause:
    """Somebody takes no pairs for a while. `by` is the lead who said so; None where the program did, by a rule."""

    at: float
    by: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class PersonReview:
    """One row of the lead's people page."""

    person: Person
    has_password: bool
    judgements: int
    """Pairs with a standing grade of this person."""
    last_at: float | None
    today: int = 0
    skips: int = 0
    pause: Pause | None = None
    """The pause that stands, if one does."""
