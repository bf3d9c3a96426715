"""Pausing somebody: they keep their sign-in, their work and the guideline, and are handed no pair and no exam.

*Reads* annotator, pause. *Writes* pause, seats, events. A grade that was given before its page heard of the pause
counts like one whose lease ran out: wherever nobody has taken the place.
"""

from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Lead, Role
from backend.campaign.setup.people import rows as people
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.saying import said
from backend.core.typed_text import tidy
from backend.core.words import ago
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind

LONGEST_REASON = 400


def pause(store: Store, by: Lead | None, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Hand somebody no pairs from now on; what they hold and have not graded goes back at once.

    Args:
        store: the project's store.
        by: the lead who says so; None where the program does, by a rule.
        annotator_id: whom.
        reason: why; leads read it, the person does not.
        now: seconds since 1970.

    Raises:
        Overtaken: they are paused already.
        ProjectError: no such person, a lead, or no reason.
    """
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
    actor = by.annotator_id if by else None
    subject = f"annotator:{annotator_id}"
    with writing(store) as db:
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
        people.begin_pause(db, annotator_id, actor, reason, at=now)
        if pairs := seats.release(db, annotator_id):
            returned = {"pairs": pairs, "why": "paused"}
            events.record(db, EventKind.SEATS_RETURNED, at=now, actor=actor, subject=subject, payload=returned)
        events.record(db, EventKind.PERSON_PAUSED, at=now, actor=actor, subject=subject, payload={"reason": reason})


def unpause(store: Store, by: Lead, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let somebody go on.

    Raises:
        Overtaken: nobody has paused them, or somebody let them go on already.
        ProjectError: no such person.
    """
    with writing(store) as db:
        person = people.by_id(db, annotator_id)
        if person is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if people.standing_pause(db, annotator_id) is None:
            raise Overtaken(said("{name} is not paused any more: somebody else let them go on", name=person.name))
        people.end_pause(db, annotator_id, by.annotator_id, at=now)
        events.record(db, EventKind.PERSON_UNPAUSED, at=now, actor=by.annotator_id, subject=f"annotator:{annotator_id}")


def suspend(store: Store, lead: Lead, annotator_id: AnnotatorId, suspended: bool, *, now: float) -> None:
    """Suspend somebody (their sessions end and their seats go back at once) or let them in again.

    Raises:
        ProjectError: no such person, or oneself.
    """
    with writing(store) as db:
        if people.by_id(db, annotator_id) is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if annotator_id == lead.annotator_id:
            raise ProjectError(said("you cannot suspend yourself: ask another lead"))
        people.suspend(db, annotator_id, suspended)
        if suspended and (pairs := seats.release(db, annotator_id)):
            payload = {"pairs": pairs, "why": "suspended"}
            subject = f"annotator:{annotator_id}"
            events.record(
                db, EventKind.SEATS_RETURNED, at=now, actor=lead.annotator_id, subject=subject, payload=payload
            )
        events.record(
            db,
            EventKind.PERSON_SUSPENDED,
            at=now,
            actor=lead.annotator_id,
            subject=f"annotator:{annotator_id}",
            payload={"suspended": suspended},
        )
