"""Normalise and check typed texts, and the names of people, runs and releases: people's are not similar to another's.

Names of videos come from files, and are what they are, in Unicode's composed form.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from backend.core.errors import ProjectError
from backend.core.messages import said

IGNORED = frozenset(
    map(chr, [0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0, *range(0xFFF0, 0xFFF9)])
) | frozenset(map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)]))
"""Characters that are drawn as nothing: Unicode's Default_Ignorable_Code_Point beside the category Cf, and the empty
Braille pattern."""
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x20), 0x7F])
_CONTROL = re.compile("[\\x00-\\x08\\x0e-\\x1f\\x7f]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
# In JSON the backslash before it must be no escaped backslash.
_NUL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_CONTROL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\(b|u00(?:0[0-8EFef]|1[0-9A-Fa-f]|7[Ff]))")


def nfc(text: str) -> str:
    r"""Return the text in Unicode's composed form (NFC), so that names that are canonically equal are one string.

    Names of videos, queries and people are kept and compared in this form. macOS hands out file names decomposed.

    >>> nfc("cafe\u0301") == "caf\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def are_plain(texts: Iterable[str]) -> bool:
    """Whether texts are printable ASCII, all of them: then they are composed, and visible unless they are blank."""
    together = "".join(texts)
    return together.isascii() and together.isprintable()


def is_visible(text: str) -> bool:
    r"""Whether a text has anything to see; spaces, controls, formats and variation selectors alone are nothing.

    >>> is_visible("A dog."), is_visible(" \u200b\ufe0f\u3164"), is_visible("\u2014")
    (True, False, True)
    """
    if text.isascii() and text.isprintable():
        return bool(text.strip())
    return any(char not in IGNORED and unicodedata.category(char) not in _UNSEEN for char in text)


def tidy(text: str) -> str:
    r"""Return a typed text as it is kept: white space folded, controls left out; empty where nothing is visible.

    >>> tidy("  A dog\truns.\x07 "), tidy(" \u200b ")
    ('A dog runs.', '')
    """
    seen = "".join(char for char in text if char.isspace() or unicodedata.category(char) != "Cc")
    return " ".join(seen.split()) if is_visible(seen) else ""


def reason_of(typed: str, longest: int, needed: str = "") -> str:
    """Return a typed reason as it is kept.

    Args:
        typed: what a lead wrote.
        longest: the most characters it may have.
        needed: what to say if it is empty; without this, a reason is optional.

    Raises:
        ProjectError: there is none though it is needed, or it is too long.
    """
    reason = tidy(typed)
    if needed and not reason:
        raise ProjectError(needed)
    if len(reason) > longest:
        raise ProjectError(
            said("the reason has {length} characters: use at most {longest}", length=len(reason), longest=longest)
        )
    return reason


def unwanted_control(text: str | bytes) -> str | None:
    r"""Return the first control character that no text has: of ASCII's, all but tabs and ends of lines and pages.

    >>> unwanted_control("A dog\truns.\r\n"), unwanted_control("A dog\x1f")
    (None, '\x1f')
    """
    if isinstance(text, bytes):
        # Several times as fast as a regular expression, and most files have none.
        if len(text.translate(None, _CONTROLS)) == len(text):
            return None
        text = text.decode("latin-1")
    found = _CONTROL.search(text)
    return found and found[0]


def escaped_control(json: str | bytes) -> str | None:
    r"""Return the first such character of a text in JSON, which writes it as an escape.

    >>> escaped_control('["a\\b"]'), escaped_control('["a\\u001f"]'), escaped_control('["a\\\\b\\n"]')
    ('\x08', '\x1f', None)
    """
    raw = json.encode("utf-8", "surrogatepass") if isinstance(json, str) else json
    found = _CONTROL_IN_JSON.search(raw) if b"\\" in raw else None
    return found and ("\b" if found[1] == b"b" else chr(int(found[1][1:], 16)))


def normalised_password(password: str) -> str:
    r"""Return a password in the form that is hashed, NFKC (NIST SP 800-63B): keyboards send one letter in many forms.

    >>> normalised_password("de\u0301ja\u00a0vu") == "d\u00e9ja vu"
    True
    """
    return unicodedata.normalize("NFKC", password)


def is_storable(text: str) -> bool:
    r"""Whether every database keeps it: no NUL, which PostgreSQL refuses, and no half of a surrogate pair.

    >>> is_storable("née"), is_storable("a\0b"), is_storable("\ud800")
    (True, False, False)
    """
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def has_nul_escape(json: str | bytes) -> bool:
    r"""Whether JSON has NUL in one of its texts, which it writes as an escape.

    >>> has_nul_escape('["a\\u0000"]'), has_nul_escape('["a\\\\u0000"]')
    (True, False)
    """
    raw = json.encode("utf-8", "surrogatepass") if isinstance(json, str) else json
    return b"\\u0000" in raw and bool(_NUL_IN_JSON.search(raw))


LONGEST_NAME = 80
"""Characters."""
_UNSEEN_IN_NAMES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
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
        raise ProjectError.said(
            "a name can only have visible characters: remove the character U+{code:04X} and type the name again",
            code=ord(unseen[0]),
        )
    if not name_key(name):
        raise ProjectError.said("a name cannot be empty: choose another name")
    if len(name) > LONGEST_NAME:
        raise ProjectError.said(
            "a name can have at most {longest} characters; this one has {length}",
            longest=LONGEST_NAME,
            length=len(name),
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
    shown = "".join(char for char in shown if unicodedata.category(char) not in _UNSEEN_IN_NAMES)
    return " ".join(shown.split())[:LONGEST_NAME].strip()


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """What two names have in common that look alike: compatibility forms, case and unseen characters do not count.

    >>> name_key("LE\u0301A") == name_key("ｌéa\u200b")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = (char for char in folded if char not in IGNORED and unicodedata.category(char) not in _UNSEEN_IN_NAMES)
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
        raise ProjectError.said(
            "PostgreSQL cannot tell these names apart: {names}. Go on with the database in the file; nothing was "
            "changed.",
            names="; ".join(alike),
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
    return char in IGNORED or unicodedata.category(char) in _UNSEEN_IN_NAMES
