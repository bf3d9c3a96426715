"""Read decoded truth and run files into columns, and report every fault with its row.

`fast` reads the same files in a tenth of the time, but gives up at anything unusual. This module then reads the file.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.typed_text import nfc
from backend.scoring.files.entries import Group, mapping_groups, names_of, run_of, truth_of
from backend.scoring.files.text import Some, problems_with
from backend.scoring.files.words import (
    QUERY,
    RUN,
    RUN_SALIENCY,
    TASK_OF_VIDEOS,
    TASK_VIDEOS,
    TASKS,
    TRUTH,
    VIDEO,
    Kind,
    Names,
    are_tasks,
    durations_in,
    first_doubled,
    is_tvr_release,
    name_only,
    pick,
    resolver,
    short,
)
from backend.scoring.matching.columns import QueryKey, Run, Truth, VideoMap, row_problem


def parse_truth(document: object, file: str) -> Truth:
    """Return the truth from a decoded JSON list: of queries with their moments, or of single moments.

    For a file with one JSON object on each line, `document` is the list of these objects.

    Raises:
        InputError: lists every entry that has a wrong structure or repeats a query id.
    """
    if isinstance(document, Mapping) and pick(QUERY, document):
        document = [document]
    if not isinstance(document, list):
        raise InputError.single(file, said("a truth file is a list of queries with `relevant_moment`"))
    groups, names = _groups(document, TRUTH, file)
    return truth_of(groups, file, names, name_only)


def parse_run(document: object, file: str, videos: Mapping[int, str] | None, task: str | None = None) -> Run:
    """Return a run from a decoded JSON file of any supported format.

    Args:
        document: the decoded JSON.
        file: the file's name, for messages.
        videos: video names by index, for predictions that give their video by index.
        task: the task to read from TVR's own prediction files, which may hold several. By default it is VCMR, or SVMR
            if the file has no VCMR.

    Raises:
        InputError: lists every row that has a wrong structure, or a video index that `videos` lacks.
    """
    if isinstance(document, Mapping):
        query = pick(QUERY, document)
        if query and not isinstance(document[query], (list, dict)):
            document = [document]
        elif are_tasks(document):
            document, videos = _task(document, file, videos, task)
        else:
            groups = mapping_groups(document, file)
            return run_of(groups, file, names_of(groups, RUN), resolver(videos))
    if not isinstance(document, list):
        raise InputError.single(file, said("a run is an object of queries, or a list of queries with `predictions`"))
    groups, names = _groups(document, RUN, file)
    return run_of(groups, file, names, resolver(videos))


def named_groups(document: object, file: str) -> list[Group]:
    """Return each query of a run with its predictions, which are not checked.

    `document` is an object with the predictions of each query id, or a list of queries with `predictions`.

    Raises:
        InputError: lists every query that has a wrong structure.
    """
    if isinstance(document, Mapping) and pick(QUERY, document):
        document = [document]
    if isinstance(document, Mapping):
        groups = mapping_groups(document, file)
    elif isinstance(document, list):
        groups = _nested(document, RUN.items, file)
    else:
        raise InputError.single(file, said("a run is an object of queries, or a list of queries with `predictions`"))
    if groups.problems:
        raise InputError(groups.problems)
    return groups


def parse_video_map(document: object, file: str) -> VideoMap:
    """Return video names and durations from a decoded video map `{name: [duration, index]}`.

    The map may also be divided into splits, as in TVR: an object with one such map for each split.
    """
    if not isinstance(document, Mapping):
        raise InputError.single(file, said("a video map is an object `name -> [duration, index]`"))
    if document and all(isinstance(part, Mapping) for part in document.values()):
        document = _of_splits(document, file)
    pairs = {
        name: value[1] if isinstance(value, list) and len(value) == 2 else None for name, value in document.items()
    }
    durations = durations_in(
        (name, value[0]) for name, value in document.items() if isinstance(value, (list, tuple)) and value
    )
    return VideoMap(_names_by_index(pairs, file, said("[duration, index]")), durations)


def _of_splits(document: Mapping[str, Mapping[str, object]], file: str) -> dict[str, object]:
    merged: dict[str, object] = {}
    problems = []
    for row, (split, part) in enumerate(document.items(), start=1):
        for name, value in part.items():
            if merged.setdefault(nfc(name), value) != value:
                message = said(
                    "video {name} of {split} differs from an earlier split",
                    name=short(name),
                    split=short(split),
                )
                problems.append(Problem(file, row, message))
    if problems:
        raise InputError(problems)
    return merged


def _names_by_index(pairs: Mapping[str, object], file: str, shape: str) -> dict[int, str]:
    names: dict[int, str] = {}
    rows: dict[str, int] = {}
    problems = []
    for row, (written, index) in enumerate(pairs.items(), start=1):
        name = nfc(written)
        if type(index) is not int:
            problems.append(
                Problem(file, row, said("video {name} does not map to {shape}", name=short(name), shape=shape))
            )
        elif (first := rows.setdefault(name, row)) != row:
            problems.append(
                Problem(file, row, said("video {name} was already given in row {first}", name=short(name), first=first))
            )
        elif names.setdefault(index, name) != name:
            message = said(
                "index {index} names both {other} and {name}", index=index, other=short(names[index]), name=short(name)
            )
            problems.append(Problem(file, row, message))
    if problems:
        raise InputError(problems)
    return names


def _task(
    document: Mapping[str, Any], file: str, videos: Mapping[int, str] | None, requested: str | None
) -> tuple[object, Mapping[int, str] | None]:
    """Return the queries of one task in TVR's own prediction files, and the names of videos by index.

    `requested` is the task; None takes VCMR, or SVMR if there is no VCMR. The names come from the file if it has them,
    otherwise from `videos`.
    """
    task = pick((requested,) if requested else TASKS, document)
    if task is None:
        lacks = (
            said("no predictions for {wanted}", wanted=requested)
            if requested
            else said("predictions for neither VCMR nor SVMR")
        )
        hint = (
            said("; --benchmark tvr scores VR, which ranks videos alone")
            if TASK_OF_VIDEOS in document and not requested
            else ""
        )
        raise InputError.single(file, said("has {lacks}{hint}", lacks=lacks, hint=hint))
    if TASK_VIDEOS in document:
        indices = document[TASK_VIDEOS]
        if not isinstance(indices, Mapping):
            raise InputError.single(file, said("`{field}` is not an object `name -> index`", field=TASK_VIDEOS))
        if twice := first_doubled([indices], tuple(indices)):
            raise InputError.single(file, said("`{field}` has {name} twice", field=TASK_VIDEOS, name=short(twice)))
        videos = _names_by_index(indices, file, said("an index"))
    if not isinstance(document[task], list):
        raise InputError.single(file, said("`{task}` is not a list of queries with `predictions`", task=task))
    return document[task], videos


def _groups(document: list[object], kind: Kind, file: str) -> tuple[Some[Group], Names]:
    """Return each query with its unchecked moments, and the field names of moments that are objects.

    `document` is the list of entries of a truth or run file; `kind` says which. An item None stands for an empty line.
    """
    entries = [entry for entry in document if isinstance(entry, Mapping)]
    for field in (kind.items, kind.windows):
        if any(field in entry for entry in entries):
            groups = _nested(document, field, file)
            if field == kind.windows:
                return _windows(groups, document, kind, file), kind.usual
            return groups, names_of(groups, kind)
    if kind is RUN and any(RUN_SALIENCY in entry for entry in entries):
        groups = _nested(document, RUN_SALIENCY, file)
        return Some((replace(group, items=[]) for group in groups), groups.problems), kind.usual
    groups = _flat(document, file)
    if kind is TRUTH and entries and is_tvr_release(entries[0]):
        for group in groups:
            group.items = [{"relevance": 1, **item} if isinstance(item, dict) else item for item in group.items]
        return groups, Names("vid_name", ("ts",), "relevance")
    return groups, names_of(groups, kind)


def _nested(document: list[object], field: str, file: str) -> Some[Group]:
    groups: Some[Group] = Some(problems=problems_with(document))
    problems = groups.problems
    for row, entry in enumerate(document, start=1):
        if entry is None:
            continue
        query, fault = _query_of(entry, (field,))
        items = entry.get(field) if isinstance(entry, Mapping) else None
        if fault:
            problems.append(Problem(file, row, fault))
        elif not isinstance(items, list):
            problems.append(
                Problem(file, row, said("query {query} has no list `{field}`", query=short(query), field=field))
            )
        else:
            groups.append(Group(query, row, items))
    return groups


def _flat(document: list[object], file: str) -> Some[Group]:
    """Group entries that are single moments by their query id. The result also has the problems of unusable entries."""
    groups: dict[str, Group] = {}
    problems = list(problems_with(document))
    for row, entry in enumerate(document, start=1):
        if entry is None:
            continue
        query, fault = _query_of(entry, ())
        if fault:
            problems.append(Problem(file, row, fault))
            continue
        group = groups.setdefault(nfc(str(query)), Group(query, row, [], []))
        group.items.append(entry)
        if group.rows is not None:
            group.rows.append(row)
    return Some(groups.values(), problems)


def _query_of(entry: object, fields: tuple[str, ...]) -> tuple[object, str | None]:
    """Return an entry's query id and None, or else None and what is wrong with the entry.

    A query id, or one of `fields`, that the entry has twice is wrong too.
    """
    if not isinstance(entry, Mapping):
        return None, said("is not an object with a `query_id`")
    word = pick(QUERY, entry)
    if word is None or entry[word] is None:
        return None, said("has no `query_id`")
    if twice := first_doubled([entry], (*QUERY, *fields)):
        return None, said("has the field `{twice}` twice", twice=twice)
    return entry[word], None


def _windows(groups: Some[Group], document: list[object], kind: Kind, file: str) -> Some[Group]:
    """Convert QVHighlights' windows, such as `[start, end]`, to the moments of other formats, which name their video.

    The video of a window is the one that its entry names. The result also has the problems of unusable windows.
    """
    problems, good = groups.problems, []
    length, shape = (2, said("[start, end]")) if kind is TRUTH else (3, said("[start, end, score]"))
    for group in groups:
        entry = document[group.row - 1]
        word = pick(VIDEO, entry) if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or word is None:
            problems.append(Problem(file, group.row, said("query {query} has no `vid`", query=short(group.query))))
            continue
        if twice := first_doubled([entry], VIDEO):
            problems.append(Problem(file, group.row, said("has the field `{twice}` twice", twice=twice)))
            continue
        items: list[object] = []
        for number, window in enumerate(group.items, start=1):
            if not (isinstance(window, list) and len(window) == length):
                query: QueryKey = str(group.query)
                problems.append(row_problem(file, group.row, query, number, said("is not {shape}", shape=shape)))
            elif kind is TRUTH:
                items.append({"video_name": entry[word], "timestamp": window, "relevance": 1})
            else:
                items.append([entry[word], *window])
        group.items = items
        good.append(group)
    return Some(good, problems)
