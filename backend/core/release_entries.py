"""Read the JSON files of a release, whoever made it: decode the entries, and report every problem.

Entries are decoded one after another, because a training set has millions of moments. Only a bad entry is checked field
by field.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.reading import UNDECODABLE
from backend.core.text_files import control_fault, control_message
from backend.core.typed_text import escaped_control, nfc

QueryId = int | str
_SHOWN = 40
"""The most characters of a wrong value that a message quotes."""


class Moment(msgspec.Struct, gc=False, kw_only=True):
    """A moment that a release lists for a query; a training set weights its moments by `similarity`."""

    video_name: str
    timestamp: tuple[float, float]
    duration: float | None = None
    caption: str | None = None
    published_caption: str | None = None
    similarity: float | None = None


class GradedMoment(Moment, gc=False, kw_only=True):
    """A moment of `val.json` or `test.json`, with its relevance to the query.

    `adjudicated` says whether a leader of the project decided this relevance.
    """

    relevance: int
    pair_id: int | str | None = None
    adjudicated: bool = False


AnyMoment = TypeVar("AnyMoment", bound=Moment)

_EXPECTED = {
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
    """A query of a release's file, with its moments; each moment comes with its number in the query, from 1.

    `row` is the number of the query in the file, from 1. `whole` is False if some of its moments could not be read.
    """

    row: int
    query_id: QueryId
    query: str
    moments: list[tuple[int, AnyMoment]]
    """Each moment with its number in the entry, from 1."""
    whole: bool = True


@dataclass(slots=True)
class Queries(Generic[AnyMoment]):
    """The queries of a file; `problems` are about the parts that could not be read."""

    file: str
    entries: list[Entry[AnyMoment]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def training_file(top: int) -> str:
    """Return the file name of the training set with at most `top` moments a query, such as `train_top01.json`."""
    return f"train_top{top:02d}.json"


def read_queries(data: bytes, file: str, kind: type[AnyMoment]) -> Queries[AnyMoment]:
    """Return the queries of `val.json`, `test.json` or a training set.

    Names of videos and ids of queries are brought into Unicode's composed form (NFC).

    >>> text = b'[{"query_id": 3, "query": "q", "relevant_moment": [{"video_name": 5}]}]'
    >>> found = read_queries(text, "t.json", Moment)
    >>> for problem in found.problems:
    ...     print(problem)
    t.json, row 1: query 3, moment 1: `video_name` is 5, not a text
    t.json, row 1: query 3, moment 1: has no `timestamp`
    """
    queries: Queries[AnyMoment] = Queries(file)
    entries, fault = _decode(data, list[msgspec.Raw])
    if fault:
        queries.problems.append(Problem(file, None, said("is not a list of queries in JSON: {fault}", fault=fault)))
        return queries
    whole = msgspec.json.Decoder(kind)
    controls = escaped_control(data)
    plain = data.isascii() and b"\\u" not in data
    for row, raw in enumerate(entries, start=1):
        if controls and (control := escaped_control(bytes(raw))):
            queries.problems.append(Problem(file, row, control_message(control)))
            continue
        head, fault = _decode(raw, _Head)
        if fault:
            queries.problems += [Problem(file, row, message) for message in _faults(raw, _Head, said("query"))]
            continue
        entry: Entry[AnyMoment] = Entry(row, head.query_id, head.query, [])
        for number, item in enumerate(head.relevant_moment, start=1):
            try:
                entry.moments.append((number, whole.decode(item)))
            except UNDECODABLE:
                entry.whole = False
                messages = _faults(item, kind, said("moment"))
                queries.problems += [
                    Problem(file, row, said("{name}: {message}", name=name_of(entry, number), message=message))
                    for message in messages
                ]
        if not plain:
            entry.query_id = nfc(entry.query_id) if isinstance(entry.query_id, str) else entry.query_id
            for _, moment in entry.moments:
                moment.video_name = nfc(moment.video_name)
        queries.entries.append(entry)
    return queries


def read_videos(data: bytes, file: str) -> tuple[dict[str, float], list[Problem]]:
    """Return the durations in seconds from `video_corpus.json` (`name -> [seconds, index]`), and all problems."""
    values, fault = _decode(data, dict[str, msgspec.Raw])
    if fault:
        message = said("is not an object `name -> [duration, index]` in JSON: {fault}", fault=fault)
        return {}, [Problem(file, None, message)]
    durations: dict[str, float] = {}
    first: dict[int, str] = {}
    problems = []
    for row, (written, raw) in enumerate(values.items(), start=1):
        name = nfc(written)
        if fault_of_name := control_fault(name):
            problems.append(Problem(file, row, fault_of_name))
        if name in durations:
            problems.append(Problem(file, row, said("video {name!r} was already given in an earlier row", name=name)))
        value, fault = _decode(raw, tuple[float, int])
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
    """Return how messages name a moment: by its pair id if it has one, else by its `number` in the entry."""
    pair = moment.pair_id if isinstance(moment, GradedMoment) else None
    if pair is None:
        return said("query {query}, moment {number}", query=entry.query_id, number=number)
    return said("query {query}, pair {pair}", query=entry.query_id, pair=pair)


def _faults(raw: msgspec.Raw, kind: type[msgspec.Struct], noun: str) -> Iterator[str]:
    """Yield a message for each field of `raw` that does not fit `kind`; `noun`, such as "query", says what `raw` is."""
    values, fault = _decode(raw, Any)
    if fault or not isinstance(values, dict):
        yield (
            said("the {what} cannot be read: {fault}", what=noun, fault=fault)
            if fault
            else said("the {what} is {raw}, not an object", what=noun, raw=_short(raw))
        )
        return
    prefix = said("query {query}: ", query=values.get("query_id", "?")) if noun == "query" else ""
    for expected in msgspec.structs.fields(kind):
        if expected.name not in values:
            if expected.required:
                yield said("{where}has no `{field}`", where=prefix, field=expected.name)
            continue
        shape = list[Any] if expected.name == "relevant_moment" else expected.type
        try:
            msgspec.convert(values[expected.name], shape)
        except msgspec.ValidationError:
            yield said(
                "{where}`{field}` is {value}, not {wanted}",
                where=prefix,
                field=expected.name,
                value=_short(msgspec.json.encode(values[expected.name])),
                wanted=_EXPECTED[expected.name],
            )


def _decode(data: bytes | msgspec.Raw, shape: Any) -> tuple[Any, str]:
    """Decode JSON as a value of the type `shape`; return (value, "") if it can be decoded, else (None, reason)."""
    try:
        return msgspec.json.decode(data, type=shape), ""
    except UNDECODABLE as error:
        return None, str(error)


def _short(raw: bytes | msgspec.Raw) -> str:
    text = bytes(raw).decode(errors="replace")
    return text[:_SHOWN] + "..." * (len(text) > _SHOWN)
