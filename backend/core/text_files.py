"""Read text files and tables that people hand in, naming every problem, and write tables as CSV."""

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
"""The largest whole number that every JSON reader keeps exactly."""

DELIMITERS = (",", ";", "\t")
"""Separators between cells. In countries with decimal commas spreadsheets write semicolons."""

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
_POINTER = b"version https://git-lfs.github.com/spec/"
_BINARY: Mapping[str, re.Pattern[bytes]] = {
    said("a pickle, which may run any program when it is opened"): re.compile(
        rb"\x80[\x02-\x05]|\([dl]p\d+\r?\n|[}\]]q\x00"
    ),
    said("a NumPy archive (npz)"): re.compile(rb"PK\x03\x04.{26}[^/\x00]{1,200}\.npy", re.DOTALL),
    said("a checkpoint of PyTorch"): re.compile(rb"PK\x03\x04.{26}[^\x00]{1,200}/data\.pkl", re.DOTALL),
    said("an Excel file"): re.compile(rb"PK\x03\x04.{26}(?:xl/|\[Content_Types\])", re.DOTALL),
    said("a ZIP archive"): re.compile(rb"PK\x03\x04"),
    said("a NumPy array (npy)"): re.compile(rb"\x93NUMPY"),
    said("a MATLAB file"): re.compile(rb"MATLAB 5\.0 MAT-file"),
    said("an HDF5 file"): re.compile(rb"\x89HDF"),
    said("a Parquet file"): re.compile(rb"PAR1"),
    said("an SQLite database"): re.compile(rb"SQLite format 3\x00"),
    said("a tar archive"): re.compile(rb".{257}ustar", re.DOTALL),
    said("an archive"): re.compile(rb"BZh\d|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!"),
    said("a PDF"): re.compile(rb"%PDF-"),
    said("a picture"): re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP", re.DOTALL),
    said("a video or sound file"): re.compile(rb".{4}ftyp|RIFF....(?:AVI |WAVE)|\x1a\x45\xdf\xa3|ID3", re.DOTALL),
    said("a binary file"): re.compile(rb".{0,1000}?\x00\x00", re.DOTALL),
}
"""Kinds of files that hold no text, and how they begin."""
_UNMARKED = re.compile(rb"[^\0]\0[^\0]\0|\0[^\0]\0[^\0]")

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_GROUPED = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})"),
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})"),
}
_AMBIGUOUS = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}") for sign in ",."}
"""A number such as `1,234`: its sign may be a decimal sign or a thousands separator."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The requested columns of a CSV file, all of the same length.

    `rows` holds the line at which each record starts, as an editor shows it: from 1, with the header. `problems` are
    about the records that could not be read, which are missing in the columns.
    """

    columns: dict[str, Sequence[str]]
    rows: Sequence[int]
    problems: list[Problem]

    def values(
        self, name: str, read: Callable[[str], _Value | None], *, needed: bool = False
    ) -> tuple[list[_Value | None], list[tuple[int, str]]]:
        """Convert a column to values, reading each distinct text once.

        Args:
            name: the column.
            read: returns the value of a cell, or None if the cell is wrong.
            needed: whether blank cells are wrong, too.

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
    """The delimiter of a table, and the unchanged cells of its header."""

    delimiter: str
    cells: Sequence[str]

    @property
    def spaced(self) -> bool:
        """Whether a space follows each delimiter. Readers then leave it out of the cells."""
        return len(self.cells) > 1 and all(cell.startswith(" ") for cell in self.cells[1:])

    def places(self, name: str) -> list[int]:
        """Return the positions of the columns with exactly this name.

        If there is none, capitals count as small letters, and spaces as underscores.

        >>> head = TableHead(",", ["Query ID", "start", "Start"])
        >>> head.places("query_id"), head.places("start"), head.places("end")
        ([0], [1], [])
        """
        exact = [place for place, cell in enumerate(self.cells) if cell == name]
        return exact or [place for place, cell in enumerate(self.cells) if _folded(cell) == _folded(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.places(name))


def table_head(text: str, wanted: Collection[str]) -> TableHead:
    r"""Return the header of a table, choosing the delimiter that gives most of the wanted columns.

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
    r"""Return a text's bytes as UTF-8, converting UTF-16 and UTF-32 with a byte order mark; other bytes stay.

    Raises:
        InputError: the text is damaged UTF-16 or UTF-32, or UTF-16 without a byte order mark. Or the file is no text: a
            pointer of Git LFS, an archive, a pickle, a picture or the like.

    >>> utf8("café".encode("utf-16"), "a.csv").decode()
    'café'
    """
    if data.startswith(_POINTER):
        raise InputError.single(file, said("is a pointer of Git LFS, not the file: run `git lfs pull`"))
    codec = next((codec for mark, codec in _WIDE.items() if data.startswith(mark)), None)
    if codec:
        try:
            return data.decode(codec).encode()
        except UnicodeError:
            message = said("is damaged {codec} text; save it as UTF-8", codec=codec.upper())
            raise InputError.single(file, message) from None
    if kind := next((kind for kind, beginning in _BINARY.items() if beginning.match(data)), None):
        raise InputError.single(file, said("is {kind}: give a text file, such as JSON or CSV", kind=kind))
    if _UNMARKED.match(data):
        raise InputError.single(file, said("looks like UTF-16 without a byte order mark; save it as UTF-8"))
    return data


