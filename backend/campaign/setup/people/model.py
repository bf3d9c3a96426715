"""People, and their pauses, as values."""

from dataclasses import dataclass

from backend.campaign.nouns import Person
from backend.core.events import Event, EventGroup, Payload
from backend.core.messages import said


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


def _invitation_words(payload: Payload) -> str:
    return said("made a new sign-in link") if payload.get("replaced") else said("made a sign-in link")


PERSON_ADDED = Event("person_added", EventGroup.PEOPLE, said("added {name} as {role}"))
"""name, role"""
IDENTITY_BOUND = Event("identity_bound", EventGroup.PEOPLE, said("bound the account to {issuer}"))
"""issuer"""
PASSWORD_SET = Event("password_set", EventGroup.PEOPLE, said("set a password"))
"""(empty)"""
INVITED = Event("invited", EventGroup.PEOPLE, _invitation_words)
"""replaced: how many older links became void; a lead made a new one for somebody who is here already"""
