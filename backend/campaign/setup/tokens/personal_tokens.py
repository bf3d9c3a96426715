"""Make, list, check and revoke personal tokens.

A program with a token may do what the person who made it may do, and no more. The person's role and suspension are
checked anew at each call. With a token of the scope `read`, every change is refused (see `limited_to`). A new password,
signing out everywhere, suspension and removal delete a person's tokens
(`backend.campaign.setup.people.rows.end_sessions`).

*Reads* annotator. *Reads* and *writes* personal_token. *Writes* events.
"""

import hmac
import re
import secrets
import string
from contextlib import AbstractContextManager, nullcontext, suppress

from backend.campaign.nouns import Annotator, Lead, Operator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import DAY_S, digest, in_charge, public, signed_in
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.tokens import rows
from backend.campaign.setup.tokens.model import (
    LISTED_DAYS,
    LONGEST_NAME,
    MOST_DAYS,
    MOST_TOKENS,
    TOKEN_MADE,
    TOKEN_REVOKED,
    PersonalToken,
    TokenScope,
)
from backend.core.days import lasts
from backend.core.errors import ProjectError, SignInRefused, StoreUnavailable
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import reading_only, writing

_KEY_LENGTH, _SECRET_LENGTH = 12, 43
"""Letters and digits of the two parts of a token. 43 of 62 characters are 256 random bits."""
_SIGNS = string.ascii_letters + string.digits
_FORM = re.compile(rf"rr_([0-9A-Za-z]{{{_KEY_LENGTH}}})_[0-9A-Za-z]{{{_SECRET_LENGTH}}}")
_SIMILAR = re.compile(rf"rr_[0-9A-Za-z]{{{_KEY_LENGTH}}}_[0-9A-Za-z]")
_NOTED_EVERY_S = 60.0
"""The last use of a token is stored at most once in this time, so that reading seldom writes."""
_NOBODYS_HASH = digest("")
"""Compared if a token is unknown, so that an unknown token takes as long as a wrong one."""


@signed_in
def create_token(
    project: Project,
    me: Lead | Annotator,
    password: str,
    name: str,
    scope: TokenScope,
    days: int,
    *,
    session: str | None = None,
    now: float,
) -> tuple[PersonalToken, str]:
    """Make a token, and return (its entry for lists, its text).

    The text, which programs send, is not stored, so it can never be shown again. This function is slow on purpose, like
    signing in.

    Args:
        project: the project.
        me: the person who makes it.
        password: their password, so that nobody else can make a token at their open browser. It is ignored if they have
            none, because they use single sign-on.
        name: says what it is for. No other token of the person has this name.
        scope: what the token may do.
        days: the time for which it works, from 1 to `MOST_DAYS`.
        session: the token of the session in which they make it, if any.
        now: seconds since 1970.

    Raises:
        SignInRefused: the password is wrong, or the session ended or the account changed while it was checked.
        ProjectError: the name or the time is refused, or the person has too many tokens.
    """
    account = people.by_name(project.store.db, me.name)
    hashed = account[1] if account else None
    if hashed is not None and not permissions.password_matches(hashed, password):
        raise SignInRefused(said("The current password is wrong."))
    name = tidy(name)
    if not name or len(name) > LONGEST_NAME:
        raise ProjectError(said("name the token in 1 to {longest} characters", longest=LONGEST_NAME))
    if not 1 <= days <= MOST_DAYS:
        raise ProjectError(said("a token works for 1 to {most} days: choose another number", most=MOST_DAYS))
    key, secret = ("".join(secrets.choice(_SIGNS) for _ in range(length)) for length in (_KEY_LENGTH, _SECRET_LENGTH))
    text, token = f"rr_{key}_{secret}", PersonalToken(key, name, me, scope, now, now + days * DAY_S)
    with writing(project.store) as db:
        # Check again: what ends a person's tokens meanwhile must end this one too.
        is_over = session is not None and people.by_session(db, digest(session), now=now) is None
        if is_over or people.by_name(db, me.name) != account:
            raise SignInRefused(said("You are signed out: sign in again."))
        rows.forget_expired(db, until=now - LISTED_DAYS * DAY_S)
        others = rows.tokens(db, me.annotator_id)
        if any(other.name == name for other in others):
            raise ProjectError(said("you have a token named {name} already: choose another name", name=name))
        if len(others) >= MOST_TOKENS:
            raise ProjectError(said("you have {most} tokens, which is the most: revoke one first", most=MOST_TOKENS))
        rows.add(db, token, digest(text))
        details = {"key": key, "name": name, "scope": scope.value, "expires_at": token.expires_at}
        events.note(db, TOKEN_MADE, me, f"annotator:{me.annotator_id}", now=now, **details)
    return token, text


