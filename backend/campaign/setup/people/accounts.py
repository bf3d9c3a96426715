"""Who may come in: people, one-time invitations, passwords, sessions.

*Reads* and *writes* annotator, invitation, session, events. Passwords are kept as argon2 hashes, tokens as
SHA-256: nothing in the database lets anybody in.
"""

import hashlib
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from backend.campaign.nouns import Lead, Operator, Person, Role
from backend.campaign.setup.people import rows as people
from backend.core.errors import ProjectError, SignInRefused
from backend.core.ids import AnnotatorId
from backend.core.saying import said
from backend.core.typed_text import normalised_password
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind

DAY_S = 24 * 3600.0
SESSION_S = 14 * DAY_S
INVITATION_S = 14 * DAY_S
BROWSER_S = 180 * DAY_S
"""For so long after the last time somebody signed in with it, a browser is known to be theirs."""
MOST_BROWSERS = 20
"""Known ones of a person."""
PASSWORD_LENGTH = 8
REFUSED = said("Name or password is wrong, or the account is not open. If you are sure of both, ask your lead.")


def add(store: Store, by: Lead | Operator, name: str, role: Role, *, now: float, simulated: bool = False) -> Person:
    """A new person, without a password yet.

    Raises:
        ProjectError: the name is empty or taken.
    """
    with writing(store) as db:
        person = people.add(db, name, role, by=by.annotator_id, at=now, simulated=simulated)
        events.record(
            db,
            EventKind.PERSON_ADDED,
            at=now,
            actor=by.annotator_id,
            subject=f"annotator:{person.annotator_id}",
            payload={"name": person.name, "role": role.value},
        )
    return person


def add_invited(store: Store, by: Lead | Operator, name: str, role: Role, *, now: float) -> str:
    """A new person, and a one-time token with which they set a password, good for two weeks: both, or neither.

    Raises:
        ProjectError: the name is empty or taken.
    """
    token = secrets.token_urlsafe(24)
    with writing(store) as db:
        person = add(store, by, name, role, now=now)
        people.add_invitation(db, person.annotator_id, _digest(token), until=now + INVITATION_S)
    return token


def add_with_password(store: Store, by: Lead | Operator, name: str, role: Role, password: str, *, now: float) -> Person:
    """A new person whose password is known already (setting up by script): both, or neither.

    Raises:
        ProjectError: the name is empty or taken, or the password is too short.
    """
    hashed = _hash(password)  # slow on purpose, so before the transaction
    with writing(store):
        person = add(store, by, name, role, now=now)
        _set_hash(store, person, hashed, now=now)
    return person


def new_invitation(store: Store, lead: Lead, annotator_id: AnnotatorId, *, now: float) -> tuple[Person, str]:
    """A new one-time link for somebody who is here already (a forgotten password, a lost link).

    Links made before become void. The password and the sessions stay until the new link is used.

    Returns:
        Whom it is for, and the token.

    Raises:
        ProjectError: no such person, or suspended.
    """
    token = secrets.token_urlsafe(24)
    with writing(store) as db:
        person = people.by_id(db, annotator_id)
        if person is None:
            raise ProjectError(said("there is no person {person}: reload the page", person=annotator_id))
        if person.suspended:
            raise ProjectError(said("{name} is suspended: reinstate them first", name=person.name))
        replaced = people.void_invitations(db, annotator_id, at=now)
        people.add_invitation(db, annotator_id, _digest(token), until=now + INVITATION_S)
        events.record(
            db,
            EventKind.INVITED,
            at=now,
            actor=lead.annotator_id,
            subject=f"annotator:{annotator_id}",
            payload={"replaced": replaced},
        )
    return person, token


def invited(store: Store, token: str, *, now: float) -> Person | None:
    """Whom an invitation is for; None if it is used up, expired or unknown."""
    return people.invited(store.db, _digest(token), now=now)


def accept_invitation(store: Store, token: str, password: str, *, now: float) -> str:
    """Set the password and sign in; the session token.

    Raises:
        SignInRefused: the invitation is no longer good.
        ProjectError: the password is too short.
    """
    hashed = _hash(password)  # slow on purpose, so before the transaction
    with writing(store) as db:
        person = people.invited(db, _digest(token), now=now)
        if person is None:
            raise SignInRefused(said("This invitation is used up or has expired: ask your lead for a new one."))
        people.use_invitation(db, _digest(token), at=now)
        _set_hash(store, person, hashed, now=now)
        return _new_session(store, person, now=now)


def accept_invitation_as(store: Store, token: str, issuer: str, subject: str, *, now: float) -> str:
    """Bind an account of an identity provider to the invited person, and sign in; the session token.

    Only an invitation binds: whoever is called like somebody elsewhere is not that person here.

    Raises:
        SignInRefused: the invitation is no longer good.
    """
    with writing(store) as db:
        person = people.invited(db, _digest(token), now=now)
        if person is None:
            raise SignInRefused(said("This invitation is used up or has expired: ask your lead for a new one."))
        people.use_invitation(db, _digest(token), at=now)
        people.bind_identity(db, issuer, subject, person.annotator_id, at=now)
        events.record(
            db,
            EventKind.IDENTITY_BOUND,
            at=now,
            actor=person.annotator_id,
            subject=f"annotator:{person.annotator_id}",
            payload={"issuer": issuer},
        )
        return _new_session(store, person, now=now)


