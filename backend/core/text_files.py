"""Text files: what people hand in, from bytes to columns with every problem named; and tables as CSV."""

import codecs
import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from backend.core.errors import InputError, Problem
from backend.core.messages import said, said_n
from backend.core.typed_text import is_visible, unwanted_control

HAS_NUL = said("the text contains a NUL character, which cannot be stored: remove it")
LARGEST = 2**53
"""Every reader of JSON keeps whole numbers up to here."""

DELIMITERS = (",", ";", "\t")
"""Separators between cells. Spreadsheets write semicolons in countries with decimal commas."""

_HEAD = 1 << 16
"""The header must be within this many characters of a table's start."""
SEP_LINE = re.compile(r"\Asep=.(?=[\r\n])")
"""A first line that tells Excel the delimiter."""
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UNMARKED = re.compile(rb"[^\0]\0[^\0]\0|\0[^\0]\0[^\0]")

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_GROUPED = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})"),
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})"),
}
_EITHER = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}") for sign in ",."}
"""A number such as `1,234`: its sign may be a decimal sign or a thousands separator."""

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


@dataclass(frozen=True, slots=True)
class TableHead:
    """The delimiter of a table, and the cells of its header as they stand there."""

    delimiter: str
    cells: Sequence[str]

    @property
    def spaced(self) -> bool:
        """Whether each delimiter is followed by a space. Readers then leave that space out of the cell."""
        return len(self.cells) > 1 and all(cell.startswith(" ") for cell in self.cells[1:])

    def places(self, name: str) -> list[int]:
        """Where a column of this name stands; spaces and capitals count only if several names match.

        >>> head = TableHead(",", ["Query ID", "start", "Start"])
        >>> head.places("query_id"), head.places("start"), head.places("end")
        ([0], [1], [])
        """
        exact = [place for place, cell in enumerate(self.cells) if cell == name]
        return exact or [place for place, cell in enumerate(self.cells) if _folded(cell) == _folded(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.places(name))


def table_head(text: str, wanted: Collection[str]) -> TableHead:
    r"""Find the header of a table: its delimiter is the one with which most of the wanted columns are there.

    >>> table_head("sep=;\nVideo; Start\nv,1;2\n", ["video", "start"])
    TableHead(delimiter=';', cells=['Video', ' Start'])
    """
    text = SEP_LINE.sub("", text[:_HEAD], count=1)
    heads = []
    for delimiter in DELIMITERS:
        records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            heads.append(TableHead(delimiter, next((cells for cells in records if not _is_blank(cells)), [])))
        except csv.Error:
            continue
    if not heads:
        return TableHead(DELIMITERS[0], [])
    return max(heads, key=lambda head: (sum(name in head for name in wanted), len(head.cells)))


def _folded(name: str) -> str:
    return "_".join(name.casefold().split())


def _is_blank(cells: Sequence[str]) -> bool:
    return not "".join(cells).strip()


def utf8(data: bytes, file: str) -> bytes:
    r"""Return the bytes of a text in UTF-8: UTF-16 and UTF-32 with a byte order mark are converted, others unchanged.

    Raises:
        InputError: UTF-16 that is damaged, or has no byte order mark.

    >>> utf8("café".encode("utf-16"), "a.csv").decode()
    'café'
    """
    codec = next((codec for mark, codec in _WIDE.items() if data.startswith(mark)), None)
    if codec:
        try:
            return data.decode(codec).encode()
        except UnicodeError:
            message = said("is damaged {codec} text; save it as UTF-8", codec=codec.upper())
            raise InputError.single(file, message) from None
    if _UNMARKED.match(data):
        raise InputError.single(file, said("looks like UTF-16 without a byte order mark; save it as UTF-8"))
    return data


def decode_text(data: bytes, file: str) -> str:
    r"""The text of a file in UTF-8, with or without a byte order mark, or in UTF-16 with one.

    Raises:
        InputError: Not UTF-8 (names the row and byte), nothing but white space, or rows with control characters.

    >>> decode_text(b"caf\xe9", "a.csv")
    Traceback (most recent call last):
    ...
    backend.core.errors.InputError: a.csv, row 1: the byte at offset 3 (0xe9) is not UTF-8; save the file as UTF-8
    """
    data = utf8(data, file)
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
    return said("the text contains the control character U+{code:04X}: remove it", code=ord(char))


def read_csv(
    data: bytes,
    file: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    numbers: Collection[str] = (),
    may_be_empty: bool = False,
) -> CsvTable:
    r"""Read a table with a header, as programs and spreadsheets write them.

    Commas, semicolons or tabs separate the cells, whichever fits the header. Spaces and capitals in names of columns
    do not count. Blank rows and columns that nobody asked for are ignored, in any order of columns. An optional
    column that the file lacks is missing from `columns` too. A header without rows is a mistake, unless the file
    `may_be_empty`. Cells are kept as they are, white space included, except `numbers`: these have a decimal point
    afterwards where the file has decimal commas.

    Raises:
        InputError: Not UTF-8, empty, or a header without a required column or with one twice. Records of a wrong
            width, and with a number that may mean two, are not raised but returned, so that the caller can report
            them with its own findings.

    >>> table = read_csv(b"worker,pair_id,note\nann,p1,\n\nbob\n", "raw.csv", ["pair_id", "worker"])
    >>> table.columns, table.rows
    ({'pair_id': ('p1',), 'worker': ('ann',)}, [2])
    >>> [str(problem) for problem in table.problems]
    ['raw.csv, row 4: 1 column where the header has 3']
    >>> table = read_csv(b"Video; Start\nv;4,5\nw;1,25\n;\n", "m.csv", ["video", "start"], numbers=["start"])
    >>> table.columns["start"]
    ('4.5', '1.25')
    """
    text = decode_text(data, file)
    head = table_head(text, [*required, *optional])
    text = SEP_LINE.sub("", text, count=1)
    # Strict, or an unclosed quote would swallow the rest of the file as one cell.
    reader = csv.reader(
        io.StringIO(text, newline=""), strict=True, delimiter=head.delimiter, skipinitialspace=head.spaced
    )
    records: list[list[str]] = []
    rows: list[int] = []
    problems: list[Problem] = []
    header: list[str] = []
    line = 1
    try:
        for header in reader:
            line = reader.line_num + 1
            if not _is_blank(header):
                break
        wanted = _find_columns(TableHead(head.delimiter, header), file, required, optional)
        width = len(header)
        for record in reader:
            if not (record and record[0].strip()) and _is_blank(record):
                pass
            elif len(record) == width or (len(record) > width and _is_blank(record[width:])):
                records.append(record)
                rows.append(line)
            else:
                problems.append(Problem(file, line, _width_message(len(record), width)))
            line = reader.line_num + 1
    except csv.Error as error:
        # The reader cannot find the next record after this; the rows below it stay unread.
        problems.append(Problem(file, line, said("not readable as CSV from here on: {error}", error=error)))
    if not records and not problems and may_be_empty:
        return CsvTable(dict.fromkeys(wanted, ()), [], [])
    if not records:
        raise InputError(problems or [Problem(file, None, said("the file has a header but no rows"))])
    cells = list(zip(*records, strict=False))  # what goes on after the header's width is blank
    columns: dict[str, Sequence[str]] = {name: cells[place] for name, place in wanted.items()}
    if '"' in text or (head.delimiter != "," and "," in text):
        columns, rows, doubtful = _with_points(columns, rows, [name for name in numbers if name in columns], file)
        problems = sorted([*problems, *doubtful], key=lambda problem: problem.row or 0)
    return CsvTable(columns, rows, problems)


def _with_points(
    columns: dict[str, Sequence[str]], rows: list[int], numbers: Sequence[str], file: str
) -> tuple[dict[str, Sequence[str]], list[int], list[Problem]]:
    """Return the columns with decimal points in their numbers, without the rows whose numbers are ambiguous."""
    texts = {text for name in numbers for text in columns[name]}
    read, doubtful = _plain_numbers(texts)
    if not read and not doubtful:
        return columns, rows, []
    problems = [
        Problem(file, row, said("{name} is {given!r}, {why}", name=name, given=text, why=doubtful[text]))
        for name in numbers
        for row, text in zip(rows, columns[name], strict=True)
        if text in doubtful
    ]
    columns = {
        name: tuple(read.get(text, text) for text in cells) if name in numbers else cells
        for name, cells in columns.items()
    }
    if problems:
        wrong = {problem.row for problem in problems}
        good = [place for place, row in enumerate(rows) if row not in wrong]
        columns = {name: tuple(cells[place] for place in good) for name, cells in columns.items()}
        rows = [rows[place] for place in good]
    return columns, rows, problems


def _plain_numbers(texts: Collection[str]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Convert numbers with decimal commas or thousands separators to plain notation.

    Returns:
        Each text of one meaning with this number in plain notation, and each of two meanings with what to do. A comma
        before three digits is the decimal sign only where another number of the table shows that commas are.

    >>> _plain_numbers({"4,5", "1,234", "1.234,5", "7"})[0] == {"4,5": "4.5", "1,234": "1.234", "1.234,5": "1234.5"}
    True
    >>> _plain_numbers({"4.5", "1,234"})[1]
    {'1,234': 'which may be 1.234 or 1234: write one of these'}
    """
    if not any("," in text for text in texts):
        return {}, {}
    read: dict[str, str] = {}
    either: dict[str, str] = {}
    comma = point = False
    for text in texts:
        cell = text.strip()
        if _EITHER[","].fullmatch(cell) or _EITHER["."].fullmatch(cell):
            either[text] = cell
        elif _GROUPED[","].fullmatch(cell):
            read[text], point = cell.replace(",", ""), True
        elif _GROUPED["."].fullmatch(cell):
            read[text], comma = cell.replace(".", "").replace(",", "."), True
        elif _DECIMAL_COMMA.fullmatch(cell):
            read[text], comma = cell.replace(",", "."), True
        elif "." in cell and number(cell) is not None:
            point = True
    doubtful: dict[str, str] = {}
    for text, cell in either.items():
        if "," in cell and comma and not point:
            read[text] = cell.replace(",", ".")
        elif "," in cell or comma:
            plain = cell.replace(",", ".")
            doubtful[text] = said(
                "which may be {decimal} or {whole}: write one of these", decimal=plain, whole=plain.replace(".", "")
            )
    return read, doubtful


def _find_columns(head: TableHead, file: str, required: Sequence[str], optional: Sequence[str]) -> dict[str, int]:
    """Where each wanted column stands."""
    problems = []
    found = {name: head.places(name) for name in [*required, *optional]}
    shown = head.delimiter.join(head.cells)
    for name, places in found.items():
        if name in required and not places:
            problems.append(said("no column {name!r}; the header is {header!r}", name=name, header=shown))
        if len(places) > 1:
            problems.append(
                said("column {name!r} occurs {count} times in the header: keep one", name=name, count=len(places))
            )
    if problems:
        raise InputError([Problem(file, 1, message) for message in problems])
    return {name: places[0] for name, places in found.items() if places}


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
