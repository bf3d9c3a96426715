"""The values that statistics of a release are counted from, and the statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class JudgedPair(NamedTuple):
    """One row of `raw_query_moment_pair.csv`, and how many rows of `raw_annotation.csv` are about it."""

    split: str
    query_id: int | str
    rank: int
    verdict: str
    grades: int


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a release.

    Attributes:
        truth: those of `val.json` and `test.json`, by split; `relevant_moment` of each query has `video_name`,
            `timestamp` (start and end in seconds), `duration` (of the video, in seconds) and `relevance`.
        corpus: seconds of every video of `video_corpus.json`.
        pairs: all that were handed out, settled or not.
        highest: the best relevance of the scale.
        batch_size: candidates that a batch has.
    """

    truth: Mapping[str, Sequence[Mapping[str, Any]]]
    corpus: Mapping[str, float]
    pairs: Sequence[JudgedPair]
    highest: int
    batch_size: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the mean and the most of `n` values."""

    n: int
    least: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class SettledPairs:
    """How many pairs came to what; all but `pairs` add up to it.

    `by_grades` are those in consensus, by how many grades they have: two, or four; more where a campaign asks more.
    """

    pairs: int
    by_grades: Mapping[int, int]
    adjudicated: int
    discarded: int
    waiting: int
    """Not settled when the release was made."""


@dataclass(frozen=True, slots=True)
class PartStatistics:
    """One split of a release, or all of it.

    A spread is None where there is nothing to count.

    Attributes:
        part: `val`, `test` or `all`.
        queries: those in the truth.
        query_words: words of a query, by the tokeniser of `backend.campaign.release.statistics`.
        moment_s: seconds of a moment, over distinct moments of the truth.
        video_s: seconds of a video, over distinct videos that these moments are of.
        ratio: a moment's share of its video, over distinct moments.
        judged: moments with a relevance, per query.
        at_least: moments of relevance 1 or more per query, of 2 or more, and so on up to the best.
        by_relevance: moments of each relevance, 0 first; a moment that goes with two queries counts twice.
        batches: how many queries were handed out in one batch, in two, ...; also those without any settled pair.
        settled: what came of the pairs that were handed out.
    """

    part: str
    queries: int
    query_words: Spread | None
    moment_s: Spread | None
    video_s: Spread | None
    ratio: Spread | None
    judged: Spread | None
    at_least: tuple[Spread | None, ...]
    by_relevance: tuple[int, ...]
    batches: Mapping[int, int]
    settled: SettledPairs


@dataclass(frozen=True, slots=True)
class ReleaseStatistics:
    """A release in numbers: each split, then all of it; and the videos of its corpus, with or without truth."""

    parts: tuple[PartStatistics, ...]
    corpus_video_s: Spread | None
    tokeniser: str
