"""Slow down whoever guesses passwords, at all front ends together, without locking anybody out."""

from backend.campaign.setup.serving import rows, rules
from backend.campaign.setup.serving.model import Delay
from backend.store.connection import Store, writing


def begin(store: Store, name: str, address: str, browser: str | None, *, now: float) -> Delay:
    """Count an attempt to sign in as a failure until it succeeds; one that is refused is not counted.

    It counts from the moment it begins, not when it has failed: a hundred requests sent at once are not a hundred free
    guesses while the first is still being checked. Names that nobody has are counted like any other.

    Args:
        store: the project's store.
        name: the name that was typed.
        address: where it came from.
        browser: its cookie, if this person signed in with it before.
        now: seconds since 1970.
    """
    who = rules.counted_as(name, address, browser)
    with writing(store) as db:
        rows.forget_failures(db, until=now - rules.FORGOTTEN_S)
        delay = rules.delay(rows.failures(db, who), now=now)
        if not delay.refused_s:
            for kind, digest in who.items():
                rows.add_failure(db, kind, digest, at=now)
    return delay


def succeeded(store: Store, name: str, address: str, browser: str | None) -> None:
    """Forget one's own failures. Of the name and the address only this attempt: what others see does not change."""
    who = rules.counted_as(name, address, browser)
    with writing(store) as db:
        for kind, digest in who.items():
            if kind in ("pair", "browser"):
                rows.drop_failures(db, kind, digest)
            else:
                rows.take_failure_back(db, kind, digest)
