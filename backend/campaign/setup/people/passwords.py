"""Hash and verify passwords with argon2, which is slow on purpose: keep it off the event loop."""

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.typed_text import normalised_password

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