def sign_in_as(store: Store, issuer: str, subject: str, *, now: float) -> str:
    """Sign in whoever an identity provider vouches for; the session token.

    Raises:
        SignInRefused: nobody here has this account, or they are suspended.
    """
    with writing(store) as db:
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
        return _new_session(store, person, now=now)


def change_password(store: Store, session: str, old: str, new: str, *, now: float) -> str:
    """Set another password, knowing the present one. All sessions end; the new one that is returned goes on.

    Unused links of the person become void.

    Raises:
        SignInRefused: the session is over, or the present password is not `old`.
        ProjectError: the new password is too short, or the old one.
    """
    person = person_for(store, session, now=now)
    found = people.by_name(store.db, person.name) if person else None
    if person is None or found is None:
        raise SignInRefused(said("You are signed out: sign in again."))
    verified = found[1]
    if not _fits(verified or _nobodys_hash(), old):
        raise SignInRefused(said("The present password is wrong."))
    if normalised_password(new) == normalised_password(old):
        raise ProjectError(said("the new password is the present one: choose another"))
    hashed = _hash(new)  # slow on purpose, so before the transaction
    with writing(store) as db:
        # Asked again: meanwhile a lead may have suspended the person, or another browser changed the password.
        known = people.by_name(db, person.name)
        if person_for(store, session, now=now) is None or known is None or known[1] != verified:
            raise SignInRefused(said("You are signed out: sign in again."))
        _set_hash(store, person, hashed, now=now)
        return _new_session(store, person, now=now)


def sign_in(store: Store, name: str, password: str, *, now: float) -> str:
    """Check name and password; a session token, of which only the hash is kept.

    Nobody can find out here who works in the project: every refusal has the same words and costs the same work.

    Raises:
        SignInRefused: wrong name or password, no password set yet, or suspended.
    """
    nobodys = _nobodys_hash()  # made at the first sign-in of a server, whoever signs in
    found = people.by_name(store.db, name.strip())
    person, hashed = found if found else (None, None)
    fits = _fits(hashed or nobodys, password)
    if not fits or person is None or hashed is None or person.suspended:
        raise SignInRefused(REFUSED)
    with writing(store):
        return _new_session(store, person, now=now)


def person_for(store: Store, token: str, *, now: float) -> Person | None:
    """Whose session a token is; None if it is over, unknown, or the person is suspended."""
    return people.by_session(store.db, _digest(token), now=now)


def knows_browser(store: Store, name: str, browser: str, *, now: float) -> bool:
    """Whether the person of this name signed in with the browser that has this cookie, and ended no sessions since."""
    found = people.by_name(store.db, name.strip())
    if found is None:
        return False
    return people.knows_browser(store.db, found[0].annotator_id, _digest(browser), since=now - BROWSER_S)


def remember_browser(store: Store, session: str, browser: str, *, now: float) -> str:
    """Know the browser of a session from now on; the cookie by which it is known.

    A cookie that was brought along is never taken over, unless it is this person's already: somebody else may know it.
    """
    person = person_for(store, session, now=now)
    if person is None:
        return browser
    with writing(store) as db:
        known = people.knows_browser(db, person.annotator_id, _digest(browser), since=now - BROWSER_S)
        cookie = browser if known else secrets.token_urlsafe(32)
        if not known:
            people.rename_browser(db, _digest(browser), _digest(cookie))  # others may use the same computer
        people.add_browser(db, person.annotator_id, _digest(cookie), at=now, most=MOST_BROWSERS)
    return cookie


def sign_out(store: Store, token: str) -> None:
    """End a session."""
    with writing(store) as db:
        people.end_session(db, _digest(token))


def sign_out_everywhere(store: Store, person: Person, *, now: float) -> None:
    """End all sessions of a person, in every browser."""
    with writing(store) as db:
        events.record(
            db,
            EventKind.SIGNED_OUT_EVERYWHERE,
            at=now,
            actor=person.annotator_id,
            subject=f"annotator:{person.annotator_id}",
            payload={"sessions": people.end_sessions(db, person.annotator_id)},
        )


def _set_hash(store: Store, person: Person, hashed: str, *, now: float) -> None:
    with writing(store) as db:
        people.set_password(db, person.annotator_id, hashed)
        people.void_invitations(db, person.annotator_id, at=now)
        events.record(
            db,
            EventKind.PASSWORD_SET,
            at=now,
            actor=person.annotator_id,
            subject=f"annotator:{person.annotator_id}",
        )


def _new_session(store: Store, person: Person, *, now: float) -> str:
    token = secrets.token_urlsafe(32)
    with writing(store) as db:
        people.add_session(db, person.annotator_id, _digest(token), at=now, until=now + SESSION_S)
    return token


def _hash(password: str) -> str:
    password = normalised_password(password)
    if len(password) < PASSWORD_LENGTH:
        raise ProjectError(said("a password needs at least {least} characters", least=PASSWORD_LENGTH))
    return _hasher().hash(password)


def _fits(hashed: str, password: str) -> bool:
    """Whether a password is the hashed one. Earlier releases hashed it as it was typed, so that form counts too."""
    for form in dict.fromkeys((normalised_password(password), password)):
        try:
            return _hasher().verify(hashed, form)
        except VerifyMismatchError:
            continue
    return False


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobodys_hash() -> str:
    return _hasher().hash(secrets.token_urlsafe(16))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
