"""Text files: what people hand in, from bytes to columns with every problem named; and tables as CSV."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from backend.ground.errors import InputError, Problem
from backend.ground.saying import said, said_n
from backend.ground.typed_text import is_visible, unwanted_control

HAS_NUL = said("a text has the NUL character, which cannot be stored: remove it")
LARGEST = 2**53
"""Every reader of JSON keeps whole numbers up to here."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The wanted columns of a CSV file, all of one length.

    `rows` holds the line of the file at which each record starts, counting from 1 with the header: what an
    editor shows. `problems` are the records that could not be read and are therefore not in the columns.
    """

    columns: dict[str, Sequence[str]]
    rows: Sequence[int]
    problems: list[Problem]

    def values(
        self, name: str, read: Callable[[str], _Value | None], *, needed: bool = False
    ) -> tuple[list[_Value | None], list[tuple[int, str]]]:
        """A column as values, each distinct text read once.

        Args:
            name: the column.
            read: gives the value of a cell, None if it is no such value.
            needed: whether a blank cell is wrong, too.

        Returns:
            The values (None where a cell is blank or wrong, or the table lacks the column), and the row and text of
            each wrong cell.
        """
        cells = self.columns.get(name)
        if cells is None:
            return [None] * len(self.rows), []
        values = {text: read(text) for text in set(cells)}
        bad = {text for text, value in values.items() if value is None and (needed or text.strip())}
        wrong = [(row, text) for row, text in zip(self.rows, cells, strict=True) if text in bad] if bad else []
        return [values[text] for text in cells], wrong


def decode_text(data: bytes, file: str) -> str:
    r"""The text of a UTF-8 file, with or without a byte order mark.

    Raises:
        InputError: Not UTF-8 (names the row and byte), nothing but white space, or rows with control characters.

    >>> decode_text(b"caf\xe9", "a.csv")
    Traceback (most recent call last):
    ...
    backend.ground.errors.InputError: a.csv, row 1: the byte at offset 3 (0xe9) is not UTF-8; save the file as UTF-8
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # `utf-8-sig` counts from after the mark; the plain codec counts from the first byte of the file.
        offset = error.start + (len(data) - len(error.object))
        row = data.count(b"\n", 0, offset) + 1
        message = said(
            "the byte at offset {offset} (0x{byte:02x}) is not UTF-8; save the file as UTF-8",
            offset=offset,
            byte=data[offset],
        )
        raise InputError.single(file, message, row) from None
    if not text.strip():
        raise InputError.single(file, said("the file is empty"))
    if unwanted_control(data):
        faults = ((row, control_fault(line)) for row, line in enumerate(text.split("\n"), start=1))
        raise InputError([Problem(file, row, fault) for row, fault in faults if fault])
    return text


def control_fault(text: str) -> str | None:
    """What is wrong with a text that has a control character; None if it has none."""
    char = unwanted_control(text)
    return char and told_control(char)


def told_control(char: str) -> str:
    """Say that a control character must go."""
    if char == "\0":
        return HAS_NUL
    return said("a text has the control character U+{code:04X}, which no text needs: remove it", code=ord(char))


def read_csv(
    data: bytes,
    file: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    may_be_empty: bool = False,
    delimiter: str = ",",
) -> CsvTable:
    r"""Read a CSV file with a header; blank lines and columns that nobody asked for are ignored.

    Cells are kept as they are, white space included. Columns may come in any order; an optional column that the
    file lacks is missing from `columns` too. A header without rows is a mistake, unless the file `may_be_empty`.

    Raises:
        InputError: Not UTF-8, empty, or a header without a required column or with one twice. Records of a wrong
            width are not raised but returned, so that the caller can report them with its own findings.

    >>> table = read_csv(b"worker,pair_id,note\nann,p1,\n\nbob\n", "raw.csv", ["pair_id", "worker"])
    >>> table.columns, table.rows
    ({'pair_id': ('p1',), 'worker': ('ann',)}, [2])
    >>> [str(problem) for problem in table.problems]
    ['raw.csv, row 4: 1 column where the header has 3']
    """
    # Strict, or an unclosed quote would swallow the rest of the file as one cell.
    reader = csv.reader(io.StringIO(decode_text(data, file), newline=""), strict=True, delimiter=delimiter)
    records: list[list[str]] = []
    rows: list[int] = []
    problems: list[Problem] = []
    header: list[str] = []
    line = 1
    try:
        for header in reader:
            line = reader.line_num + 1
            if header:
                break
        wanted = _find_columns(header, file, required, optional)
        for record in reader:
            if len(record) == len(header):
                records.append(record)
                rows.append(line)
            elif record:
                problems.append(Problem(file, line, _width_message(len(record), len(header))))
            line = reader.line_num + 1
    except csv.Error as error:
        # The reader cannot find the next record after this; the rows below it stay unread.
        problems.append(Problem(file, line, said("not readable as CSV from here on: {error}", error=error)))
    if not records and not problems and may_be_empty:
        return CsvTable(dict.fromkeys(wanted, ()), [], [])
    if not records and not problems:
        raise InputError.single(file, said("the file has a header but no rows"))
    if not records:
        raise InputError(problems)
    columns = list(zip(*records, strict=True))
    return CsvTable({name: columns[place] for name, place in wanted.items()}, rows, problems)


