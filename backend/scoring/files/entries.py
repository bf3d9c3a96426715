"""Read decoded truth and run documents, or Python objects, into columns. Every problem names its row.

Wrong shapes (a missing field, text in place of a number) are refused here, all at once. Wrong values (an end before
its start) pass; see `matching.columns`. `formats` reads the bytes of files.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, cast

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.timespan import Floats
from backend.core.typed_text import are_plain, is_visible, nfc
from backend.scoring.files.text import PartlyRead, Some, problems_with
from backend.scoring.files.words import (
    DURATION,
    RUN,
    TRUTH,
    Kind,
    Names,
    NameVideo,
    Raw,
    canonical,
    check_video_ids,
    durations_in,
    lists,
    names_in,
    objects,
    short,
    text_fault,
)
from backend.scoring.matching.columns import Indices, QueryKey, Run, Truth, offsets_of, row_problem


@dataclass(slots=True)
class Group:
    """One query with its moments as a file or caller gave them, not yet checked.

    `query` is the id, and `row` the query's row in the file, from 1. `items` are the moments. `rows` has the row of
    each item in the file; it is None if the file's entries are queries, so that items have no rows of their own.
    """

    query: object
    row: int
    items: list[object]
    rows: list[int] | None = None


def parse_truth_mapping(truth: Mapping[Any, Any], file: str = "truth") -> Truth:
    """Return the truth from `{query: [{"video", "start", "end", "relevance"}]}`.

    Fields may have any name that truth files use, such as `video_name`.
    """
    groups = mapping_groups(truth, file)
    return truth_of(groups, file, names_of(groups, TRUTH), str)


def parse_run_mapping(run: Mapping[Any, Any], file: str = "run", name: NameVideo = str) -> Run:
    """Return a run from `{query: [[video, start, end, score], ...]}`, where scores may be left out.

    A prediction may also be an object whose fields have any name that run files use. `name` returns a video's name for
    the id in a prediction. By default the id itself is the name.
    """
    groups = mapping_groups(run, file)
    return run_of(groups, file, names_of(groups, RUN), name)


def mapping_groups(document: Mapping[Any, Any], file: str) -> Some[Group]:
    """Return a `Group` for each query of `{query: rows}`, and the problems of queries whose value is no list."""
    problems = []
    groups = []
    for row, (query, items) in enumerate(document.items(), start=1):
        if isinstance(items, (list, tuple)):
            groups.append(Group(query, row, items if isinstance(items, list) else list(items)))
        else:
            problems.append(
                Problem(
                    file, row, said("query {query} holds {items}, not a list", query=short(query), items=short(items))
                )
            )
    return Some(groups, problems)


def by_query(
    queries: Sequence[object], rows: Sequence[int], items: Sequence[object], ranks: Sequence[int] | None, file: str
) -> Some[Group]:
    """Group moments by query: `queries`, `rows` (in the file) and `ranks` have one value for each of `items`.

    If ranks are given, they decide the order within a query. A rank that a query has twice is a problem. The result has
    the groups and, in `problems`, all problems.
    """
    places_of: dict[object, list[int]] = {}
    for place, query in enumerate(queries):
        places_of.setdefault(query, []).append(place)
    if any(isinstance(query, str) and not query.isascii() for query in places_of):
        unmerged, places_of = places_of, {}
        for query, places in unmerged.items():
            places_of.setdefault(nfc(query) if isinstance(query, str) else query, []).extend(places)
        for places in places_of.values():
            places.sort()
    problems = []
    for query, places in places_of.items():
        if ranks is None:
            break
        row_of_rank: dict[int, int] = {}
        for place in places:
            if (first := row_of_rank.setdefault(ranks[place], rows[place])) != rows[place]:
                message = said(
                    "rank {rank} of query {query} was already given in row {first}",
                    query=query,
                    rank=ranks[place],
                    first=first,
                )
                problems.append(Problem(file, rows[place], message))
        places.sort(key=ranks.__getitem__)
    groups = [
        Group(query, rows[min(places)], [items[place] for place in places], [rows[place] for place in places])
        for query, places in places_of.items()
    ]
    return Some(groups, problems)


def names_of(groups: list[Group], kind: Kind) -> Names:
    """Return the names that a file uses for the video, the times and the value of a moment.

    They are those of the first object among the moments of a truth. In a run, they are those of the first prediction.
    Moments that are lists have no names; the default names are returned for them.
    """
    items = chain.from_iterable(group.items for group in groups)
    first = next(items, {})
    if kind is TRUTH and not isinstance(first, Mapping):
        first = next((item for item in items if isinstance(item, Mapping)), {})
    return names_in(first if isinstance(first, Mapping) else {}, kind)


def truth_of(groups: list[Group], file: str, names: Names, name: NameVideo) -> Truth:
    """Return the truth from moments that are objects, whose fields are called as `names` says.

    `name` returns a video's name for the id in a moment.

    Raises:
        PartlyRead: lists every moment that has a wrong structure, and every repeated query. Its attribute
            `rest` is the truth without them.
    """
    spans, relevance, problems = _columns_of(groups, file, lambda items: objects(items, names), name)
    items = (item for group in groups for item in group.items if isinstance(item, Mapping))
    durations = durations_in((item.get(names.video), item.get(DURATION)) for item in items)
    truth = Truth(**spans, relevance=relevance, durations=durations)
    if problems:
        raise PartlyRead(problems, truth)
    return truth


def run_of(groups: list[Group], file: str, names: Names, name: NameVideo) -> Run:
    """Return a run from predictions that are all objects, or all lists `[video, start, end, score]`.

    If the first prediction is `[video, start, end]`, none may have a score, and their order decides the ranks.

    `names` has the field names of the objects. `name` returns a video's name for the id in a prediction.

    Raises:
        PartlyRead: lists every prediction that has a wrong structure, and every repeated query. Its attribute
            `rest` is the run without them.
    """
    first = next((item for group in groups for item in group.items), None)

    width = 3 if isinstance(first, (list, tuple)) and len(first) == 3 else 4

    def read(items: list[object]) -> Raw:
        return objects(items, names) if isinstance(first, Mapping) else lists(items, width)

    spans, score, problems = _columns_of(groups, file, read, name)
    run = Run(**spans, score=score)
    if problems:
        raise PartlyRead(problems, run)
    return run


class Numbering:
    """Assigns numbers to values, from 0, in the order in which they first occur.

    >>> numbering = Numbering()
    >>> numbering.of(["v2", "v1", "v2"]), numbering.of(["v1", "v3"]), list(numbering.known)
    (array([0, 1, 0]), array([1, 2]), ['v2', 'v1', 'v3'])
    """

    def __init__(self) -> None:
        # A single look-up for each value: a new one gets the next number.
        self.known: defaultdict[QueryKey, int] = defaultdict(count().__next__)

    def of(self, values: Sequence[QueryKey]) -> Indices:
        """Return the number of each value; shape (N,) for N values."""
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
    """Return the arguments that create a `Spans` (moments as columns), except the start and end times.

    Args:
        file: the file's name.
        queries: the Q query ids.
        query_rows: the row of each query in the file, from 1.
        sizes: how many moments each query has, in order; shape (Q,).
        video: the video of each moment, as an index of `called`; shape (N,).
        called: the ids that moments give for their videos, in the order of their first use.
        name: returns the name for such an id.
        rows: the row of each moment in the file; None if it is that of its query.
    """
    names: dict[str, int] = {}
    video_names = [name(video) for video in called]
    plain = are_plain(video_names)  # checked for all at once, because most files have only plain names
    merged = [names.setdefault(text if plain else nfc(text), len(names)) for text in video_names]
    if len(names) < len(called):  # a video occurs by name and by index, or with two forms of its name
        video = np.array(merged, dtype=np.int64)[video]
    doubtful = (text for text in names if not (plain and text.strip()))
    if fault := next((fault for text in doubtful if (fault := text_fault(text))), None):
        raise ValueError(said("the video's name {fault}", fault=fault))
    offsets = offsets_of(sizes)
    return {
        "file": file,
        "queries": tuple([query if type(query) is int else canonical(query) for query in queries]),
        "query_rows": tuple(query_rows),
        "offsets": offsets,
        "videos": tuple(names),
        "video": video,
        "row": np.asarray(np.repeat(np.asarray(query_rows, np.int64), sizes) if rows is None else rows, np.int64),
        "number": np.arange(len(video)) - np.repeat(offsets[:-1], sizes) + 1,
    }


def _columns_of(
    groups: list[Group], file: str, read: Callable[[list[object]], Raw], name: NameVideo
) -> tuple[dict[str, Any], Floats, list[Problem]]:
    """Return the arguments that create a `Spans`, the relevances or scores, and the problems of unreadable moments.

    Unreadable moments are left out. `read` converts a list of moments to columns, and `name` returns a video's name for
    its id.
    """
    known = _with_ids(groups, file)
    try:
        return *_gathered(known, file, read, name), [*problems_with(groups), *known.problems]
    except (ValueError, TypeError, LookupError, OverflowError):
        good = _readable(known, file, read, name)
        if not good.problems:
            raise
    problems = [*problems_with(groups), *known.problems, *good.problems]
    try:
        return *_gathered(good, file, read, name), problems
    except (ValueError, TypeError, LookupError, OverflowError):
        raise InputError(problems) from None


def _gathered(
    groups: list[Group], file: str, read: Callable[[list[object]], Raw], name: NameVideo
) -> tuple[dict[str, Any], Floats]:
    videos, start_s, end_s, value = read(list(chain.from_iterable([group.items for group in groups])))
    numbering = Numbering()
    number = numbering.of(videos)
    if set(map(type, numbering.known)) - {str}:
        check_video_ids(videos)  # 7 and 7.0 have one number, but only one of them is an index
    spans = gather(
        file,
        [cast("QueryKey", group.query) for group in groups],
        [group.row for group in groups],
        np.array([len(group.items) for group in groups], dtype=np.int64),
        number,
        list(numbering.known),
        name,
        [row for group in groups for row in group.rows or ()] or None,
    )
    return {**spans, "start_s": start_s, "end_s": end_s}, value


def _with_ids(groups: list[Group], file: str) -> Some[Group]:
    """Return the groups whose query id is valid and not repeated, and the problems of the other groups."""
    if set(map(type, queries := [group.query for group in groups])) <= {str, int}:
        texts = list(map(str, queries))
        if len(set(texts)) == len(texts) and all(map(is_visible, texts)) and "".join(texts).isascii():
            return Some(groups)
    good: Some[Group] = Some()
    first_rows: dict[str, int] = {}
    for group in groups:
        if isinstance(group.query, bool) or not isinstance(group.query, (int, str, np.integer)):
            message = said("query id {query} is neither text nor integer", query=short(group.query))
        elif fault := text_fault(str(group.query)):
            message = said("the query id {fault}", fault=fault)
        elif (first := first_rows.setdefault(nfc(str(group.query)), group.row)) != group.row:
            message = said("query {query} was already given in row {first}", query=group.query, first=first)
        else:
            good.append(group)
            continue
        good.problems.append(Problem(file, group.row, message))
    return good


def _readable(groups: list[Group], file: str, read: Callable[[list[object]], Raw], name: NameVideo) -> Some[Group]:
    """Return the groups with only their readable moments, and the problems of the unreadable ones.

    It is used after reading all moments at once failed. Each query's moments are tried together first, then one by one.
    """
    readable: Some[Group] = Some()
    for group in groups:
        if _fault(group.items, read, name) is None:
            readable.append(group)
            continue
        good = []
        for number, item in enumerate(group.items, start=1):
            if message := _fault([item], read, name):
                row = group.rows[number - 1] if group.rows else group.row
                readable.problems.append(row_problem(file, row, cast("QueryKey", group.query), number, message))
            else:
                good.append(number - 1)
        rows = [group.rows[place] for place in good] if group.rows else None
        readable.append(Group(group.query, group.row, [group.items[place] for place in good], rows))
    return readable


def _fault(items: Sequence[object], read: Callable[[list[object]], Raw], name: NameVideo) -> str | None:
    try:
        check_video_ids(videos := read(list(items))[0])
        names = [name(video) for video in videos]
    except KeyError as missing:
        return said("has no field `{field}`", field=missing.args[0])
    except (ValueError, TypeError, LookupError, OverflowError) as wrong:
        return str(wrong)
    fault = next((fault for text in names if (fault := text_fault(text))), None)
    return fault and said("the video's name {fault}", fault=fault)
