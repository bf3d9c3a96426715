"""Truth and run documents, already decoded or given as Python objects, into columns; every problem with its row.

Shapes that are wrong (a field missing, text where a number belongs) are refused here, all of them at once.
Values that are wrong (an end before its start) pass; see `matching.columns`. The bytes of files are for `formats`.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import numpy as np

from backend.ground.errors import InputError, Problem
from backend.ground.timespan import Floats
from backend.scoring.matching.columns import Indices, QueryKey, Run, Truth, offsets_of, row_problem

NameVideo = Callable[[QueryKey], str]
"""Turns what a row calls its video into the video's name, or raises `ValueError`."""

Raw = tuple[list[str], Floats, Floats, Floats]
"""Video names, starts, ends, and relevances or scores."""


@dataclass(frozen=True, slots=True)
class Names:
    """What rows that are objects call their fields; `times` is start and end, or one field of both."""

    video: str
    times: tuple[str, ...]
    value: str

    @property
    def all(self) -> tuple[str, ...]:
        """Every name."""
        return self.video, *self.times, self.value


@dataclass(slots=True)
class Group:
    """The raw rows of one query."""

    query: object
    row: int
    items: list[object]
    rows: list[int] | None = None
    """Each item's own place in the file, where items and not queries are its entries."""


class Doubled(dict[str, Any]):
    """A decoded object in which some keys stood more than once; the last value of each is kept."""

    twice: frozenset[str] = frozenset()


class NotANumber:
    """Stands for NaN, Infinity and numbers that are too large, which are no JSON but which many programs write."""


def parse_truth_mapping(truth: Mapping[Any, Any], file: str = "truth") -> Truth:
    """Truth from `{query: [{"video", "start", "end", "relevance"}]}`."""
    return truth_of(mapping_groups(truth, file), file, Names("video", ("start", "end"), "relevance"), str)


def parse_run_mapping(run: Mapping[Any, Any], file: str = "run") -> Run:
    """A run from `{query: [[video, start, end, score], ...]}`; videos that are not text are compared as text."""
    return run_of(mapping_groups(run, file), file, Names("video_name", ("timestamp",), "model_scores"), str)


def mapping_groups(document: Mapping[Any, Any], file: str) -> list[Group]:
    """The groups of `{query: rows}`."""
    problems = []
    groups = []
    for row, (query, items) in enumerate(document.items(), start=1):
        if isinstance(items, (list, tuple)):
            groups.append(Group(query, row, list(items)))
        else:
            problems.append(Problem(file, row, f"query {short(query)} holds {short(items)}, not a list"))
    if problems:
        raise InputError(problems)
    return groups


def truth_of(groups: list[Group], file: str, names: Names, name: NameVideo) -> Truth:
    """Truth whose rows are objects.

    Raises:
        InputError: with every row that is not of that shape, or query that was given before.
    """
    spans, relevance = _columns_of(groups, file, lambda items: _objects(items, names, name))
    return Truth(**spans, relevance=relevance)


def run_of(groups: list[Group], file: str, names: Names, name: NameVideo) -> Run:
    """A run whose rows are objects, or `[video, start, end, score]`: the first one decides.

    Raises:
        InputError: with every row that is not of that shape, or query that was given before.
    """
    first = next((item for group in groups for item in group.items), None)

    def read(items: list[object]) -> Raw:
        return _objects(items, names, name) if isinstance(first, Mapping) else _lists(items, name)

    spans, score = _columns_of(groups, file, read)
    return Run(**spans, score=score)


class Numbering:
    """Numbers whatever it meets, from 0 in the order in which it does.

    >>> numbering = Numbering()
    >>> numbering.of(["v2", "v1", "v2"]), numbering.of(["v1", "v3"]), list(numbering.known)
    (array([0, 1, 0]), array([1, 2]), ['v2', 'v1', 'v3'])
    """

    def __init__(self) -> None:
        # One look-up a value: one that is not known yet gets the next number.
        self.known: defaultdict[QueryKey, int] = defaultdict(count().__next__)

    def of(self, values: Sequence[QueryKey]) -> Indices:
        """The number of each value; shape (N,) for N values."""
        return np.fromiter(map(self.known.__getitem__, values), np.int64, len(values))


def gather(
    file: str,
    queries: Sequence[QueryKey],
    query_rows: Sequence[int],
    sizes: Indices,
    video: Indices,
    called: Sequence[QueryKey],
    name: NameVideo,
    rows: Sequence[int] | Indices | None = None,
) -> dict[str, Any]:
    """The fields of `Spans` but for its times.

    Args:
        file: its name.
        queries: the Q query ids.
        query_rows: where each query is in the file, from 1.
        sizes: how many moments each query has, in order; shape (Q,).
        video: the video of each moment, a place in `called`; shape (N,).
        called: what the moments call their videos, in the order in which they first do.
        name: turns that into a name.
        rows: where each moment is in the file; None if where its query is.
    """
    names: dict[str, int] = {}
    merged = [names.setdefault(name(video), len(names)) for video in called]
    if len(names) < len(called):  # called by its name here and by its index there
        video = np.array(merged, dtype=np.int64)[video]
    if fault := next((fault for text in names if (fault := _text_fault(text))), None):
        raise ValueError(f"the video's name {fault}")
    offsets = offsets_of(sizes)
    return {
        "file": file,
        "queries": tuple(queries),
        "query_rows": tuple(query_rows),
        "offsets": offsets,
        "videos": tuple(names),
        "video": video,
        "row": np.asarray(np.repeat(np.asarray(query_rows, np.int64), sizes) if rows is None else rows, np.int64),
        "number": np.arange(len(video)) - np.repeat(offsets[:-1], sizes) + 1,
    }


