"""Create, invite and list accounts, and change passwords.

*Reads* annotator, invitation, identity, session. *Writes* annotator, invitation, identity, session, known_browser,
personal_token, events. Tokens are stored as SHA-256, so nothing in the database is enough to sign in. The password hash
argon2 is slow on purpose: do not set or check passwords on the event loop.
"""

import secrets
import time

from backend.campaign.nouns import (
    IDENTITY_BOUND,
    INVITED,
    PASSWORD_SET,
    PERSON_ADDED,
    Lead,
    Operator,
    Person,
    PersonReview,
    Role,
)
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import (
    DAY_S,
    digest,
    in_charge,
    lead_only,
    new_session,
    person_for,
    public,
)
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, SignInRefused
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import name_key, normalised_password
from backend.store import events
from backend.store.connection import Database, Store, writing

INVITATION_S = 14 * DAY_S


def add(store: Store, by: Lead | Operator, name: str, role: Role, *, now: float, simulated: bool = False) -> Person:
    """Add a person who cannot sign in, because they have no password and no invitation.

    `simulated` marks a person whom the demo made up.

    Raises:
        ProjectError: the name is empty or taken.
    """
    with writing(store) as db:
        person = people.add(db, name, role, by=by.annotator_id, at=now, simulated=simulated)
        payload = {"name": person.name, "role": role.value}
        events.note(db, PERSON_ADDED, by, f"annotator:{person.annotator_id}", now=now, **payload)
    return person


@in_charge
def add_person(project: Project, by: Lead | Operator, name: str, role: Role, *, now: float) -> str:
    """Add a person, and return a one-time token with which they can set a password within two weeks.

    Raises:
        ProjectError: the name is empty or taken.
    """
    token = secrets.token_urlsafe(24)
    with writing(project.store) as db:
        person = add(project.store, by, name, role, now=now)
        people.add_invitation(db, person.annotator_id, digest(token), until=now + INVITATION_S)
    return token


@in_charge
def add_person_with_password(
    project: Project, by: Lead | Operator, name: str, role: Role, password: str, *, now: float
) -> Person:
    """Add a person together with a password, for scripts. If the name or the password is refused, nothing is stored.

    Raises:
        ProjectError: the name is empty or taken, or the password is too short or easily guessed.
    """
    hashed = permissions.hash_password(password, name)  # slow on purpose, so before the transaction
    with writing(project.store) as db:
        person = add(project.store, by, name, role, now=now)
        _set_password(db, person, hashed, now=now)
    return person


@in_charge
def list_people(project: Project, by: Lead | Operator, *, now: float | None = None) -> list[PersonReview]:
    """Return everybody in the project, each with the number of pairs they graded and the time of their last grade.

    The number of pairs is given in all and for today. Today is the day of `now`; without `now`, it is today by the
    clock of this machine.
    """
    return people.reviews(project.store.db, time.time() if now is None else now)


@in_charge
def person_named(project: Project, by: Lead | Operator, name: str, *, archived: bool = False) -> Person:
    """Return the person with this name; archived people are included only if `archived` is True.

    Case and invisible characters in the name are ignored.

    Raises:
        ProjectError: nobody has this name; the message lists the names of all people searched.
    """
    known = [row.person for row in list_people(project, by) if archived or not row.is_archived]
    person = next((person for person in known if name_key(person.name) == name_key(name)), None)
    if person is None:
        names = ", ".join(person.name for person in known)
        raise ProjectError(
            said("there is no user named {name}; the users are {names}", name=name, names=names or said("none yet"))
        )
    return person


@lead_only
def new_invitation(project: Project, lead: Lead, annotator_id: AnnotatorId, *, now: float) -> tuple[Person, str]:
    """Create a new one-time link for a person who has an account, for example after a lost link or password.

    Earlier links stop working. The password and the sessions stay until the new link is used.

    Returns:
        (the person, the token for the link).

    Raises:
        ProjectError: there is no such person, or they are suspended.
    """
    token = secrets.token_urlsafe(24)
    with writing(project.store) as db:
        person = people.by_id(db, annotator_id)
        if person is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if person.suspended:
            raise ProjectError(said("{name} is suspended: reinstate them first", name=person.name))
        replaced = people.void_invitations(db, annotator_id, at=now)
        people.add_invitation(db, annotator_id, digest(token), until=now + INVITATION_S)
        events.note(db, INVITED, lead, f"annotator:{annotator_id}", now=now, replaced=replaced)
    return person, token


