"""Read truth and run files into columns almost as fast as the parser alone; return None for an unusual file.

The reader finds the entries, decodes each into a type, and builds each column in one pass. The types are taken from the
first entry. A file with anything that does not fit them (another shape, a wrong value, a repeated key) is left to
`documents`, which reports the problem.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from backend.core.timespan import Floats
from backend.core.typed_text import are_plain, is_visible, nfc
from backend.scoring.files.entries import Numbering, gather
from backend.scoring.files.layout import Doubt, Layout, entry_type, layout_of
from backend.scoring.files.text import Form
from backend.scoring.files.words import (
    DURATION,
    RUN,
    TASK_VIDEOS,
    TASKS,
    TRUTH,
    Kind,
    NameVideo,
    are_tasks,
    durations_in,
    name_only,
    pick,
    resolver,
)
from backend.scoring.matching.columns import Indices, QueryKey, Run, Truth


@dataclass(frozen=True, slots=True)
class ReadMoments:
    """N moments of Q queries, grouped by query.

    Attributes:
        queries: the query ids.
        query_rows: the row of each query in the file, from 1.
        sizes: the number of moments of each query, shape (Q,).
        rows: the row of each moment in the file, from 1; None if each moment has the row of its query.
        video: the video of each moment, as an index of `called`, shape (N,).
        called: the ids of videos in the file, in the order of their first use.
        start_s: starts in seconds, shape (N,).
        end_s: ends in seconds, shape (N,).
        value: relevances or scores, shape (N,).
    """

    queries: Sequence[QueryKey]
    query_rows: Sequence[int]
    sizes: Indices
    rows: Indices | None
    video: Indices
    called: Sequence[QueryKey]
    start_s: Floats
    end_s: Floats
    value: Floats

    def spans(self, file: str, name: NameVideo) -> dict[str, Any]:
        """Return the arguments that create a `Spans` (moments as columns) of these moments.

        `file` is the file's name, for messages. `name` returns a video's name for its id.
        """
        found = gather(file, self.queries, self.query_rows, self.sizes, self.video, self.called, name, self.rows)
        return {**found, "start_s": self.start_s, "end_s": self.end_s}


class Columns:
    """Collects the decoded entries of a file and joins them into columns.

    All entries have the same `layout`. `queries` has the query ids if they are keys of the file's object. It is empty
    if the entries name their queries.
    """

    def __init__(self, layout: Layout, queries: list[QueryKey]) -> None:
        self.moments = 0
        self._layout = layout
        self._queries = queries
        self._query_of, self._video_of = Numbering(), Numbering()
        self._pieces: list[dict[str, Any]] = []
        self.durations: dict[str, float] = {}

    def add(self, entries: list[Any]) -> None:
        """Append the next decoded entries of the file."""
        layout = self._layout
        piece: dict[str, Any] = {}
        if layout.flat:
            moments = entries
            piece["query"] = self._query_of.of([moment.query for moment in moments])
        else:
            lists = entries if layout.query is None else [entry.items for entry in entries]
            moments = list(chain.from_iterable(lists))
            piece["sizes"] = np.fromiter(map(len, lists), np.int64, len(lists))
            if layout.query:
                self._queries += [entry.query for entry in entries]
        n = len(moments)
        self.moments += n
        if n and hasattr(moments[0], DURATION):
            self.durations |= durations_in(
                {moment.video: moment.duration for moment in moments if moment.duration}.items()
            )
        if layout.video:
            videos = list(chain.from_iterable([entry.video] * len(entry.items) for entry in entries))
        else:
            videos = [moment.video for moment in moments]
        piece["video"] = self._video_of.of(videos)
        paired = layout.names is not None and len(layout.names.times) == 1
        times = [moment.times for moment in moments] if paired else moments
        piece["start_s"] = np.fromiter([time.start for time in times], np.float64, n)
        piece["end_s"] = np.fromiter([time.end for time in times], np.float64, n)
        alike = layout.relevant
        piece["value"] = np.ones(n) if alike else np.fromiter([moment.value for moment in moments], np.float64, n)
        self._pieces.append(piece)

    def as_listed(self) -> ReadMoments:
        """Return the moments in the order of the file, if each entry of the file is a query with its moments."""
        rows = range(1, len(self._queries) + 1)
        return ReadMoments(
            queries=self._queries, query_rows=rows, rows=None, called=list(self._video_of.known), **self._joined()
        )

    def by_query(self) -> ReadMoments:
        """Return the moments grouped by query, if each entry of the file is a single moment.

        Queries are in the order of their first moment.
        """
        columns = self._joined()
        # The number 5 and the text "5" are one query.
        numbers: dict[str, int] = {}
        known = list(self._query_of.known)
        number = np.array([numbers.setdefault(str(query), len(numbers)) for query in known], np.int64)
        query = columns.pop("query")
        order = np.argsort(number[query], kind="stable")
        sizes = np.bincount(number[query], minlength=len(numbers))
        first = order[np.cumsum(sizes) - sizes]
        columns = {name: column[order] for name, column in columns.items()}
        columns["video"], called = _in_order(columns["video"], list(self._video_of.known))
        queries = [known[place] for place in query[first]]
        rows = (first + 1).tolist()
        return ReadMoments(queries=queries, query_rows=rows, sizes=sizes, rows=order + 1, called=called, **columns)

    def _joined(self) -> dict[str, Any]:
        return {name: np.concatenate([piece.pop(name) for piece in self._pieces]) for name in list(self._pieces[0])}


def _in_order(numbers: Indices, known: Sequence[QueryKey]) -> tuple[Indices, list[QueryKey]]:
    """Renumber values by their first occurrence; return the new numbers and the values in their new order.

    `numbers` are indices of `known`, the values. Every value must occur.

    >>> _in_order(np.array([2, 0, 2, 1]), ["a", "b", "c"])
    (array([0, 1, 0, 2]), ['c', 'a', 'b'])
    """
    first = np.empty(len(known), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of several places the last one written stays
    order = np.argsort(first)
    renumbered = np.empty(len(known), np.int64)
    renumbered[order] = np.arange(len(known))
    return renumbered[numbers], [known[place] for place in order]


_ENTRIES = 2_000
"""How many entries are decoded together; so few fit the processor's cache."""
_BLOCK = 1 << 17
"""How many bytes are searched together; so few stay in the processor's cache."""
_QUOTE = ord('"')
_ESCAPED_LETTER = re.compile(rb"\\u00[2-7]")
"""An escaped letter, which could hide a key from the count."""


