"""Staff the work: give annotators assignments and quotas, pause or suspend people, and sign them out.

Nothing that anybody graded is touched: what people hold and have not graded goes back at once. A grade that was given
before its page heard of a pause or an assignment counts like one whose lease ran out: wherever nobody has taken the
place. Somebody who is paused keeps their sign-in, their work and the guideline. The desk obeys in `judging.queue`.

*Reads* annotator, query, session, pause. *Writes* annotator, session, pause, assignment, assigned_query, seats, events.
"""

from collections.abc import Mapping, Sequence

from backend.campaign.judging import queue
from backend.campaign.judging.model import (
    ASSIGNED,
    PERSON_PAUSED,
    PERSON_SUSPENDED,
    PERSON_UNPAUSED,
    SIGNED_OUT_EVERYWHERE,
    UNASSIGNED,
    Assignment,
)
from backend.campaign.judging.rows import assignments, seats
from backend.campaign.nouns import SEATS_RETURNED, Lead, Operator, Role, Split
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import digest, in_charge, lead_only, person_for, public
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import reason_of
from backend.store import events
from backend.store.connection import Database, reading, writing

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
    reason = reason_of(reason, LONGEST_REASON, said("a pause needs a reason: write one sentence about why"))
    person = people.by_id(db, annotator_id)
    if person is None:
        raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
    if person.role is Role.LEAD:
        raise ProjectError(said("{name} is a lead and does not grade: there is nothing to pause", name=person.name))
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
    return_seats(db, annotator_id, actor, "paused", now=now)
    events.record(db, PERSON_PAUSED, at=now, actor=actor, subject=subject, payload={"reason": reason})


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
            raise Overtaken(said("{name} is not paused any more: somebody else ended the pause", name=person.name))
        people.end_pause(db, annotator_id, lead.annotator_id, at=now)
        subject = f"annotator:{annotator_id}"
        events.record(db, PERSON_UNPAUSED, at=now, actor=lead.annotator_id, subject=subject)


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
            return_seats(db, annotator_id, lead.annotator_id, "suspended", now=now)
        events.record(
            db,
            PERSON_SUSPENDED,
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
            SIGNED_OUT_EVERYWHERE,
            at=now,
            actor=person.annotator_id,
            subject=f"annotator:{person.annotator_id}",
            payload={"sessions": people.end_sessions(db, person.annotator_id)},
        )
        queue.sign_off(project.store, person, now=now)


def return_seats(db: Database, annotator_id: AnnotatorId, actor: AnnotatorId | None, why: str, *, now: float) -> None:
    """Free what somebody holds, with the event that tells of it."""
    if pairs := seats.release(db, annotator_id):
        payload = {"pairs": pairs, "why": why}
        subject = f"annotator:{annotator_id}"
        events.record(db, SEATS_RETURNED, at=now, actor=actor, subject=subject, payload=payload)


@lead_only
def assign(
    project: Project,
    lead: Lead,
    annotators: Sequence[AnnotatorId],
    given: Assignment,
    *,
    seen: Mapping[AnnotatorId, int] | None = None,
    now: float,
) -> int:
    """Give annotators a split, a part or chosen queries to grade, or quotas: all of them, or nobody.

    It takes the place of the assignment they have. What they hold of other queries goes back at once, but for gold.

    Args:
        project: the project.
        lead: who says so.
        annotators: whom.
        given: what; its number, time and giver do not matter.
        seen: the assignments that the lead had seen, by their numbers; who is not in it had none. None takes any.
        now: seconds since 1970.

    Returns:
        How many queries it comes to, of those that have a batch.

    Raises:
        Overtaken: somebody's assignment is another one than the lead had seen.
        ProjectError: nobody, no such person, a lead; or an assignment that says nothing or cannot be.
    """
    _require_sound(given)
    if not annotators:
        raise ProjectError(said("an assignment needs people: choose at least one person"))
    with writing(project.store) as db:
        if given.queries and (unknown := set(given.queries) - assignments.known(db, given.queries)):
            raise ProjectError(
                said("{n} of these queries cannot be graded (any more): reload the page", n=len(unknown))
            )
        for annotator_id in dict.fromkeys(annotators):
            name = _require_annotator(db, annotator_id)
            if seen is not None:
                _require_seen(db, lead, annotator_id, name, seen.get(annotator_id, 0), now)
            assignments.end(db, annotator_id, by=lead.annotator_id, at=now)
            assignments.add(db, annotator_id, _at(given, now), by=lead.annotator_id)
            mine = assignments.standing(db, annotator_id)
            queue.give_back_others(db, annotator_id, mine, lead.annotator_id, now=now)
            events.record(
                db,
                ASSIGNED,
                at=now,
                actor=lead.annotator_id,
                subject=f"annotator:{annotator_id}",
                payload={
                    **{"split": given.split, "part": given.part, "parts": given.parts},
                    "queries": None if given.queries is None else len(given.queries),
                    **{"a_day": given.a_day, "in_all": given.in_all},
                },
            )
        return len(assignments.queries_of(db, mine)) if mine else 0


