"""Sign people in, and tell whose session or browser a cookie belongs to.

*Reads* annotator, identity, session. *Writes* session, known_browser. Tokens are kept as SHA-256: nothing in the
database lets anybody in.
"""

import hashlib
import secrets

from backend.campaign.nouns import Person
from backend.campaign.setup.people import passwords
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import public
from backend.campaign.setup.project.folder import Project
from backend.core.errors import SignInRefused
from backend.core.messages import said
from backend.store.connection import Database, writing

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
    nobodys = passwords.nobodys_hash()  # made at the first sign-in of a server, whoever signs in
    found = people.by_name(project.store.db, name.strip())
    person, hashed = found if found else (None, None)
    right = passwords.fits(hashed or nobodys, password)
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
