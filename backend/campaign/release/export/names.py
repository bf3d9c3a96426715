"""Check the name and the notes of a new release. Pure functions."""

import re
from collections.abc import Sequence

from backend.campaign.release.export.model import LONGEST_NAME, LONGEST_NOTES
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.text_files import control_fault
from backend.core.typed_text import is_readable, spaced

_FORBIDDEN = '/\\:*?"<>|'
"""Characters that some system forbids in file names."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows reserves for devices."""


def proper_name(name: str | None) -> str | None:
    """Return the name of a release without surplus spaces; None if it is blank, which stands for the next `release-N`.

    This does not check whether another release has the name.

    Raises:
        ProjectError: the name is unreadable, too long, or not allowed as a file name.

    >>> proper_name("  May  2026 "), proper_name(""), proper_name("v1.0")
    ('May 2026', None, 'v1.0')
    """
    if name is None or not name.strip():
        return None
    name = spaced(name)
    if not is_readable(name) or len(name) > LONGEST_NAME:
        raise ProjectError(said("a release needs a name of 1 to {longest} visible characters", longest=LONGEST_NAME))
    if forbidden := next((character for character in name if character in _FORBIDDEN), None):
        raise ProjectError(
            said("The name {name} has a {sign}. Use letters, digits, spaces, . - and _.", name=name, sign=forbidden)
        )
    if name[0] in ".-" or name[-1] == ".":
        raise ProjectError(said("The name {name} begins with . or -, or ends with a dot. Choose another.", name=name))
    if _RESERVED.fullmatch(name):
        raise ProjectError(said("{name} is a reserved name on Windows. Choose another.", name=name))
    return name


def proper_notes(notes: str) -> str:
    """Return the notes about a release, without surrounding space.

    Raises:
        ProjectError: they are too long, or have control characters.
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


def next_name(used_names: Sequence[str]) -> str:
    """Return the first unused name `release-N` whose N is greater than the number of used names.

    >>> next_name(["release-1", "final"]), next_name([])
    ('release-3', 'release-1')
    """
    number = len(used_names) + 1
    while f"release-{number}" in used_names:
        number += 1
    return f"release-{number}"
