"""Annotation files: the bytes of one file to captioned moments, or a refusal naming every problem.

Reads no disk and writes nothing; `importing` stores what comes out. A format is one parser here and one
case in `parse`. Each line is checked by itself and then against the others; a file with any problem is refused
as a whole, whatever types were asked for.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from backend.ground.errors import InputError, Problem
from backend.ground.text_files import decode_text, read_csv

FORMATS = ("tvr", "csv", "jsonl")

END_SLACK_S = 1.0
"""How far a moment may end after its video and still be kept: published durations are often rounded."""

_ROWS_SHOWN = 5
_CSV_REQUIRED = ("video", "start", "end", "caption")
_CSV_OPTIONAL = ("duration", "id")


@dataclass(frozen=True, slots=True)
class CaptionedMoment:
    """One line of an annotation file: a half-open span `[start_s, end_s)` of a video and a sentence about it.

    `row` is the line in its file, counting from 1, kept so that later findings can name it.
    """

    video: str
    start_s: float
    end_s: float
    caption: str
    row: int
    duration_s: float | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an annotation file holds, in file order.

    `skipped` counts the lines left out because of their type; `merged` those that repeat the video, span and
    caption of an earlier line. `notes` says these and other oddities in words for the person who imports.
    """

    moments: list[CaptionedMoment]
    notes: list[str] = field(default_factory=list)
    skipped: Mapping[str, int] = field(default_factory=dict)
    merged: int = 0


class _TvrLine(msgspec.Struct):
    vid_name: str
    duration: float
    ts: tuple[float, float]
    desc: str
    type: str | None = None
    desc_id: int | str | None = None

    def moment(self, row: int) -> CaptionedMoment:
        return CaptionedMoment(self.vid_name, *self.ts, self.desc, row, self.duration, _external_id(self.desc_id))


class _JsonLine(msgspec.Struct):
    video: str
    start: float
    end: float
    caption: str
    duration: float | None = None
    id: int | str | None = None

    def moment(self, row: int) -> CaptionedMoment:
        return CaptionedMoment(
            self.video, self.start, self.end, self.caption, row, self.duration, _external_id(self.id)
        )


_Line = TypeVar("_Line", bound=msgspec.Struct)


def parse(format_name: str, data: bytes, file: str, types: frozenset[str] | None = None) -> Parsed:
    """Parse an annotation file of a named format, one of `FORMATS`.

    Args:
        format_name: As given to `reelrank import --format`.
        data: The file's bytes.
        file: Its name, for messages.
        types: See `parse_tvr`; lines of the other formats have no type and are all kept.

    Raises:
        InputError: The format is unknown, or the file has problems.
    """
    match format_name:
        case "tvr":
            return parse_tvr(data, file, types=types)
        case "csv":
            return parse_csv(data, file)
        case "jsonl":
            return parse_jsonl(data, file)
    message = f"unknown format {format_name!r}; known formats: {', '.join(FORMATS)}"
    raise InputError.single(file, message)


