"""Data types of the page Explore: the funnel, relevance bins, sources, coverage and durations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.monitoring.quality.model import GroupAgreement
from backend.campaign.nouns import Verdict
from backend.campaign.selection.candidates.model import CandidateSource
from backend.core.ids import PairId, QueryId


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many of the pairs handed out reached which stage. Pairs that are judged only for a probe are not counted.

    `pairs` is the sum of `waiting_first`, `settled_by_two`, `decided_at_once` and `escalated`. `escalated` is the sum
    of the counts that come after it.
    """

    pairs: int
    waiting_first: int
    """Fewer than two grades."""
    settled_by_two: int
    decided_at_once: int
    """Decided by a lead before further people were asked."""
    escalated: int
    """The first two grades disagreed, so further people were asked."""
    waiting_further: int
    """Escalated pairs that still lack grades."""
    settled_by: Mapping[int, int]
    """Escalated pairs in consensus, by the number of people: four, and six where pairs were re-opened."""
    discarded: int
    """Escalated pairs without a consensus, which no lead decided or confirmed."""
    confirmed: int
    """Escalated pairs whose discard a lead confirmed."""
    decided: int
    """Escalated pairs that a lead decided."""

    @property
    def graded_by_two(self) -> int:
        """Pairs that have their first two grades, or a lead's decision instead."""
        return self.pairs - self.waiting_first


class BinnedBy(StrEnum):
    """The properties of a pair by which relevances are sorted into bins. `rules.bounds` says what each bin covers."""

    SIMILARITY = "similarity"
    RANK = "rank"
    DURATION = "duration"
    """Duration of the moment, in seconds."""


@dataclass(frozen=True, slots=True)
class RelevanceBin:
    """Pairs that share a bin of similarity, rank or duration.

    Attributes:
        place: the bin's number, which does not depend on the pairs.
        low: the least value in the bin.
        high: the first value beyond the bin. If the bin is for similarity 1 or for one rank, `high` equals `low`.
        counts: number of pairs of each relevance, 0 first.
        without: number of pairs without a relevance (open, escalated, discarded). They never count as 0.
    """

    place: int
    low: float
    high: float
    counts: tuple[int, ...]
    without: int

    @property
    def decided(self) -> int:
        """Pairs with a relevance."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """Mean relevance of the pairs that have one; None if none has."""
        return sum(value * pairs for value, pairs in enumerate(self.counts)) / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class PairPart:
    """A selection of pairs. A pair belongs to it if it fulfils every condition that is set here."""

    along: BinnedBy | None = None
    place: int | None = None
    """The number of the bin; needs `along`."""
    relevance: int | None = None
    video: int | None = None
    """The number of the video."""
    same_words: bool = False
    """Only pairs of similarity 1 whose relevance is not the highest."""


@dataclass(frozen=True, slots=True)
class FoundPair:
    """One pair of a selection."""

    pair_id: PairId
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    rank: int
    similarity: float | None
    """None where only runs found the moment."""
    verdict: Verdict
    relevance: int | None


@dataclass(frozen=True, slots=True)
class SourceStanding:
    """How many candidates one source found, how many were handed out as pairs, and the relevances of these pairs."""

    source: CandidateSource
    candidates: int
    alone: int
    """Candidates that no other source found."""
    pairs: int
    """Candidates that a batch handed out."""
    decided: int
    """Pairs with a relevance."""
    relevant: int
    """Pairs of relevance 1 or more."""
    relevant_alone: int
    """Relevant pairs that no other source found: without this source the pool would lack them."""
    relevance_sum: int

    @property
    def mean(self) -> float | None:
        """Mean relevance; None if no pair has one."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class VideoCoverage:
    """How much of one video was handed out, and the relevances that its pairs got."""

    video_id: int
    video: str
    show: str | None
    """The show that the video belongs to; None where its name does not tell."""
    duration_s: float
    moments: int
    """Moments of the video in the corpus."""
    judged_moments: int
    """Moments that were handed out with any query."""
    pairs: int
    queries: int
    decided: int
    """Pairs with a relevance."""
    relevant: int
    """Pairs of relevance 1 or more."""
    relevance_sum: int

    @property
    def mean(self) -> float | None:
        """Mean relevance; None if no pair has one."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class ShowCoverage:
    """How much of a show's videos was handed out, and the relevances that their pairs got."""

    show: str | None
    videos: int
    covered: int
    """Videos with a moment that was handed out."""
    moments: int
    judged_moments: int
    pairs: int
    decided: int
    relevant: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class Lasting:
    """How many moments or videos of each duration, in seconds, the corpus has, and how many of these were handed out.

    `bars` are (low, high, number in the corpus, number handed out), where `low` and `high` bound the durations. `high`
    may be None in the last bar.
    """

    bars: Sequence[tuple[float, float | None, int, int]]
    least: float
    mean: float
    most: float
    count: int


@dataclass(frozen=True, slots=True)
class AgreedQuery:
    """One query, with the agreement on its pairs as the agreement board shows it."""

    query_id: QueryId
    agreement: GroupAgreement
