"""Read runs whose rows name no video, for retrieval within each query's own video (as in 2D-TAN and others).

Such a file gives `[start, end]` or `[start, end, score]` for each query, best first. Either the file names the queries,
or its lists are in the order of the truth's queries. The truth is needed to know which video a row is about.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import UNDECODABLE
from backend.core.typed_text import nfc
from backend.scoring.files.documents import named_groups
from backend.scoring.files.entries import Group, run_of
from backend.scoring.files.forms.form import Opening, RunForm
from backend.scoring.files.text import decoded
from backend.scoring.files.words import RUN, RUN_WINDOWS, resolver
from backend.scoring.matching.columns import QueryKey, Run, Truth, row_problem

_FIRST_ROW = re.compile(r"\[\s*(\[[^\[\]{}]*\])")
_NAMING = (RUN_WINDOWS, "predicted_times")
"""Fields with rows of times, in entries that name their video."""


def lacks_videos(opening: Opening) -> bool:
    """Return whether the first row of a run file is two or three numbers: times without a video.

    >>> from backend.scoring.files.forms.form import opening_of
    >>> [lacks_videos(opening_of(run)) for run in (b'[[[0.5, 9], [2, 4]], [[1, 2]]]', b'{"5": [[3, 0, 9.5, 0.7]]}')]
    [True, False]
    """
    match = _FIRST_ROW.search(opening.text)
    before = opening.text[: match.start()] if match else ""
    if match is None or any(f'"{field}"' in before for field in _NAMING):
        return False
    lists = opening.nesting in ("[[", "{[") and "{" not in before[1:]
    if not lists and f'"{RUN.items}"' not in before:
        return False
    try:
        row = json.loads(match[1])
    except UNDECODABLE:
        return False
    return _are_times(row)


def rows_lack_videos(document: object) -> bool:
    """Return whether the first row of a decoded run is two or three numbers: times without a video.

    >>> rows_lack_videos({"q": [], "r": [(0.5, 9)]}), rows_lack_videos([{"qid": 5, "predictions": [["v", 0, 9, 1]]}])
    (True, False)
    """
    entries: Iterable[object] = ()
    if isinstance(document, Mapping):
        entries = document.values()
    elif isinstance(document, (list, tuple)):
        entries = (entry.get(RUN.items) if isinstance(entry, Mapping) else entry for entry in document)
    lists = (entry for entry in entries if isinstance(entry, (list, tuple)) and entry)
    return _are_times(next((rows[0] for rows in lists), None))


def _are_times(row: object) -> bool:
    """Return whether a row is `[start, end]` or `[start, end, score]`."""
    if not (isinstance(row, (list, tuple)) and len(row) in (2, 3)):
        return False
    return all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in row)


def own_video_run(document: object, file: str, truth: Truth | None) -> Run:
    """Return a run from predictions that name no video: each lies in its query's own video, which the truth gives.

    Predictions without a score are ranked in their order.

    Raises:
        InputError: there is no truth, or the file has more or fewer lists than the truth has queries. Otherwise, lists
            every row that is wrong, and every query with several videos in the truth.
    """
    if truth is None:
        message = said("its rows name no video, so it can only be read together with a truth")
        raise InputError.single(file, message)
    return run_in_own_videos(_groups(document, file, truth), file, truth)


def run_in_own_videos(groups: list[Group], file: str, truth: Truth) -> Run:
    """Return a run from each query's rows `[start, end]` or `[start, end, score]`, in the query's own video.

    Raises:
        InputError: lists every row that is wrong, and every query with several videos in the truth.
    """
    own = own_videos(truth)
    problems: list[Problem] = []
    for group in groups:
        videos = own.get(nfc(str(group.query)), ())
        if len(videos) > 1:
            message = said(
                "query {query} has moments in {n} videos, and its rows do not say in which",
                query=group.query,
                n=len(videos),
            )
            problems.append(Problem(file, group.row, message))
            continue
        # `prepare_run` reports queries that the truth lacks.
        video = next(iter(videos), "-")
        items: list[object] = []
        for number, row in enumerate(group.items, start=1):
            if not (isinstance(row, (list, tuple)) and len(row) in (2, 3)):
                query: QueryKey = str(group.query)
                problems.append(
                    row_problem(file, group.row, query, number, said("is not [start, end] or [start, end, score]"))
                )
                continue
            items.append([video, *row] if len(row) == 3 else [video, *row, float(-number)])
        group.items = items
    if problems:
        raise InputError(problems)
    return run_of(groups, file, RUN.usual, resolver(None))


def _groups(document: Any, file: str, truth: Truth) -> list[Group]:
    if not (isinstance(document, (list, tuple)) and document and isinstance(document[0], (list, tuple))):
        return named_groups(document, file)
    if len(document) != len(truth.queries):
        message = said(
            "has {n:,} lists of moments without query ids, but {file} has {queries:,} queries",
            n=len(document),
            file=truth.file,
            queries=len(truth.queries),
        )
        raise InputError.single(file, said("{message}; the lists must be in the same order", message=message))
    wrong = [row for row, items in enumerate(document, start=1) if not isinstance(items, (list, tuple))]
    if wrong:
        raise InputError([Problem(file, row, said("is not a list of moments")) for row in wrong])
    pairs = zip(truth.queries, document, strict=True)
    return [Group(query, row, list(items)) for row, (query, items) in enumerate(pairs, start=1)]


def own_videos(truth: Truth) -> Mapping[str, set[str]]:
    """Return `{query id: names of the videos with its moments}` for all queries of a truth."""
    own: dict[str, set[str]] = {str(query): set() for query in truth.queries}
    for query, video in zip(truth.query.tolist(), truth.video.tolist(), strict=True):
        own[str(truth.queries[query])].add(truth.videos[video])
    return own


FORMS = (
    RunForm(
        "own-video",
        "2D-TAN and others: times in each query's own video",
        lacks_videos,
        lambda content, file, truth: own_video_run(decoded(content, file), file, truth),
    ),
)
