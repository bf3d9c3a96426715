"""Truth and run files into columns, near the speed of the parser alone; None at the first doubt.

One typed decode, one pass over each column. The types are those of the first entry, and whatever does not fit them
(another shape, a wrong value, a key that stands twice) is left to `documents`, which knows how to tell of it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from backend.core.metrics.columns import Indices, QueryKey, Run, Truth
from backend.core.run_files.counting import count_byte, count_keys
from backend.core.run_files.text import Form
from backend.core.run_files.words import (
    QUERY,
    RUN,
    TASK_VIDEOS,
    TASKS,
    TRUTH,
    VIDEO,
    Kind,
    is_tvr_release,
    names_in,
    pick,
)
from backend.core.runs import Names, NameVideo, gather, name_only, resolver
from backend.core.timespan import Floats

_PEEKS = (1 << 14, 1 << 21)
"""So many bytes are looked at for the first entry, and so many if it does not end there."""
_ESCAPED_LETTER = re.compile(rb"\\u00[2-7]")
"""Could hide a key from being counted."""
_MAPPING = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[')
"""An object of lists: queries, unless it is an entry whose first field happens to be a list."""
_ENTRY = re.compile(r'\{\s*"(?:predictions|pred_\w+|timestamp|ts)"')


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


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a file looks like, by its first entry.

    `query` and `items` are the keys of an entry's id and list; `items` is None where an entry is a moment itself.
    `video` is the key of the video that an entry names for all its windows. `names` are the keys of a moment that
    is an object, None where it is a list.
    """

    query: str | None
    items: str | None
    names: Names | None
    video: str | None = None
    relevant: bool = False
    """Moments come without relevance because all of them are relevant."""


class _Doubt(Exception):
    """Something is not as the fast way needs it."""


def truth(content: bytes, file: str, form: Form) -> Truth | None:
    """Truth of a checked file, or None if `documents` has to look at it."""
    try:
        spans, value = _read(content, file, form, TRUTH, name_only)
    except _GIVE_UP:
        return None
    return Truth(**spans, relevance=value)


def run(content: bytes, file: str, form: Form, videos: Mapping[int, str] | None) -> Run | None:
    """A run of a checked file, or None if `documents` has to look at it."""
    try:
        if form is Form.DOCUMENT and re.match(rb'\s*\{\s*"(VCMR|SVMR|VR|video2idx)"', content):
            content, videos = _task(content)
        spans, value = _read(content, file, form, RUN, resolver(videos))
    except _GIVE_UP:
        return None
    return Run(**spans, score=value)


_GIVE_UP = (_Doubt, msgspec.MsgspecError, ValueError, TypeError, LookupError, OverflowError, RecursionError)


def _task(content: bytes) -> tuple[bytes, Mapping[int, str]]:
    """The wanted task of TVR's own prediction files, and the names of its videos."""
    parts = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    task = pick(TASKS, parts)
    if task is None or any(content.count(b'"%s"' % key.encode()) > 1 for key in parts):
        raise _Doubt
    indices = json.loads(bytes(parts[TASK_VIDEOS]), object_pairs_hook=list)
    names = {index: name for name, index in indices if type(index) is int}
    if not len(names) == len(indices) == len(set(names.values())):
        raise _Doubt
    return bytes(parts[task]), names


def _read(content: bytes, file: str, form: Form, kind: Kind, name: NameVideo) -> tuple[dict[str, Any], Floats]:
    if b"\\" in content and _ESCAPED_LETTER.search(content):
        raise _Doubt
    layout = _layout(content, kind)
    moment = _moment_type(layout, kind)
    if layout.query is None:
        mapping = msgspec.json.decode(content, type=dict[str, list[moment]])  # type: ignore[valid-type]
        queries: list[QueryKey] = list(mapping)
        lists = list(mapping.values())
        entries: list[Any] = lists
    else:
        entry = _entry_type(layout, moment)
        if form is Form.LINES:
            entries = msgspec.json.Decoder(entry).decode_lines(content)
            _require_one_a_line(content, len(entries))
        else:
            entries = msgspec.json.decode(content, type=list[entry])  # type: ignore[valid-type]
        queries = [found.query for found in entries]
        lists = [found.items for found in entries] if layout.items else []
    moments: list[Any] = entries if layout.query and not layout.items else list(chain.from_iterable(lists))
    _require_each_once(content, layout, len(entries), len(moments))
    videos, start_s, end_s, value = _columns(moments, layout)
    rows: Sequence[int] = range(1, len(entries) + 1)
    if layout.query and not layout.items:
        spans, order = _flat(file, queries, videos, name)
        return {**spans, "start_s": start_s[order], "end_s": end_s[order]}, value[order]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    if len(set(map(str, queries))) != len(queries) or any(not str(query).strip() for query in queries):
        raise _Doubt
    if layout.video:
        videos = list(chain.from_iterable([e.video] * n for e, n in zip(entries, sizes.tolist(), strict=True)))
    return {**gather(file, queries, rows, sizes, videos, name), "start_s": start_s, "end_s": end_s}, value


def _layout(content: bytes, kind: Kind) -> _Layout:
    """Look at the first entry alone."""
    for size in _PEEKS:
        try:
            return _layout_of(content[:size].decode("utf-8", "ignore").strip(), kind)
        except json.JSONDecodeError:
            continue
    raise _Doubt


