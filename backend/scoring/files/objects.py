"""Read Python objects into columns: paths, texts and open files, dicts and lists, and data frames of any library.

No data frame library is imported: a data frame is any object with column names that returns a column by its name. This
fits pandas, polars, pyarrow and Hugging Face datasets.

Reads: the file of a path, and open files. Writes: nothing.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeGuard

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import unpack
from backend.scoring.files.annotations import Repair, annotated_truth
from backend.scoring.files.answers import answers_run, holds_answers
from backend.scoring.files.documents import parse_run, parse_truth, parse_video_map
from backend.scoring.files.entries import Group, by_query, parse_run_mapping, parse_truth_mapping, run_of, truth_of
from backend.scoring.files.formats import (
    of_tasks,
    read_run,
    read_tasks,
    read_truth,
    read_videos,
    run_file,
    tasks_of,
    truth_file,
    video_map_file,
)
from backend.scoring.files.forms import run_form, truth_form
from backend.scoring.files.forms.form import Opening, opening_of
from backend.scoring.files.forms.own_video import own_video_run, rows_lack_videos
from backend.scoring.files.words import (
    QUERY,
    RANK,
    RUN,
    TASK_OF_VIDEOS,
    TASKS,
    TRUTH,
    Kind,
    are_tasks,
    names_in,
    pick,
    resolver,
)
from backend.scoring.matching.columns import Run, Truth, VideoMap


class Frame(Protocol):
    """A data frame with named columns. pyarrow and datasets call the names `column_names`."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return the values of one column."""


class OpenFile(Protocol):
    """An open file, of text or of bytes."""

    def read(self) -> str | bytes:
        """Return the content from the current position to the end."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file, unpacked, with a name for messages."""

    data: bytes
    file: str


AnyTruth = str | bytes | os.PathLike[str] | OpenFile | Mapping[Any, Any] | Iterable[Any] | Frame | Truth
AnyRun = str | bytes | os.PathLike[str] | OpenFile | Mapping[Any, Any] | Iterable[Any] | Frame | Run
Videos = Mapping[int, str]


def held(given: object, name: str) -> object:
    """Return an object that can be read several times, because an open file or iterator can be read only once.

    The result is a `FileContent` for an open file, bytes, or a text that begins like JSON or has several lines. It is a
    list for an iterator of entries, and a dict for an iterator of (query, rows) pairs. Anything else is returned as it
    is; a text of one line is a path. Messages use `name` if the object has no file name.
    """
    if isinstance(given, str) and (given.lstrip()[:1] in ("{", "[") or "\n" in given):
        return FileContent(unpack(given.encode("utf-8", "surrogatepass"), name), name)
    if isinstance(given, (bytes, bytearray)):
        return FileContent(unpack(bytes(given), name), name)
    if hasattr(given, "read") and not isinstance(given, os.PathLike):
        own_name = getattr(given, "name", None)
        name = own_name if isinstance(own_name, str) and own_name[:1] != "<" else name
        data = given.read()
        return FileContent(unpack(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, name), name)
    if isinstance(given, (str, os.PathLike, Mapping, list, tuple, Truth, Run)) or _is_frame(given):
        return given
    if not isinstance(given, Iterable) or isinstance(given, (set, frozenset)):
        return given
    items = list(given)
    pairs = all(isinstance(item, tuple) and len(item) == 2 for item in items)
    return dict(items) if items and pairs else items


def run_name(given: object) -> str:
    """Return the name of a run: that of its file without its ending, `run` if it has none.

    >>> run_name("runs/mine.json"), run_name({"q1": []})
    ('mine', 'run')
    """
    if isinstance(given, (str, os.PathLike)):
        given = held(given, "run")
    path = given.file if isinstance(given, FileContent) else given
    return Path(path).stem if isinstance(path, (str, os.PathLike)) else "run"