@public
def invited(project: Project, invitation: str, *, now: float) -> Person | None:
    """Return the person whom a one-time invitation is for; None if it is used up, expired or unknown."""
    return people.invited(project.store.db, digest(invitation), now=now, length_s=INVITATION_S)


@public
def accept_invitation(project: Project, invitation: str, password: str, *, now: float) -> str:
    """Set the password of an invited person, and return a session token.

    Raises:
        SignInRefused: the invitation is used up, expired or unknown.
        ProjectError: the password is too short or easily guessed.
    """
    invitee = people.invited(project.store.db, digest(invitation), now=now, length_s=INVITATION_S)
    # Slow on purpose, so before the transaction.
    hashed = permissions.hash_password(password, invitee.name if invitee else "")
    with writing(project.store) as db:
        person = _use_invitation(db, invitation, now=now)
        _set_password(db, person, hashed, now=now)
        return new_session(db, person, now=now)


@public
def accept_invitation_as(project: Project, invitation: str, issuer: str, subject: str, *, now: float) -> str:
    """Let an invited person sign in with an account of an identity provider, and return a session token.

    `issuer` names the provider, and `subject` is the account's id there. Only an invitation can link an account to a
    person. The name that a provider gives is never enough, because two people may share it.

    Raises:
        SignInRefused: the invitation is used up, expired or unknown.
    """
    with writing(project.store) as db:
        person = _use_invitation(db, invitation, now=now)
        people.bind_identity(db, issuer, subject, person.annotator_id, at=now)
        events.note(db, IDENTITY_BOUND, person, f"annotator:{person.annotator_id}", now=now, issuer=issuer)
        return new_session(db, person, now=now)


@public
def change_password(project: Project, token: str, old: str, new: str, *, now: float) -> str:
    """Set another password for the person behind a session, and return the token of a new session.

    All other sessions end, all tokens are revoked, and unused invitations become void. This is slow on purpose, like
    `sign_in`.

    Raises:
        SignInRefused: the session is over, or `old` is wrong.
        ProjectError: the new password is too short, easily guessed, or the same as the old one.
    """
    person = person_for(project, token, now=now)
    account = people.by_name(project.store.db, person.name) if person else None
    if person is None or account is None:
        raise SignInRefused(said("You are signed out: sign in again."))
    verified = account[1]
    if not permissions.password_matches(verified or permissions.nobodys_hash(), old):
        raise SignInRefused(said("The current password is wrong."))
    if normalised_password(new) == normalised_password(old):
        raise ProjectError(said("the new password is the same as the current one: choose another"))
    hashed = permissions.hash_password(new, person.name)  # slow on purpose, so before the transaction
    with writing(project.store) as db:
        # Check again: a lead may have suspended the person meanwhile, or another browser changed the password.
        known = people.by_name(db, person.name)
        if person_for(project, token, now=now) is None or known is None or known[1] != verified:
            raise SignInRefused(said("You are signed out: sign in again."))
        _set_password(db, person, hashed, now=now)
        return new_session(db, person, now=now)


@public
def keep_language(project: Project, token: str, language: str, *, now: float) -> None:
    """Store the language that the person behind a session chose. If the session is over, nothing happens."""
    if person := person_for(project, token, now=now):
        with writing(project.store) as db:
            people.set_language(db, person.annotator_id, language)


@public
def kept_language(project: Project, token: str, *, now: float) -> str | None:
    """Return the language that the person behind a session chose; None if they never chose one."""
    person = person_for(project, token, now=now)
    return people.language(project.store.db, person.annotator_id) if person else None


def _use_invitation(db: Database, token: str, *, now: float) -> Person:
    person = people.invited(db, digest(token), now=now, length_s=INVITATION_S)
    if person is None:
        raise SignInRefused(said("This invitation was already used or has expired: ask your lead for a new one."))
    people.use_invitation(db, digest(token), at=now)
    return person


def _set_password(db: Database, person: Person, hashed: str, *, now: float) -> None:
    tokens = people.set_password(db, person.annotator_id, hashed)
    people.void_invitations(db, person.annotator_id, at=now)
    events.note(db, PASSWORD_SET, person, f"annotator:{person.annotator_id}", now=now, tokens=tokens)
