"""Detect the layout of a truth or run file from its first entry: its keys, and the types to decode it with."""

import json
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from backend.core.reading import UNDECODABLE
from backend.scoring.files.words import DURATION, QUERY, RUN, TRUTH, VIDEO, Kind, Names, is_tvr_release, names_in, pick

_PEEKS = (1 << 14, 1 << 21)
"""How many bytes are searched for the first entry, and how many if it does not end there."""
_MAPPING = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[')
"""The beginning of an object of lists: queries by id, unless it is one entry whose first field is a list."""
_ENTRY = re.compile(r'\{\s*"(?:predictions|pred_\w+|timestamp|ts)"')


class Doubt(Exception):
    """The file has something that the fast reader cannot handle."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a file, as its first entry shows it.

    Attributes:
        query: the key of an entry's query id, None if query ids are the keys of the file's object.
        items: the key of an entry's list of moments, None if an entry is itself a moment.
        names: the keys of the fields of a moment, None if moments are lists.
        video: the key of an entry's video, if its moments do not name their video themselves.
        relevant: whether moments have no relevance field, because all of them are relevant.
    """

    query: str | None
    items: str | None
    names: Names | None
    video: str | None = None
    relevant: bool = False

    @property
    def flat(self) -> bool:
        """Whether entries are moments, each of which names its query."""
        return self.query is not None and self.items is None


class _Times(msgspec.Struct, array_like=True, gc=False, forbid_unknown_fields=True):
    start: float
    end: float


class _Listed(msgspec.Struct, array_like=True, gc=False, forbid_unknown_fields=True):
    video: int | str
    start: float
    end: float
    value: float


class _Window(msgspec.Struct, array_like=True, gc=False, forbid_unknown_fields=True):
    start: float
    end: float
    value: float


def layout_of(content: bytes, kind: Kind) -> Layout:
    """Return the layout of a file, from its first entry alone.

    Raises:
        Doubt: there is no complete entry within a reasonable length.
    """
    for size in _PEEKS:
        try:
            return _by_first_entry(content[:size].decode("utf-8", "ignore").strip(), kind)
        except UNDECODABLE:
            continue
    raise Doubt


def _by_first_entry(text: str, kind: Kind) -> Layout:
    decoder = json.JSONDecoder()
    if text[0] == "[":
        first, _ = decoder.raw_decode(text[1:].lstrip())
    elif kind is RUN and (opening := _MAPPING.match(text)) and not _ENTRY.match(text):
        items, _ = decoder.raw_decode(text, opening.end() - 1)
        return Layout(None, None, _row_names(items, kind))
    else:
        first, _ = decoder.raw_decode(text)
    query = pick(QUERY, first)
    if query is None:
        raise Doubt
    if kind.items in first:
        return Layout(query, kind.items, _row_names(first[kind.items], kind))
    if kind.windows in first:
        return Layout(query, kind.windows, None, video=pick(VIDEO, first), relevant=kind is TRUTH)
    if kind is TRUTH and is_tvr_release(first):
        return Layout(query, None, Names("vid_name", ("ts",), "relevance"), relevant=True)
    return Layout(query, None, names_in(first, kind))


def _row_names(items: list[object], kind: Kind) -> Names | None:
    """Return the keys of moments that are objects, or None if they are lists."""
    if items and isinstance(items[0], dict):
        return names_in(items[0], kind)
    return kind.usual if kind is TRUTH else None


def entry_type(layout: Layout, kind: Kind) -> Any:
    """Return the type that msgspec decodes an entry to.

    An entry is a moment, a list of moments, or an object with `items` and perhaps `query` and `video`. A moment has
    `video` (unless its entry has), `start` and `end` or `times` with both, and `value` (unless all are relevant).
    """
    moment = _moment_type(layout, kind)
    if layout.flat:
        return moment
    moments: Any = list[moment]  # type: ignore[valid-type]
    if layout.query is None:
        return moments
    fields: list[tuple[str, Any]] = [("query", int | str), ("items", moments)]
    keys = {"query": layout.query, "items": layout.items}
    if layout.video:
        fields.append(("video", int | str))
        keys["video"] = layout.video
    return msgspec.defstruct("Entry", fields, rename={field: key for field, key in keys.items() if key})


def _moment_type(layout: Layout, kind: Kind) -> Any:
    if layout.names is None:
        if layout.video is None:
            return _Listed
        return _Times if kind is TRUTH else _Window
    fields: list[tuple[str, Any]] = [("video", int | str)]
    fields += [("times", _Times)] if len(layout.names.times) == 1 else [("start", float), ("end", float)]
    fields += [] if layout.relevant else [("value", float)]
    keys = dict(zip([field for field, _ in fields], layout.names.all, strict=not layout.relevant))
    if layout.query and layout.flat:
        fields.append(("query", int | str))
        keys["query"] = layout.query
    optional = [(DURATION, Any, None)] if kind is TRUTH else []
    return msgspec.defstruct("Moment", [*fields, *optional], rename=keys, gc=False)