def decode_text(data: bytes, file: str) -> str:
    r"""Decode a file in UTF-8, with or without a byte order mark, or in UTF-16 or UTF-32 with one.

    Raises:
        InputError: The file is not UTF-8 (names the row and byte), is blank, or has rows with control characters.

    >>> decode_text(b"caf\xe9", "a.csv")
    Traceback (most recent call last):
    ...
    backend.core.errors.InputError: a.csv, row 1: the byte at offset 3 (0xe9) is not UTF-8; save the file as UTF-8
    """
    data = utf8(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec may count from after a byte order mark; the message counts from the first byte of the file.
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
    """Return a message if a text has a control character; None if it has none."""
    char = unwanted_control(text)
    return char and control_message(char)


def control_message(char: str) -> str:
    """Return the message that a control character has to be removed."""
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

    Commas, semicolons or tabs separate the cells, whichever fits the header. Spaces and capitals in names of columns do
    not count, and columns may have any order. Blank rows and further columns are ignored. Cells keep their white space.

    Args:
        data: the bytes of the file.
        file: the file's name, for messages.
        required: columns that the file has to have.
        optional: columns that it may have; a missing one is missing from `columns` too.
        numbers: columns in which decimal commas become decimal points.
        may_be_empty: whether a header without rows is allowed.

    Raises:
        InputError: The file is not UTF-8 or empty, or its header lacks a required column or has one twice. Records of a
            wrong width, or with an ambiguous number, are returned as problems in the table, so that the caller can add
            further problems and report all at once.

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
    # Strict: otherwise the rest of the file after an unclosed quote would become one cell.
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
        # The reader cannot find the next record after this, so the rows below are not read.
        problems.append(Problem(file, line, said("not readable as CSV from here on: {error}", error=error)))
    if not records and not problems and may_be_empty:
        return CsvTable(dict.fromkeys(wanted, ()), [], [])
    if not records:
        raise InputError(problems or [Problem(file, None, said("the file has a header but no rows"))])
    cells = list(zip(*records, strict=False))  # cells beyond the header's width are blank
    columns: dict[str, Sequence[str]] = {name: cells[place] for name, place in wanted.items()}
    if '"' in text or (head.delimiter != "," and "," in text):
        columns, rows, doubtful = _with_points(columns, rows, [name for name in numbers if name in columns], file)
        problems = sorted([*problems, *doubtful], key=lambda problem: problem.row or 0)
    return CsvTable(columns, rows, problems)


def _with_points(
    columns: dict[str, Sequence[str]], rows: list[int], numbers: Sequence[str], file: str
) -> tuple[dict[str, Sequence[str]], list[int], list[Problem]]:
    """Return (columns, rows, problems) with decimal points in all numbers of the columns that `numbers` names.

    Rows with an ambiguous number are left out, and each gives a problem.
    """
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
        Each unambiguous text with its number in plain notation, and each ambiguous text with advice. A comma before
        three digits is a decimal sign only if another number of the table shows that commas are decimal signs.

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
        if _AMBIGUOUS[","].fullmatch(cell) or _AMBIGUOUS["."].fullmatch(cell):
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
    """Return the position of each column; raise an error for a missing or repeated one."""
    problems = []
    places_of = {name: head.places(name) for name in [*required, *optional]}
    shown = head.delimiter.join(head.cells)
    for name, places in places_of.items():
        if name in required and not places:
            problems.append(said("no column {name!r}; the header is {header!r}", name=name, header=shown))
        if len(places) > 1:
            problems.append(
                said("column {name!r} occurs {count} times in the header: keep one", name=name, count=len(places))
            )
    if problems:
        raise InputError([Problem(file, 1, message) for message in problems])
    return {name: places[0] for name, places in places_of.items() if places}


def _width_message(width: int, expected: int) -> str:
    return said_n(
        "{n} column where the header has {expected}",
        "{n} columns where the header has {expected}",
        width,
        expected=expected,
    )


def whole(text: str) -> int | None:
    """Return a text as a whole number from 0 to `LARGEST`; None for any other text, such as one with a leading zero.

    >>> whole("7"), whole("07"), whole("7.0"), whole("-7")
    (7, None, None, None)
    """
    if not (text.isascii() and text.isdigit()) or (text[0] == "0" and text != "0") or len(text) > len(str(LARGEST)):
        return None
    value = int(text)
    return value if value <= LARGEST else None


def number(text: str) -> float | None:
    """Return a text as a finite number; None if the text is not such a number."""
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def instant(text: str) -> float | None:
    """Return a time in ISO 8601 as seconds since 1970; None for any other text. A time without a zone is in UTC.

    >>> instant("2026-09-21T14:13:20Z"), instant("2026-09-21T16:13:20+02:00"), instant("yesterday")
    (1790000000.0, 1790000000.0, None)
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def stripped(text: str) -> str | None:
    """Return a text without surrounding white space; None if nothing in it is visible."""
    return text.strip() if is_visible(text) else None


def not_blank(text: str) -> str | None:
    """Return a text as it is; None if nothing in it is visible."""
    return text if is_visible(text) else None


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]], *, for_people: bool = False) -> str:
    r"""Return a table as CSV with Unix line ends; None becomes an empty cell.

    Args:
        columns: the header.
        rows: the cells of each line.
        for_people: whether people open it in a spreadsheet, where no text may be a formula (see `no_formula`). Tables
            for programs keep every text as it is.

    >>> csv_text(["a", "b"], [[1, None], ["x, y", 2]])
    'a,b\n1,\n"x, y",2\n'
    >>> csv_text(["a", "b"], [["=1+1", -1.5]], for_people=True)
    "a,b\n'=1+1,-1.5\n"
    """
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\r\n")
    if for_people:
        columns, rows = [no_formula(name) for name in columns], ([no_formula(cell) for cell in row] for row in rows)
    writer.writerow(columns)
    writer.writerows(rows)
    return "".join(lines.written)


class _Lines:
    r"""Collect the lines that a CSV writer writes, and replace their `\r\n` ends by `\n`.

    The writer itself must end lines with `\r\n`: then it puts cells that contain `\r` or `\n` in quotes.
    """

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> None:
        self.written.append(line[:-2] + "\n")


def no_formula(cell: _Value) -> _Value | str:
    """Return a cell that a spreadsheet does not run as a formula: such a text gets a quote in front.

    Texts that are numbers, and values that are no texts, stay. Source: OWASP's page on CSV injection.

    >>> no_formula("@SUM(A1)"), no_formula("-0.5"), no_formula("a=b"), no_formula(-3)
    ("'@SUM(A1)", '-0.5', 'a=b', -3)
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA) and number(cell) is None:
        return f"'{cell}"
    return cell


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return a text that is safe on a terminal: control characters and bidi marks become `\uXXXX`.

    Line ends and tabs stay. A JSON text still has the same meaning.

    >>> print(visible("a\x1b]0;title\x07b\u202e"))
    a\u001b]0;title\u0007b\u202e
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
