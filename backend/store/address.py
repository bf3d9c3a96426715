"""Addresses of PostgreSQL databases, as people write them and as they may be shown and kept."""

import re
from urllib.parse import unquote

_SHAPE = re.compile(r"postgres(?:ql)?://(?:[^@/]*@)?[^@]*")
_ASKED = re.compile(r"(?i)(password\s*=\s*)('[^']*'|[^\s&]*)")


def understood(address: str) -> bool:
    """Whether a server is asked with what the person means: every `@` and `/` of a password is spelt as `%40`, `%2F`.

    >>> understood("postgresql://reelrank:s%40fe@db.lab/campaign"), understood("postgresql://reelrank:s@fe@db.lab/campaign")
    (True, False)
    """
    return bool(_SHAPE.fullmatch(address)) and not re.search("%(?![0-9A-Fa-f]{2})", address)


def shown(address: str) -> str:
    """An address, or what was meant to be one, without its password.

    >>> shown("postgresql://reelrank:secret@db.lab/campaign")
    'postgresql://reelrank:***@db.lab/campaign'
    >>> shown("postgresql://db.lab/campaign?user=reelrank&password=secret")
    'postgresql://db.lab/campaign?user=reelrank&password=***'
    """
    return _ASKED.sub(r"\1***", re.sub(r"^((?:[a-z]+://)?[^:/@?]*):(?!//).*@", r"\1:***@", address))


def password_of(address: str) -> str:
    """The password in an address; empty where it has none.

    >>> password_of("postgresql://reelrank:s%40fe@db.lab/campaign"), password_of("postgresql://db.lab/c?password=s%40fe")
    ('s@fe', 's@fe')
    """
    asked = re.search(r"(?i)[?&]password=([^&]*)", address)
    found = asked or re.match(r"[a-z]+://[^:/@?]*:([^@]*)@", address)
    return unquote(found[1]) if found else ""


def without_password(address: str) -> str:
    """An address as it may be written into a file that its person did not write it into.

    >>> without_password("postgresql://reelrank:secret@db.lab/campaign?password=secret&sslmode=require")
    'postgresql://reelrank@db.lab/campaign?sslmode=require'
    """
    bare = re.sub(r"^([a-z]+://[^:/@?]*):.*@", r"\1@", address)
    return re.sub(r"(?i)(?<=[?&])(ssl)?password=[^&]*&?", "", bare).rstrip("?&")