@lead_only
def unassign(project: Project, lead: Lead, annotator_id: AnnotatorId, *, seen: int | None = None, now: float) -> None:
    """Let an annotator grade whatever there is again; `seen` is the assignment that the lead saw, None any.

    Raises:
        Overtaken: they have no assignment (any more), or another one than the lead had seen.
        ProjectError: no such person, or a lead.
    """
    with writing(project.store) as db:
        name = _require_annotator(db, annotator_id)
        if seen is not None:
            _require_seen(db, lead, annotator_id, name, seen, now)
        if not assignments.end(db, annotator_id, by=lead.annotator_id, at=now):
            raise Overtaken(said("{name} has no assignment any more: somebody else took it back", name=name))
        events.record(db, UNASSIGNED, at=now, actor=lead.annotator_id, subject=f"annotator:{annotator_id}")


@in_charge
def assignments_standing(project: Project, by: Lead | Operator) -> dict[AnnotatorId, Assignment]:
    """Return the current assignment of every annotator who has one."""
    with reading(project.store) as db:
        return assignments.all_standing(db)


def _require_seen(db: Database, by: Lead, annotator_id: AnnotatorId, name: str, seen: int, now: float) -> None:
    """Refuse an act about another assignment than the lead had seen; 0 for none."""
    mine = assignments.standing(db, annotator_id)
    if (mine.assignment_id if mine else 0) == seen:
        return
    lead, at, gave = assignments.last_act(db, annotator_id)
    who = said("You", _context="by") if lead == by.name else lead
    did = (
        said("gave {name} another assignment", name=name)
        if gave
        else said("took back the assignment of {name}", name=name)
    )
    raise Overtaken(
        said(
            "{who} {did} {when}: check it, then save yours again if you still want to",
            who=who,
            did=did,
            when=ago(now - at),
        )
    )


def _require_annotator(db: Database, annotator_id: AnnotatorId) -> str:
    person = people.by_id(db, annotator_id)
    if person is None:
        raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
    if person.role is Role.LEAD:
        raise ProjectError(said("{name} is a lead and does not grade: there is nothing to assign", name=person.name))
    return person.name


def _require_sound(given: Assignment) -> None:
    if given.split is Split.TRAIN:
        raise ProjectError(said("training queries are not graded: choose the validation or the test queries"))
    if (given.part is None) != (given.parts is None) or (
        given.part is not None and given.parts is not None and not 1 <= given.part <= given.parts
    ):
        raise ProjectError(
            said("there is no part {part} of {parts}: parts count from 1", part=given.part, parts=given.parts)
        )
    if given.parts is not None and given.parts < 2:
        raise ProjectError(said("divide the queries into at least two parts"))
    if given.queries is not None and not given.queries:
        raise ProjectError(said("choose at least one query to assign"))
    if any(quota is not None and quota < 1 for quota in (given.a_day, given.in_all)):
        raise ProjectError(said("a quota needs at least one grade: to give somebody no work, pause them"))
    if not given.narrows and given.a_day is None and given.in_all is None:
        raise ProjectError(said("this assignment is empty: choose a split, a part, queries or a quota"))


def _at(given: Assignment, now: float) -> Assignment:
    return Assignment(given.split, given.part, given.parts, given.queries, given.a_day, given.in_all, at=now)
