"""Define the field names of truth and run files, and check rows and convert them to columns.

A wrong row raises an error that says what is wrong; `entries` finds out which row it was.
"""

import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from backend.core.messages import said
from backend.core.timespan import Floats
from backend.core.typed_text import is_visible, nfc
from backend.scoring.matching.columns import QueryKey

NameVideo = Callable[[QueryKey], str]
"""A function that returns a video's name for the id in a row, or raises `ValueError`."""

Raw = tuple[list[QueryKey], Floats, Floats, Floats]
"""The video ids, starts, ends, and relevances or scores of rows."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the fields in which a file's moments have their video, times, and relevance or score (`value`).

    `times` has two names, for start and end, or the name of one field with both.
    """

    video: str
    times: tuple[str, ...]
    value: str

    @property
    def all(self) -> tuple[str, ...]:
        """The names of all fields: video, times, value."""
        return self.video, *self.times, self.value


class Doubled(dict[str, Any]):
    """A decoded object with repeated keys, named in `twice`; it has the last value of each."""

    twice: frozenset[str] = frozenset()


class NotANumber:
    """Stands for NaN, Infinity and numbers that are too large: not valid JSON, but written by many programs."""


def objects(items: list[object], names: Names) -> Raw:
    """Convert moments that are objects to columns: video ids, starts, ends, and relevances or scores.

    Raises:
        ValueError: a moment has a wrong structure; the message says what is wrong.
        KeyError: a moment lacks a field.
    """
    kinds = set(map(type, items))
    if not _all_of(kinds, (Mapping,)):
        raise ValueError(said("is not an object"))
    if _any_doubled(kinds) and (twice := first_doubled(items, names.all)):
        raise ValueError(said("has the field `{twice}` twice", twice=twice))
    rows = cast("list[Mapping[str, Any]]", items)
    video, *times, value = ([row[field] for row in rows] for field in names.all)
    if len(times) == 1:
        if not (_all_of(set(map(type, times[0])), (list, tuple)) and set(map(len, times[0])) <= {2}):
            raise ValueError(said("`{field}` is not [start, end] in seconds", field=names.times[0]))
        times = [[pair[0] for pair in times[0]], [pair[1] for pair in times[0]]]
    return video, _floats(times[0], "start"), _floats(times[1], "end"), _floats(value, names.value)


def lists(items: list[object], width: int = 4) -> Raw:
    """Convert predictions `[video, start, end, score]` to columns: video ids, starts, ends and scores.

    With `width=3` they are `[video, start, end]`. Their scores are then -1, -2, ..., so that their order counts.

    Raises:
        ValueError: a prediction has a wrong structure; the message says what is wrong.
    """
    if not _all_of(set(map(type, items)), (list, tuple)) or set(map(len, cast("list[list[object]]", items))) - {width}:
        if width == 3:
            raise ValueError(said("is not [video, start, end], as the first prediction is"))
        raise ValueError(said("is not [video, start, end, score]"))
    rows = cast("list[Sequence[Any]]", items)
    # Not `zip`: with so many arguments the garbage collector visits every row again.
    video, start, end, *score = ([row[place] for row in rows] for place in range(width))
    scores = _floats(score[0], "score") if score else -np.arange(1.0, len(rows) + 1)
    return video, _floats(start, "start"), _floats(end, "end"), scores


def _all_of(kinds: set[type], bases: tuple[type, ...]) -> bool:
    """Return whether each type is a subclass of one of `bases`.

    It is faster to check each type once than to check every row.
    """
    return all(issubclass(kind, bases) for kind in kinds)


def _any_doubled(kinds: set[type]) -> bool:
    return any(issubclass(kind, Doubled) for kind in kinds)


def first_doubled(items: Sequence[object], names: Sequence[str]) -> str | None:
    """Return a key among `names` that occurs twice in one of the decoded objects `items`; None if there is none."""
    if not _any_doubled(set(map(type, items))):
        return None
    twice = (key for item in items if isinstance(item, Doubled) for key in item.twice)
    return next((key for key in twice if key in names), None)


def check_video_ids(videos: Sequence[object]) -> None:
    """Check that every video id is text (a name) or a whole number (an index).

    Raises:
        ValueError: one is of another type.
    """
    for kind in set(map(type, videos)):
        if not issubclass(kind, (str, int, np.integer)) or kind is bool:
            raise ValueError(said("the video is {kind}, not a name or an index", kind=_short_kind(kind)))


def _floats(values: Sequence[Any], what: str) -> Floats:
    try:
        numbers = np.array(array("d", values))
        zeros_and_ones = np.flatnonzero((numbers == 0) | (numbers == 1)).tolist()
        if bool not in set(map(type, map(values.__getitem__, zeros_and_ones))):
            return numbers
    except TypeError:
        pass  # a value is not a number: reported below
    for kind in set(map(type, values)):
        if not issubclass(kind, (int, float, np.integer, np.floating)) or kind is bool:
            raise ValueError(said("{what} is {kind}, not a number", what=what, kind=_short_kind(kind)))
    return np.fromiter(values, np.float64, len(values))


def name_only(video: QueryKey) -> str:
    """Return a video's name from a truth file unchanged; raise `ValueError` if it is a number instead of a text."""
    if isinstance(video, str):
        return video
    raise ValueError(said("the video is the number {video}; a truth file names videos", video=video))


