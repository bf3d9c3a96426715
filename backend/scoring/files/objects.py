"""Read Python objects into columns: paths, dicts and lists, and data frames of any library.

Reads: the file of a path. Writes: nothing.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeGuard

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.scoring.files.annotations import Repair, annotated_truth
from backend.scoring.files.answers import answers_run, holds_answers
from backend.scoring.files.documents import parse_run, parse_truth, parse_video_map
from backend.scoring.files.entries import Group, by_query, parse_run_mapping, parse_truth_mapping, run_of, truth_of
from backend.scoring.files.formats import of_tasks, read_run, read_tasks, read_truth, read_videos
from backend.scoring.files.forms import run_form, truth_form
from backend.scoring.files.forms.form import Opening, opening_of
from backend.scoring.files.forms.own_video import own_video_run, rows_lack_videos
from backend.scoring.files.words import (
    QUERY,
    RANK,
    RUN,
    TASK_OF_VIDEOS,
    TASK_VIDEOS,
    TASKS,
    TRUTH,
    Kind,
    names_in,
    pick,
    resolver,
)
from backend.scoring.matching.columns import Run, Truth, VideoMap


class Frame(Protocol):
    """A data frame: named columns."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return the values of one column."""


AnyTruth = str | os.PathLike[str] | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | Frame | Truth
AnyRun = str | os.PathLike[str] | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | Frame | Run
Videos = Mapping[int, str]


def truth_from(given: object, name: str = "truth", repair: Repair = "leave out") -> Truth:
    """Return the truth from a path, `{query: [moment, ...]}`, a list of entries as decoded from JSON, or a data frame.

    `repair` says what to do about impossible moments of benchmarks' annotations, see `Repair`.

    Raises:
        InputError: lists everything that is wrong. For any other type, it says which types are accepted.
    """
    if isinstance(given, Truth):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_truth(_path(given, name), repair)
    if truth_form(_opening(given)):
        truth = annotated_truth(msgspec.json.encode(given), name, repair)
        if truth is not None:
            return truth
    if isinstance(given, Mapping) and not _is_entry(given):
        return parse_truth_mapping(given, name)
    if isinstance(given, (list, tuple, Mapping)):
        return parse_truth(given if isinstance(given, Mapping) else list(given), name)
    if _is_frame(given):
        groups = _rows_of(given, name, TRUTH)
        return truth_of(groups, name, names_in(list(map(str, given.columns)), TRUTH), str)
    raise _refused(given, name, "{query: [moment, ...]}")


def tasks_from(given: object, name: str = "run", videos: Videos | None = None, truth: Truth | None = None) -> Run:
    """Return a run as `run_from` does, but with all tasks (VCMR, SVMR, VR) of TVR's own predictions.

    The field `tasks` of the result holds the run of each task. Any other run is of the task VCMR.
    """
    if isinstance(given, (str, os.PathLike)):
        return read_tasks(_path(given, name), videos, truth)
    if isinstance(given, Mapping) and (tasks := [task for task in (*TASKS, TASK_OF_VIDEOS) if task in given]):
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
    if isinstance(given, Run):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_run(_path(given, name), videos, truth)
    if rows_lack_videos(given):
        return own_video_run(given, name, truth)
    if published := run_form(_opening(given)):
        return published.read(msgspec.json.encode(given), name, truth)
    if holds_answers(given):
        return answers_run(given, name, truth, videos)
    if isinstance(given, Mapping) and not _is_entry(given) and not pick((*TASKS, TASK_VIDEOS), given):
        return parse_run_mapping(given, name, name_video)
    if isinstance(given, (list, tuple, Mapping)):
        return parse_run(given if isinstance(given, Mapping) else list(given), name, videos)
    if _is_frame(given):
        return run_of(_rows_of(given, name, RUN), name, names_in(list(map(str, given.columns)), RUN), name_video)
    raise _refused(given, name, "{query: [[video, start, end, score], ...]}")


def videos_from(given: object) -> VideoMap:
    """Return names and durations from a video map `{name: [duration, index]}` or its path."""
    if isinstance(given, (str, os.PathLike)):
        return read_videos(_path(given, "videos"))
    return parse_video_map(given, "videos")


def is_json_text(given: object) -> bool:
    """Return whether a text is the content of a JSON file, given by mistake for its path."""
    return isinstance(given, str) and given.lstrip()[:1] in ("{", "[")


def _path(given: str | os.PathLike[str], name: str) -> Path:
    if is_json_text(given):
        raise InputError.single(name, said("is JSON text; give json.loads of it, or the path of its file"))
    return Path(given)


def _opening(given: object) -> Opening:
    """Return the beginning of the file that a decoded file came from; an empty one for any other object.

    Only the first entry of a list, or of an object of objects or lists, is encoded for it.
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
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def _rows_of(frame: Frame, file: str, kind: Kind) -> list[Group]:
    """Group the rows of a data frame by query; each row is one moment.

    For a run, a column `rank` decides the order of a query's rows.
    """
    columns = list(map(str, frame.columns))
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
    cells = zip(*(list(frame[name]) for name in names.all), strict=True)
    items: list[object] = [dict(zip(names.all, row, strict=True)) for row in cells]
    ranks = list(frame[RANK]) if kind is RUN and RANK in columns else None
    if ranks and (kinds := {type(rank).__name__ for rank in ranks if not isinstance(rank, (int, np.integer))}):
        raise InputError.single(
            file,
            said("has {kinds} in its column {rank!r}, not whole numbers", rank=RANK, kinds=", ".join(sorted(kinds))),
        )
    return by_query(list(frame[query]), range(1, len(items) + 1), items, ranks, file)


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
