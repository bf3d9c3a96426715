"""Truth and run documents, already decoded from JSON or given as Python objects, into columns.

Shapes that are wrong (a field missing, text where a number belongs) are refused here, all of them at once.
Values that are wrong (an end before its start) pass; see `metrics.columns`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.metrics.columns import QueryKey, Run, Truth, offsets_of, row_problem
from backend.core.timespan import Floats

NameVideo = Callable[[QueryKey], str]
"""Turns what a row calls its video into the video's name, or raises `ValueError`."""


@dataclass(slots=True)
class _Group:
    """The raw rows of one query."""

    query: object
    row: int
    items: list[object]
    rows: list[int] | None = None
    """Each item's own place in the file, where items and not queries are its entries."""


def parse_truth(document: object, file: str) -> Truth:
    """Truth from a decoded `val.json`, or from the decoded objects of a one-pair-a-line file.

    Raises:
        InputError: with every entry that is not of that shape, or whose query id occurred before.
    """
    if not isinstance(document, list):
        raise InputError.single(file, "a truth file is a list of queries with `relevant_moment`")
    nested = any(isinstance(entry, Mapping) and "relevant_moment" in entry for entry in document)
    groups = _entries(document, "relevant_moment", file) if nested else _flat(document, file)
    return _truth(groups, file, ("video_name", "timestamp", "relevance"), _name_only)


def parse_truth_mapping(truth: Mapping[Any, Any], file: str = "truth") -> Truth:
    """Truth from `{query: [{"video", "start", "end", "relevance"}]}`."""
    return _truth(_mapping(truth, file), file, ("video", "start", "end", "relevance"), str)


def parse_run(document: object, file: str, videos: Mapping[int, str] | None) -> Run:
    """A run from one of its three decoded formats; `videos` names the videos that rows give by index.

    Raises:
        InputError: with every row that is not of that shape, or whose index `videos` lacks.
    """
    if isinstance(document, Mapping):
        groups = _mapping(document, file)
    elif not isinstance(document, list):
        raise InputError.single(file, "a run is an object of queries, or a list of queries with `predictions`")
    elif any(isinstance(entry, Mapping) and "predictions" in entry for entry in document):
        groups = _entries(document, "predictions", file)
    else:
        groups = _flat(document, file)
    return _run(groups, file, _resolver(videos))


def parse_run_mapping(run: Mapping[Any, Any], file: str = "run") -> Run:
    """A run from `{query: [[video, start, end, score], ...]}`; videos that are not text are compared as text."""
    return _run(_mapping(run, file), file, str)


def parse_video_map(document: object, file: str) -> dict[int, str]:
    """`index -> name` from a decoded `{name: [duration, index]}`."""
    if not isinstance(document, Mapping):
        raise InputError.single(file, "a video map is an object `name -> [duration, index]`")
    names: dict[int, str] = {}
    problems = []
    for row, (name, value) in enumerate(document.items(), start=1):
        if not (isinstance(value, list) and len(value) == 2 and type(value[1]) is int):
            problems.append(Problem(file, row, f"video {name!r} does not map to [duration, index]"))
        elif names.setdefault(value[1], name) != name:
            problems.append(Problem(file, row, f"index {value[1]} names both {names[value[1]]!r} and {name!r}"))
    if problems:
        raise InputError(problems)
    return names


def _mapping(document: Mapping[Any, Any], file: str) -> list[_Group]:
    problems = []
    groups = []
    for row, (query, items) in enumerate(document.items(), start=1):
        if isinstance(items, (list, tuple)):
            groups.append(_Group(query, row, list(items)))
        else:
            problems.append(Problem(file, row, f"query {query} holds {_short(items)}, not a list"))
    if problems:
        raise InputError(problems)
    return groups


def _entries(document: list[object], field: str, file: str) -> list[_Group]:
    groups, problems = [], []
    for row, entry in enumerate(document, start=1):
        query = _query_of(entry)
        items = entry.get(field) if isinstance(entry, Mapping) else None
        if query is None:
            problems.append(Problem(file, row, "has no `query_id`"))
        elif not isinstance(items, list):
            problems.append(Problem(file, row, f"query {query} has no list `{field}`"))
        else:
            groups.append(_Group(query, row, items))
    if problems:
        raise InputError(problems)
    return groups


def _flat(document: list[object], file: str) -> list[_Group]:
    """Entries that are one moment each, gathered by query; None stands for an empty line."""
    groups: dict[str, _Group] = {}
    problems = []
    for row, entry in enumerate(document, start=1):
        if entry is None:
            continue
        query = _query_of(entry)
        if query is None:
            problems.append(Problem(file, row, "has no `query_id`"))
            continue
        group = groups.setdefault(str(query), _Group(query, row, [], []))
        group.items.append(entry)
        cast("list[int]", group.rows).append(row)
    if problems:
        raise InputError(problems)
    return list(groups.values())


def _query_of(entry: object) -> object:
    if not isinstance(entry, Mapping):
        return None
    return entry.get("query_id", entry.get("desc_id"))


def _truth(groups: list[_Group], file: str, fields: Sequence[str], name: NameVideo) -> Truth:
    spans, relevance = _columns_of(groups, file, lambda items: _objects(items, fields, name))
    return Truth(**spans, relevance=relevance)


