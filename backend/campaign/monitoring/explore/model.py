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

    `pairs` is the sum of four counts. `waiting_first` counts pairs with fewer than two grades. `settled_by_two` counts
    pairs in consensus after two grades. `decided_at_once` counts pairs that a lead decided before further annotators
    were asked. `escalated` counts pairs whose first two grades disagreed.

    The other fields count the escalated pairs by state. `waiting_further` still lack grades. `settled_by` are in
    consensus; it maps the number of annotators who were asked to the number of pairs. `discarded` have no consensus,
    and no lead has confirmed that; `confirmed` have none, and a lead has. `decided` were decided by a lead.

    Pairs graded only to measure how deep judging must go (a probe) are not counted.
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
    number. `video` is a video's number. `same_words` selects pairs whose query and caption have similarity 1, but whose
    relevance is not the highest.
    """

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
    """One pair that a selection on the page Explore found: its query, moment, verdict and relevance.

    `rank` is the moment's rank in the query's candidate list, from 1. `similarity` compares query and caption; it is
    None if only submitted runs found the moment.
    """

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
    mean: float | None
    """Mean of the two grades that decided the relevance, before rounding; None where no grades did."""


@dataclass(frozen=True, slots=True)
class SourceStanding:
    """How many candidates one source found, how many became pairs for annotators, and these pairs' relevances.

    A source is an encoder's search or a submitted run. `alone` counts candidates that no other source found. `decided`
    counts pairs with a relevance, `relevant` those of relevance 1 or more, and `relevant_alone` the relevant ones that
    no other source found.
    """

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
        """Mean relevance of the source's pairs; None if no pair has a relevance."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class VideoCoverage:
    """How much of one video was given to annotators, and the relevances that its pairs got.

    `show` is the TV show; None if the video's name does not tell it. `moments` counts all moments of the video, and
    `judged_moments` those that were given to annotators. `pairs` counts its pairs, and `queries` the queries of these
    pairs. `decided` counts pairs with a relevance, `relevant` those of relevance 1 or more.
    """

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
    """Videos with a moment that was handed out."""
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
