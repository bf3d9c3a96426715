"""Share failed sign-ins and drafts between the front ends of a project.

Failures slow down people who guess passwords, without locking anybody out. A draft is what a person had typed when
their session ended. It is kept for an hour only, because it is not part of any record. It is never kept in the browser,
where the next person at the same computer would find it.

*Reads* and *writes* sign_in_attempt and draft.
"""

from collections.abc import Mapping

from backend.campaign.nouns import Annotator, Lead
from backend.campaign.setup.people.permissions import public, signed_in
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving import rows, rules
from backend.campaign.setup.serving.model import Delay, Typed
from backend.core.ids import AnnotatorId
from backend.store.connection import writing


@public
def begin_attempt(project: Project, name: str, address: str, browser: str | None, *, now: float) -> Delay:
    """Count an attempt to sign in as a failure until it succeeds, and return how it is delayed.

    It counts before the password is checked. Otherwise a hundred requests sent at once would be a hundred free guesses
    while the first is checked. Names that nobody has count like any other. An attempt that is refused does not count.

    Args:
        project: the project.
        name: the name that was typed.
        address: the network address of the attempt.
        browser: its cookie, if this person signed in with it before (`knows_browser`).
        now: seconds since 1970.
    """
    who = rules.sign_in_counters(name, address, browser)
    with writing(project.store) as db:
        rows.forget_failures(db, until=now - rules.FORGOTTEN_S)
        delay = rules.delay(rows.failures(db, who), now=now)
        if not delay.refused_s:
            for kind, digest in who.items():
                rows.add_failure(db, kind, digest, at=now)
    return delay


@public
def attempt_succeeded(project: Project, name: str, address: str, browser: str | None) -> None:
    """Forget the failures of the person who made this attempt, because the password was right.

    The counters of the name and of the address lose only this attempt, so that nothing changes for others.
    """
    who = rules.sign_in_counters(name, address, browser)
    with writing(project.store) as db:
        for kind, digest in who.items():
            if kind in ("pair", "browser"):
                rows.drop_failures(db, kind, digest)
            else:
                rows.take_failure_back(db, kind, digest)


@public
def keep_draft(project: Project, person: AnnotatorId, place: str, values: Mapping[str, object], *, now: float) -> None:
    """Store what a person had typed on the page at `/place` when their session ended; for them alone, for an hour.

    A person's newer draft at a place replaces the older one.
    """
    typed = rules.draft_values(values)
    if not typed:
        return
    with writing(project.store) as db:
        rows.forget_drafts(db, until=now - rules.DRAFT_S)
        rows.keep_draft(db, person, place, typed, at=now)


@signed_in
def take_draft(project: Project, person: Lead | Annotator, place: str, *, now: float) -> dict[str, Typed]:
    """Return what a person had typed at a place, and delete it; empty if there is none, or it is too old."""
    if not rows.has_draft(project.store.db, person.annotator_id, place):
        return {}  # every run of every page comes here, so it must not write
    with writing(project.store) as db:
        rows.forget_drafts(db, until=now - rules.DRAFT_S)
        return rows.take_draft(db, person.annotator_id, place)
