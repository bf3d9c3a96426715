"""Normalise and check typed texts, and the names of people, runs and releases.

Names of people must not look alike. Names of videos come from files and are only brought into Unicode's composed form.
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
"""Characters without a visible form: Unicode's Default_Ignorable_Code_Point outside the category Cf, and the empty
Braille pattern."""
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x20), 0x7F])
_CONTROL = re.compile("[\\x00-\\x08\\x0e-\\x1f\\x7f]")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
# In JSON the backslash of the escape must not itself be escaped.
_NUL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_CONTROL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\(b|u00(?:0[0-8EFef]|1[0-9A-Fa-f]|7[Ff]))")


def nfc(text: str) -> str:
    r"""Return the text in Unicode's composed form (NFC), so that canonically equal names are equal strings.

    Names of videos, queries and people are stored and compared in this form. macOS returns file names decomposed.

    >>> nfc("cafe\u0301") == "caf\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def are_plain(texts: Iterable[str]) -> bool:
    """Return whether all texts are printable ASCII; they are then composed (NFC), and visible unless they are blank."""
    together = "".join(texts)
    return together.isascii() and together.isprintable()


def is_visible(text: str) -> bool:
    r"""Return whether a text has a visible character; spaces, control and format characters do not count.

    >>> is_visible("A dog."), is_visible(" \u200b\ufe0f\u3164"), is_visible("\u2014")
    (True, False, True)
    """
    if text.isascii() and text.isprintable():
        return bool(text.strip())
    return any(char not in IGNORED and unicodedata.category(char) not in _INVISIBLE for char in text)


def tidy(text: str) -> str:
    r"""Return a typed text as it is stored: single spaces, no control characters; "" if nothing in it is visible.

    >>> tidy("  A dog\truns.\x07 "), tidy(" \u200b ")
    ('A dog runs.', '')
    """
    printable = "".join(char for char in text if char.isspace() or unicodedata.category(char) != "Cc")
    return " ".join(printable.split()) if is_visible(printable) else ""


def reason_of(typed: str, longest: int, needed: str = "") -> str:
    """Return a reason that a person typed for a decision, as it is stored: tidied by `tidy`.

    Args:
        typed: the text that the person wrote.
        longest: the most characters it may have.
        needed: the message if the reason is empty; without a message the reason is optional.

    Raises:
        ProjectError: a needed reason is empty, or the reason is too long.
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
    r"""Return the first ASCII control character of a text other than tabs, line ends and page breaks; None if none.

    >>> unwanted_control("A dog\truns.\r\n"), unwanted_control("A dog\x1f")
    (None, '\x1f')
    """
    if isinstance(text, bytes):
        # Several times as fast as a regular expression, and most files have no such character.
        if len(text.translate(None, _CONTROLS)) == len(text):
            return None
        text = text.decode("latin-1")
    match = _CONTROL.search(text)
    return match and match[0]


def escaped_control(json: str | bytes) -> str | None:
    r"""Return the first control character that a JSON text has as an escape such as `\u001f`; None if there is none.

    The same characters are allowed as in `unwanted_control`.

    >>> escaped_control('["a\\b"]'), escaped_control('["a\\u001f"]'), escaped_control('["a\\\\b\\n"]')
    ('\x08', '\x1f', None)
    """
    raw = json.encode("utf-8", "surrogatepass") if isinstance(json, str) else json
    match = _CONTROL_IN_JSON.search(raw) if b"\\" in raw else None
    return match and ("\b" if match[1] == b"b" else chr(int(match[1][1:], 16)))


def normalised_password(password: str) -> str:
    r"""Return a password in NFKC, the form that is hashed (NIST SP 800-63B).

    Keyboards may send the same letter in different forms.

    >>> normalised_password("de\u0301ja\u00a0vu") == "d\u00e9ja vu"
    True
    """
    return unicodedata.normalize("NFKC", password)


def is_storable(text: str) -> bool:
    r"""Return whether every database can store a text.

    PostgreSQL refuses the character NUL, and lone surrogates cannot be encoded in UTF-8.

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
    r"""Return whether JSON has an escaped NUL in one of its texts.

    >>> has_nul_escape('["a\\u0000"]'), has_nul_escape('["a\\\\u0000"]')
    (True, False)
    """
    raw = json.encode("utf-8", "surrogatepass") if isinstance(json, str) else json
    return b"\\u0000" in raw and bool(_NUL_IN_JSON.search(raw))


