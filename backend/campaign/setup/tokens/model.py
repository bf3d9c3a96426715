"""Data types and limits of personal tokens."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.nouns import Person
from backend.core.events import Event, EventGroup
from backend.core.messages import said

USUAL_DAYS, MOST_DAYS = 90, 365
"""The usual and the longest time for which a token works, in days."""
MOST_TOKENS = 20
"""The most tokens that a person has at a time, expired ones included."""
LONGEST_NAME = 60
"""The most characters of a token's name."""
LISTED_DAYS = 30
"""For so many days an expired token stays in the list, so that its owner sees why a program stopped working."""


class TokenScope(StrEnum):
    """What a program may do with a token. It is never more than what the person who made the token may do."""

    READ = "read"
    """Read only: every change is refused."""
    ACT = "act"
    """Everything that the person may do themselves."""


@dataclass(frozen=True, slots=True)
class PersonalToken:
    """A token as lists show it; the token itself is shown once, when it is made.

    `key` identifies it and is no secret. Times are in seconds since 1970. `used_at` is when a program last used the
    token, to the minute; None if none did.
    """

    key: str
    name: str
    owner: Person
    scope: TokenScope
    created_at: float
    expires_at: float
    used_at: float | None = None


TOKEN_MADE = Event("token_made", EventGroup.PEOPLE, said("made the token “{name}” ({scope})"))
"""key, name, scope, expires_at: never the token itself"""
TOKEN_REVOKED = Event("token_revoked", EventGroup.PEOPLE, said("revoked the token “{name}”"))
"""key, name, used_at: when it was last used"""
