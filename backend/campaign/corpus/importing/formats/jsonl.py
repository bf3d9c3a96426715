"""Read ReelRank's own JSON lines, one captioned moment a line; the user may map its field names to other names."""

from typing import cast

import msgspec

from backend.campaign.corpus.importing.model import CaptionedMoment, CorpusFormat, ImportOptions, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.messages import said
from backend.core.reading import FileLayout, Sample, json_lines


class _Line(msgspec.Struct):
    video: str
    start: float
    end: float
    caption: str
    duration: float | None = None
    id: int | str | None = None


_NEEDED = ("video", "start", "end", "caption")


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse lines with one JSON object each: video, start (s), end (s), caption, and optionally duration (s) and id.

    `options.columns` maps these names to those in the file.

    Raises:
        InputError: the file has problems; the error lists them all.

    >>> line = b'{"video": "a", "begin": 1, "end": 3, "caption": "A dog runs."}'
    >>> read(line, "m.jsonl", ImportOptions(columns={"start": "begin"})).moments[0].start_s
    1.0
    """
    lines, problems = json_lines(_line_type(options), data, file)
    return finish([_moment(row, line) for row, line in lines], problems, file)


def _moment(row: int, line: _Line) -> CaptionedMoment:
    id_ = str(line.id) if line.id is not None and str(line.id).strip() else None
    return CaptionedMoment(line.video, line.start, line.end, line.caption, row, line.duration, id_)


def _line_type(options: ImportOptions) -> type[_Line]:
    """Return the class that one line of the file is parsed into, with the field names that the file uses.

    `options.columns` maps ReelRank's field names to these.
    """
    if not options.columns:
        return _Line
    fields = [
        (field.name, field.type) if field.required else (field.name, field.type, field.default)
        for field in msgspec.structs.fields(_Line)
    ]
    return cast("type[_Line]", msgspec.defstruct("_Line", fields, rename=dict(options.columns)))


def _fits(sample: Sample, options: ImportOptions) -> bool:
    return sample.layout is FileLayout.LINES and {options.columns.get(name, name) for name in _NEEDED} <= sample.fields


FORMAT = CorpusFormat(
    "jsonl", said("JSON lines with video, start, end and caption"), _fits, read, frozenset({"columns"})
)
