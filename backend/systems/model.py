"""Inputs and outputs of every retrieval system: the search task, its answers, windows of videos, and the run file."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, inf
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from backend.core.atomic_output import new_files, require_new_file
from backend.core.errors import InputError, Problem
from backend.media.sources import Source

TOP = 100
"""Answers a query, as runs of the field have them."""

_NOISE_MS = 1e-6
"""Binary fractions are this little below the decimals that they stand for."""


class KnownMoment(NamedTuple):
    """A moment of a video with a known place, in seconds, and its caption, which may be empty."""

    video: str
    start_s: float
    end_s: float
    caption: str = ""


class Predicted(NamedTuple):
    """One predicted moment for a query; a higher score is better."""

    video: str
    start_s: float
    end_s: float
    score: float


Answers = dict[str, list[Predicted]]
"""Query id -> its answers, best first."""


@dataclass(frozen=True, slots=True)
class SearchTask:
    """Queries, and the videos in which to find their moments.

    Attributes:
        source: the file that the task was read from, for messages.
        queries: the text of each query, by id, in order.
        durations: the duration of each video that is searched, in seconds.
        captions: captioned moments in these videos. A system that uses them knows what annotators wrote.
        training: moments to learn from, for a system that is trained; they belong to other queries than `queries`.
        training_durations: the durations of the videos of `training`, in seconds; they may be other videos.
        files: the file of each video, if it is known.
    """

    source: str
    queries: Mapping[str, str]
    durations: Mapping[str, float]
    captions: Sequence[KnownMoment] = ()
    training: Sequence[KnownMoment] = ()
    training_durations: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, Source] = field(default_factory=dict)

    @property
    def videos(self) -> list[str]:
        """The names of the videos to search, sorted."""
        return sorted(self.durations)


def require_searchable(task: SearchTask) -> None:
    """Raise an error if no system can answer a task.

    Raises:
        InputError: the task has no queries or no videos, or a video has no duration.
    """
    if not task.queries:
        raise InputError.single(task.source, "has no queries with a text")
    if not task.durations:
        raise InputError.single(task.source, "does not say which videos there are and how long they last")
    if wrong := next((name for name in task.videos if not 0 < task.durations[name] < np.inf), None):
        raise InputError.single(task.source, f"video {wrong}: its duration is {task.durations[wrong]:g} s")


def require_texts(task: SearchTask) -> None:
    """Raise an error if a query has no text, for systems that need it.

    Raises:
        InputError: names each query without a text.
    """
    if empty := [query for query, text in task.queries.items() if not text.strip()]:
        raise InputError([Problem(task.source, None, f"query {query} has no text") for query in empty])


def in_ms(video: str, start_s: float, end_s: float, score: float) -> Predicted:
    """Return a prediction whose times are rounded down to milliseconds; the end is at least 1 ms after the start.

    Short times keep run files readable, and measures of overlap can be computed exactly from whole milliseconds.

    >>> in_ms("v", 1 / 3, 2.001, 1.0)
    Predicted(video='v', start_s=0.333, end_s=2.001, score=1.0)
    """
    start, end = (floor(time_s * 1000 + _NOISE_MS) for time_s in (start_s, end_s))
    return Predicted(video, start / 1000, max(end, start + 1) / 1000, float(score))


def generator(seed: int, query: str) -> np.random.Generator:
    """Return a random generator that depends on the seed and the query alone, not on the other queries.

    >>> generator(0, "q1").random() == generator(0, "q1").random(), generator(0, "q1").random() < 1
    (True, True)
    """
    digest = hashlib.blake2b(f"{seed}\0{query}".encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


def write_answers(out: Path, answers: Answers) -> None:
    """Write predictions to a run file, `{query_id: [[video, start, end, score], ...]}`, best first.

    Raises:
        ProjectError: the file exists, or cannot be made.
    """
    require_new_file(out)
    lines = (msgspec.json.encode(query) + b": " + msgspec.json.encode(moments) for query, moments in answers.items())
    with new_files(out.parent) as own:
        (own / out.name).write_bytes(b"{\n" + b",\n".join(lines) + b"\n}\n")


LENGTHS_S = (4.0, 8.0, 16.0, 32.0)
"""Lengths of windows in seconds. The mean moment of TVR lasts 9 s, that of ActivityNet Captions 36 s."""
PER_S = 1.0
NMS = 0.5


@dataclass(frozen=True, slots=True)
class Windowing:
    """The windows of each video that a system compares with a query.

    Attributes:
        per_s: frames a second.
        lengths_s: lengths of windows, in seconds; each window begins half a length after the one before it.
        nms: IoU in (0, 1] above which a better window of the same video suppresses a worse one.
    """

    per_s: float = PER_S
    lengths_s: tuple[float, ...] = LENGTHS_S
    nms: float = NMS

    def __post_init__(self) -> None:
        """Raise an `InputError` if an option is out of range."""
        if not 0 < self.per_s < inf:
            raise InputError.single("frames a second", f"{self.per_s:g} is not above 0")
        if not self.lengths_s or not all(0 < length < inf for length in self.lengths_s):
            raise InputError.single("windows", f"{list(self.lengths_s)} are not lengths above 0")
        if not 0 < self.nms <= 1:
            raise InputError.single("nms", f"{self.nms:g} is not above 0 and at most 1")


def windows(duration_s: float, lengths_s: Sequence[float]) -> list[tuple[float, float]]:
    """Return the windows of a video as (start, end) in seconds, one length after the other.

    Each window starts half a length after the one before; the last one of each length ends with the video. A length of
    at least the video's duration gives one window, the whole video.

    >>> windows(10.0, [4.0, 8.0])
    [(0.0, 4.0), (2.0, 6.0), (4.0, 8.0), (6.0, 10.0), (0.0, 8.0), (2.0, 10.0)]
    >>> windows(5.0, [4.0, 8.0, 16.0])
    [(0.0, 4.0), (1.0, 5.0), (0.0, 5.0)]
    """
    spans: dict[tuple[float, float], None] = {}
    for length_s in lengths_s:
        if length_s >= duration_s:
            spans[0.0, duration_s] = None
            continue
        steps = ceil((duration_s - length_s) / (length_s / 2))
        for step in range(steps):
            spans[step * length_s / 2, step * length_s / 2 + length_s] = None
        spans[duration_s - length_s, duration_s] = None
    return list(spans)
