"""Accounts: create, invite and list people, check passwords, sign in, and tell whose session or browser a cookie is.

*Reads* annotator, invitation, identity, session. *Writes* annotator, invitation, identity, session, known_browser,
events. Tokens are kept as SHA-256: nothing in the database lets anybody in. argon2 is slow on purpose: keep passwords
off the event loop.
"""

import hashlib
import secrets
import time
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

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
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import in_charge, lead_only, public
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, SignInRefused
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import normalised_password
from backend.store import events
from backend.store.connection import Database, Store, writing

PASSWORD_LENGTH = 8
"""The fewest characters of a password."""


def hash_password(password: str) -> str:
    """Return the hash to store for a password.

    Raises:
        ProjectError: the password is too short.
    """
    password = normalised_password(password)
    if len(password) < PASSWORD_LENGTH:
        raise ProjectError(said("a password needs at least {least} characters", least=PASSWORD_LENGTH))
    return _hasher().hash(password)


def fits(hashed: str, password: str) -> bool:
    """Return whether a password is the hashed one.

    Earlier releases hashed a password as it was typed, so that form counts too.
    """
    for form in dict.fromkeys((normalised_password(password), password)):
        try:
            return _hasher().verify(hashed, form)
        except VerifyMismatchError:
            continue
    return False


@cache
def nobodys_hash() -> str:
    """Return the hash of a password that nobody has, so that an unknown name costs as much work as a known one."""
    return _hasher().hash(secrets.token_urlsafe(16))


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


DAY_S = 24 * 3600.0
SESSION_S = 14 * DAY_S
BROWSER_S = 180 * DAY_S
"""For so long after the last time somebody signed in with it, a browser is known to be theirs."""
MOST_BROWSERS = 20
"""Known ones of a person."""
REFUSED = said("Name or password is wrong, or the account is not open. If you are sure of both, ask your lead.")


@public
def sign_in(project: Project, name: str, password: str, *, now: float) -> str:
    """Check a name and a password, and return a session token. Slow on purpose: keep it off the event loop.

    Nobody can find out here who works in the project: every refusal has the same words and costs the same work.

    Raises:
        SignInRefused: the name or password is wrong, no password is set yet, or the person is suspended.
    """
    nobodys = nobodys_hash()  # made at the first sign-in of a server, whoever signs in
    found = people.by_name(project.store.db, name.strip())
    person, hashed = found if found else (None, None)
    right = fits(hashed or nobodys, password)
    if not right or person is None or hashed is None or person.suspended:
        raise SignInRefused(REFUSED)
    with writing(project.store) as db:
        return new_session(db, person, now=now)


@public
def sign_in_as(project: Project, issuer: str, subject: str, *, now: float) -> str:
    """Sign in whoever an identity provider vouches for, and return a session token.

    Raises:
        SignInRefused: nobody here has this account, or the person is suspended.
    """
    with writing(project.store) as db:
        person = people.by_identity(db, issuer, subject)
        if person is None:
            raise SignInRefused(
                said(
                    "Nobody here has this account yet: open the invitation link that your lead sent you, and choose "
                    "single sign-on there."
                )
            )
        if person.suspended:
            raise SignInRefused(said("Your account is suspended: ask your lead."))
        return new_session(db, person, now=now)


@public
def person_for(project: Project, token: str, *, now: float) -> Person | None:
    """Return whose session a token is; None if it is over, unknown, or the person is suspended."""
    return people.by_session(project.store.db, digest(token), now=now)


@public
def knows_browser(project: Project, name: str, browser: str, *, now: float) -> bool:
    """Return whether the person of this name signed in with a browser before, and ended no sessions since.

    `browser` is the browser's cookie: without it nobody learns anything here.
    """
    found = people.by_name(project.store.db, name.strip())
    if found is None:
        return False
    return people.knows_browser(project.store.db, found[0].annotator_id, digest(browser), since=now - BROWSER_S)


@public
def remember_browser(project: Project, session: str, browser: str, *, now: float) -> str:
    """Know the browser of a session from now on, and return the cookie by which it is known.

    `browser` is the cookie that the browser had, if any. It is never taken over, unless it is this person's already:
    somebody else may know it.
    """
    person = person_for(project, session, now=now)
    if person is None:
        return browser
    with writing(project.store) as db:
        known = people.knows_browser(db, person.annotator_id, digest(browser), since=now - BROWSER_S)
        cookie = browser if known else secrets.token_urlsafe(32)
        if not known:
            people.rename_browser(db, digest(browser), digest(cookie))  # others may use the same computer
        people.add_browser(db, person.annotator_id, digest(cookie), at=now, most=MOST_BROWSERS)
    return cookie


