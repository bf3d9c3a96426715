"""How often a password may be tried: failures counted by name and by client address, at whichever front end."""

from backend.campaign.serving import rows, rules
from backend.store.connection import Store, writing


def begin(store: Store, name: str, address: str, *, now: float) -> int:
    """Counts one attempt; returns 0, or the whole seconds to wait when there were too many (uncounted).

    An attempt counts from the moment it begins, not when it has failed: a hundred requests sent at once are
    not a hundred free guesses while the first is still being checked.
    """
    who = rules.counted_as(name, address)
    with writing(store) as db:
        rows.forget_attempts(db, until=now - rules.ATTEMPTS_COUNT_S)
        wait_s = rules.wait_s({kind: rows.attempts(db, kind, digest) for kind, digest in who.items()}, now=now)
        if not wait_s:
            for kind, digest in who.items():
                rows.add_attempt(db, kind, digest, at=now)
    return wait_s


def succeeded(store: Store, name: str, address: str) -> None:
    """Forgets the failures of a name, and the attempt just counted for the address."""
    who = rules.counted_as(name, address)
    with writing(store) as db:
        rows.drop_attempts(db, "name", who["name"])
        rows.drop_last_attempt(db, "address", who["address"])
