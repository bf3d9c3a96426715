"""Read truth, run and video map files into columns, from paths or bytes; every problem names its file and row.

JSON files are first read by the module `fast`, which gives up at anything unusual. The slower module `documents` then
reads the file again and reports every fault. CSV is read here.

Reads: these files, with or without gzip. Writes: nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from backend.core.errors import InputError, Problem
from backend.core.messages import joined, said
from backend.core.reading import unpacked_bytes
from backend.core.text_files import decode_text, number, read_csv, stripped, table_head, whole
from backend.scoring.files import documents, fast, text
from backend.scoring.files.annotations import Repair, annotated_truth
from backend.scoring.files.answers import answers_run, answers_table, holds_answers, opening
from backend.scoring.files.entries import Group, by_query, run_of, truth_of
from backend.scoring.files.facts import with_line_facts
from backend.scoring.files.forms import run_form
from backend.scoring.files.forms.form import opening_of
from backend.scoring.files.text import Form, Some
from backend.scoring.files.unknown_form import explained
from backend.scoring.files.words import (
    END,
    QUERY,
    RANK,
    RUN,
    START,
    TASK_OF_VIDEOS,
    TASKS,
    TRUTH,
    VIDEO,
    Kind,
    Names,
    name_only,
    resolver,
)
from backend.scoring.matching.columns import Run, Truth, VideoMap

_CSV_NAMES = Names("video", ("start", "end"), "value")


@dataclass(frozen=True, slots=True)
class _Header:
    """The names that a CSV file gives to the needed columns; `rank` is None if there is no such column."""

    query: str
    video: str
    start: str
    end: str
    value: str
    rank: str | None


def truth_table(content: bytes, file: str) -> Truth:
    r"""Return the truth in a CSV file with the columns query_id, video, start, end and relevance, or known synonyms.

    Raises:
        InputError: lists every line that is wrong.

    >>> truth_table(b"query_id,video,start,end,relevance\n5,v1,0,9.5,4\n", "truth.csv").relevance
    array([4.])
    """
    groups = _groups(content, file, TRUTH)
    for group in groups:
        group.items = [
            dict(zip(_CSV_NAMES.all, cells, strict=True)) for cells in cast("list[list[object]]", group.items)
        ]
    return truth_of(groups, file, _CSV_NAMES, name_only)


def run_table(content: bytes, file: str, videos: Mapping[int, str] | None) -> Run:
    r"""Return the run in a CSV file with the columns query_id, video, start, end and score, or known synonyms.

    An optional column rank decides the order.

    Raises:
        InputError: lists every line that is wrong.

    >>> run_table(b"query_id,rank,video,start,end,score\n5,2,v1,0,9,.1\n5,1,v2,3,4,.2\n", "run.csv", None).videos
    ('v2', 'v1')
    """
    groups = _groups(content, file, RUN)
    if videos is not None:
        # A cell does not say whether it holds a name or an index. With a map, a number is an index.
        for group in groups:
            for cells in cast("list[list[object]]", group.items):
                index = whole(str(cells[0]))
                cells[0] = cells[0] if index is None else index
    return run_of(groups, file, _CSV_NAMES, resolver(videos))


def _groups(content: bytes, file: str, kind: Kind) -> Some[Group]:
    header = _header(content, file, kind)
    needed = (header.query, header.video, header.start, header.end, header.value)
    rank = () if header.rank is None else (header.rank,)
    table = read_csv(content, file, needed, rank, numbers=needed[2:])
    problems = list(table.problems)

    def column(name: str, what: str, read: Callable[[str], object]) -> Sequence[object]:
        values, wrong = table.values(name, read, needed=True)
        problems.extend(
            Problem(file, row, said("column {name!r} holds {given!r}, not {what}", name=name, given=text, what=what))
            for row, text in wrong
        )
        return values

    queries = column(header.query, said("a query id"), stripped)
    columns = [column(header.video, said("the name of a video"), stripped)]
    columns += [column(name, "a number", number) for name in (header.start, header.end, header.value)]
    ranks = column(header.rank, said("a rank such as 1"), whole) if header.rank else None
    items: Sequence[object] = list(map(list, zip(*columns, strict=True)))
    rows: Sequence[int] = table.rows
    if problems:
        wrong = {problem.row for problem in problems}
        good = [place for place, row in enumerate(rows) if row not in wrong]
        queries, items = ([values[place] for place in good] for values in (queries, items))
        rows = [rows[place] for place in good]
        ranks = None if ranks is None else [ranks[place] for place in good]
    groups = by_query(queries, rows, items, cast("Sequence[int] | None", ranks), file)
    return Some(groups, [*problems, *groups.problems])


def _header(content: bytes, file: str, kind: Kind) -> _Header:
    """Return the name of each column in the file's header."""
    head = table_head(decode_text(content, file), [*QUERY, *VIDEO, *START, *END, *kind.value])
    problems = []

    def find(words: Sequence[str], *, needed: bool = True) -> str:
        matches = [word for word in words if word in head]
        if needed and not matches:
            quoted = ", ".join(repr(word) for word in words)
            problems.append(
                Problem(
                    file,
                    1,
                    said(
                        "no column {names}; the header is {header!r}",
                        names=joined(said(" or "), quoted.split(", ")),
                        header=head.delimiter.join(head.cells),
                    ),
                )
            )
        if len(matches) > 1:
            problems.append(
                Problem(
                    file,
                    1,
                    said("both {one!r} and {other!r} are columns; keep one of them", one=matches[0], other=matches[1]),
                )
            )
        return matches[0] if matches else ""

    header = _Header(
        find(QUERY),
        find(VIDEO),
        find(START),
        find(END),
        find(kind.value),
        find((RANK,), needed=False) or None if kind is RUN else None,
    )
    if problems:
        raise InputError(problems)
    return header