def truth(content: bytes, file: str, form: Form) -> Truth | None:
    """Return the truth in a JSON file, or None if this fast reader cannot read it and `documents` has to.

    `content` is UTF-8 text without a byte order mark. `form` says whether it is one document or one value on each line.
    """
    try:
        spans, value, durations = _read(content, file, form, TRUTH, name_only)
    except _GIVE_UP:
        return None
    return Truth(**spans, relevance=value, durations=durations)


def run(content: bytes, file: str, form: Form, videos: Mapping[int, str] | None, task: str | None = None) -> Run | None:
    """Return the run in a JSON file, or None if this fast reader cannot read it and `documents` has to.

    Args:
        content: UTF-8 text without a byte order mark.
        file: the file's name, for messages.
        form: whether the file is one document or one value on each line.
        videos: video names by index, for predictions that give their video by index.
        task: the task to read from TVR's own prediction files; None takes VCMR, or SVMR if there is no VCMR.
    """
    try:
        if form is Form.DOCUMENT and TASK_FILE.match(content):
            content, videos = _task(content, task)
        spans, value, _ = _read(content, file, form, RUN, resolver(videos))
    except _GIVE_UP:
        return None
    return Run(**spans, score=value)


_GIVE_UP = (Doubt, msgspec.MsgspecError, ValueError, TypeError, LookupError, OverflowError, RecursionError)


TASK_FILE = re.compile(rb'\s*\{\s*"(VCMR|SVMR|VR|video2idx)"')
"""Matches the beginning of TVR's own prediction files."""


def _task(content: bytes, requested: str | None) -> tuple[bytes, Mapping[int, str]]:
    """Return the JSON of one task in TVR's own prediction files, and the file's video names by index.

    `requested` is the task; None takes VCMR, or SVMR if there is no VCMR.
    """
    parts = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    task = pick((requested,) if requested else TASKS, parts)
    if task is None or not are_tasks(parts) or any(content.count(b'"%s"' % key.encode()) > 1 for key in parts):
        raise Doubt
    indices = json.loads(bytes(parts[TASK_VIDEOS]), object_pairs_hook=list)
    names = {index: nfc(name) for name, index in indices if type(index) is int}
    if not len(names) == len(indices) == len(set(names.values())):
        raise Doubt
    return bytes(parts[task]), names


