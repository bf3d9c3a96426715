"""Detect the form of truth and run files, and decode JSON entry by entry, so that every fault has a row.

Some files have repeated keys, NaN, Infinity or numbers that are too large. An object with repeated keys decodes to
`Doubled`, and such a number to `NotANumber`. The code that uses a value refuses these two. They do no harm in fields
that are not used.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar, cast

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.text_files import table_head, utf8
from backend.scoring.files.words import QUERY, TASKS, Doubled, NotANumber, pick, short
from backend.scoring.matching.columns import Run, Truth

_MARK = b"\xef\xbb\xbf"
_INK = re.compile(rb"[^ \t\r\n]")
_BLANKS = re.compile(r"[ \t\r\n]*+")


_Item = TypeVar("_Item")


class Some(list[_Item]):
    """A list of the items that could be read; its attribute `problems` tells why other items could not."""

    def __init__(self, items: Iterable[_Item] = (), problems: Iterable[Problem] = ()) -> None:
        super().__init__(items)
        self.problems = list(problems)


class PartlyRead(InputError):
    """A file was refused because parts of it have a wrong structure.

    `rest` is the truth or run that the other parts give. Its values may still be wrong.
    """

    def __init__(self, problems: Sequence[Problem], rest: Truth | Run) -> None:
        super().__init__(sorted(problems, key=lambda problem: problem.row or 0))
        self.rest = rest

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how `pickle` rebuilds the error, so that `rest` is kept."""
        return type(self), (self.problems, self.rest)


def problems_with(items: Sequence[object]) -> list[Problem]:
    """Return the problems of a list of type `Some`: those of items that could not be read. Other lists have none."""
    return items.problems if isinstance(items, Some) else []


class Form(StrEnum):
    """The form of a file: one JSON document, a JSON value on each line, or CSV."""

    DOCUMENT = "document"
    LINES = "lines"
    CSV = "csv"


def checked(content: bytes, file: str) -> bytes:
    """Return the content in UTF-8, without a byte order mark.

    Raises:
        InputError: it is empty, or not text in UTF-8 (with the line) or UTF-16.
    """
    content = utf8(content, file)
    if content.startswith(_MARK):  # `removeprefix` would copy in any case
        content = content[len(_MARK) :]
    if not _INK.search(content):
        raise InputError.single(file, said("is empty"))
    if not content.isascii():
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError.single(file, said("is not UTF-8 text from here on; save it as UTF-8"), line) from None
    return content


def form_of(content: bytes, file: str) -> Form:
    r"""Return how a file is laid out, from its first two lines.

    >>> form_of(b'{"5": [["v", 0, 9, 1.5]]}', "run.json"), form_of(b'{"qid": 5}\n{"qid": 6}', "run.json")
    (<Form.DOCUMENT: 'document'>, <Form.LINES: 'lines'>)
    >>> form_of(b"query_id,video,start,end,score\n5,v,0,9,1.5\n", "run")
    <Form.CSV: 'csv'>
    """
    match = _INK.search(content)
    start = match.start() if match else 0
    end = content.find(b"\n", start)
    if end < 0:
        end = len(content)
    opening, last = content[start : start + 1], content[max(start, end - 80) : end].rstrip()[-1:]
    if opening == b"{":
        match = _INK.search(content, end)
        following = match[0] if match else b""
        if following == b"{" and last not in b":[,":
            return Form.LINES
        if last == b"}" and following and following not in b",]}":
            return Form.LINES
        return Form.DOCUMENT
    if opening == b"[":
        return Form.DOCUMENT
    if file.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
        return Form.CSV
    head = table_head(content[start : start + 10_000].decode("utf-8", "ignore"), QUERY)
    return Form.CSV if any(word in head for word in QUERY) else Form.DOCUMENT


def decoded(content: bytes, file: str) -> object:
    """Decode a JSON file: one document, or a value on each line, as its first lines show.

    Raises:
        InputError: the file is one document and not valid JSON. For a file of lines nothing is raised: the attribute
            `problems` of the result lists the faulty lines.
    """
    return lines(content, file) if form_of(content, file) is Form.LINES else document(content, file)


def document(content: bytes, file: str) -> object:
    """Decode a JSON document.

    Raises:
        InputError: it is not JSON, or a key of the outermost object is repeated. The row is the entry of the outermost
            list or object, from 1.
    """
    reader = _Reader(content.decode("utf-8"), file)
    decoded, end = reader.entries(reader.blank(0))
    if reader.blank(end) < len(reader.text):
        raise reader.fault(said("has text after its end"), reader.blank(end), None)
    return decoded


