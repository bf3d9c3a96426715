"""Data types of the page Explore: pairs by stage of judging, relevance bins, sources, coverage of videos, durations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.monitoring.quality.model import GroupAgreement
from backend.campaign.nouns import Verdict
from backend.campaign.selection.candidates.model import CandidateSource
from backend.core.ids import PairId, QueryId


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many of the pairs given to annotators reached which stage of judging.

    Pairs graded only to measure how deep judging must go (a probe) are not counted.

    Attributes:
        pairs: sum of the next four counts.
        waiting_first: pairs with fewer than two grades.
        settled_by_two: pairs in consensus after two grades.
        decided_at_once: pairs that a lead decided before further annotators were asked.
        escalated: pairs whose first two grades disagreed, so that further annotators were asked.
        waiting_further: escalated pairs that still lack grades.
        settled_by: escalated pairs in consensus. It maps the number of annotators who were asked (four, or six if the
            pair was re-opened) to the number of pairs.
        discarded: escalated pairs without a consensus, which no lead has decided or confirmed as discarded.
        confirmed: escalated pairs that a lead confirmed as discarded.
        decided: escalated pairs that a lead decided.
    """

    pairs: int
    waiting_first: int
    settled_by_two: int
    decided_at_once: int
    escalated: int
    waiting_further: int
    settled_by: Mapping[int, int]
    discarded: int
    confirmed: int
    decided: int

    @property
    def graded_by_two(self) -> int:
        """Number of pairs that have their first two grades, or a lead's decision instead."""
        return self.pairs - self.waiting_first


class BinnedBy(StrEnum):
    """The properties of a pair (query and moment) by which pairs are grouped into bins, such as similarity.

    `rules.bounds` says which values each bin covers.
    """

    SIMILARITY = "similarity"
    RANK = "rank"
    DURATION = "duration"
    """Duration of the moment, in seconds."""


@dataclass(frozen=True, slots=True)
class RelevanceBin:
    """Pairs that share a bin of similarity, rank or duration.

    Attributes:
        place: the bin's number, which always stands for the same range of values.
        low: the least value in the bin.
        high: the first value beyond the bin. If the bin is for similarity 1 or for one rank, `high` equals `low`.
        counts: number of pairs of each relevance, 0 first.
        without: number of pairs without a relevance (open, escalated, discarded). They do not count as relevance 0.
    """

    place: int
    low: float
    high: float
    counts: tuple[int, ...]
    without: int

    @property
    def decided(self) -> int:
        """Number of pairs with a relevance."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """Mean relevance of those pairs in the bin that have a relevance; None if none has."""
        return sum(value * pairs for value, pairs in enumerate(self.counts)) / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class PairPart:
    """Conditions that select pairs; a pair has to fulfil all that are set.

    `along` and `place` select the pairs of one bin: `along` is the property, such as the rank, and `place` the bin's
    number. `place` needs `along`. `video` is a video's number. `same_words` selects only pairs whose query and caption
    have similarity 1, but whose relevance is not the highest.
    """

    along: BinnedBy | None = None
    place: int | None = None
    relevance: int | None = None
    video: int | None = None
    same_words: bool = False


@dataclass(frozen=True, slots=True)
class FoundPair:
    """One pair that a selection on the page Explore found: its query, moment, verdict and relevance.

    `rank` is the moment's rank in the query's candidate list, from 1. `similarity` compares query and caption; it is
    None if only submitted runs found the moment. `mean` is the mean, before rounding, of the two grades that decided
    the relevance; None if no grades decided it.
    """

    pair_id: PairId
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    rank: int
    similarity: float | None
    verdict: Verdict
    relevance: int | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class SourceStanding:
    """How many candidates one source found, how many became pairs for annotators, and these pairs' relevances.

    A source is an encoder's search or a submitted run.

    Attributes:
        alone: candidates that no other source found.
        pairs: candidates that annotators got in a batch.
        decided: pairs with a relevance.
        relevant: pairs of relevance 1 or more.
        relevant_alone: relevant pairs that no other source found. Without this source, the pool would lack them.
    """

    source: CandidateSource
    candidates: int
    alone: int
    pairs: int
    decided: int
    relevant: int
    relevant_alone: int
    relevance_sum: int

    @property
    def mean(self) -> float | None:
        """Mean relevance of the source's pairs; None if no pair has a relevance."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class VideoCoverage:
    """How much of one video was given to annotators, and the relevances that its pairs got.

    Attributes:
        show: the TV show that the video belongs to; None if the video's name does not tell it.
        moments: all moments of the video in the corpus.
        judged_moments: moments that were given to annotators, with any query.
        pairs: the video's pairs that were given to annotators.
        queries: queries of these pairs.
        decided: pairs with a relevance.
        relevant: pairs of relevance 1 or more.
    """

    video_id: int
    video: str
    show: str | None
    duration_s: float
    moments: int
    judged_moments: int
    pairs: int
    queries: int
    decided: int
    relevant: int
    relevance_sum: int

    @property
    def mean(self) -> float | None:
        """Mean relevance of the video's pairs; None if no pair has a relevance."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class ShowCoverage:
    """How much of a TV show's videos was given to annotators, and the relevances that their pairs got.

    `show` is None for the videos whose names do not tell a show. `covered` counts videos of which a moment was given to
    annotators, and `judged_moments` counts these moments. `decided` counts pairs with a relevance, `relevant` those of
    relevance 1 or more. `mean` is the mean relevance; None if no pair has one.
    """

    show: str | None
    videos: int
    covered: int
    moments: int
    judged_moments: int
    pairs: int
    decided: int
    relevant: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class Lasting:
    """A histogram of the durations of all moments, or of all videos, in the corpus, in seconds.

    Each of `bars` is (low, high, number in the corpus, number given to annotators), where `low` and `high` bound the
    durations. `high` is None if the last bar has no upper bound. `least`, `mean` and `most` are the shortest, the mean
    and the longest duration, and `count` is the number of durations in the corpus.
    """

    bars: Sequence[tuple[float, float | None, int, int]]
    least: float
    mean: float
    most: float
    count: int


@dataclass(frozen=True, slots=True)
class AgreedQuery:
    """One query, with figures of how far annotators agree on its pairs."""

    query_id: QueryId
    agreement: GroupAgreement
