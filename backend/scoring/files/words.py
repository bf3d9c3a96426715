"""The field names that truth and run files use, and which of them a file has."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from backend.scoring.files.entry_rows import Names

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
