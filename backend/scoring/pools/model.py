"""Define pools: the videos in which each query is searched, the moments that match, and how runs are scored there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from backend.core.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class PoolMoment:
    """A moment `[start_s, end_s)` of a video, in seconds, and the sentence that describes it."""

    video: str
    start_s: float
    end_s: float
    sentence: str


@dataclass(frozen=True, slots=True)
class PoolQuery:
    """A sentence of one video (its own video) that is searched for in a pool of videos.

    `query_id` is `VIDEO#N`, where N numbers the video's sentences from 0. `positives` are all moments that match: `own`
    first, then the others of the own video, then those of other videos. `videos` is the pool without duplicates, the
    own video first.
    """

    query_id: str
    text: str
    own: PoolMoment
    positives: tuple[PoolMoment, ...]
    videos: tuple[str, ...]

    @property
    def positive_videos(self) -> tuple[str, ...]:
        """The videos with a moment that matches the query, each once, the query's own video first."""
        return tuple(dict.fromkeys(moment.video for moment in self.positives))

    @property
    def negatives(self) -> tuple[str, ...]:
        """The videos of the pool without a moment that matches the query (distractors)."""
        positive = set(self.positive_videos)
        return tuple(video for video in self.videos if video not in positive)


@dataclass(frozen=True, slots=True)
class Pools:
    """The queries of a file of pools, each with the videos in which it is searched, and all videos of the file.

    `durations` gives each video's length in seconds. `moments` gives all moments of each video in file order, including
    those whose sentence has no pool and is therefore no query.
    """

    queries: tuple[PoolQuery, ...]
    durations: Mapping[str, float]
    moments: Mapping[str, tuple[PoolMoment, ...]]

    @property
    def size(self) -> int:
        """The number of videos in the largest pool, which counts as full; 0 without queries."""
        return max((len(query.videos) for query in self.queries), default=0)

    @property
    def full(self) -> tuple[PoolQuery, ...]:
        """The queries whose pool has as many videos as the largest one. Published figures leave out the others."""
        size = self.size
        return tuple(query for query in self.queries if len(query.videos) == size)


def occurrences(moments: tuple[PoolMoment, ...], number: int) -> tuple[PoolMoment, ...]:
    """Return a video's moments with the same sentence as moment `number` (from 0), which comes first.

    Of moments with the same start and end, only the first is kept. Sentences that differ only in white space are the
    same.

    >>> sentences = ["He sits.", "She sits.", "He sits."]
    >>> said = tuple(PoolMoment("a", start, start + 2, text) for start, text in zip([0, 4, 7], sentences, strict=True))
    >>> [moment.start_s for moment in occurrences(said, 2)]
    [7, 0]
    """
    own = moments[number]
    words = own.sentence.split()
    moments_by_span = {(own.start_s, own.end_s): own}
    for moment in moments:
        if moment.sentence.split() == words:
            moments_by_span.setdefault((moment.start_s, moment.end_s), moment)
    return tuple(moments_by_span.values())


Outside = Literal["error", "drop"]
TOP_VIDEOS = 5
"""The default of `top_videos` for a two-step retrieval whose first step is given as a file."""


@dataclass(frozen=True, slots=True)
class PoolConventions:
    """The choices that decide which predictions count when each query is searched in its own pool of videos.

    `outside` decides about predictions in videos outside the query's pool: `error` refuses the file, `drop` leaves them
    out and counts them. `one_per_video` keeps only the best prediction of each video by score, and then ranks the
    videos by it (MVMR, section 3). `top_videos` is for a two-step retrieval: only predictions in this many videos of a
    pool count, those ranked highest in the first step. None means one step, in which all videos count.

    Raises:
        InputError: choices are invalid; all of them are named.

    >>> PoolConventions(one_per_video=True).options
    {'one_per_video': True}
    """

    outside: Outside = "error"
    one_per_video: bool = False
    top_videos: int | None = None

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
        """The choices that differ from the defaults, by name, to be shown beside the scores."""
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
    """A file with each query's pool of videos, and how to score runs in these pools; used by `score_files`.

    `pooling` decides which predictions count. `first_step` is a run whose scores rank the videos of a pool. Then only
    predictions in the best `pooling.top_videos` count, or in the best 5 if that is None. `own_video` says whether each
    run is also scored in the query's own video alone.
    """

    path: Path
    pooling: PoolConventions = field(default_factory=PoolConventions)
    first_step: Path | None = None
    own_video: bool = False