def new_session(db: Database, person: Person, *, now: float) -> str:
    """Begin a session of a person whose identity was checked, and return its token."""
    token = secrets.token_urlsafe(32)
    people.add_session(db, person.annotator_id, digest(token), at=now, until=now + SESSION_S)
    return token


def digest(token: str) -> str:
    """Return what the database keeps of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


INVITATION_S = 14 * DAY_S


def add(store: Store, by: Lead | Operator, name: str, role: Role, *, now: float, simulated: bool = False) -> Person:
    """Add a person who cannot sign in: no password, no invitation.

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
    """Add a person, and return a one-time invitation token, good for two weeks, with which they set a password.

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
    """Add a person whose password is known already (for scripts): both, or neither.

    Raises:
        ProjectError: the name is empty or taken, or the password is too short.
    """
    hashed = hash_password(password)  # slow on purpose, so before the transaction
    with writing(project.store) as db:
        person = add(project.store, by, name, role, now=now)
        _set_password(db, person, hashed, now=now)
    return person


@in_charge
def list_people(project: Project, by: Lead | Operator, *, now: float | None = None) -> list[PersonReview]:
    """Return everybody, with how much and when last they graded.

    `now` tells when today began: by the clock of this machine, if not given.
    """
    return people.reviews(project.store.db, time.time() if now is None else now)


@lead_only
def new_invitation(project: Project, lead: Lead, annotator_id: AnnotatorId, *, now: float) -> tuple[Person, str]:
    """Make a new one-time link for somebody who is here already (a forgotten password, a lost link).

    Links made before become void. The password and the sessions stay until the new link is used.

    Returns:
        Whom it is for, and the token.

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
    """Return whom a one-time invitation is for; None if it is used up, expired or unknown."""
    return people.invited(project.store.db, digest(invitation), now=now)


@public
def accept_invitation(project: Project, invitation: str, password: str, *, now: float) -> str:
    """Set the password of an invited person, and return a session token.

    Raises:
        SignInRefused: the invitation is no longer good.
        ProjectError: the password is too short.
    """
    hashed = hash_password(password)  # slow on purpose, so before the transaction
    with writing(project.store) as db:
        person = _use_invitation(db, invitation, now=now)
        _set_password(db, person, hashed, now=now)
        return new_session(db, person, now=now)


@public
def accept_invitation_as(project: Project, invitation: str, issuer: str, subject: str, *, now: float) -> str:
    """Bind an account of an identity provider to an invited person, and return a session token.

    Only an invitation binds: whoever is called like somebody elsewhere is not that person here.

    Raises:
        SignInRefused: the invitation is no longer good.
    """
    with writing(project.store) as db:
        person = _use_invitation(db, invitation, now=now)
        people.bind_identity(db, issuer, subject, person.annotator_id, at=now)
        events.note(db, IDENTITY_BOUND, person, f"annotator:{person.annotator_id}", now=now, issuer=issuer)
        return new_session(db, person, now=now)


@public
def change_password(project: Project, token: str, old: str, new: str, *, now: float) -> str:
    """Set another password for the person behind a session, and return the token of a new session.

    All other sessions end, and unused invitations become void. Slow on purpose, as `sign_in`.

    Raises:
        SignInRefused: the session is over, or `old` is wrong.
        ProjectError: the new password is too short, or the old one.
    """
    person = person_for(project, token, now=now)
    found = people.by_name(project.store.db, person.name) if person else None
    if person is None or found is None:
        raise SignInRefused(said("You are signed out: sign in again."))
    verified = found[1]
    if not fits(verified or nobodys_hash(), old):
        raise SignInRefused(said("The present password is wrong."))
    if normalised_password(new) == normalised_password(old):
        raise ProjectError(said("the new password is the present one: choose another"))
    hashed = hash_password(new)  # slow on purpose, so before the transaction
    with writing(project.store) as db:
        # Asked again: meanwhile a lead may have suspended the person, or another browser changed the password.
        known = people.by_name(db, person.name)
        if person_for(project, token, now=now) is None or known is None or known[1] != verified:
            raise SignInRefused(said("You are signed out: sign in again."))
        _set_password(db, person, hashed, now=now)
        return new_session(db, person, now=now)


def _use_invitation(db: Database, token: str, *, now: float) -> Person:
    person = people.invited(db, digest(token), now=now)
    if person is None:
        raise SignInRefused(said("This invitation is used up or has expired: ask your lead for a new one."))
    people.use_invitation(db, digest(token), at=now)
    return person


def _set_password(db: Database, person: Person, hashed: str, *, now: float) -> None:
    people.set_password(db, person.annotator_id, hashed)
    people.void_invitations(db, person.annotator_id, at=now)
    events.note(db, PASSWORD_SET, person, f"annotator:{person.annotator_id}", now=now)