def _find_columns(header: Sequence[str], file: str, required: Sequence[str], optional: Sequence[str]) -> dict[str, int]:
    """Where each wanted column stands."""
    problems = []
    for name in [*required, *optional]:
        if name in required and name not in header:
            problems.append(
                Problem(
                    file, 1, said("no column {name!r}; the header is {header!r}", name=name, header=",".join(header))
                )
            )
        if header.count(name) > 1:
            problems.append(
                Problem(
                    file,
                    1,
                    said("column {name!r} stands {count} times in the header", name=name, count=header.count(name)),
                )
            )
    if problems:
        raise InputError(problems)
    return {name: header.index(name) for name in [*required, *optional] if name in header}


def _width_message(found: int, expected: int) -> str:
    return said_n(
        "{n} column where the header has {expected}",
        "{n} columns where the header has {expected}",
        found,
        expected=expected,
    )


def whole(text: str) -> int | None:
    """A whole number from 0 on, written the one way in which it is an identity.

    >>> whole("7"), whole("07"), whole("7.0"), whole("-7")
    (7, None, None, None)
    """
    if not (text.isascii() and text.isdigit()) or (text[0] == "0" and text != "0") or len(text) > len(str(LARGEST)):
        return None
    value = int(text)
    return value if value <= LARGEST else None


def number(text: str) -> float | None:
    """A finite number."""
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def instant(text: str) -> float | None:
    """A time in ISO 8601 as seconds since 1970; one without a zone is UTC.

    >>> instant("2026-09-21T14:13:20Z"), instant("2026-09-21T16:13:20+02:00"), instant("yesterday")
    (1790000000.0, 1790000000.0, None)
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def stripped(text: str) -> str | None:
    """A text without the white space around it, if anything of it is visible."""
    return text.strip() if is_visible(text) else None


def not_blank(text: str) -> str | None:
    """A text as it is, unless nothing of it is visible."""
    return text if is_visible(text) else None


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]], *, for_people: bool = False) -> str:
    r"""A table as CSV, lines ended as on Unix; None is an empty cell.

    Args:
        columns: the header.
        rows: the cells of each line.
        for_people: it will be opened in a spreadsheet, so no text may be a formula there (see `no_formula`). Tables
            that programs read hold every text as it is.

    >>> csv_text(["a", "b"], [[1, None], ["x, y", 2]])
    'a,b\n1,\n"x, y",2\n'
    >>> csv_text(["a", "b"], [["=1+1", -1.5]], for_people=True)
    "a,b\n'=1+1,-1.5\n"
    """
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\r\n")
    if for_people:
        columns, rows = [no_formula(name) for name in columns], ([no_formula(one) for one in row] for row in rows)
    writer.writerow(columns)
    writer.writerows(rows)
    return "".join(lines.written)


class _Lines:
    """Takes lines that end as the writer has to be told so that it quotes both signs of a line's end in a cell."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> None:
        self.written.append(line[:-2] + "\n")


def no_formula(cell: _Value) -> _Value | str:
    """A cell that a spreadsheet shows and does not run: a quote goes before a text that would begin a formula.

    Texts that are numbers stay; so does what is no text. After OWASP's page on CSV injection.

    >>> no_formula("@SUM(A1)"), no_formula("-0.5"), no_formula("a=b"), no_formula(-3)
    ("'@SUM(A1)", '-0.5', 'a=b', -3)
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA) and number(cell) is None:
        return f"'{cell}"
    return cell


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Text for a terminal: control characters and bidi marks are written as `\uXXXX`; ends of lines and tabs stay.

    JSON stays the same JSON.

    >>> print(visible("a\x1b]0;title\x07b\u202e"))
    a\u001b]0;title\u0007b\u202e
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