def resolver(videos: Mapping[int, str] | None) -> NameVideo:
    """Return a function that converts the video id in a prediction, a name or an index, to the video's name.

    The function raises `ValueError` if `videos`, the names by index, is None or lacks the index.
    """

    def name(video: QueryKey) -> str:
        if isinstance(video, str):
            return video
        if videos is None:
            raise ValueError(
                said("the video is the index {video}; give --videos, a map `name -> [duration, index]`", video=video)
            )
        if int(video) not in videos:
            raise ValueError(said("the video map has no index {video}", video=video))
        return videos[int(video)]

    return name


def canonical(query: QueryKey) -> QueryKey:
    r"""Return a query id in the form used for comparisons: text in Unicode's composed form (NFC), numbers unchanged.

    >>> canonical("cafe\u0301") == "caf\u00e9", canonical(5)
    (True, 5)
    """
    return nfc(query) if isinstance(query, str) else query


def durations_in(durations: Iterable[tuple[object, object]]) -> dict[str, float]:
    """Return the valid durations in seconds, by the name of the video.

    >>> durations_in([("v", 30), ("w", None), ("x", "30"), ("y", 0), ("z", 10**400)])
    {'v': 30.0}
    """
    known = (
        (str(name), value)
        for name, value in durations
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    )
    return {name: float(value) for name, value in known if 0 < value <= sys.float_info.max}


def short(value: object) -> str:
    """Return a value as messages show it, in at most 40 characters."""
    try:
        text = repr(value).encode("utf-8", "backslashreplace").decode()
    except RecursionError:  # nested too deep
        text = str(type(value))
    return text if len(text) <= 40 else text[:37] + "..."


def text_fault(text: str) -> str | None:
    """Return why a text is no valid name, or None."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return said("{given} contains half of a character (a lone surrogate), which is not text", given=short(text))
    return None if is_visible(text) else said("is blank")


def _short_kind(kind: type) -> str:
    return {
        "NoneType": said("null"),
        "str": said("text"),
        "dict": said("an object"),
        "Doubled": said("an object"),
        "bool": said("true or false"),
        "NotANumber": said("NaN, infinite or too large"),
    }.get(kind.__name__, said("a {kind}", kind=kind.__name__))


QUERY = ("query_id", "qid", "desc_id")
VIDEO = ("video", "video_name", "vid_name", "vid", "video_id")
START = ("start", "start_s", "start_time", "st")
END = ("end", "end_s", "end_time", "ed")
TIMES = ("timestamp", "ts")
RELEVANCE = ("relevance", "rel")
SCORE = ("score", "model_scores", "model_score")
RANK = "rank"
DURATION = "duration"
"""The field with the duration of the whole video, in seconds."""

TRUTH_LIST = "relevant_moment"
RUN_LIST = "predictions"
TRUTH_WINDOWS = "relevant_windows"
RUN_WINDOWS = "pred_relevant_windows"
RUN_SALIENCY = "pred_saliency_scores"
"""The field of QVHighlights with a score for each clip; a run may have it without moments."""
TASKS = ("VCMR", "SVMR")
"""Tasks of TVR's own prediction files whose predictions are moments; the first one is preferred."""
TASK_OF_VIDEOS = "VR"
"""The task of the same files that ranks only videos; all its times are 0."""
TASK_VIDEOS = "video2idx"


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the two kinds of files, truth or run (`name`), with the field names that such files use.

    `value` has the possible names of the field with the relevance or score, preferred first. `items` names the field
    with a query's moments, and `windows` that field in QVHighlights files. `usual` has the default names of a moment's
    fields.
    """

    name: str
    value: Sequence[str]
    items: str
    windows: str
    usual: Names


TRUTH = Kind("truth", RELEVANCE, TRUTH_LIST, TRUTH_WINDOWS, Names("video_name", ("timestamp",), "relevance"))
RUN = Kind("run", SCORE, RUN_LIST, RUN_WINDOWS, Names("video_name", ("timestamp",), "model_scores"))


def pick(words: Sequence[str], keys: Collection[str]) -> str | None:
    """Return the first of `words` that is in `keys`; None if none of them is.

    >>> pick(QUERY, {"desc_id": 7, "desc": "A dog runs."})
    'desc_id'
    """
    return next((word for word in words if word in keys), None)


def are_tasks(keys: Collection[str]) -> bool:
    """Return whether these are the keys of TVR's own prediction files: tasks and the names of videos, nothing else.

    A run whose queries have the same names as tasks is no such file, as long as one of its queries has not.

    >>> are_tasks({"VCMR", "VR", "video2idx"}), are_tasks({"VCMR", "7"}), are_tasks({"7"}), are_tasks(())
    (True, False, False, False)
    """
    return bool(keys) and {*keys} <= {*TASKS, TASK_OF_VIDEOS, TASK_VIDEOS}


def names_in(keys: Collection[str], kind: Kind) -> Names:
    """Return the names of an object's fields, given its keys; missing fields get their default names.

    >>> names_in({"video": "a", "start": 0, "end_s": 2, "relevance": 3}, TRUTH).all
    ('video', 'start', 'end_s', 'relevance')
    """
    both_times = pick(TIMES, keys)
    start, end = pick(START, keys), pick(END, keys)
    times: tuple[str, ...] = kind.usual.times
    if both_times:
        times = (both_times,)
    elif start or end:
        times = (start or START[0], end or END[0])
    return Names(pick(VIDEO, keys) or kind.usual.video, times, pick(kind.value, keys) or kind.usual.value)


def is_tvr_release(keys: Collection[str]) -> bool:
    """Return whether an object is a line of TVR's own annotation files, which have one relevant moment on each line."""
    return {"desc_id", "vid_name", "ts"} <= set(keys) and not pick(RELEVANCE, keys)
