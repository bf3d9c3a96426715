"""Sign people in, and check permissions with decorators that say who may call a function.

The decorated functions are those that pages and commands call. Each call checks permissions in the project itself. A
`Person` says who is calling, never what they may do: their role, and whether they are suspended, are read from the
project at each call. Only this module makes `Lead` and `Annotator` objects, so a function that takes one of them runs
for nobody else.

*Reads* annotator, identity, session. *Writes* session, known_browser. Tokens are stored as SHA-256, so nothing in the
database is enough to sign in. The password hash argon2 is slow on purpose: do not call it on the event loop.
"""

import hashlib
import secrets
from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from backend.campaign.nouns import Annotator, Lead, Operator, Person, Role
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.passwords import password_weakness
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, ProjectError, SignInRefused
from backend.core.messages import said
from backend.core.typed_text import normalised_password
from backend.store.connection import Database, Store, writing

if TYPE_CHECKING:
    from argon2 import PasswordHasher

P = ParamSpec("P")
R = TypeVar("R")
Verb = TypeVar("Verb", bound=Callable[..., Any])

DAY_S = 24 * 3600.0
SESSION_S = 14 * DAY_S
BROWSER_S = 180 * DAY_S
"""The time for which a browser stays known after a person last signed in with it, in seconds."""
MOST_BROWSERS = 20
"""The most browsers that are known of a person."""
REFUSED = said("Name or password is wrong, or the account is not open. If both are right, ask your lead.")


def require_signed_in(store: Store, person: Person | Operator) -> Lead | Annotator:
    """Return a person as a `Lead` or an `Annotator`, according to the role that they have in the project now.

    Raises:
        NotAllowed: the person is not in this project or is suspended. Or `person` is the operator, who runs commands on
            the server and has no account.
    """
    if isinstance(person, Operator):
        raise NotAllowed(said("the operator of the machine has no account here: sign in as a person"))
    current = people.by_id(store.db, person.annotator_id)
    if current is None:
        raise NotAllowed(said("{name} is not in this project (any more): sign in again", name=person.name))
    if current.suspended:
        raise NotAllowed(said("{name} is suspended: ask your lead", name=current.name))
    if current.role is Role.LEAD:
        return Lead(current.annotator_id, current.name, current.role)
    return Annotator(current.annotator_id, current.name, current.role)


def require_lead(store: Store, person: Person | Operator) -> Lead:
    """Return a person as a `Lead`, if they are one now.

    Raises:
        NotAllowed: they are not a lead (any more).
    """
    current = require_signed_in(store, person)
    if not isinstance(current, Lead):
        raise NotAllowed(
            said("only leads may do this; {name} is signed in as {role}", name=current.name, role=said("annotator"))
        )
    return current


def require_annotator(store: Store, person: Person | Operator) -> Annotator:
    """Return a person as an `Annotator`, if they are one now.

    Raises:
        NotAllowed: they are not an annotator (any more).
    """
    current = require_signed_in(store, person)
    if not isinstance(current, Annotator):
        raise NotAllowed(said("leads do not grade, so that their decisions stay independent: sign in as an annotator"))
    return current


def require_in_charge(store: Store, by: Person | Operator) -> Lead | Operator:
    """Return a person as a `Lead` if they are one now; return the operator, who runs commands on the server, unchanged.

    Raises:
        NotAllowed: the person is neither.
    """
    return by if isinstance(by, Operator) else require_lead(store, by)


def lead_only(verb: Callable[Concatenate[Project, Lead, P], R]) -> Callable[Concatenate[Project, Person, P], R]:
    """Let only leads call the decorated function, which acts under a lead's name or fills a lead's page."""
    return _checked(verb, require_lead, "lead_only")


def annotator_only(
    verb: Callable[Concatenate[Project, Annotator, P], R],
) -> Callable[Concatenate[Project, Person, P], R]:
    """Let only annotators call the decorated function."""
    return _checked(verb, require_annotator, "annotator_only")


def signed_in(
    verb: Callable[Concatenate[Project, Lead | Annotator, P], R],
) -> Callable[Concatenate[Project, Person, P], R]:
    """Let leads and annotators call the decorated function, which gets the caller as a `Lead` or an `Annotator`."""
    return _checked(verb, require_signed_in, "signed_in")


def in_charge(
    verb: Callable[Concatenate[Project, Lead | Operator, P], R],
) -> Callable[Concatenate[Project, Person | Operator, P], R]:
    """Let leads and the operator call the decorated function. The operator runs commands on the server."""
    return _checked(verb, require_in_charge, "in_charge")


def public(verb: Verb) -> Verb:
    """Let everybody call the decorated function: people who have not signed in, and the server itself."""
    verb.permission = "public"  # type: ignore[attr-defined]
    return verb


def commands_only(verb: Verb) -> Verb:
    """Mark a function that only commands on the server may call: no page or route may use it.

    This checks no permission when the function is called.
    """
    verb.permission = "commands_only"  # type: ignore[attr-defined]
    return verb


def _checked(
    verb: Callable[..., R], require: Callable[[Store, Any], Person | Operator], permission: str
) -> Callable[..., R]:
    @wraps(verb)
    def checked(project: Project, person: Person | Operator, *args: Any, **kwargs: Any) -> R:
        return verb(project, require(project.store, person), *args, **kwargs)

    checked.permission = permission  # type: ignore[attr-defined]
    return checked


