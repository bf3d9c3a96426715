"""Hold pools: videos, their moments, the queries with the videos each is searched in, and how runs are scored there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from backend.core.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class PoolMoment:
    """What a sentence says happens in `[start_s, end_s)` of a video, in seconds."""

    video: str
    start_s: float
    end_s: float
    sentence: str


@dataclass(frozen=True, slots=True)
class PoolQuery:
    """A sentence of its own video, searched in a pool of videos.

    `query_id` is `VIDEO#N`, N counting the video's sentences from 0. `positives` are all moments that match: those of
    the own video first, `own` at their head, then those of other videos. `videos` is the pool, no video twice, the own
    one first.
    """

    query_id: str
    text: str
    own: PoolMoment
    positives: tuple[PoolMoment, ...]
    videos: tuple[str, ...]

    @property
    def positive_videos(self) -> tuple[str, ...]:
        """The videos that hold a positive, each once, the own one first."""
        return tuple(dict.fromkeys(moment.video for moment in self.positives))

    @property
    def negatives(self) -> tuple[str, ...]:
        """The videos of the pool without a positive: what distracts from the others."""
        positive = set(self.positive_videos)
        return tuple(video for video in self.videos if video not in positive)


@dataclass(frozen=True, slots=True)
class Pools:
    """The queries of a file, and its videos: how many seconds each lasts, and all that is said of it, in file order.

    Sentences without a pool are in `moments` and are no queries.
    """

    queries: tuple[PoolQuery, ...]
    durations: Mapping[str, float]
    moments: Mapping[str, tuple[PoolMoment, ...]]

    @property
    def size(self) -> int:
        """How many videos a full pool has: as many as the largest; 0 without queries."""
        return max((len(query.videos) for query in self.queries), default=0)

    @property
    def full(self) -> tuple[PoolQuery, ...]:
        """The queries whose pool is not short; the others are in no published figure."""
        size = self.size
        return tuple(query for query in self.queries if len(query.videos) == size)


def occurrences(moments: tuple[PoolMoment, ...], number: int) -> tuple[PoolMoment, ...]:
    """The `number`-th moment of a video, and the others for which it has the same sentence, no span twice.

    Sentences are the same where they differ in nothing but white space.

    >>> sentences = ["He sits.", "She sits.", "He sits."]
    >>> said = tuple(PoolMoment("a", start, start + 2, text) for start, text in zip([0, 4, 7], sentences, strict=True))
    >>> [moment.start_s for moment in occurrences(said, 2)]
    [7, 0]
    """
    own = moments[number]
    words = own.sentence.split()
    found = {(own.start_s, own.end_s): own}
    for moment in moments:
        if moment.sentence.split() == words:
            found.setdefault((moment.start_s, moment.end_s), moment)
    return tuple(found.values())


Outside = Literal["error", "drop"]
TOP_VIDEOS = 5
"""Of the two-step, where only the first step's file is given."""


@dataclass(frozen=True, slots=True)
class PoolConventions:
    """The choices that change what of a run counts in pools.

    Raises:
        InputError: naming every choice that there is not.

    >>> PoolConventions(one_per_video=True).options
    {'one_per_video': True}
    """

    outside: Outside = "error"
    """Moments of videos that are not in the query's pool: refuse the file, or leave them out and count them."""
    one_per_video: bool = False
    """Keep the best moment of each video by score, then rank the videos by it (MVMR, section 3)."""
    top_videos: int | None = None
    """Two-step: only moments of this many videos, those that the first step ranks highest; None is one step."""

    def __post_init__(self) -> None:
        problems = []
        if self.outside not in get_args(Outside):
            known = ", ".join(get_args(Outside))
            problems.append(Problem("outside_pool", None, f"{self.outside!r} is not one of {known}"))
        if self.top_videos is not None and (isinstance(self.top_videos, bool) or self.top_videos < 1):
            problems.append(Problem("top_videos", None, f"{self.top_videos!r} is not at least 1"))
        if problems:
            raise InputError(problems)

    @property
    def options(self) -> dict[str, str | bool | float]:
        """The choices that are not the usual ones, as they stand beside the numbers."""
        chosen: dict[str, str | bool | float] = {}
        if self.outside != "error":
            chosen["outside_pool"] = self.outside
        if self.one_per_video:
            chosen["one_per_video"] = True
        if self.top_videos is not None:
            chosen["top_videos"] = self.top_videos
        return chosen


@dataclass(frozen=True, slots=True)
class PoolFile:
    """A file of pools to score runs in, and how: what `score_files` takes as `pool`."""

    path: Path
    pooling: PoolConventions = field(default_factory=PoolConventions)
    first_step: Path | None = None
    """A run whose scores rank the videos of a pool; only the best `pooling.top_videos` (5) of them are looked at."""
    own_video: bool = False
    """Whether each run is also scored in the query's own video alone."""
