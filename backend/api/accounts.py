"""Operations on the people of a campaign: list, add, invite, pause, suspend and remove them."""

import time
from typing import TYPE_CHECKING, Literal

from backend.api.model import Caller, Invitation, person_of
from backend.campaign.nouns import Person, PersonReview, Role

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def people(project: "Project", by: Caller) -> list[PersonReview]:
    """Return everybody in the project with their role, how many pairs they graded, and when they last did."""
    from backend.campaign.setup.people.accounts import list_people

    return list_people(project, by)


def add_person(
    project: "Project", by: Caller, name: str, *, role: Literal["annotator", "lead"] = "annotator"
) -> Invitation:
    """Add a person, and return a one-time link with which they choose a password within two weeks.

    Args:
        name: the name to sign in with.
        role: what they may do.

    Raises:
        ProjectError: the name is empty or taken.
    """
    from backend.campaign.setup.people import accounts
    from backend.campaign.setup.serving.server import invitation_link

    token = accounts.add_person(project, by, name, Role(role), now=time.time())
    return Invitation(name, role, invitation_link(project, by, token))


def add_person_with_password(
    project: "Project", by: Caller, name: str, password: str, *, role: Literal["annotator", "lead"] = "annotator"
) -> Person:
    """Add a person together with a password, so that they can sign in at once.

    Args:
        name: the name to sign in with.
        password: the password.
        role: what they may do.

    Raises:
        ProjectError: the name is empty or taken, or the password is too short or easily guessed.
    """
    from backend.campaign.setup.people import accounts

    return accounts.add_person_with_password(project, by, name, Role(role), password, now=time.time())


def invite_again(project: "Project", by: Caller, name: str) -> Invitation:
    """Return a new one-time link for a person who lost their link or password. Earlier links stop working.

    Args:
        name: the person's name.

    Raises:
        ProjectError: there is no such person, or they are suspended.
    """
    from backend.campaign.setup.people.accounts import new_invitation
    from backend.campaign.setup.serving.server import invitation_link

    lead = person_of(by)
    person, token = new_invitation(project, lead, _named(project, lead, name).annotator_id, now=time.time())
    return Invitation(person.name, person.role.value, invitation_link(project, lead, token))


def pause_person(project: "Project", by: Caller, name: str, reason: str) -> None:
    """Stop handing pairs to an annotator. They can still sign in and see their work.

    Args:
        name: the annotator's name.
        reason: why; only leads see it.

    Raises:
        Overtaken: they are paused already.
        ProjectError: there is no such person, they are a lead, or the reason is empty.
    """
    from backend.campaign.judging import staffing

    lead = person_of(by)
    staffing.pause_person(project, lead, _named(project, lead, name).annotator_id, reason, now=time.time())


def unpause_person(project: "Project", by: Caller, name: str) -> None:
    """End the pause of an annotator, so that they get pairs again.

    Args:
        name: the annotator's name.

    Raises:
        Overtaken: they are not paused.
        ProjectError: there is no such person.
    """
    from backend.campaign.judging import staffing

    lead = person_of(by)
    staffing.unpause_person(project, lead, _named(project, lead, name).annotator_id, now=time.time())


def suspend_person(project: "Project", by: Caller, name: str) -> None:
    """Sign a person out everywhere, and let them sign in no more. Their grades stay.

    Args:
        name: the person's name.

    Raises:
        ProjectError: there is no such person, or a lead named themselves.
    """
    _suspend(project, by, name, True)


def reinstate_person(project: "Project", by: Caller, name: str) -> None:
    """Let a person who was suspended or archived sign in again.

    Archived people are those who were removed although work of theirs is on record; see `remove_person`.

    Args:
        name: the person's name.

    Raises:
        ProjectError: there is no such person.
    """
    _suspend(project, by, name, False)


def remove_person(project: "Project", by: Caller, name: str) -> bool:
    """Remove a person from all lists, and end their sessions. What they did stays on record.

    Args:
        name: the person's name.

    Returns:
        True if they are archived because work of theirs is on record; False if the account is deleted.

    Raises:
        ProjectError: there is no such person, or a lead named themselves.
    """
    from backend.campaign.judging import removal

    return removal.remove_person(project, by, _named(project, by, name).annotator_id, now=time.time())


def _suspend(project: "Project", by: Caller, name: str, suspended: bool) -> None:
    from backend.campaign.judging.staffing import suspend

    lead = person_of(by)
    person = _named(project, lead, name, archived=not suspended)
    suspend(project, lead, person.annotator_id, suspended, now=time.time())


def _named(project: "Project", by: Caller, name: str, *, archived: bool = False) -> Person:
    from backend.campaign.setup.people.accounts import person_named

    return person_named(project, by, name, archived=archived)