def truth_from(given: object, name: str = "truth", repair: Repair = "leave out") -> Truth:
    """Return the truth from a path, `{query: [moment, ...]}`, a list of entries as decoded from JSON, or a data frame.

    Open files, bytes and JSON as text are accepted too. `repair` says what to do about impossible moments in the
    annotations of benchmarks.

    Raises:
        InputError: lists everything that is wrong. For any other type, it says which types are accepted.
    """
    given = _entries(held(given, name), TRUTH)
    if isinstance(given, Truth):
        return given
    if isinstance(given, FileContent):
        return truth_file(given.data, given.file, repair)
    if isinstance(given, (str, os.PathLike)):
        return read_truth(Path(given), repair)
    if truth_form(_opening(given)):
        truth = annotated_truth(msgspec.json.encode(given), name, repair)
        if truth is not None:
            return truth
    if isinstance(given, Mapping) and not _is_entry(given):
        return parse_truth_mapping(given, name)
    if isinstance(given, (list, tuple, Mapping)):
        return parse_truth(given if isinstance(given, Mapping) else list(given), name)
    if _is_frame(given):
        return truth_of(_rows_of(given, name, TRUTH), name, names_in(_names_of(given), TRUTH), str)
    raise _refused(given, name, "{query: [moment, ...]}")


def tasks_from(given: object, name: str = "run", videos: Videos | None = None, truth: Truth | None = None) -> Run:
    """Return a run as `run_from` does, but with all tasks (VCMR, SVMR, VR) of TVR's own predictions.

    The field `tasks` of the result holds the run of each task. Any other run is of the task VCMR.
    """
    given = held(given, name)
    if isinstance(given, FileContent) and (known := tasks_of(given.data)):
        return of_tasks({task: run_file(given.data, given.file, videos, truth, task=task) for task in known})
    if isinstance(given, (str, os.PathLike)):
        return read_tasks(Path(given), videos, truth)
    if isinstance(given, Mapping) and are_tasks(given):
        tasks = [task for task in (*TASKS, TASK_OF_VIDEOS) if task in given]
        return of_tasks({task: parse_run(given, name, videos, task) for task in tasks})
    return of_tasks({TASKS[0]: run_from(given, name, videos, truth)})


def run_from(given: object, name: str = "run", videos: Videos | None = None, truth: Truth | None = None) -> Run:
    """Return a run from a path, `{query: [[video, start, end, score], ...]}`, a list of entries or a data frame.

    `videos` (from `videos_from`) has names for videos that are given by index. Without it, indices in Python objects
    are compared as text, and indices in files are refused. `truth` gives the videos of predictions that name none.

    Raises:
        InputError: lists everything that is wrong. For any other type, it says which types are accepted.
    """
    name_video = str if videos is None else resolver(videos)
    given = _entries(held(given, name), RUN)
    if isinstance(given, Run):
        return given
    if isinstance(given, FileContent):
        return run_file(given.data, given.file, videos, truth)
    if isinstance(given, (str, os.PathLike)):
        return read_run(Path(given), videos, truth)
    if rows_lack_videos(given):
        return own_video_run(given, name, truth)
    if published := run_form(_opening(given)):
        return published.read(msgspec.json.encode(given), name, truth)
    if holds_answers(given):
        return answers_run(given, name, truth, videos)
    if isinstance(given, Mapping) and not _is_entry(given) and not are_tasks(given):
        return parse_run_mapping(given, name, name_video)
    if isinstance(given, (list, tuple, Mapping)):
        return parse_run(given if isinstance(given, Mapping) else list(given), name, videos)
    if _is_frame(given):
        return run_of(_rows_of(given, name, RUN), name, names_in(_names_of(given), RUN), name_video)
    raise _refused(given, name, "{query: [[video, start, end, score], ...]}")


def videos_from(given: object) -> VideoMap:
    """Return names and durations from a video map `{name: [duration, index]}` or its path."""
    given = held(given, "videos")
    if isinstance(given, FileContent):
        return video_map_file(given.data, given.file)
    if isinstance(given, (str, os.PathLike)):
        return read_videos(Path(given))
    return parse_video_map(given, "videos")