@lead_only
def lead_of(project: Project, lead: Lead) -> Lead:
    """Return a person as a `Lead`, if they are one now.

    Raises:
        NotAllowed: they are not a lead; the message tells them so.
    """
    return lead


@annotator_only
def annotator_of(project: Project, annotator: Annotator) -> Annotator:
    """Return a person as an `Annotator`, if they are one now.

    Raises:
        NotAllowed: they are not an annotator; the message tells them so.
    """
    return annotator


def hash_password(password: str, name: str) -> str:
    """Return the hash to store for a password; `name` is the name of its user.

    Raises:
        ProjectError: the password is too short or easily guessed.
    """
    if weakness := password_weakness(password, name):
        raise ProjectError(weakness)
    return _hasher().hash(normalised_password(password))


def password_matches(hashed: str, password: str) -> bool:
    """Return whether a password is right, given its stored hash.

    Passwords are normalised before hashing. Earlier releases hashed them as typed, so the typed form is tried too.
    """
    from argon2.exceptions import VerifyMismatchError

    for form in dict.fromkeys((normalised_password(password), password)):
        try:
            return _hasher().verify(hashed, form)
        except VerifyMismatchError:
            continue
    return False


@cache
def nobodys_hash() -> str:
    """Return the hash of a random password, to be checked when somebody signs in with an unknown name.

    An unknown name then takes as long as a known one, so timing does not reveal who works here.
    """
    return _hasher().hash(secrets.token_urlsafe(16))


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()


@public
def sign_in(project: Project, name: str, password: str, *, now: float) -> str:
    """Check a name and a password, and return a session token.

    Do not call this on the event loop: the check is slow on purpose. A refusal always has the same message and takes
    the same time, so it does not reveal who works in the project.

    Raises:
        SignInRefused: the name or password is wrong, no password is set yet, or the person is suspended.
    """
    nobodys = nobodys_hash()  # cached at the first sign-in, whether or not its name is known
    account = people.by_name(project.store.db, name.strip())
    person, hashed = account if account else (None, None)
    right = password_matches(hashed or nobodys, password)
    if not right or person is None or hashed is None or person.suspended:
        raise SignInRefused(REFUSED)
    with writing(project.store) as db:
        if people.by_name(db, name.strip()) != account:  # suspended meanwhile, or with another password
            raise SignInRefused(REFUSED)
        return new_session(db, person, now=now)


@public
def sign_in_as(project: Project, issuer: str, subject: str, *, now: float) -> str:
    """Sign in the person whose account an identity provider has confirmed, and return a session token.

    `issuer` names the provider, and `subject` is the account's id there.

    Raises:
        SignInRefused: the account is not linked to anybody here, or the person is suspended.
    """
    with writing(project.store) as db:
        person = people.by_identity(db, issuer, subject)
        if person is None:
            raise SignInRefused(
                said(
                    "This account is not linked to anybody here yet. Open the invitation link from your "
                    "lead, and choose single sign-on there."
                )
            )
        if person.suspended:
            raise SignInRefused(said("Your account is suspended: ask your lead."))
        return new_session(db, person, now=now)


@public
def person_for(project: Project, token: str, *, now: float) -> Person | None:
    """Return the person whose session this token belongs to; None if the session is over or the person is suspended.

    The result is None for an unknown token too.
    """
    return people.by_session(project.store.db, digest(token), now=now)


@public
def has_account(project: Project, name: str) -> bool:
    """Return whether a name belongs to somebody in the project. Tell no visitor, because it reveals who works here."""
    return people.by_name(project.store.db, name.strip()) is not None


@public
def knows_browser(project: Project, name: str, browser: str, *, now: float) -> bool:
    """Return whether a person signed in with a browser recently, and has not ended their sessions since.

    `name` is the person's name, and `browser` the browser's cookie. Without a valid cookie the result is always False,
    so it does not reveal who works here.
    """
    account = people.by_name(project.store.db, name.strip())
    if account is None:
        return False
    return people.knows_browser(project.store.db, account[0].annotator_id, digest(browser), BROWSER_S, now=now)


@public
def remember_browser(project: Project, session: str, browser: str, *, now: float) -> str:
    """Record that the person of a session uses this browser, and return the cookie that identifies the browser.

    `browser` is the cookie that the browser sent, if any. If this person signed in with this cookie recently, the same
    cookie is returned. Otherwise somebody else may know the cookie, so a new one is returned. For everybody who signed
    in on this browser, the new cookie replaces the old one.
    """
    person = person_for(project, session, now=now)
    if person is None:
        return browser
    with writing(project.store) as db:
        known = people.knows_browser(db, person.annotator_id, digest(browser), BROWSER_S, now=now)
        cookie = browser if known else secrets.token_urlsafe(32)
        if not known:
            people.rename_browser(db, digest(browser), digest(cookie))  # others may use the same computer
        people.add_browser(db, person.annotator_id, digest(cookie), at=now, most=MOST_BROWSERS)
    return cookie


def new_session(db: Database, person: Person, *, now: float) -> str:
    """Start a session for a person whose identity was checked, and return its token."""
    token = secrets.token_urlsafe(32)
    people.add_session(db, person.annotator_id, digest(token), at=now, until=now + SESSION_S)
    return token


def digest(token: str) -> str:
    """Return the SHA-256 hash of a token in hex; the database stores the hash instead of the token."""
    return hashlib.sha256(token.encode()).hexdigest()