def parse_tvr(data: bytes, file: str, *, types: frozenset[str] | None = None) -> Parsed:
    """Parse TVR's annotation format, one JSON object a line.

    A line holds vid_name, duration (s), ts ([start, end] in s), desc, and perhaps type and desc_id.

    Args:
        data: The file's bytes, UTF-8; blank lines are ignored.
        file: Its name, for messages.
        types: Keep the lines of these types only ("v" video, "t" subtitle, "vt" both); None keeps all. A line
            without a type is always kept.

    Raises:
        InputError: With every problem of the file, or if no line is left.

    >>> line = b'{"vid_name": "a", "duration": 9.5, "ts": [0, 2.5], "desc": "A dog runs.", "type": "v"}'
    >>> parse_tvr(line, "val.jsonl").moments  # doctest: +NORMALIZE_WHITESPACE
    [CaptionedMoment(video='a', start_s=0.0, end_s=2.5, caption='A dog runs.', row=1, duration_s=9.5,
                     external_id=None)]
    """
    lines, problems = _json_lines(msgspec.json.Decoder(_TvrLine), data, file)
    _check([line.moment(row) for row, line in lines], problems, file)
    kept = [(row, line) for row, line in lines if types is None or line.type is None or line.type in types]
    skipped = Counter(str(line.type) for _, line in lines)
    skipped.subtract(str(line.type) for _, line in kept)
    skipped = +skipped
    notes = [f"lines of type {name}, skipped: {count}" for name, count in sorted(skipped.items())]
    if types is not None and not kept:
        found = ", ".join(sorted(skipped))
        raise InputError.single(file, f"no line is of type {', '.join(sorted(types))}; the file has {found}")
    moments, merged = _merge(line.moment(row) for row, line in kept)
    return Parsed(moments, notes + _notes(moments, merged), dict(skipped), merged)


def parse_jsonl(data: bytes, file: str) -> Parsed:
    """Parse one JSON object a line: video, start (s), end (s), caption, and perhaps duration (s) and id.

    Raises:
        InputError: With every problem of the file.

    >>> parse_jsonl(b'{"video": "a", "start": 1, "end": 3, "caption": "A dog runs."}', "m.jsonl").moments[0].end_s
    3.0
    """
    lines, problems = _json_lines(msgspec.json.Decoder(_JsonLine), data, file)
    return _finish([line.moment(row) for row, line in lines], problems, file)


def parse_csv(data: bytes, file: str) -> Parsed:
    r"""Parse a CSV file with the columns video, start (s), end (s), caption, and perhaps duration (s) and id.

    Other columns are ignored; an empty duration or id cell is as good as none.

    Raises:
        InputError: With every problem of the file.

    >>> parse_csv(b"video,start,end,caption,id\na,1,3,A dog runs.,m1\n", "m.csv").moments[0].external_id
    'm1'
    """
    table = read_csv(data, file, _CSV_REQUIRED, _CSV_OPTIONAL)
    blank = [""] * len(table.rows)
    names = [*_CSV_REQUIRED, *_CSV_OPTIONAL]
    problems = list(table.problems)
    moments = []
    for row, *cells in zip(table.rows, *(table.columns.get(name, blank) for name in names), strict=True):
        cell = dict(zip(names, cells, strict=True))
        try:
            moments.append(
                CaptionedMoment(
                    cell["video"],
                    _seconds(cell["start"], "start"),
                    _seconds(cell["end"], "end"),
                    cell["caption"],
                    row,
                    _seconds(cell["duration"], "duration") if cell["duration"].strip() else None,
                    _external_id(cell["id"]),
                )
            )
        except ValueError as error:
            problems.append(Problem(file, row, str(error)))
    return _finish(moments, problems, file)


