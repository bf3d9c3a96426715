"""Pools as values: queries with their positives, and the videos that each is searched in."""

from collections.abc import Mapping
from dataclasses import dataclass


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
