"""Read field names and rows of truth and run files: which names a file has, and its rows, checked, as columns.

A row that is wrong raises what is wrong with it; `entries` finds which row that was.
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
"""Turns what a row calls its video into the video's name, or raises `ValueError`."""

Raw = tuple[list[QueryKey], Floats, Floats, Floats]
"""What rows call their videos, starts, ends, and relevances or scores."""


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


class Doubled(dict[str, Any]):
    """A decoded object in which some keys stood more than once; the last value of each is kept."""

    twice: frozenset[str] = frozenset()


class NotANumber:
    """Stands for NaN, Infinity and numbers that are too large, which are no JSON but which many programs write."""


def objects(items: list[object], names: Names) -> Raw:
    """Rows that are objects."""
    kinds = set(map(type, items))
    if not _are(kinds, (Mapping,)):
        raise ValueError(said("is not an object"))
    if _doubles(kinds) and (twice := first_doubled(items, names.all)):
        raise ValueError(said("has the field `{twice}` twice", twice=twice))
    rows = cast("list[Mapping[str, Any]]", items)
    video, *times, value = ([row[field] for row in rows] for field in names.all)
    if len(times) == 1:
        if not (_are(set(map(type, times[0])), (list, tuple)) and set(map(len, times[0])) <= {2}):
            raise ValueError(said("`{field}` is not [start, end] in seconds", field=names.times[0]))
        times = [[pair[0] for pair in times[0]], [pair[1] for pair in times[0]]]
    return video, _floats(times[0], "start"), _floats(times[1], "end"), _floats(value, names.value)


def lists(items: list[object]) -> Raw:
    """Rows that are `[video, start, end, score]`."""
    if not _are(set(map(type, items)), (list, tuple)) or set(map(len, cast("list[list[object]]", items))) - {4}:
        raise ValueError(said("is not [video, start, end, score]"))
    rows = cast("list[Sequence[Any]]", items)
    # Not `zip`: with so many arguments the garbage collector looks at every row again.
    video, start, end, score = ([row[place] for row in rows] for place in range(4))
    return video, _floats(start, "start"), _floats(end, "end"), _floats(score, "score")


def _are(kinds: set[type], wanted: tuple[type, ...]) -> bool:
    """Whether all these types are of one of the wanted: asked once a type, not once a row."""
    return all(issubclass(kind, wanted) for kind in kinds)


def _doubles(kinds: set[type]) -> bool:
    return any(issubclass(kind, Doubled) for kind in kinds)


def first_doubled(items: Sequence[object], names: Sequence[str]) -> str | None:
    """One of the names that stands twice in one of these objects."""
    if not _doubles(set(map(type, items))):
        return None
    twice = (key for item in items if isinstance(item, Doubled) for key in item.twice)
    return next((key for key in twice if key in names), None)


def check_called(videos: Sequence[object]) -> None:
    """Refuse what calls no video; a name may be missing, which is for `text_fault` to say."""
    for kind in set(map(type, videos)):
        if not issubclass(kind, (str, int, np.integer)) or kind is bool:
            raise ValueError(said("the video is {kind}, not a name or an index", kind=_short_kind(kind)))


def _floats(values: Sequence[Any], what: str) -> Floats:
    try:
        found = np.array(array("d", values))
        zeros_and_ones = np.flatnonzero((found == 0) | (found == 1)).tolist()
        if bool not in set(map(type, map(values.__getitem__, zeros_and_ones))):
            return found
    except TypeError:
        pass  # something is no number, and is named below
    for kind in set(map(type, values)):
        if not issubclass(kind, (int, float, np.integer, np.floating)) or kind is bool:
            raise ValueError(said("{what} is {kind}, not a number", what=what, kind=_short_kind(kind)))
    return np.fromiter(values, np.float64, len(values))


def name_only(video: QueryKey) -> str:
    """The name of a video in a truth file."""
    if isinstance(video, str):
        return video
    raise ValueError(said("the video is the number {video}; a truth file names videos", video=video))


def resolver(videos: Mapping[int, str] | None) -> NameVideo:
    """The name of a video in a run, which may give it by index."""

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
    r"""Return a query id as ids are compared: a text in its composed form (NFC).

    >>> canonical("cafe\u0301") == "caf\u00e9", canonical(5)
    (True, 5)
    """
    return nfc(query) if isinstance(query, str) else query


def lasting(durations: Iterable[tuple[object, object]]) -> dict[str, float]:
    """Seconds by the name of a video, of those durations that are some.

    >>> lasting([("v", 30), ("w", None), ("x", "30"), ("y", 0), ("z", 10**400)])
    {'v': 30.0}
    """
    known = ((str(name), one) for name, one in durations if isinstance(one, (int, float)) and not isinstance(one, bool))
    return {name: float(one) for name, one in known if 0 < one <= sys.float_info.max}


def short(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 40 else text[:37] + "..."


def text_fault(text: str) -> str | None:
    """Why a text names nothing; None if it does."""
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
"""Of the whole video, in seconds."""

TRUTH_LIST = "relevant_moment"
RUN_LIST = "predictions"
TRUTH_WINDOWS = "relevant_windows"
RUN_WINDOWS = "pred_relevant_windows"
TASKS = ("VCMR", "SVMR")
"""Tasks of TVR's own prediction files whose predictions are moments, the wanted one first."""
TASK_OF_VIDEOS = "VR"
"""The task of the same files in which only videos are ranked: all of its times are 0."""
TASK_VIDEOS = "video2idx"


@dataclass(frozen=True, slots=True)
class Kind:
    """What tells truth files from run files: words, and what moments of them look like unless they show it."""

    name: str
    value: Sequence[str]
    items: str
    windows: str
    usual: Names


TRUTH = Kind("truth", RELEVANCE, TRUTH_LIST, TRUTH_WINDOWS, Names("video_name", ("timestamp",), "relevance"))
RUN = Kind("run", SCORE, RUN_LIST, RUN_WINDOWS, Names("video_name", ("timestamp",), "model_scores"))


def pick(words: Sequence[str], keys: Collection[str]) -> str | None:
    """The first of the words that is a key.

    >>> pick(QUERY, {"desc_id": 7, "desc": "A dog runs."})
    'desc_id'
    """
    return next((word for word in words if word in keys), None)


def names_in(keys: Collection[str], kind: Kind) -> Names:
    """How an object with these keys calls its fields; the usual words for those that it lacks.

    >>> names_in({"video": "a", "start": 0, "end_s": 2, "relevance": 3}, TRUTH).all
    ('video', 'start', 'end_s', 'relevance')
    """
    one = pick(TIMES, keys)
    start, end = pick(START, keys), pick(END, keys)
    times: tuple[str, ...] = kind.usual.times
    if one:
        times = (one,)
    elif start or end:
        times = (start or START[0], end or END[0])
    return Names(pick(VIDEO, keys) or kind.usual.video, times, pick(kind.value, keys) or kind.usual.value)


def is_tvr_release(keys: Collection[str]) -> bool:
    """Whether an object is a line of TVR's own annotation files, which hold one relevant moment each."""
    return {"desc_id", "vid_name", "ts"} <= set(keys) and not pick(RELEVANCE, keys)
