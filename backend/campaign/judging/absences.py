"""Pause or suspend people, and sign them out: what they hold and have not graded goes back at once.

Somebody who is paused keeps their sign-in, their work and the guideline, and is handed no pair and no exam. A grade
that was given before its page heard of the pause counts like one whose lease ran out: wherever nobody has taken the
place.

*Reads* annotator, session, pause. *Writes* annotator, session, pause, seats, events.
"""

from backend.campaign.judging import queue
from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Lead, Role
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import lead_only, public
from backend.campaign.setup.people.sessions import digest, person_for
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.core.words import ago
from backend.store import events
from backend.store.connection import Database, writing
from backend.store.events import EventKind

LONGEST_REASON = 400


@lead_only
def pause_person(project: Project, lead: Lead, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Hand an annotator no pairs from now on; they may still sign in and look at their work.

    Args:
        project: the project.
        lead: who says so.
        annotator_id: whom.
        reason: why; leads read it, the person does not.
        now: seconds since 1970.

    Raises:
        Overtaken: they are paused already.
        ProjectError: there is no such person, they are a lead, or the reason is empty or too long.
    """
    with writing(project.store) as db:
        begin_pause(db, lead, annotator_id, reason, now=now)


def begin_pause(db: Database, by: Lead | None, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Pause somebody inside a transaction, as `pause_person` does; `by` is None where the program does, by a rule."""
    reason = tidy(reason)
    if not reason:
        raise ProjectError(said("a pause needs a reason: write one sentence about why"))
    if len(reason) > LONGEST_REASON:
        raise ProjectError(
            said(
                "a reason has at most {longest} characters; this one has {length}",
                longest=LONGEST_REASON,
                length=len(reason),
            )
        )
    person = people.by_id(db, annotator_id)
    if person is None:
        raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
    if person.role is Role.LEAD:
        raise ProjectError(said("{name} is a lead and takes no pairs: there is nothing to pause", name=person.name))
    if standing := people.standing_pause(db, annotator_id):
        who = standing.by or said("A rule", _context="by")
        raise Overtaken(
            said(
                "{who} paused {name} {when}: {reason}",
                who=who,
                name=person.name,
                when=ago(now - standing.at),
                reason=standing.reason,
            )
        )
    actor, subject = by.annotator_id if by else None, f"annotator:{annotator_id}"
    people.begin_pause(db, annotator_id, actor, reason, at=now)
    _return_seats(db, annotator_id, actor, "paused", now=now)
    events.record(db, EventKind.PERSON_PAUSED, at=now, actor=actor, subject=subject, payload={"reason": reason})


@lead_only
def unpause_person(project: Project, lead: Lead, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let a paused annotator go on.

    Raises:
        Overtaken: nobody has paused them, or somebody let them go on already.
        ProjectError: there is no such person.
    """
    with writing(project.store) as db:
        person = people.by_id(db, annotator_id)
        if person is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if people.standing_pause(db, annotator_id) is None:
            raise Overtaken(said("{name} is not paused any more: somebody else let them go on", name=person.name))
        people.end_pause(db, annotator_id, lead.annotator_id, at=now)
        subject = f"annotator:{annotator_id}"
        events.record(db, EventKind.PERSON_UNPAUSED, at=now, actor=lead.annotator_id, subject=subject)


@lead_only
def suspend(project: Project, lead: Lead, annotator_id: AnnotatorId, suspended: bool, *, now: float) -> None:
    """Suspend somebody, which ends their sessions, or let them in again.

    Raises:
        ProjectError: there is no such person, or it is oneself.
    """
    with writing(project.store) as db:
        if people.by_id(db, annotator_id) is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if annotator_id == lead.annotator_id:
            raise ProjectError(said("you cannot suspend yourself: ask another lead"))
        people.suspend(db, annotator_id, suspended)
        if suspended:
            _return_seats(db, annotator_id, lead.annotator_id, "suspended", now=now)
        events.record(
            db,
            EventKind.PERSON_SUSPENDED,
            at=now,
            actor=lead.annotator_id,
            subject=f"annotator:{annotator_id}",
            payload={"suspended": suspended},
        )


@public
def sign_out(project: Project, token: str, *, now: float) -> None:
    """End a session, and give back the seats that its person holds."""
    person = person_for(project, token, now=now)
    with writing(project.store) as db:
        people.end_session(db, digest(token))
        if person is not None:
            queue.sign_off(project.store, person, now=now)


@public
def sign_out_everywhere(project: Project, token: str, *, now: float) -> None:
    """End all sessions of the person behind a session, in every browser, and give back the seats that they hold."""
    person = person_for(project, token, now=now)
    if person is None:
        return
    with writing(project.store) as db:
        events.record(
            db,
            EventKind.SIGNED_OUT_EVERYWHERE,
            at=now,
            actor=person.annotator_id,
            subject=f"annotator:{person.annotator_id}",
            payload={"sessions": people.end_sessions(db, person.annotator_id)},
        )
        queue.sign_off(project.store, person, now=now)


def _return_seats(db: Database, annotator_id: AnnotatorId, actor: AnnotatorId | None, why: str, *, now: float) -> None:
    """Free what somebody holds, with the event that tells of it."""
    if pairs := seats.release(db, annotator_id):
        payload = {"pairs": pairs, "why": why}
        subject = f"annotator:{annotator_id}"
        events.record(db, EventKind.SEATS_RETURNED, at=now, actor=actor, subject=subject, payload=payload)