def _opening(given: object) -> Opening:
    """Return the beginning of decoded JSON as a file would have it, by which its form (format) is recognised.

    Only the first entry is encoded again, or all of an object whose first value is neither a list nor an object. For
    anything that is not JSON, the result is the beginning of an empty file.
    """
    sample: object = ()
    if isinstance(given, list):
        sample = given[:1]
    elif isinstance(given, Mapping):
        first = dict(islice(given.items(), 1))
        sample = first if isinstance(next(iter(first.values()), None), (Mapping, list)) else given
    try:
        return opening_of(msgspec.json.encode(sample))
    except (msgspec.MsgspecError, TypeError):
        return opening_of(b"")


def _is_entry(given: Mapping[Any, Any]) -> bool:
    """Return whether this is one entry of a file, and not an object of queries by id."""
    word = pick(QUERY, given)
    return word is not None and not isinstance(given[word], (list, tuple, dict))


def _is_frame(given: object) -> TypeGuard[Frame]:
    """Return whether this has named columns, like data frames of pandas and polars."""
    named = hasattr(given, "columns") or isinstance(getattr(given, "column_names", None), Sequence)
    return named and hasattr(given, "__getitem__")


def _names_of(frame: Frame) -> list[str]:
    names = getattr(frame, "column_names", None)
    return list(map(str, frame.columns if names is None else names))


def _values_of(frame: Frame, name: str) -> list[Any]:
    """Return the values of a column as Python objects; arrays in its cells become lists."""
    column = frame[name]
    for method in ("to_pylist", "to_list"):
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    return [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return list(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def _entries(given: object, kind: Kind) -> object:
    """Return a data frame with a row for each query as a list of entries; anything else is returned as it is."""
    if isinstance(given, (str, Mapping, list, tuple)) or not _is_frame(given):
        return given
    names = _names_of(given)
    if pick((kind.items, kind.windows), names) is None:
        return given
    return [
        dict(zip(names, row, strict=True)) for row in zip(*(_values_of(given, name) for name in names), strict=True)
    ]


def _rows_of(frame: Frame, file: str, kind: Kind) -> list[Group]:
    """Group the rows of a data frame by query; each row is one moment.

    For a run, a column `rank` decides the order of a query's rows.
    """
    columns = _names_of(frame)
    names = names_in(columns, kind)
    query = pick(QUERY, columns)
    problems = [
        Problem(file, None, said("has the column {name!r} twice", name=name))
        for name in sorted(set(columns))
        if columns.count(name) > 1
    ]
    needed = [query or QUERY[0], *names.all]
    lacking = [name for name in needed if name not in columns]
    problems += [
        Problem(
            file, None, said("has no column {name!r}; its columns are {columns}", name=name, columns=", ".join(columns))
        )
        for name in lacking
    ]
    if problems:
        raise InputError(problems)
    cells = zip(*(_values_of(frame, name) for name in names.all), strict=True)
    items: list[object] = [dict(zip(names.all, row, strict=True)) for row in cells]
    ranks = _values_of(frame, RANK) if kind is RUN and RANK in columns else None
    if ranks and (kinds := {type(rank).__name__ for rank in ranks if not isinstance(rank, (int, np.integer))}):
        raise InputError.single(
            file,
            said("has {kinds} in its column {rank!r}, not whole numbers", rank=RANK, kinds=", ".join(sorted(kinds))),
        )
    return by_query(_values_of(frame, str(query)), range(1, len(items) + 1), items, ranks, file)


def _refused(given: object, name: str, shape: str) -> InputError:
    kind = type(given).__name__
    return InputError.single(
        name,
        said(
            "is of type {kind}; give the path of a file, {shape}, or a data frame with one row per moment",
            kind=kind,
            shape=shape,
        ),
    )
