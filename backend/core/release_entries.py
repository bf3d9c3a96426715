"""The JSON files of anybody's release, from bytes to entries, with everything that is not of its shape.

Entries are decoded one after another, each with its moments, because a training set has millions of them; only an entry
in which something is wrong is looked at field by field.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.reading import UNDECODABLE
from backend.core.text_files import control_fault, told_control
from backend.core.typed_text import escaped_control, nfc

QueryId = int | str
_SHOWN = 40
"""Characters of a wrong value that a message repeats."""


class Moment(msgspec.Struct, gc=False, kw_only=True):
    """A moment of a query; a training set's has its similarity as weight."""

    video_name: str
    timestamp: tuple[float, float]
    duration: float | None = None
    caption: str | None = None
    published_caption: str | None = None
    similarity: float | None = None


class GradedMoment(Moment, gc=False, kw_only=True):
    """A moment of the truth."""

    relevance: int
    pair_id: int | str | None = None
    adjudicated: bool = False


AnyMoment = TypeVar("AnyMoment", bound=Moment)

_WANTED = {
    "query_id": said("a whole number or a text"),
    "query": said("a text"),
    "relevant_moment": said("a list of moments"),
    "video_name": said("a text"),
    "timestamp": said("[start, end] in seconds"),
    "duration": said("a number of seconds"),
    "caption": said("a text"),
    "published_caption": said("a text"),
    "similarity": said("a number"),
    "relevance": said("a whole number"),
    "pair_id": said("a whole number or a text"),
    "adjudicated": said("true or false"),
}


class _Head(msgspec.Struct):
    query_id: QueryId
    query: str
    relevant_moment: list[msgspec.Raw]


@dataclass(slots=True)
class Entry(Generic[AnyMoment]):
    """A query of a file, the `row`-th from 1; `whole` is False where moments of it could not be read."""

    row: int
    query_id: QueryId
    query: str
    moments: list[tuple[int, AnyMoment]]
    """Each with its place in the entry, from 1."""
    whole: bool = True


