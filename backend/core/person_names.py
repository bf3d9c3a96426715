"""Check the names of people, runs and releases: readable, and for people not similar to another's.

Names of videos come from files, and are what they are, in Unicode's composed form.
"""

import unicodedata
from functools import lru_cache

from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.typed_text import IGNORED, nfc

LONGEST_NAME = 80
"""Characters."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Persian and Indic scripts need them between letters. The key leaves them out, so they make no second name."""


def person_name(typed: str) -> str:
    """The name as it is kept: composed letters (NFC), single spaces, no space around it.

    Raises:
        ProjectError: it is empty, longer than `LONGEST_NAME`, or has characters that nobody sees.

    >>> person_name("  Ana  Le\u0301a ")
    'Ana Léa'
    """
    name = spaced(typed)
    if unseen := _unseen(name):
        raise ProjectError(
            said(
                "a name may have visible characters only: remove the character U+{code:04X} and type the name again",
                code=ord(unseen[0]),
            )
        )
    if not name_key(name):
        raise ProjectError(said("a name cannot be empty: choose another name"))
    if len(name) > LONGEST_NAME:
        raise ProjectError(
            said(
                "a name has at most {longest} characters; this one has {length}", longest=LONGEST_NAME, length=len(name)
            )
        )
    return name


def spaced(typed: str) -> str:
    """Return a name as it is kept: composed letters (NFC), single spaces, no space around it."""
    parts = "".join(" " if unicodedata.category(char) == "Zs" else char for char in typed).split(" ")
    return nfc(" ".join(part for part in parts if part))


def is_readable(name: str) -> bool:
    r"""Whether people can read a name of a run or a release: it has visible characters, and no others.

    >>> is_readable("baseline 2"), is_readable("\u3164"), is_readable("base\u200bline")
    (True, False, False)
    """
    return bool(name_key(name)) and not _unseen(name)


def readable(text: str) -> str:
    r"""A text of a file as a name: without what nobody sees, cut to the longest name.

    >>> readable("lead of\na\u202e")
    'lead of a'
    """
    shown = "".join(" " if char.isspace() else char for char in nfc(text))
    shown = "".join(char for char in shown if unicodedata.category(char) not in _UNSEEN)
    return " ".join(shown.split())[:LONGEST_NAME].strip()


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """What two names have in common that look alike: compatibility forms, case and unseen characters do not count.

    >>> name_key("LE\u0301A") == name_key("ｌéa\u200b")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = (char for char in folded if char not in IGNORED and unicodedata.category(char) not in _UNSEEN)
    return " ".join("".join(seen).split())


def troubles(names: list[str]) -> list[str]:
    """Names of an earlier release that would be refused now, and those that look like another one."""
    found = []
    for name in names:
        try:
            person_name(name)
        except ProjectError as refusal:
            found.append(f"{_told(name)}: {refusal}")
    return found + clashes(names)


def require_told_apart(names: list[str]) -> None:
    """Refuse to move names that PostgreSQL would take for one.

    Raises:
        ProjectError: names look alike, which an earlier release took.
    """
    if alike := clashes(names):
        raise ProjectError(
            said(
                "PostgreSQL cannot tell these names apart: {names}. Go on with the database in the file; nothing was "
                "changed.",
                names="; ".join(alike),
            )
        )


def clashes(names: list[str]) -> list[str]:
    """Groups of names that look alike."""
    by_key: dict[str, list[str]] = {}
    for name in names:
        by_key.setdefault(name_key(name), []).append(name)
    return [" and ".join(map(_told, alike)) for alike in by_key.values() if len(alike) > 1]


def _told(name: str) -> str:
    return ascii(name[:LONGEST_NAME]) if _unseen(name) else repr(name)


def _unseen(name: str) -> list[str]:
    return [char for place, char in enumerate(name) if _is_unseen(name, place)]


def _is_unseen(name: str, place: int) -> bool:
    char = name[place]
    if char in _JOINERS:
        beside = (name[place - 1 : place], name[place + 1 : place + 2])
        return not all(one and unicodedata.category(one)[0] in "LM" and not one.isascii() for one in beside)
    return char in IGNORED or unicodedata.category(char) in _UNSEEN