def _read(
    content: bytes, file: str, form: Form, kind: Kind, name: NameVideo
) -> tuple[dict[str, Any], Floats, dict[str, float]]:
    if b"\\" in content and _ESCAPED_LETTER.search(content):
        raise Doubt
    layout = layout_of(content, kind)
    raws, queries = _entries(content, form, layout)
    read = msgspec.json.Decoder(entry_type(layout, kind)).decode
    columns = Columns(layout, queries)
    for begin in range(0, len(raws), _ENTRIES):
        columns.add([read(raw) for raw in raws[begin : begin + _ENTRIES]])
    _require_each_once(content, layout, len(raws), columns.moments)
    moments = columns.by_query() if layout.flat else columns.as_listed()
    ids = set(map(str, moments.queries))
    plain = are_plain(ids)
    if len(ids if plain else set(map(nfc, ids))) != len(moments.queries):
        raise Doubt
    if not all(map(str.strip if plain else is_visible, ids)):
        raise Doubt
    return moments.spans(file, name), moments.value, columns.durations


def _entries(content: bytes, form: Form, layout: Layout) -> tuple[list[msgspec.Raw], list[QueryKey]]:
    """Return the bytes of each entry, and the query ids if these are the keys of the entries.

    The entries are decoded in a second pass. To decode a large file at once would be slower, and would need many times
    its size in memory.
    """
    if layout.query is None:
        mapping = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        return list(mapping.values()), list(mapping)
    if form is Form.LINES:
        lines = msgspec.json.Decoder(msgspec.Raw).decode_lines(content)
        _require_one_a_line(content, len(lines))
        return lines, []
    return msgspec.json.decode(content, type=list[msgspec.Raw]), []


def _require_one_a_line(content: bytes, entries: int) -> None:
    """Raise `Doubt` (so that the careful reader takes over) unless every line has exactly one value.

    The parser does not check this. With several values on a line, the numbers of rows would be wrong.
    """
    joints = content.count(b"}\n{") or content.count(b"}\r\n{")
    if joints != entries - 1 or count_byte(content, b"\n") != entries - (not content.endswith(b"\n")):
        raise Doubt


def _require_each_once(content: bytes, layout: Layout, entries: int, moments: int) -> None:
    """Raise `Doubt` (so that the careful reader takes over) if an object may have a key twice.

    The parser would silently keep the last value. So keys are counted in the whole file, and compared with the number
    of objects. A higher count means a repeated key, or a text that looks like a key.
    """
    names = layout.names.all[: -1 if layout.relevant else None] if layout.names else ()
    expected = dict.fromkeys(names, moments)
    expected |= {key: entries for key in (layout.query, layout.items, layout.video) if key}
    paired = layout.names is None or len(layout.names.times) == 1
    lists = (layout.query is not None) + (entries if layout.items or layout.query is None else 0) + moments * paired
    # The expected number of brackets proves that no key of a list stands twice, not even with an empty list.
    brackets = count_byte(content, b"[")
    if brackets == lists and layout.names and paired:
        del expected[layout.names.times[0]]
    if brackets == lists and layout.items:
        del expected[layout.items]
    if brackets != lists and layout.query is None:
        raise Doubt
    for key, count in count_keys(content, list(expected)).items():
        if count != expected[key] and content.count(b'"%s"' % key.encode()) != expected[key]:
            raise Doubt


def count_byte(content: bytes, byte: bytes) -> int:
    """Return how often a byte occurs; twice as fast as `bytes.count` where it occurs often."""
    text = np.frombuffer(content, np.uint8)
    return sum(
        int(np.count_nonzero(text[begin : begin + _BLOCK] == ord(byte))) for begin in range(0, len(text), _BLOCK)
    )


def count_keys(content: bytes, keys: Sequence[str]) -> dict[str, int]:
    """Return how often each key occurs in quotes; the count may be slightly too high, never too low.

    Only the two quotes and the last letter of a key are compared, so another text of the same length may be counted.
    This is several times as fast as `bytes.count` for each key.

    >>> count_keys(b'[{"query_id": 5, "relevance": 4}, {"query_id": 6}]', ["query_id", "relevance"])
    {'query_id': 2, 'relevance': 1}
    """
    text = np.frombuffer(content, np.uint8)
    counts = dict.fromkeys(keys, 0)
    beyond = max((len(key.encode()) for key in keys), default=0) + 1
    for begin in range(0, len(text), _BLOCK):
        block = text[begin : begin + _BLOCK + beyond]
        quotes = block == _QUOTE
        for key in keys:
            letters = key.encode()
            size = len(letters) + 1
            end = min(_BLOCK, len(block) - size)
            if end > 0:
                hit = block[size - 1 : size - 1 + end] == letters[-1]
                hit &= quotes[:end]
                hit &= quotes[size : size + end]
                counts[key] += int(np.count_nonzero(hit))
    return counts