@dataclass(slots=True)
class Queries(Generic[AnyMoment]):
    """A file of queries; `problems` are of what could not be read."""

    file: str
    entries: list[Entry[AnyMoment]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def training_file(top: int) -> str:
    """Return the name of the training set with this many moments a query: `train_top01.json`."""
    return f"train_top{top:02d}.json"


def read_queries(data: bytes, file: str, kind: type[AnyMoment]) -> Queries[AnyMoment]:
    """The queries of `val.json`, `test.json` or a training set; names of videos and ids of queries are composed (NFC).

    >>> text = b'[{"query_id": 3, "query": "q", "relevant_moment": [{"video_name": 5}]}]'
    >>> found = read_queries(text, "t.json", Moment)
    >>> for problem in found.problems:
    ...     print(problem)
    t.json, row 1: query 3, moment 1: `video_name` is 5, not a text
    t.json, row 1: query 3, moment 1: has no `timestamp`
    """
    found: Queries[AnyMoment] = Queries(file)
    entries, fault = _decoded(data, list[msgspec.Raw])
    if fault:
        found.problems.append(Problem(file, None, said("is not a list of queries in JSON: {fault}", fault=fault)))
        return found
    whole = msgspec.json.Decoder(kind)
    controls = escaped_control(data)
    plain = data.isascii() and b"\\u" not in data
    for row, raw in enumerate(entries, start=1):
        if controls and (control := escaped_control(bytes(raw))):
            found.problems.append(Problem(file, row, told_control(control)))
            continue
        head, fault = _decoded(raw, _Head)
        if fault:
            found.problems += [Problem(file, row, message) for message in _faults(raw, _Head, said("query"))]
            continue
        entry: Entry[AnyMoment] = Entry(row, head.query_id, head.query, [])
        for number, item in enumerate(head.relevant_moment, start=1):
            try:
                entry.moments.append((number, whole.decode(item)))
            except UNDECODABLE:
                entry.whole = False
                told = _faults(item, kind, said("moment"))
                found.problems += [
                    Problem(file, row, said("{name}: {message}", name=name_of(entry, number), message=message))
                    for message in told
                ]
        if not plain:
            entry.query_id = nfc(entry.query_id) if isinstance(entry.query_id, str) else entry.query_id
            for _, moment in entry.moments:
                moment.video_name = nfc(moment.video_name)
        found.entries.append(entry)
    return found


def read_videos(data: bytes, file: str) -> tuple[dict[str, float], list[Problem]]:
    """The durations of `video_corpus.json`, `name -> [seconds, index]`, and what is wrong with it."""
    values, fault = _decoded(data, dict[str, msgspec.Raw])
    if fault:
        message = said("is not an object `name -> [duration, index]` in JSON: {fault}", fault=fault)
        return {}, [Problem(file, None, message)]
    durations: dict[str, float] = {}
    first: dict[int, str] = {}
    problems = []
    for row, (written, raw) in enumerate(values.items(), start=1):
        name = nfc(written)
        if told := control_fault(name):
            problems.append(Problem(file, row, told))
        if name in durations:
            problems.append(Problem(file, row, said("video {name!r} was already given in an earlier row", name=name)))
        value, fault = _decoded(raw, tuple[float, int])
        if fault:
            shape = said("video {name!r} is {raw}, not [duration in seconds, index]", name=name, raw=_short(raw))
            problems.append(Problem(file, row, shape))
            continue
        duration_s, index = value
        durations[name] = duration_s
        if duration_s <= 0:
            length = said(
                "video {name!r} has a duration of {duration_s} s, which is not above 0",
                name=name,
                duration_s=duration_s,
            )
            problems.append(Problem(file, row, length))
        if (other := first.setdefault(index, name)) != name:
            twice = said(
                "video {name!r} has the same index {index} as video {other!r}", name=name, index=index, other=other
            )
            problems.append(Problem(file, row, twice))
    return durations, problems


def name_of(entry: Entry[Any], number: int, moment: Moment | None = None) -> str:
    """How a message calls a moment: by its pair where it says it, else by its place in the entry."""
    pair = moment.pair_id if isinstance(moment, GradedMoment) else None
    if pair is None:
        return said("query {query}, moment {number}", query=entry.query_id, number=number)
    return said("query {query}, pair {pair}", query=entry.query_id, pair=pair)


def _faults(raw: msgspec.Raw, kind: type[msgspec.Struct], what: str) -> Iterator[str]:
    """What is wrong with an entry or a moment, field by field."""
    values, fault = _decoded(raw, Any)
    if fault or not isinstance(values, dict):
        yield (
            said("the {what} cannot be read: {fault}", what=what, fault=fault)
            if fault
            else said("the {what} is {raw}, not an object", what=what, raw=_short(raw))
        )
        return
    where = said("query {query}: ", query=values.get("query_id", "?")) if what == "query" else ""
    for one in msgspec.structs.fields(kind):
        if one.name not in values:
            if one.required:
                yield said("{where}has no `{field}`", where=where, field=one.name)
            continue
        shape = list[Any] if one.name == "relevant_moment" else one.type
        try:
            msgspec.convert(values[one.name], shape)
        except msgspec.ValidationError:
            yield said(
                "{where}`{field}` is {value}, not {wanted}",
                where=where,
                field=one.name,
                value=_short(msgspec.json.encode(values[one.name])),
                wanted=_WANTED[one.name],
            )


def _decoded(data: bytes | msgspec.Raw, shape: Any) -> tuple[Any, str]:
    """What the bytes say, and why they do not say it."""
    try:
        return msgspec.json.decode(data, type=shape), ""
    except UNDECODABLE as error:
        return None, str(error)


def _short(raw: bytes | msgspec.Raw) -> str:
    text = bytes(raw).decode(errors="replace")
    return text[:_SHOWN] + "..." * (len(text) > _SHOWN)