def _columns_of(groups: list[Group], file: str, read: Callable[[list[object]], Raw]) -> tuple[dict[str, Any], Floats]:
    """The fields of `Spans`, and the last column; `read` runs over all items at once."""
    _check_queries(groups, file)
    try:
        names, start_s, end_s, value = read([item for group in groups for item in group.items])
        numbering = Numbering()
        spans = gather(
            file,
            [cast("QueryKey", group.query) for group in groups],
            [group.row for group in groups],
            np.array([len(group.items) for group in groups], dtype=np.int64),
            numbering.of(names),
            list(numbering.known),
            str,
            [row for group in groups for row in group.rows or ()] or None,
        )
    except (ValueError, TypeError, LookupError, OverflowError):
        problems = _row_problems(groups, file, read)
        if not problems:
            raise
        raise InputError(problems) from None
    return {**spans, "start_s": start_s, "end_s": end_s}, value


def _check_queries(groups: list[Group], file: str) -> None:
    problems = []
    seen: dict[str, int] = {}
    for group in groups:
        if isinstance(group.query, bool) or not isinstance(group.query, (int, str, np.integer)):
            problems.append(Problem(file, group.row, f"query id {short(group.query)} is neither text nor integer"))
        elif fault := _text_fault(str(group.query)):
            problems.append(Problem(file, group.row, f"the query id {fault}"))
        elif (first := seen.setdefault(str(group.query), group.row)) != group.row:
            problems.append(Problem(file, group.row, f"query {group.query} was already given in row {first}"))
    if problems:
        raise InputError(problems)


def _row_problems(groups: list[Group], file: str, read: Callable[[list[object]], Raw]) -> list[Problem]:
    """Read query by query, then item by item, after reading them together failed, to name each that is to blame."""
    problems = []
    for group in groups:
        if _fault(group.items, read) is None:
            continue
        for number, item in enumerate(group.items, start=1):
            if message := _fault([item], read):
                row = group.rows[number - 1] if group.rows else group.row
                problems.append(row_problem(file, row, cast("QueryKey", group.query), number, message))
    return problems


def _fault(items: list[object], read: Callable[[list[object]], Raw]) -> str | None:
    try:
        names = read(items)[0]
    except KeyError as missing:
        return f"has no field `{missing.args[0]}`"
    except (ValueError, TypeError, LookupError, OverflowError) as wrong:
        return str(wrong)
    fault = next((fault for name in names if (fault := _text_fault(name))), None)
    return fault and f"the video's name {fault}"


def _objects(items: list[object], names: Names, name: NameVideo) -> Raw:
    """Rows that are objects."""
    if not _all_are(items, (Mapping,)):
        raise ValueError("is not an object")
    if twice := first_doubled(items, names.all):
        raise ValueError(f"has the field `{twice}` twice")
    rows = cast("list[Mapping[str, Any]]", items)
    video, *times, value = ([row[field] for row in rows] for field in names.all)
    if len(times) == 1:
        if not (_all_are(times[0], (list, tuple)) and set(map(len, times[0])) <= {2}):
            raise ValueError(f"`{names.times[0]}` is not [start, end] in seconds")
        times = [[pair[0] for pair in times[0]], [pair[1] for pair in times[0]]]
    return _named(video, name), _floats(times[0], "start"), _floats(times[1], "end"), _floats(value, names.value)


def _lists(items: list[object], name: NameVideo) -> Raw:
    """Rows that are `[video, start, end, score]`."""
    if not _all_are(items, (list, tuple)) or set(map(len, cast("list[list[object]]", items))) - {4}:
        raise ValueError("is not [video, start, end, score]")
    rows = cast("list[Sequence[Any]]", items)
    # Not `zip`: with so many arguments the garbage collector looks at every row again.
    video, start, end, score = ([row[place] for row in rows] for place in range(4))
    return _named(video, name), _floats(start, "start"), _floats(end, "end"), _floats(score, "score")


def _all_are(items: Sequence[object], kinds: tuple[type, ...]) -> bool:
    """Whether every item is of one of the kinds; asked once a type, not once an item."""
    return all(issubclass(kind, kinds) for kind in set(map(type, items)))


def first_doubled(items: Sequence[object], names: Sequence[str]) -> str | None:
    """One of the names that stands twice in one of these objects."""
    if not any(issubclass(kind, Doubled) for kind in set(map(type, items))):
        return None
    twice = (key for item in items if isinstance(item, Doubled) for key in item.twice)
    return next((key for key in twice if key in names), None)


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


def name_only(video: QueryKey) -> str:
    """The name of a video in a truth file."""
    if isinstance(video, str):
        return video
    raise ValueError(f"the video is the number {video}; a truth file names videos")


def resolver(videos: Mapping[int, str] | None) -> NameVideo:
    """The name of a video in a run, which may give it by index."""

    def name(video: QueryKey) -> str:
        if isinstance(video, str):
            return video
        if videos is None:
            raise ValueError(f"the video is the index {video}; give --videos, a map `name -> [duration, index]`")
        if int(video) not in videos:
            raise ValueError(f"the video map has no index {video}")
        return videos[int(video)]

    return name


def short(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 40 else text[:37] + "..."


def _text_fault(text: str) -> str | None:
    if not text.strip():
        return "is blank"
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"{short(text)} holds half of a character (a lone surrogate), which is no text"
    return None


def _short_kind(kind: type) -> str:
    return {
        "NoneType": "null",
        "str": "text",
        "dict": "an object",
        "Doubled": "an object",
        "bool": "true or false",
        "NotANumber": "NaN, infinite or too large",
    }.get(kind.__name__, f"a {kind.__name__}")
