"""Read QVHighlights (Lei et al., 2021): one JSON object a line, with a query and all the windows that answer it."""

import msgspec

from backend.campaign.corpus.importing.model import CaptionedMoment, CorpusFormat, ImportOptions, LeftOut, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.reading import FileLayout, json_lines


class _Line(msgspec.Struct):
    qid: int | str
    query: str
    vid: str
    duration: float
    relevant_windows: list[tuple[float, float]] | None = None


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse lines of qid, query, vid, duration (s) and relevant_windows ([[start, end], ...] in s).

    Each window becomes a moment with the query as its caption. If a query has one window, its id is `qid`; otherwise
    the n-th window gets `qid/n`. Lines without windows are left out; the published test file has only such lines.

    Raises:
        InputError: the file has problems, all listed in the error, or no line has a window.

    >>> line = b'{"qid": 7, "query": "A dog.", "vid": "a", "duration": 90, "relevant_windows": [[0, 4], [8, 12]]}'
    >>> [(moment.external_id, moment.start_s) for moment in read(line, "val.jsonl", ImportOptions()).moments]
    [('7/1', 0.0), ('7/2', 8.0)]
    """
    lines, problems = json_lines(_Line, data, file)
    moments = [
        CaptionedMoment(
            *(line.vid, *window, line.query.strip(), row, line.duration),
            str(line.qid) if len(line.relevant_windows) == 1 else f"{line.qid}/{number}",
        )
        for row, line in lines
        if line.relevant_windows
        for number, window in enumerate(line.relevant_windows, start=1)
    ]
    without = [said("row {row}", row=row) for row, line in lines if not line.relevant_windows]
    if without and not moments and not problems:
        raise InputError.single(
            file, said("no line has relevant_windows: this is the test file, published without answers")
        )
    left_out = [LeftOut(said("the query has no windows"), len(without), tuple(without[:5]))] if without else []
    return finish(moments, problems, file, published=True, left_out=left_out)


FORMAT = CorpusFormat(
    "qvhighlights",
    said("JSON lines with qid, query, vid and relevant_windows"),
    lambda sample, options: sample.layout is FileLayout.LINES and {"qid", "query", "vid"} <= sample.fields,
    read,
)
