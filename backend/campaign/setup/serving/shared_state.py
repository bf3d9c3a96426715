"""Share failed sign-ins and drafts between the server processes of a project.

Failures slow down people who guess passwords, without locking anybody out. A draft is what a person had typed when
their session ended. It is deleted after an hour, because it is not part of any record. It is never kept in the browser,
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
    """Count an attempt to sign in as failed, before its password is checked, and return how it is delayed.

    `attempt_succeeded` corrects the count if the password is right. Counting afterwards would give a hundred requests
    sent at once a hundred free guesses. Names that nobody has are counted too. An attempt that is refused is not
    counted.

    Args:
        project: the project.
        name: the name that was typed.
        address: the network address of the attempt.
        browser: the browser's cookie, if this person signed in with the browser before (`knows_browser`).
        now: seconds since 1970.
    """
    who = rules.sign_in_counters(name, address, browser)
    with writing(project.store) as db:
        rows.forget_failures(db, rules.FORGOTTEN_S, now=now)
        delay = rules.delay(rows.failures(db, who), now=now)
        if not delay.refused_s:
            for kind, digest in who.items():
                rows.add_failure(db, kind, digest, at=now)
    return delay


@public
def attempt_succeeded(project: Project, name: str, address: str, browser: str | None) -> None:
    """Correct the counts of failed sign-ins after an attempt with the right password.

    The failures of this person at this address, or in this known browser, are forgotten. Other failures with the same
    name or address may be somebody else's. They still count, except for this attempt itself.
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
    """Store what a person had typed on a page when their session ended, for an hour; only they can read it.

    `place` is the path of the page, and `values` maps the fields to their values. A newer draft of a page replaces the
    person's older one.
    """
    typed = rules.draft_values(values)
    if not typed:
        return
    with writing(project.store) as db:
        rows.forget_drafts(db, rules.DRAFT_S, now=now)
        rows.keep_draft(db, person, place, typed, at=now)


@signed_in
def take_draft(project: Project, person: Lead | Annotator, place: str, *, now: float) -> dict[str, Typed]:
    """Return what a person had typed on a page when their session ended, by field, and delete this draft.

    `place` is the path of the page. The result is empty if there is no draft, or it is more than an hour old.
    """
    if not rows.has_draft(project.store.db, person.annotator_id, place):
        return {}  # every run of every page comes here, so it must not write
    with writing(project.store) as db:
        rows.forget_drafts(db, rules.DRAFT_S, now=now)
        return rows.take_draft(db, person.annotator_id, place)