__all__ = ["run_file", "truth_file", "video_map_file"]


def truth_file(content: bytes, file: str, repair: Repair = "leave out") -> Truth:
    r"""Return the truth in a file of any supported format: JSON, JSONL, CSV or a benchmark's own annotations.

    The content decides which format it is.

    Args:
        content: the bytes of the file, unpacked.
        file: its name, for messages.
        repair: what to do about impossible moments of benchmarks' annotations, see `Repair`.

    Raises:
        InputError: lists everything in it that has a wrong structure, with its row.

    >>> truth = truth_file(b'{"query_id": 5, "video": "v1", "start": 0, "end": 9.5, "relevance": 4}\n', "t.jsonl")
    >>> truth.queries, truth.videos, truth.end_s.tolist(), truth.relevance.tolist()
    ((5,), ('v1',), [9.5], [4.0])
    """
    content = text.checked(content, file)
    try:
        return _truth_of(content, file, repair)
    except InputError as error:
        raise explained(error, content, file, TRUTH) from None


def _truth_of(content: bytes, file: str, repair: Repair) -> Truth:
    if (annotated := annotated_truth(content, file, repair)) is not None:
        return annotated
    form = text.form_of(content, file)
    if form is Form.CSV:
        return truth_table(content, file)
    truth = fast.truth(content, file, form)
    if truth is None:
        truth = documents.parse_truth(text.decoded(content, file), file)
    return with_line_facts(truth, content)


def run_file(
    content: bytes,
    file: str,
    videos: Mapping[int, str] | None = None,
    truth: Truth | None = None,
    *,
    task: str | None = None,
) -> Run:
    """Return the run in a JSON, JSONL or CSV file of any supported format, such as TVR's or QVHighlights' predictions.

    Args:
        content: the bytes of the file, unpacked.
        file: its name, for messages.
        videos: names of the videos that rows give by index.
        truth: gives the video of predictions that name none, as in runs for retrieval within the query's own video
            and in answers of language models. Other formats do not need it.
        task: the task to read from TVR's own prediction files: `VCMR`, `SVMR` or `VR`. None reads VCMR, or SVMR
            if there is no VCMR; `notes` says which tasks were not read.

    Raises:
        InputError: lists everything in it that has a wrong structure, with its row.

    >>> run_file(b'{"5": [["v1", 0, 9.5, 0.7], ["v2", 3, 4, 0.2]]}', "run.json").score.tolist()
    [0.7, 0.2]
    """
    content = text.checked(content, file)
    try:
        return _run_of(content, file, videos, truth, task)
    except InputError as error:
        raise explained(error, content, file, RUN) from None


