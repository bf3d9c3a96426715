"""People: adding, inviting, signing in and out, suspending."""

import time
from collections.abc import Mapping, Sequence

from backend.campaign.judging import assigning, pausing, queue
from backend.campaign.judging.model import Assignment
from backend.campaign.nouns import Annotator, Lead, Operator, Person, Role
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people_rows
from backend.campaign.setup.people.model import PersonReview
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId


def add_person(project: Project, by: Person | Operator, name: str, role: Role, *, now: float) -> str:
    """Add somebody; a one-time invitation token with which they set their password."""
    return people.add_invited(project.store, permissions.require_in_charge(project.store, by), name, role, now=now)


def add_person_with_password(
    project: Project, by: Person | Operator, name: str, role: Role, password: str, *, now: float
) -> Person:
    """Add somebody whose password is known already, all or nothing (for scripts)."""
    return people.add_with_password(
        project.store, permissions.require_in_charge(project.store, by), name, role, password, now=now
    )


def sign_in(project: Project, name: str, password: str, *, now: float) -> str:
    """A session token; raises `SignInRefused`. Slow on purpose (argon2): keep it off the event loop."""
    return people.sign_in(project.store, name, password, now=now)


def person_for(project: Project, token: str, *, now: float) -> Person | None:
    """Whose session a token is; None if it is over."""
    return people.person_for(project.store, token, now=now)


def knows_browser(project: Project, name: str, browser: str, *, now: float) -> bool:
    """Whether the person of this name signed in with this browser before. Tells nobody who has not its cookie."""
    return people.knows_browser(project.store, name, browser, now=now)


def remember_browser(project: Project, session: str, browser: str, *, now: float) -> str:
    """Know a browser from now on by the cookie that is returned; `browser` is the cookie it had, if any."""
    return people.remember_browser(project.store, session, browser, now=now)


def sign_out(project: Project, token: str, *, now: float) -> None:
    """End a session and give back the seats that the person holds."""
    person = people.person_for(project.store, token, now=now)
    people.sign_out(project.store, token)
    if person is not None:
        queue.sign_off(project.store, person, now=now)


def sign_out_everywhere(project: Project, token: str, *, now: float) -> None:
    """End all sessions of the person behind a session, and give back the seats that they hold."""
    person = people.person_for(project.store, token, now=now)
    if person is not None:
        people.sign_out_everywhere(project.store, person, now=now)
        queue.sign_off(project.store, person, now=now)


def change_password(project: Project, token: str, old: str, new: str, *, now: float) -> str:
    """Set another password; all sessions end but the new one, whose token this is. Slow on purpose, as `sign_in`.

    Raises:
        SignInRefused: the session is over, or `old` is wrong.
        ProjectError: the new password is too short, or the old one.
    """
    return people.change_password(project.store, token, old, new, now=now)


def lead_of(project: Project, person: Person) -> Lead:
    """This person, if they are a lead as things stand now; raises `NotAllowed`, with a sentence for them."""
    return permissions.require_lead(project.store, person)


def annotator_of(project: Project, person: Person) -> Annotator:
    """This person, if they are an annotator as things stand now; raises `NotAllowed`, with a sentence for them."""
    return permissions.require_annotator(project.store, person)


def new_invitation(project: Project, lead: Person, annotator_id: AnnotatorId, *, now: float) -> tuple[Person, str]:
    """A new one-time link for somebody who is here already; their older ones become void.

    Returns:
        Whom it is for, and the token.
    """
    return people.new_invitation(project.store, permissions.require_lead(project.store, lead), annotator_id, now=now)


def invited(project: Project, invitation: str, *, now: float) -> Person | None:
    """Whom a one-time invitation is for; None if it is used up."""
    return people.invited(project.store, invitation, now=now)


def accept_invitation(project: Project, invitation: str, password: str, *, now: float) -> str:
    """Set the password of an invited person; a session token."""
    return people.accept_invitation(project.store, invitation, password, now=now)


def accept_invitation_as(project: Project, invitation: str, issuer: str, subject: str, *, now: float) -> str:
    """Bind an account of an identity provider to an invited person; a session token."""
    return people.accept_invitation_as(project.store, invitation, issuer, subject, now=now)


def sign_in_as(project: Project, issuer: str, subject: str, *, now: float) -> str:
    """A session token for whoever an identity provider vouches for; raises `SignInRefused`."""
    return people.sign_in_as(project.store, issuer, subject, now=now)


def list_people(project: Project, by: Person | Operator, *, now: float | None = None) -> list[PersonReview]:
    """Everybody, with how much and when last they graded.

    `now` tells when today began: by the clock of this machine, if not given.
    """
    permissions.require_in_charge(project.store, by)
    return people_rows.reviews(project.store.db, time.time() if now is None else now)


def suspend(project: Project, lead: Person, annotator_id: AnnotatorId, suspended: bool, *, now: float) -> None:
    """Suspend somebody or let them in again."""
    pausing.suspend(project.store, permissions.require_lead(project.store, lead), annotator_id, suspended, now=now)


def pause_person(project: Project, lead: Person, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Hand an annotator no pairs from now on; they may still sign in and look at their work."""
    pausing.pause(project.store, permissions.require_lead(project.store, lead), annotator_id, reason, now=now)


def unpause_person(project: Project, lead: Person, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let a paused annotator go on."""
    pausing.unpause(project.store, permissions.require_lead(project.store, lead), annotator_id, now=now)


def assign(
    project: Project,
    lead: Person,
    annotators: Sequence[AnnotatorId],
    given: Assignment,
    *,
    seen: Mapping[AnnotatorId, int] | None = None,
    now: float,
) -> int:
    """Give annotators a split, a part or chosen queries to grade, or quotas; how many queries with a batch that are.

    `seen` is the assignment of each, by its number, that the lead had seen; None takes any.

    Raises:
        Overtaken: somebody has another one by now.
    """
    return assigning.assign(
        project.store, permissions.require_lead(project.store, lead), annotators, given, seen=seen, now=now
    )


def unassign(project: Project, lead: Person, annotator_id: AnnotatorId, *, seen: int | None = None, now: float) -> None:
    """Let an annotator grade whatever there is again; `seen` is the assignment that the lead saw, None any.

    Raises:
        Overtaken: they have another one by now, or none any more.
    """
    assigning.unassign(project.store, permissions.require_lead(project.store, lead), annotator_id, seen=seen, now=now)


def assignments_standing(project: Project, by: Person | Operator) -> dict[AnnotatorId, Assignment]:
    """What every annotator is assigned to who is to anything."""
    permissions.require_in_charge(project.store, by)
    return assigning.standing(project.store)
