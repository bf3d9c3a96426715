"""Tables of the page Explore as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.monitoring.quality.model import GroupAgreement
from backend.campaign.nouns import Verdict
from backend.campaign.selection.candidates.model import CandidateSource
from backend.core.ids import PairId, QueryId


@dataclass(frozen=True, slots=True)
class Funnel:
    """How far the pairs came that were handed out, and where they ended; those of a probe alone are not counted.

    `pairs` is the sum of `waiting_first`, `settled_by_two`, `decided_at_once` and `escalated`; `escalated` that of
    all others.
    """

    pairs: int
    waiting_first: int
    """Fewer than two grades."""
    settled_by_two: int
    decided_at_once: int
    """Decided by a lead, without further people having been asked."""
    escalated: int
    """The first two grades disagreed, so further people were asked; whatever came of it."""
    waiting_further: int
    """Of them, those that lack grades still."""
    settled_by: Mapping[int, int]
    """Of them, those in consensus by so many people: four, and six where pairs were re-opened."""
    discarded: int
    """Of them, those without a consensus, that no lead decided or confirmed."""
    confirmed: int
    """Of them, those whose discard a lead confirmed."""
    decided: int
    """Of them, those that a lead decided."""

    @property
    def graded_by_two(self) -> int:
        """Pairs that have their first two grades, or needed none."""
        return self.pairs - self.waiting_first


class Along(StrEnum):
    """What relevance is held against. Its bins are numbers, see `rules.BOUNDS`."""

    SIMILARITY = "similarity"
    RANK = "rank"
    DURATION = "duration"
    """Of the moment, in seconds."""


@dataclass(frozen=True, slots=True)
class RelevanceBin:
    """Pairs whose similarity, rank or duration is alike.

    Attributes:
        place: its number, the same whatever pairs there are.
        low: the least value that belongs to it.
        high: the first value that does not; of similarity 1 and of one rank, the value itself.
        counts: pairs of each relevance, 0 first.
        without: pairs without a relevance: open, escalated, discarded. They count as no relevance, never as 0.
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
        """Mean relevance of those that have one; None if none has."""
        return sum(value * pairs for value, pairs in enumerate(self.counts)) / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class PairPart:
    """Which pairs somebody wants to look at: those in all of this."""

    along: Along | None = None
    place: int | None = None
    """The bin; needs `along`."""
    relevance: int | None = None
    video: int | None = None
    """By its number."""
    same_words: bool = False
    """Similarity 1 and a relevance, though not the best one."""


@dataclass(frozen=True, slots=True)
class FoundPair:
    """A pair in such a list."""

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
    """What became of the candidates that a source found, as far as they were handed out."""

    source: CandidateSource
    candidates: int
    alone: int
    """Those of them that nothing else found."""
    pairs: int
    """Those of them that a batch handed out."""
    decided: int
    """Pairs with a relevance."""
    relevant: int
    """Of them, those of relevance 1 or more."""
    relevant_alone: int
    """Those of these that nothing else found: what the pool would lack without it."""
    relevance_sum: int

    @property
    def mean(self) -> float | None:
        """Mean relevance; None without any."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class VideoCoverage:
    """What of one video was handed out, and what came of it."""

    video_id: int
    video: str
    show: str | None
    """None where its name does not tell."""
    duration_s: float
    moments: int
    """Of the corpus."""
    judged_moments: int
    """Those that were handed out with any query."""
    pairs: int
    queries: int
    decided: int
    """Pairs with a relevance."""
    relevant: int
    """Of them, those of relevance 1 or more."""
    relevance_sum: int

    @property
    def mean(self) -> float | None:
        """Mean relevance; None without any."""
        return self.relevance_sum / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class ShowCoverage:
    """The same of all videos of a show."""

    show: str | None
    videos: int
    covered: int
    """Videos of which something was handed out."""
    moments: int
    judged_moments: int
    pairs: int
    decided: int
    relevant: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long moments or videos last: those of the corpus, and those of them that were handed out.

    `bars` are (low, high, how many of the corpus, how many handed out), the last one without an upper end.
    """

    bars: Sequence[tuple[float, float | None, int, int]]
    least: float
    mean: float
    most: float
    count: int


@dataclass(frozen=True, slots=True)
class AgreedQuery:
    """How people agree on the pairs of a query, as the board of agreement has it."""

    query_id: QueryId
    agreement: GroupAgreement
