"""Remove users from a project: delete an account that no record refers to, and archive every other one.

Archived users cannot sign in, and appear in no list of users. Their judgements, descriptions and events are kept.
`staffing.suspend` with `suspended=False` brings them back.

*Reads* every table that names people. *Writes* annotator, invitation, session, assignment, seats, events.
"""

from backend.campaign.judging.model import PERSON_ARCHIVED, PERSON_REMOVED
from backend.campaign.judging.rows import assignments
from backend.campaign.judging.staffing import return_seats
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import writing


@in_charge
def remove_person(project: Project, by: Lead | Operator, annotator_id: AnnotatorId, *, now: float) -> bool:
    """Remove a user from the lists of users, and end their sessions, tokens and invitation links.

    Returns:
        True if they were archived because other records refer to them, False if the account was deleted.

    Raises:
        ProjectError: there is no such person, or the caller named themselves.
    """
    with writing(project.store) as db:
        person = people.by_id(db, annotator_id)
        if person is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if annotator_id == by.annotator_id:
            raise ProjectError(said("You cannot remove yourself. Ask another lead."))
        subject = f"annotator:{annotator_id}"
        if not people.is_on_record(db, annotator_id):
            people.remove(db, annotator_id)
            events.note(db, PERSON_REMOVED, by, subject, now=now, name=person.name, role=person.role.value)
            return False
        return_seats(db, annotator_id, by.annotator_id, "archived", now=now)
        if by.annotator_id is not None:  # only a lead can end an assignment: on the command line it stays
            assignments.end(db, annotator_id, by=by.annotator_id, at=now)
        people.void_invitations(db, annotator_id, at=now)
        people.archive(db, annotator_id, at=now)
        events.note(db, PERSON_ARCHIVED, by, subject, now=now, name=person.name)
    return True