def _json_lines(
    decoder: msgspec.json.Decoder[_Line], data: bytes, file: str
) -> tuple[list[tuple[int, _Line]], list[Problem]]:
    """The decoded lines with their row, and a problem for each line that could not be decoded."""
    lines: list[tuple[int, _Line]] = []
    problems: list[Problem] = []
    # Not splitlines: captions may hold any of the other line ends that Unicode knows.
    for row, text in enumerate(decode_text(data, file).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            lines.append((row, decoder.decode(text)))
        except msgspec.ValidationError as error:
            problems.append(Problem(file, row, str(error).replace(" - at `$.", " in field `")))
        except (msgspec.DecodeError, RecursionError) as error:
            problems.append(Problem(file, row, f"not valid JSON: {error}"))
    return lines, problems


def _finish(moments: list[CaptionedMoment], problems: list[Problem], file: str) -> Parsed:
    _check(moments, problems, file)
    distinct, merged = _merge(moments)
    return Parsed(distinct, _notes(distinct, merged), merged=merged)


def _check(moments: list[CaptionedMoment], problems: list[Problem], file: str) -> None:
    """Raise `InputError` if there are problems already or any is found in or between the moments."""
    found = list(problems)
    durations: dict[str, CaptionedMoment] = {}
    identified: dict[str, CaptionedMoment] = {}

    def refuse(moment: CaptionedMoment, message: str) -> None:
        found.append(Problem(file, moment.row, message))

    for moment in moments:
        if moment.duration_s is not None:
            first = durations.setdefault(moment.video, moment)
            if first.duration_s != moment.duration_s:
                here = f"video {moment.video!r} lasts {moment.duration_s} s here"
                refuse(moment, f"{here} and {first.duration_s} s in row {first.row}")
        if moment.external_id is not None:
            first = identified.setdefault(moment.external_id, moment)
            if first is not moment:
                refuse(moment, f"id {moment.external_id!r} is already that of row {first.row}")
    for moment in moments:
        # Another line may know the duration where this one does not say it.
        known = durations.get(moment.video)
        for message in _faults(moment, known.duration_s if known else None):
            refuse(moment, message)
    if found:
        raise InputError(sorted(found, key=lambda problem: problem.row or 0))


def _faults(moment: CaptionedMoment, known_duration_s: float | None) -> Iterable[str]:
    """What is wrong with one moment."""
    duration_s = known_duration_s if moment.duration_s is None else moment.duration_s
    if not moment.video.strip():
        yield "the video name is empty"
    if not moment.caption.strip():
        yield "the caption is empty"
    if moment.start_s < 0:
        yield f"start {moment.start_s} is negative"
    if moment.end_s <= moment.start_s:
        yield f"end {moment.end_s} is not after start {moment.start_s}"
    if duration_s is None:
        return
    if duration_s <= 0:
        yield f"duration {duration_s} is not positive"
    elif trouble := outside(moment, duration_s):
        yield trouble


def outside(moment: CaptionedMoment, duration_s: float) -> str | None:
    """In which way a moment lies outside a video of `duration_s` seconds; None if it does not.

    >>> outside(CaptionedMoment("a", 12.0, 14.0, "A dog runs.", row=1), 10.0)
    'start 12.0 is outside the video, which lasts 10.0 s'
    """
    if moment.start_s >= duration_s:
        return f"start {moment.start_s} is outside the video, which lasts {duration_s} s"
    if moment.end_s > duration_s + END_SLACK_S:
        return f"end {moment.end_s} is more than {END_SLACK_S:g} s after the video's end at {duration_s} s"
    return None


def _merge(moments: Iterable[CaptionedMoment]) -> tuple[list[CaptionedMoment], int]:
    """The moments without those that repeat an earlier one's video, span and caption, and how many those were."""
    total = 0
    distinct: dict[tuple[str, float, float, str], CaptionedMoment] = {}
    for moment in moments:
        total += 1
        distinct.setdefault((moment.video, moment.start_s, moment.end_s, moment.caption), moment)
    return list(distinct.values()), total - len(distinct)


def _notes(moments: list[CaptionedMoment], merged: int) -> list[str]:
    notes = []
    if merged:
        notes.append(f"lines that repeat an earlier line's video, span and caption, merged: {merged}")
    late = [m.row for m in moments if m.duration_s is not None and m.end_s > m.duration_s]
    if late:
        rows = ", ".join(map(str, late[:_ROWS_SHOWN])) + (", ..." if len(late) > _ROWS_SHOWN else "")
        notes.append(f"moments that end up to {END_SLACK_S:g} s after their video, kept: {len(late)} (row {rows})")
    return notes


def _seconds(text: str, column: str) -> float:
    """A CSV cell as a finite number; ValueError names the column otherwise."""
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{column} is {text!r}, not a number of seconds")
    return value


def _external_id(value: int | str | None) -> str | None:
    return str(value) if value is not None and str(value).strip() else None