def _run(groups: list[_Group], file: str, name: NameVideo) -> Run:
    first = next((item for group in groups for item in group.items), None)

    def read(items: list[object]) -> "_Raw":
        if isinstance(first, Mapping):
            return _objects(items, ("video_name", "timestamp", "model_scores"), name)
        return _lists(items, name)

    spans, score = _columns_of(groups, file, read)
    return Run(**spans, score=score)


_Raw = tuple[list[str], Floats, Floats, Floats]
"""Video names, starts, ends, and relevances or scores."""


def _columns_of(groups: list[_Group], file: str, read: Callable[[list[object]], _Raw]) -> tuple[dict[str, Any], Floats]:
    """The fields of `Spans`, and the last column; `read` runs over all items at once."""
    _check_queries(groups, file)
    items = [item for group in groups for item in group.items]
    try:
        names, start_s, end_s, value = read(items)
    except (ValueError, TypeError, LookupError, OverflowError):
        problems = _row_problems(groups, file, read)
        if not problems:
            raise
        raise InputError(problems) from None
    videos = tuple(dict.fromkeys(names))
    position = {video: n for n, video in enumerate(videos)}
    sizes = np.array([len(group.items) for group in groups], dtype=np.int64)
    offsets = offsets_of(sizes)
    lines = [row for group in groups for row in group.rows or ()]
    spans = {
        "file": file,
        "queries": tuple(group.query for group in groups),
        "query_rows": tuple(group.row for group in groups),
        "offsets": offsets,
        "videos": videos,
        "video": np.array([position[name] for name in names], dtype=np.int64),
        "start_s": start_s,
        "end_s": end_s,
        "row": np.array(lines or np.repeat([group.row for group in groups], sizes), dtype=np.int64),
        "number": np.arange(len(names)) - np.repeat(offsets[:-1], sizes) + 1,
    }
    return spans, value


def _check_queries(groups: list[_Group], file: str) -> None:
    problems = []
    seen: dict[str, int] = {}
    for group in groups:
        if isinstance(group.query, bool) or not isinstance(group.query, (int, str, np.integer)):
            problems.append(Problem(file, group.row, f"query id {_short(group.query)} is neither text nor integer"))
        elif (first := seen.setdefault(str(group.query), group.row)) != group.row:
            problems.append(Problem(file, group.row, f"query {group.query} was already given in row {first}"))
    if problems:
        raise InputError(problems)


def _row_problems(groups: list[_Group], file: str, read: Callable[[list[object]], _Raw]) -> list[Problem]:
    """Read item by item after reading them together failed, to name each that is to blame."""
    problems = []
    for group in groups:
        for number, item in enumerate(group.items, start=1):
            try:
                read([item])
            except KeyError as missing:
                message = f"has no field `{missing.args[0]}`"
            except (ValueError, TypeError, LookupError, OverflowError) as wrong:
                message = str(wrong)
            else:
                continue
            row = group.rows[number - 1] if group.rows else group.row
            problems.append(row_problem(file, row, cast("QueryKey", group.query), number, message))
    return problems


def _objects(items: list[object], fields: Sequence[str], name: NameVideo) -> _Raw:
    """Rows that are objects; `fields` are video, timestamp, value, or video, start, end, value."""
    if not all(isinstance(item, Mapping) for item in items):
        raise ValueError("is not an object")
    rows = cast("list[Mapping[str, Any]]", items)
    video, *times, value = ([row[field] for row in rows] for field in fields)
    if len(times) == 1:
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in times[0]):
            raise ValueError(f"`{fields[1]}` is not [start, end] in seconds")
        times = [[pair[0] for pair in times[0]], [pair[1] for pair in times[0]]]
    return _named(video, name), _floats(times[0], "start"), _floats(times[1], "end"), _floats(value, fields[-1])


def _lists(items: list[object], name: NameVideo) -> _Raw:
    """Rows that are `[video, start, end, score]`."""
    if not all(isinstance(item, (list, tuple)) and len(item) == 4 for item in items):
        raise ValueError("is not [video, start, end, score]")
    rows = cast("list[Sequence[Any]]", items)
    video, start, end, score = zip(*rows, strict=True) if rows else ((), (), (), ())
    return _named(video, name), _floats(start, "start"), _floats(end, "end"), _floats(score, "score")


def _named(videos: Sequence[Any], name: NameVideo) -> list[str]:
    for kind in set(map(type, videos)):
        if not issubclass(kind, (str, int, np.integer)) or kind is bool:
            raise ValueError(f"the video is {_short_kind(kind)}, not a name or an index")
    names = {video: video if isinstance(video, str) else name(video) for video in dict.fromkeys(videos)}
    return [names[video] for video in videos]


def _floats(values: Sequence[Any], what: str) -> Floats:
    for kind in set(map(type, values)):
        if not issubclass(kind, (int, float, np.integer, np.floating)) or kind is bool:
            raise ValueError(f"{what} is {_short_kind(kind)}, not a number")
    return np.array(values, dtype=np.float64)


def _name_only(video: QueryKey) -> str:
    raise ValueError(f"the video is the number {video}; a truth file names videos")


def _resolver(videos: Mapping[int, str] | None) -> NameVideo:
    def name(video: QueryKey) -> str:
        if videos is None:
            raise ValueError(f"the video is the index {video}; give --videos, a map `name -> [duration, index]`")
        if int(video) not in videos:
            raise ValueError(f"the video map has no index {video}")
        return videos[int(video)]

    return name


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _short_kind(kind: type) -> str:
    return {"NoneType": "null", "str": "text", "dict": "an object", "bool": "true or false"}.get(
        kind.__name__, f"a {kind.__name__}"
    )