LONGEST_NAME = 80
"""The most characters of a name."""
_INVISIBLE_IN_NAMES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Persian and Indic scripts need these characters between letters. `name_key` leaves them out, so that two names
that differ only in them count as the same."""


def person_name(typed: str) -> str:
    """Return a person's name as it is stored: composed letters (NFC), single spaces, no space around it.

    Raises:
        ProjectError: the name is empty, longer than `LONGEST_NAME`, or has invisible characters.

    >>> person_name("  Ana  Le\u0301a ")
    'Ana Léa'
    """
    name = spaced(typed)
    if invisible := _invisible_characters(name):
        raise ProjectError.said(
            "a name can only have visible characters: remove the character U+{code:04X} and type the name again",
            code=ord(invisible[0]),
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
    """Return a name with composed letters (NFC), single spaces, and no space around it."""
    parts = "".join(" " if unicodedata.category(char) == "Zs" else char for char in typed).split(" ")
    return nfc(" ".join(part for part in parts if part))


def is_readable(name: str) -> bool:
    r"""Return whether a name of a run or a release has visible characters, and no invisible ones.

    >>> is_readable("baseline 2"), is_readable("\u3164"), is_readable("base\u200bline")
    (True, False, False)
    """
    return bool(name_key(name)) and not _invisible_characters(name)


def readable(text: str) -> str:
    r"""Return a text from a file as a name: without invisible characters, cut to `LONGEST_NAME`.

    >>> readable("lead of\na\u202e")
    'lead of a'
    """
    spaced_out = "".join(" " if char.isspace() else char for char in nfc(text))
    spaced_out = "".join(char for char in spaced_out if unicodedata.category(char) not in _INVISIBLE_IN_NAMES)
    return " ".join(spaced_out.split())[:LONGEST_NAME].strip()


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """Return a key that is equal for names that look alike: it ignores compatibility forms, case, unseen characters.

    >>> name_key("LE\u0301A") == name_key("ｌéa\u200b")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    visible = (char for char in folded if char not in IGNORED and unicodedata.category(char) not in _INVISIBLE_IN_NAMES)
    return " ".join("".join(visible).split())


def troubles(names: list[str]) -> list[str]:
    """Return messages about names, stored by an older ReelRank, that would be refused now or that look alike."""
    messages = []
    for name in names:
        try:
            person_name(name)
        except ProjectError as refusal:
            messages.append(f"{_quoted(name)}: {refusal}")
    return messages + clashes(names)


def require_told_apart(names: list[str]) -> None:
    """Refuse to move a project to PostgreSQL if PostgreSQL could not tell some of these names apart.

    Raises:
        ProjectError: names look alike, which an older ReelRank allowed.
    """
    if alike := clashes(names):
        raise ProjectError.said(
            "PostgreSQL cannot tell these names apart: {names}. Go on with the database in the file; nothing was "
            "changed.",
            names="; ".join(alike),
        )


def clashes(names: list[str]) -> list[str]:
    """Return a text for each group of names that look alike, such as `'Ana' and 'ANA'`."""
    by_key: dict[str, list[str]] = {}
    for name in names:
        by_key.setdefault(name_key(name), []).append(name)
    return [" and ".join(map(_quoted, alike)) for alike in by_key.values() if len(alike) > 1]


def _quoted(name: str) -> str:
    return ascii(name[:LONGEST_NAME]) if _invisible_characters(name) else repr(name)


def _invisible_characters(name: str) -> list[str]:
    return [char for place, char in enumerate(name) if _is_invisible(name, place)]


def _is_invisible(name: str, place: int) -> bool:
    char = name[place]
    if char in _JOINERS:
        neighbours = (name[place - 1 : place], name[place + 1 : place + 2])
        return not all(
            neighbour and unicodedata.category(neighbour)[0] in "LM" and not neighbour.isascii()
            for neighbour in neighbours
        )
    return char in IGNORED or unicodedata.category(char) in _INVISIBLE_IN_NAMES
