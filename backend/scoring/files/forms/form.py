"""Define a form of published files: how it is recognised, and how it is read.

Reads and writes nothing.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import msgspec

from backend.core.captioned import CaptionedMoment, Parsing, query_id
from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import UNDECODABLE, decode_entries, json_lines, json_list, raw_entries
from backend.scoring.files.entries import Group, run_of
from backend.scoring.files.words import RUN, resolver
from backend.scoring.matching.columns import QueryKey, Run, Truth, row_problem

_Entry = TypeVar("_Entry")

_PEEK = 1 << 16
"""How many bytes are read to recognise a file's form."""
_KEY = r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_NESTINGS = {
    "{{": re.compile(_KEY + r"(?=\{)"),
    "{[": re.compile(_KEY + r"(?=\[)"),
    "[{": re.compile(r"\[\s*(?=\{)"),
    "[[": re.compile(r"\[\s*(?=\[)"),
    "{": re.compile(r"(?=\{)"),
}


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a file, by which its form is recognised.

    Attributes:
        text: its first 64 KiB, without leading white space.
        nesting: how the JSON begins: `{{` an object of objects, `{[` an object of lists, `[{` a list of objects, `[[`
            a list of lists, `{` any other object or one object on each line. It is empty for anything else.
        fields: the field names of the first object inside, or of the object itself if `nesting` is `{`. If the object
            is longer than `text`, they are all field names in the part that `text` has, nested ones included.
    """

    text: str
    nesting: str
    fields: frozenset[str]

    def has(self, *names: str) -> bool:
        """Return whether all these field names occur in this beginning of the file, at any depth."""
        return all(f'"{name}"' in self.text for name in names)

    @property
    def line(self) -> str:
        """The first line of the file."""
        return self.text.split("\n", 1)[0]


def opening_of(content: bytes) -> Opening:
    """Return the beginning of a file.

    >>> opening = opening_of(b'{"v_1": {"duration": 9, "sentences": ["A dog runs."]}}')
    >>> opening.nesting, sorted(opening.fields)
    ('{{', ['duration', 'sentences'])
    """
    text = content[:_PEEK].decode("utf-8", "ignore").lstrip()
    for nesting, pattern in _NESTINGS.items():
        if match := pattern.match(text):
            return Opening(text, nesting, _field_names(text[match.end() :]))
    return Opening(text, "", frozenset())


def _field_names(text: str) -> frozenset[str]:
    if not text.startswith("{"):
        return frozenset()
    try:
        decoded, _ = json.JSONDecoder().raw_decode(text)
        return frozenset(decoded)
    except UNDECODABLE:
        return frozenset(re.findall(r'"(\w+)"\s*:', text))


class AnnotatedQuery(NamedTuple):
    """A query of an annotation file.

    Attributes:
        query: its id.
        row: the row of the query in the file, from 1.
        text: its words.
        moments: its relevant moments as the file has them, impossible ones included. It may have none.
    """

    query: int | str
    row: int
    text: str
    moments: Sequence[CaptionedMoment]


def queries_of(parsing: Parsing, file: str) -> list[AnnotatedQuery]:
    """Return a query for each sentence of a parsed file.

    The id of a query is `VIDEO#N`, where N counts the sentences of the video from 0.

    Raises:
        InputError: lists the problems of the parsed file.
    """
    moments, problems, _ = parsing
    refuse(problems)
    number: Counter[str] = Counter()
    queries = []
    for moment in moments:
        place = number[moment.video] if moment.sentence is None else moment.sentence - 1
        number[moment.video] += 1
        queries.append(AnnotatedQuery(query_id(moment.video, place), moment.row, moment.caption, [moment]))
    return queries


def refuse(problems: Sequence[Problem]) -> None:
    """Raise an `InputError` with these problems, in the order of their rows; do nothing if there are none."""
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))


Times = list[tuple[float, float] | float]
"""Times in a file: `[[start, end], ...]`, or `[start, end]` for a single moment."""


def spans_of(times: Times) -> list[tuple[float, float]]:
    """Return the (start, end) of each moment, from a list of pairs or from the two times of a single moment.

    >>> spans_of([(1.5, 2.0), (7.0, 9.0)]), spans_of([3.0, 4.0])
    ([(1.5, 2.0), (7.0, 9.0)], [(3.0, 4.0)])
    """
    single = [time for time in times if isinstance(time, float)]
    spans = [span for span in times if isinstance(span, tuple)]
    return [(single[0], single[1])] if len(single) == 2 and not spans else spans


def require_times(queries: Iterable[AnnotatedQuery], file: str) -> None:
    """Raise an `InputError` if no query has a moment, as in test splits whose answers are not public."""
    if not any(query.moments for query in queries):
        raise InputError.single(file, said("has no times of its queries: it is a test split without answers"))


def entries_in(kind: type[_Entry], content: bytes, file: str) -> list[tuple[int, _Entry]]:
    """Decode the items of a JSON list, or the lines of a file, as `kind`; return each with its row from 1.

    Raises:
        InputError: lists every item that cannot be decoded as `kind`.
    """
    entries, problems = (json_list if content.lstrip()[:1] == b"[" else json_lines)(kind, content, file)
    refuse(problems)
    return entries


def entries_under(field: str, kind: type[_Entry], content: bytes, file: str) -> list[tuple[int, _Entry]]:
    """Decode the items of the list that a JSON object has in `field` as `kind`; return each with its row from 1.

    Raises:
        InputError: the file is not an object with this field. Or lists every item that cannot be decoded as `kind`.
    """
    return entries_in(kind, bytes(_field(field, content, file)), file)


def entries_by_key(kind: type[_Entry], content: bytes, file: str) -> list[tuple[int, str, _Entry]]:
    """Decode the values of a JSON object as `kind`; return each as (row from 1, key, value).

    Raises:
        InputError: lists every value that cannot be decoded as `kind`, and every repeated key.
    """
    raws = raw_entries(content, file)
    entries, problems = decode_entries(kind, enumerate(raws.values(), start=1), file)
    refuse(problems)
    keys = list(raws)
    return [(row, keys[row - 1], entry) for row, entry in entries]


def entries_by_key_under(field: str, kind: type[_Entry], content: bytes, file: str) -> list[tuple[int, str, _Entry]]:
    """Decode the values of the object in the field `field` of a JSON file; return each as (row from 1, key, value).

    Raises:
        InputError: the file is not an object with this field. Or lists every value that cannot be decoded as `kind`,
            and every repeated key.
    """
    return entries_by_key(kind, bytes(_field(field, content, file)), file)


def _field(field: str, content: bytes, file: str) -> msgspec.Raw:
    try:
        fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except UNDECODABLE as error:
        raise InputError.single(file, said("not valid JSON: {error}", error=error)) from None
    if field not in fields:
        raise InputError.single(file, said("has no field `{field}`", field=field))
    return fields[field]


def run_of_times(queries: Iterable[tuple[QueryKey, int, str, Sequence[Sequence[float]]]], file: str) -> Run:
    """Return a run from queries: id, row in the file, video, and predictions that begin with `start, end`, best first.

    A prediction of exactly three numbers is `[start, end, score]`. Any other prediction gets a score that keeps it at
    its rank.

    Raises:
        InputError: lists every prediction that has no two times, and every query that is given twice.
    """
    problems = []
    groups = []
    for query, row, video, predictions in queries:
        items: list[object] = []
        for number, times in enumerate(predictions, start=1):
            if len(times) < 2:
                problems.append(row_problem(file, row, query, number, said("is not [start, end]")))
            else:
                items.append([video, *(times if len(times) == 3 else (times[0], times[1], float(-number)))])
        groups.append(Group(query, row, items))
    refuse(problems)
    return run_of(groups, file, RUN.usual, resolver(None))


@dataclass(frozen=True, slots=True)
class TruthForm:
    """A form of published annotation files.

    Attributes:
        name: a short name, such as `didemo`.
        title: the name that people know it by, such as `DiDeMo`.
        recognise: returns whether a file with this opening has this form. At most one form may recognise a file.
        read: returns the queries in the bytes of a file. The second argument is the file's name, for messages. It
            raises `InputError` that lists everything in the file with a wrong structure.
    """

    name: str
    title: str
    recognise: Callable[[Opening], bool]
    read: Callable[[bytes, str], Sequence[AnnotatedQuery]]


@dataclass(frozen=True, slots=True)
class RunForm:
    """A form of published prediction files.

    Attributes:
        name: a short name.
        title: the name that people know it by.
        recognise: returns whether a file with this opening has this form. At most one form may recognise a file.
        read: returns the run in the bytes of a file, given the file's name, and the truth for forms that need it. It
            raises `InputError` that lists everything in the file with a wrong structure.
    """

    name: str
    title: str
    recognise: Callable[[Opening], bool]
    read: Callable[[bytes, str, Truth | None], Run]