def _layout_of(text: str, kind: Kind) -> _Layout:
    decoder = json.JSONDecoder()
    if text[0] == "[":
        first, _ = decoder.raw_decode(text[1:].lstrip())
    elif kind is RUN and (opening := _MAPPING.match(text)) and not _ENTRY.match(text):
        items, _ = decoder.raw_decode(text, opening.end() - 1)
        return _Layout(None, None, _row_names(items, kind))
    else:
        first, _ = decoder.raw_decode(text)
    query = pick(QUERY, first)
    if query is None:
        raise _Doubt
    if kind.items in first:
        return _Layout(query, kind.items, _row_names(first[kind.items], kind))
    if kind.windows in first:
        return _Layout(query, kind.windows, None, video=pick(VIDEO, first), relevant=kind is TRUTH)
    if kind is TRUTH and is_tvr_release(first):
        return _Layout(query, None, Names("vid_name", ("ts",), "relevance"), relevant=True)
    return _Layout(query, None, names_in(first, kind))


def _row_names(items: list[object], kind: Kind) -> Names | None:
    """The keys of moments that are objects, None if they are lists."""
    if items and isinstance(items[0], dict):
        return names_in(items[0], kind)
    return kind.usual if kind is TRUTH else None


def _moment_type(layout: _Layout, kind: Kind) -> Any:
    if layout.names is None:
        if layout.video is None:
            return _Listed
        return _Times if kind is TRUTH else _Window
    fields: list[tuple[str, type]] = [("video", int | str)]  # type: ignore[list-item]
    fields += [("times", _Times)] if len(layout.names.times) == 1 else [("start", float), ("end", float)]
    fields += [] if layout.relevant else [("value", float)]
    keys = dict(zip([field for field, _ in fields], layout.names.all, strict=not layout.relevant))
    if layout.items is None and layout.query is not None:
        fields.append(("query", int | str))  # type: ignore[arg-type]
        keys["query"] = layout.query
    return msgspec.defstruct("Moment", fields, rename=keys, gc=False)


def _entry_type(layout: _Layout, moment: Any) -> Any:
    if layout.items is None:
        return moment
    fields: list[tuple[str, Any]] = [("query", int | str), ("items", list[moment])]
    keys = {"query": layout.query, "items": layout.items}
    if layout.video:
        fields.append(("video", int | str))
        keys["video"] = layout.video
    return msgspec.defstruct("Entry", fields, rename={field: key for field, key in keys.items() if key})


def _columns(moments: list[Any], layout: _Layout) -> tuple[list[QueryKey], Floats, Floats, Floats]:
    """Video, start, end, value; no videos where the entries name them."""
    n = len(moments)
    paired = layout.names is not None and len(layout.names.times) == 1
    times = [moment.times for moment in moments] if paired else moments
    start_s = np.fromiter([time.start for time in times], np.float64, n)
    end_s = np.fromiter([time.end for time in times], np.float64, n)
    value = np.ones(n) if layout.relevant else np.fromiter([moment.value for moment in moments], np.float64, n)
    return [] if layout.video else [moment.video for moment in moments], start_s, end_s, value


def _flat(
    file: str, queries: list[QueryKey], videos: list[QueryKey], name: NameVideo
) -> tuple[dict[str, Any], Indices]:
    """Moments that name their queries, brought together by query: the fields of `Spans`, and the order."""
    numbers: dict[str, int] = {}
    position = {query: numbers.setdefault(str(query), len(numbers)) for query in dict.fromkeys(queries)}
    if "" in map(str.strip, numbers):
        raise _Doubt
    number = np.fromiter(map(position.__getitem__, queries), np.int64, len(queries))
    order = np.argsort(number, kind="stable")
    sizes = np.bincount(number, minlength=len(numbers))
    first = order[np.cumsum(sizes) - sizes]
    if (np.diff(order) < 0).any():
        videos = [videos[place] for place in order]
    ids = [queries[place] for place in first]
    return gather(file, ids, (first + 1).tolist(), sizes, videos, name, order + 1), order


def _require_one_a_line(content: bytes, entries: int) -> None:
    """The parser does not mind two values in a line, or a value or nothing over many: rows would be wrong then."""
    joints = content.count(b"}\n{") or content.count(b"}\r\n{")
    if joints != entries - 1 or count_byte(content, b"\n") != entries - (not content.endswith(b"\n")):
        raise _Doubt


def _require_each_once(content: bytes, layout: _Layout, entries: int, moments: int) -> None:
    """The parser keeps the last of a key that stands twice, and says nothing: so the keys are counted.

    More than there should be means a key twice, or a text that looks like a key: in both cases a doubt. Fewer there
    cannot be, because every entry was found to have its keys.
    """
    names = layout.names.all[: -1 if layout.relevant else None] if layout.names else ()
    wanted = dict.fromkeys(names, moments)
    wanted |= {key: entries for key in (layout.query, layout.items, layout.video) if key}
    paired = layout.names is None or len(layout.names.times) == 1
    lists = (layout.query is not None) + (entries if layout.items or layout.query is None else 0) + moments * paired
    # A bracket for every list: as many as there should be, so no key of a list stands twice, even with an empty list.
    brackets = count_byte(content, b"[")
    if brackets == lists and layout.names and paired:
        del wanted[layout.names.times[0]]
    if brackets == lists and layout.items:
        del wanted[layout.items]
    if brackets != lists and layout.query is None:
        raise _Doubt
    for key, count in count_keys(content, list(wanted)).items():
        if count != wanted[key] and content.count(b'"%s"' % key.encode()) != wanted[key]:
            raise _Doubt
