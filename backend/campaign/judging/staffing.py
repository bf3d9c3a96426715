"""Give annotators assignments and quotas, pause or suspend people, and sign them out.

Grades are never changed. If a change takes reserved, ungraded pairs away from somebody, others can get these pairs at
once. A later grade for such a pair is refused, and kept in the event log. Paused people can still sign in, and read the
guideline and their own work. `judging.queue` applies pauses and assignments when it chooses pairs.

*Reads* annotator, query, session, pause. *Writes* annotator, session, personal_token, pause, assignment,
assigned_query, seats, events.
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
    """Stop handing pairs to an annotator; they may still sign in and look at their work.

    Args:
        project: the project.
        lead: the lead who pauses them.
        annotator_id: the annotator.
        reason: why; leads see it, the annotator does not.
        now: seconds since 1970.

    Raises:
        Overtaken: they are already paused.
        ProjectError: there is no such person, they are a lead, or the reason is empty or too long.
    """
    with writing(project.store) as db:
        begin_pause(db, lead, annotator_id, reason, now=now)


def begin_pause(db: Database, by: Lead | None, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Pause an annotator inside a transaction; `by` is None if a rule of the campaign pauses them, not a lead.

    For errors, see `pause_person`.
    """
    reason = reason_of(reason, LONGEST_REASON, said("a pause needs a reason: write one sentence about why"))
    person = people.by_id(db, annotator_id)
    if person is None:
        raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
    if person.role is Role.LEAD:
        raise ProjectError(said("{name} is a lead and does not grade: there is nothing to pause", name=person.name))
    if standing := people.standing_pause(db, annotator_id):
        paused_by = standing.by or said("A rule", _context="by")
        raise Overtaken(
            said(
                "{who} paused {name} {when}: {reason}",
                who=paused_by,
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
    """End the pause of an annotator, so that they get pairs again.

    Raises:
        Overtaken: they are not paused (any more).
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
    """Suspend a user, so that they are signed out and cannot sign in, or let a suspended one sign in again.

    Suspending revokes the user's tokens for good.

    Raises:
        ProjectError: there is no such person, or the lead named themselves.
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
    """End a session, and free the pairs that are reserved for its user; `token` is the session's secret."""
    person = person_for(project, token, now=now)
    with writing(project.store) as db:
        people.end_session(db, digest(token))
        if person is not None:
            queue.sign_off(project.store, person, now=now)


@public
def sign_out_everywhere(project: Project, token: str, *, now: float) -> None:
    """End all sessions of the user who has this session, revoke their tokens, and free the pairs reserved for them."""
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
            payload=people.end_sessions(db, person.annotator_id)._asdict(),
        )
        queue.sign_off(project.store, person, now=now)


def return_seats(db: Database, annotator_id: AnnotatorId, actor: AnnotatorId | None, why: str, *, now: float) -> None:
    """Free the pairs that are reserved for a person and not graded; the event in the log has the reason `why`."""
    if pairs := seats.release(db, annotator_id):
        payload = {"pairs": pairs, "why": why}
        subject = f"annotator:{annotator_id}"
        events.record(db, SEATS_RETURNED, at=now, actor=actor, subject=subject, payload=payload)


@lead_only
def assign(
    project: Project,
    lead: Lead,
    annotators: Sequence[AnnotatorId],
    assignment: Assignment,
    *,
    seen: Mapping[AnnotatorId, int] | None = None,
    now: float,
) -> int:
    """Limit annotators to some queries (a split, a part of it, or chosen ones), to numbers of grades, or both.

    This assignment replaces the one that they have. Pairs of other queries that are reserved for them become free at
    once, except gold questions (hidden pairs with known grades). After an error nobody's assignment has changed.

    Args:
        project: the project.
        lead: the lead who assigns.
        annotators: the people who get the assignment.
        assignment: the queries and quotas; its number, time and lead are ignored.
        seen: maps annotators to the number of the assignment that the lead saw; an annotator who is not in it had no
            assignment. None skips this check.
        now: seconds since 1970.

    Returns:
        The number of queries in the assignment that already have pairs to grade.

    Raises:
        Overtaken: the assignment of one of the people is not the one that the lead saw.
        ProjectError: nobody is named, one of the people is unknown or a lead, or the assignment is empty or impossible.
    """
    _require_sound(assignment)
    if not annotators:
        raise ProjectError(said("an assignment needs people: choose at least one person"))
    with writing(project.store) as db:
        if assignment.queries and (
            unknown := set(assignment.queries) - assignments.existing_queries(db, assignment.queries)
        ):
            raise ProjectError(
                said("{n} of these queries cannot be graded (any more): reload the page", n=len(unknown))
            )
        for annotator_id in dict.fromkeys(annotators):
            name = _require_annotator(db, annotator_id)
            if seen is not None:
                _require_seen(db, lead, annotator_id, name, seen.get(annotator_id, 0), now)
            assignments.end(db, annotator_id, by=lead.annotator_id, at=now)
            assignments.add(db, annotator_id, _dated(assignment, now), by=lead.annotator_id)
            current = assignments.current_assignment(db, annotator_id)
            queue.give_back_unassigned(db, annotator_id, current, lead.annotator_id, now=now)
            events.record(
                db,
                ASSIGNED,
                at=now,
                actor=lead.annotator_id,
                subject=f"annotator:{annotator_id}",
                payload={
                    **{"split": assignment.split, "part": assignment.part, "parts": assignment.parts},
                    "queries": None if assignment.queries is None else len(assignment.queries),
                    **{"a_day": assignment.a_day, "in_all": assignment.in_all},
                },
            )
        return len(assignments.queries_of(db, current)) if current else 0


@lead_only
def unassign(project: Project, lead: Lead, annotator_id: AnnotatorId, *, seen: int | None = None, now: float) -> None:
    """Remove the assignment of an annotator, who may then grade any pair.

    `seen` is the number of the assignment that the lead saw on screen; None skips this check.

    Raises:
        Overtaken: they have no assignment (any more), or not the one that the lead saw.
        ProjectError: there is no such person, or they are a lead.
    """
    with writing(project.store) as db:
        name = _require_annotator(db, annotator_id)
        if seen is not None:
            _require_seen(db, lead, annotator_id, name, seen, now)
        if not assignments.end(db, annotator_id, by=lead.annotator_id, at=now):
            raise Overtaken(said("{name} has no assignment any more: somebody else took it back", name=name))
        events.record(db, UNASSIGNED, at=now, actor=lead.annotator_id, subject=f"annotator:{annotator_id}")


@in_charge
def current_assignments(project: Project, by: Lead | Operator) -> dict[AnnotatorId, Assignment]:
    """Return the current assignment of every annotator who has one."""
    with reading(project.store) as db:
        return assignments.all_current_assignments(db)


def _require_seen(db: Database, by: Lead, annotator_id: AnnotatorId, name: str, seen: int, now: float) -> None:
    """Raise `Overtaken` if an annotator's current assignment is not the one that the lead saw on screen.

    `seen` is the number of that assignment, 0 if the annotator had none.
    """
    current = assignments.current_assignment(db, annotator_id)
    if (current.assignment_id if current else 0) == seen:
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


def _require_sound(assignment: Assignment) -> None:
    if assignment.split is Split.TRAIN:
        raise ProjectError(said("training queries are not graded: choose the validation or the test queries"))
    if (assignment.part is None) != (assignment.parts is None) or (
        assignment.part is not None and assignment.parts is not None and not 1 <= assignment.part <= assignment.parts
    ):
        raise ProjectError(
            said("there is no part {part} of {parts}: parts count from 1", part=assignment.part, parts=assignment.parts)
        )
    if assignment.parts is not None and assignment.parts < 2:
        raise ProjectError(said("divide the queries into at least two parts"))
    if assignment.queries is not None and not assignment.queries:
        raise ProjectError(said("choose at least one query to assign"))
    if any(quota is not None and quota < 1 for quota in (assignment.a_day, assignment.in_all)):
        raise ProjectError(said("a quota needs at least one grade: to give somebody no work, pause them"))
    if not assignment.narrows and assignment.a_day is None and assignment.in_all is None:
        raise ProjectError(said("this assignment is empty: choose a split, a part, queries or a quota"))


def _dated(assignment: Assignment, now: float) -> Assignment:
    return Assignment(
        assignment.split,
        assignment.part,
        assignment.parts,
        assignment.queries,
        assignment.a_day,
        assignment.in_all,
        at=now,
    )
