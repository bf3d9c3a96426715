"""Read CSV tables with one captioned moment a row; the user may map the column names to other names.

The order of the columns does not matter.
"""

import math

from backend.campaign.corpus.importing.model import CaptionedMoment, CorpusFormat, ImportOptions, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.reading import FileLayout, Sample
from backend.core.text_files import read_csv, table_head

REQUIRED = ("video", "start", "end", "caption")
_OPTIONAL = ("duration", "id")


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    r"""Parse a table with the columns video, start (s), end (s), caption, and optionally duration (s) and id.

    Other columns are ignored. An empty duration or id cell counts as missing. `options.columns` maps these names to
    those in the file.

    Raises:
        InputError: the file has problems; the error lists them all.

    >>> read(b"video,start,end,caption,id\na,1,3,A dog runs.,m1\n", "m.csv", ImportOptions()).moments[0].external_id
    'm1'
    """
    columns = {name: options.columns.get(name, name) for name in (*REQUIRED, *_OPTIONAL)}
    table = read_csv(
        data,
        file,
        [columns[name] for name in REQUIRED],
        [columns[name] for name in _OPTIONAL],
        numbers=[columns[name] for name in ("start", "end", "duration")],
    )
    blank = [""] * len(table.rows)
    problems = list(table.problems)
    moments = []
    for row, *cells in zip(table.rows, *(table.columns.get(name, blank) for name in columns.values()), strict=True):
        cell = dict(zip(columns, cells, strict=True))
        try:
            moments.append(
                CaptionedMoment(
                    cell["video"],
                    _seconds(cell["start"], columns["start"]),
                    _seconds(cell["end"], columns["end"]),
                    cell["caption"],
                    row,
                    _seconds(cell["duration"], columns["duration"]) if cell["duration"].strip() else None,
                    cell["id"] if cell["id"].strip() else None,
                )
            )
        except ValueError as error:
            problems.append(Problem(file, row, str(error)))
    return finish(moments, problems, file)


def _seconds(text: str, column: str) -> float:
    """Return the number in a CSV cell.

    Raises:
        ValueError: the cell is not a finite number; the message names the column.
    """
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{column} is {text!r}, not a number of seconds")
    return value


def _fits(sample: Sample, options: ImportOptions) -> bool:
    if sample.layout is not FileLayout.TEXT:
        return False
    columns = [options.columns.get(name, name) for name in REQUIRED]
    head = table_head(sample.line, columns)
    return all(name in head for name in columns)


FORMAT = CorpusFormat(
    "csv", said("CSV with the columns video, start, end and caption"), _fits, read, frozenset({"columns"})
)