def lines(content: bytes, file: str) -> Some[object]:
    """Decode a file with a JSON value on each line; empty and faulty lines become None.

    The attribute `problems` of the result says what is wrong with the faulty lines.
    """
    documents: Some[object] = Some()
    for row, line in enumerate(content.decode("utf-8").split("\n"), start=1):
        reader = _Reader(line, file)
        begin = reader.blank(0)
        if begin == len(line):
            documents.append(None)
            continue
        try:
            value, end = reader.value(begin, row)
            if reader.blank(end) < len(line):
                raise reader.fault(said("has text after its end"), reader.blank(end), row)
            documents.append(value)
        except InputError as error:
            documents.append(None)
            documents.problems += error.problems
    return documents


class _Reader:
    """Decodes one JSON text."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file

    def fault(self, message: str, position: int, row: int | None) -> InputError:
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        # The row of a line of a file is that line already.
        place = (
            said("column {column}", column=column)
            if "\n" not in self.text
            else said("line {line}, column {column}", line=line, column=column)
        )
        return InputError.single(self.file, said("is not JSON: {message} ({place})", message=message, place=place), row)

    def blank(self, position: int) -> int:
        """Return the position in the text of the first character from `position` on that is not white space."""
        return cast("re.Match[str]", _BLANKS.match(self.text, position)).end()

    def value(self, position: int, row: int | None) -> tuple[object, int]:
        """Return the value that begins at `position`, and the position where it ends.

        `row` is the entry that the value belongs to, for messages.
        """
        try:
            return cast("tuple[object, int]", _DECODER.raw_decode(self.text, position))
        except json.JSONDecodeError as error:
            raise self.fault(error.msg, error.pos, row) from None
        except RecursionError:
            raise self.fault(said("nested too deep"), position, row) from None

    def entries(self, position: int, *, outermost: bool = True) -> tuple[object, int]:
        """Decode the list or object that begins at `position`, entry by entry, so that a fault has a row.

        Return it with the position where it ends.
        """
        if self.text[position : position + 1] not in ("[", "{"):
            return self.value(position, None)
        close = "]" if self.text[position] == "[" else "}"
        members: dict[str, object] = {}
        items: list[object] = []
        rows: dict[str, int] = {}
        problems: list[Problem] = []
        twice: set[str] = set()
        position = self.blank(position + 1)
        row = 1
        while self.text[position : position + 1] != close or row > 1:
            if close == "}":
                key, position = self._key(position, row)
                if (first := rows.setdefault(key, row)) != row:
                    twice.add(key)
                    problems.append(
                        Problem(
                            self.file, row, said("{key} was already given in row {first}", key=short(key), first=first)
                        )
                    )
                # In TVR's own files the rows are the entries of a task's list, not those of the file.
                nested = self.text[position : position + 1] == "[" and key in TASKS
                members[key], position = (
                    self.entries(position, outermost=False) if nested else self.value(position, row)
                )
            else:
                try:
                    value, position = self.value(position, row)
                except InputError as error:
                    if not (outermost and items):
                        raise
                    # The next entry cannot be found after a fault; keep the entries before it.
                    return Some(items, error.problems), len(self.text)
                items.append(value)
            position = self.blank(position)
            if self.text[position : position + 1] == close:
                break
            if self.text[position : position + 1] != ",":
                raise self.fault(said("a comma or {close} is missing", close=close), position, row)
            position = self.blank(position + 1)
            row += 1
        word = pick(QUERY, members)
        if problems and word and not isinstance(members[word], (list, dict)):
            # The file is a single entry and its keys are fields: their reader reports repeated ones that matter.
            return _doubled(members, frozenset(twice)), position + 1
        if problems:
            raise InputError(problems)
        return (members if close == "}" else items), position + 1

    def _key(self, position: int, row: int) -> tuple[str, int]:
        if self.text[position : position + 1] != '"':
            raise self.fault(said("a key in double quotes is missing"), position, row)
        key, position = self.value(position, row)
        position = self.blank(position)
        if self.text[position : position + 1] != ":":
            raise self.fault(said("a colon is missing"), position, row)
        return str(key), self.blank(position + 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    decoded = dict(pairs)
    if len(decoded) == len(pairs):
        return decoded
    counts = Counter(key for key, _ in pairs)
    return _doubled(decoded, frozenset(key for key, count in counts.items() if count > 1))


def _doubled(decoded: dict[str, Any], twice: frozenset[str]) -> Doubled:
    doubled = Doubled(decoded)
    doubled.twice = twice
    return doubled


def _whole(text: str) -> int | NotANumber:
    try:
        return int(text)
    except ValueError:  # more digits than Python turns into a number
        return NotANumber()


def _decimal(text: str) -> float | NotANumber:
    value = float(text)
    return value if math.isfinite(value) else NotANumber()


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_decimal, parse_constant=lambda _: NotANumber()
)
