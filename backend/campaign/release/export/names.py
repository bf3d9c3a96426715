"""Check the name and the notes of a release before it is made. Pure."""

import re
from collections.abc import Sequence

from backend.campaign.release.export.model import LONGEST_NAME, LONGEST_NOTES
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.text_files import control_fault
from backend.core.typed_text import is_readable, spaced

_FORBIDDEN = '/\\:*?"<>|'
"""Signs that no file may have in its name on one system or another."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices."""


def proper_name(name: str | None) -> str | None:
    """A name for a release, or None for the next `release-N`; whether it is free is not asked here.

    Raises:
        ProjectError: it cannot be read, is too long, or could not be the name of a file.

    >>> proper_name("  May  2026 "), proper_name(""), proper_name("v1.0")
    ('May 2026', None, 'v1.0')
    """
    if name is None or not name.strip():
        return None
    name = spaced(name)
    if not is_readable(name) or len(name) > LONGEST_NAME:
        raise ProjectError(said("a release needs a name of 1 to {longest} visible characters", longest=LONGEST_NAME))
    if forbidden := next((sign for sign in name if sign in _FORBIDDEN), None):
        raise ProjectError(
            said("The name {name} has a {sign}. Use letters, digits, spaces, . - and _.", name=name, sign=forbidden)
        )
    if name[0] in ".-" or name[-1] == ".":
        raise ProjectError(said("The name {name} begins with . or -, or ends with a dot. Choose another.", name=name))
    if _RESERVED.fullmatch(name):
        raise ProjectError(said("{name} is a reserved name on Windows. Choose another.", name=name))
    return name


def proper_notes(notes: str) -> str:
    """What to say about a release.

    Raises:
        ProjectError: it is too long, or has control characters.
    """
    notes = notes.strip()
    if fault := control_fault(notes):
        raise ProjectError(fault)
    if len(notes) > LONGEST_NOTES:
        raise ProjectError(
            said(
                "The notes have {length:,} characters. Use at most {longest:,}.",
                length=len(notes),
                longest=LONGEST_NOTES,
            )
        )
    return notes


def next_name(taken: Sequence[str]) -> str:
    """The first `release-N` that nobody has used.

    >>> next_name(["release-1", "final"]), next_name([])
    ('release-3', 'release-1')
    """
    number = len(taken) + 1
    while f"release-{number}" in taken:
        number += 1
    return f"release-{number}"
