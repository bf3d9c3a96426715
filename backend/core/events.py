"""Declare the kinds of events: their names in the log, their groups, and the words that describe them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any

from backend.core.messages import joined, said

Payload = Mapping[str, Any]
_LONGEST = 300
"""The most characters of a text that a person wrote; longer ones are cut."""
_DECLARATION = re.compile(r"^[A-Z_]+ = Event\(", re.MULTILINE)


class EventGroup(StrEnum):
    """The groups of entries in the activity log.

    `GRADES` are the grades that annotators gave, which are stored as judgements. Entries of the other groups are stored
    as events.
    """

    DECISIONS = "decisions"
    PEOPLE = "people"
    TRAINING = "training"
    MATERIAL = "material"
    RESULTS = "results"
    DESK = "desk"
    GRADES = "grades"


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A kind of action that the log records, such as opening a batch.

    Each recorded event has a payload: a dict with details of the action. The docstring below the declaration of a kind
    says what its payload holds.

    `kind` is its name in the log. `words` say what was done, and are shown after the name of the user. They are a text
    with keys of the payload in braces, or a function that makes the text from the payload. A reason in the payload is
    added after these words, unless `tells_reason` says that they contain it already.
    """

    kind: str
    group: EventGroup
    words: str | Callable[[Payload], str]
    _: KW_ONLY
    tells_reason: bool = False

    def sentence(self, payload: Payload) -> str:
        """Return in words what was done, to follow the name of the person.

        >>> batch_opened = Event("batch_opened", EventGroup.DECISIONS, "opened batch {number}: {pairs} pairs")
        >>> batch_opened.sentence({"number": 2, "pairs": 1200, "reason": "few were found"})
        'opened batch 2: 1,200 pairs (“few were found”)'
        """
        what = _fill(self.words, payload) if isinstance(self.words, str) else self.words(payload)
        reason = value_text(payload.get("reason") or payload.get("why") or "").strip()
        return said("{what} (“{reason}”)", what=what, reason=reason) if reason and not self.tells_reason else what


def value_text(value: object) -> str:
    """Return a value of a payload for people: numbers with thousands separators, None as a dash.

    >>> value_text(1200), value_text(None), value_text([1, "two"])
    ('1,200', '–', '1, two')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return _YES if value else _NO
    if isinstance(value, int):
        return said("{number:,}", number=value)
    if isinstance(value, float):
        return said("{number:g}", number=value)
    if isinstance(value, list):
        return joined(", ", map(value_text, value))
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@cache
def find_events() -> Mapping[str, Event]:
    """Return every kind of event that ReelRank declares, by its name in the log, in alphabetical order.

    To find them, this imports the modules that have a line beginning with `NAME = Event(`, and no others.
    """
    backend = Path(__file__).parents[1]
    files = [file for file in backend.rglob("*.py") if _DECLARATION.search(file.read_text(encoding="utf-8"))]
    names = [".".join(file.relative_to(backend.parent).with_suffix("").parts) for file in files]
    return by_kind(value for name in names for value in vars(import_module(name)).values() if isinstance(value, Event))


def by_kind(events: Iterable[Event]) -> Mapping[str, Event]:
    """Return events by their name in the log (`kind`), in alphabetical order.

    Raises:
        ValueError: two events have the same kind.
    """
    by_name: dict[str, Event] = {}
    for event in events:
        if by_name.setdefault(event.kind, event) is not event:
            raise ValueError(f"the event {event.kind} is declared twice")
    return dict(sorted(by_name.items()))


def _fill(words: str, payload: Payload) -> str:
    """Return the words with the payload's values in place of their names in braces; a missing value becomes a dash."""
    names = [name for _, name, _, _ in Formatter().parse(words) if name]
    values = {name: value_text(payload.get(name)) for name in names}
    return said(words, **{name: _CODES.get(text, text) if name in _CODED else text for name, text in values.items()})


_YES, _NO = said("yes"), said("no")
_CODED = frozenset({"by", "kind", "role", "what"})
"""Names of payload values that are words of the program; other texts come from people."""
_CODES: Mapping[str, str] = {
    words.replace(" ", "_").replace("-", "_"): words
    for words in (
        *(said("annotator"), said("lead"), said("shots"), said("windows")),
        *(said("skip"), said("cannot judge"), said("broken clip")),
        *(said("decided"), said("discard confirmed"), said("re-opened"), said("accepted"), said("returned")),
    )
}