def _run_of(content: bytes, file: str, videos: Mapping[int, str] | None, truth: Truth | None, task: str | None) -> Run:
    form = text.form_of(content, file)
    if form is Form.CSV:
        entries = answers_table(content, file)
        return run_table(content, file, videos) if entries is None else answers_run(entries, file, truth, videos)
    if published := run_form(opening_of(content)):
        return published.read(content, file, truth)
    if holds_answers(opening(content, form)):
        return answers_run(text.decoded(content, file), file, truth, videos)
    run = fast.run(content, file, form, videos, task)
    if run is None:
        run = documents.parse_run(text.decoded(content, file), file, videos, task)
    return run if task else replace(run, notes=_unread_tasks(content, file))


def tasks_of(content: bytes) -> list[str]:
    """Return the tasks (VCMR, SVMR, VR) for which TVR's own prediction file has predictions.

    The result is empty for any other file.
    """
    if not fast.TASK_FILE.match(content):
        return []
    return [task for task in (*TASKS, TASK_OF_VIDEOS) if re.search(rb'"%s"\s*:\s*\[' % task.encode(), content)]


def _unread_tasks(content: bytes, file: str) -> tuple[str, ...]:
    read, *unread = tasks_of(content) or [""]
    if not unread:
        return ()
    return (f"{file}: only its {read} was scored; --benchmark tvr scores {' and '.join(unread)} too",)


def video_map_file(content: bytes, file: str) -> VideoMap:
    """Return the video map in a file `{name: [duration, index]}`: names by index, and durations in seconds."""
    return documents.parse_video_map(text.document(text.checked(content, file), file), file)


VIDEO_MAP = "video_corpus.json"
"""The file name of the video map in a release."""


def read_truth(path: Path, repair: Repair = "leave out") -> Truth:
    """Read a truth file of any format. `repair` says what to do about impossible moments in benchmarks' annotations."""
    return truth_file(unpacked_bytes(path), str(path), repair)


def read_run(path: Path, videos: Mapping[int, str] | None = None, truth: Truth | None = None) -> Run:
    """Read a run file of any format.

    `videos` (from `read_videos`) has names for videos that are given by index. `truth` gives the videos of predictions
    that name none.
    """
    return run_file(unpacked_bytes(path), str(path), videos, truth)


def read_tasks(path: Path, videos: Mapping[int, str] | None = None, truth: Truth | None = None) -> Run:
    """Read a run file as `read_run` does, but read all tasks (VCMR, SVMR, VR) of TVR's own prediction files.

    The field `tasks` of the result holds the run of each task. Any other file is a run of the task VCMR.
    """
    content, file = unpacked_bytes(path), str(path)
    runs = {task: run_file(content, file, videos, truth, task=task) for task in tasks_of(content)}
    return of_tasks(runs or {TASKS[0]: run_file(content, file, videos, truth)})


def of_tasks(runs: Mapping[str, Run]) -> Run:
    """Return one run that stands for the runs of several tasks.

    It is the first task's run, with all runs by task in its field `tasks`.
    """
    return replace(next(iter(runs.values())), tasks=runs)


def map_of(videos: Path) -> Path:
    """Return the path of the video map file: `videos` itself, or `video_corpus.json` in it if it is a folder."""
    return videos / VIDEO_MAP if videos.is_dir() else videos


def read_videos(path: Path) -> VideoMap:
    """Read video names and durations from a video map `{name: [duration, index]}`; `path` is its file or folder."""
    path = map_of(path)
    return video_map_file(unpacked_bytes(path), str(path))