@signed_in
def own_tokens(project: Project, me: Lead | Annotator) -> list[PersonalToken]:
    """Return the caller's tokens, newest first, including those that expired up to `LISTED_DAYS` days ago."""
    return rows.tokens(project.store.db, me.annotator_id)


@signed_in
def has_password(project: Project, me: Lead | Annotator) -> bool:
    """Return whether the caller has a password, which `create_token` then asks for."""
    account = people.by_name(project.store.db, me.name)
    return account is not None and account[1] is not None


@signed_in
def revoke_own_token(project: Project, me: Lead | Annotator, key: str, *, now: float) -> str:
    """Delete one of the caller's tokens by its key, and return its name.

    Raises:
        ProjectError: they have no such token (any more).
    """
    return _revoke(project, me, key, now=now)


@in_charge
def list_tokens(project: Project, by: Lead | Operator) -> list[PersonalToken]:
    """Return everybody's tokens, newest first."""
    return rows.tokens(project.store.db)


@in_charge
def revoke_token(project: Project, by: Lead | Operator, key: str, *, now: float) -> str:
    """Delete anybody's token by its key, and return its name.

    Raises:
        ProjectError: there is no such token (any more).
    """
    return _revoke(project, by, key, now=now, anybodys=True)


@public
def token_for(project: Project, text: str, *, now: float) -> PersonalToken | None:
    """Check the token that a program sent, and return its entry: whose it is and what it may do.

    The result is None if the text is no token, if the token is unknown, revoked or expired, or if its owner is
    suspended. The time of use is recorded, unless the database cannot be written.
    """
    if (key := token_key(text)) is None:
        return None
    token, hashed = rows.by_key(project.store.db, key) or (None, _NOBODYS_HASH)
    is_right = hmac.compare_digest(hashed, digest(text))
    if token is None or not is_right or token.owner.suspended:
        return None
    if token.expires_at <= now or not lasts(token.created_at, token.expires_at - token.created_at, now=now):
        return None
    if token.used_at is None or abs(now - token.used_at) >= _NOTED_EVERY_S:
        with suppress(StoreUnavailable), writing(project.store) as db:
            rows.note_use(db, token.key, at=now)
    return token


def token_key(text: str) -> str | None:
    """Return the part of a token that identifies it; None if the text does not have the form of a token.

    >>> token_key("rr_0123456789ab_" + 43 * "x"), token_key("rr_0123456789ab_x"), token_key("")
    ('0123456789ab', None, None)
    """
    match = _FORM.fullmatch(text)
    return match and match[1]


def holds_token(text: str) -> bool:
    """Return whether a token, or the beginning of its secret part, stands anywhere in a text.

    >>> holds_token("token=rr_0123456789ab_xyz"), holds_token("sort=rr_up")
    (True, False)
    """
    return bool(_SIMILAR.search(text))


def limited_to(scope: TokenScope) -> AbstractContextManager[None]:
    """Return a context manager. If the scope is `read`, every change inside its `with` block raises `NotAllowed`."""
    return reading_only() if scope is TokenScope.READ else nullcontext()


def _revoke(project: Project, by: Lead | Annotator | Operator, key: str, *, now: float, anybodys: bool = False) -> str:
    with writing(project.store) as db:
        found = rows.by_key(db, key)
        if found is None or not (anybodys or found[0].owner.annotator_id == by.annotator_id):
            raise ProjectError(said("there is no such token (any more): reload the page"))
        token = found[0]
        rows.remove(db, key)
        details = {"key": key, "name": token.name, "used_at": token.used_at}
        events.note(db, TOKEN_REVOKED, by, f"annotator:{token.owner.annotator_id}", now=now, **details)
    return token.name
