"""The sample, facts and report of a check of pools, as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.messages import said
from backend.scoring.pools.model import PoolQuery


class PutInAs(StrEnum):
    """As what a pool has a video: with a moment that its query describes, or without."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query to be checked, and the videos that people look at for it; the query's own video is not among them."""

    query: PoolQuery
    positives: tuple[str, ...]
    negatives: tuple[str, ...]

    @property
    def videos(self) -> tuple[str, ...]:
        """All of them, the positives first."""
        return self.positives + self.negatives


@dataclass(frozen=True, slots=True)
class CheckSample:
    """What is checked of a file of pools.

    `checkable` queries could have been drawn. Others have a text that an earlier one has (`repeated`), a short pool
    (`short`), or no video in their pool but their own (`alone`).
    """

    drawn: tuple[CheckedQuery, ...]
    checkable: int
    repeated: int
    short: int
    alone: int


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """What a project's check was drawn from: the file, and how."""

    file: str
    sha256: str
    seed: int
    queries: int
    drawn: int
    negatives: int


@dataclass(frozen=True, slots=True)
class MadeReport:
    """What a check consists of, when it was made; `notes` are oddities in words for the person who made it."""

    queries: int
    checkable: int
    videos: int
    positives: int
    negatives: int
    encoder: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the videos that people settled stand wrongly in their pool; bounds of the share by Wilson's interval.

    The share and its bounds are 0 to 1, and None while nothing is settled. `waiting` videos lack grades, `undecided`
    ones came to no consensus, and no lead has decided them.
    """

    settled: int
    wrong: int
    share: float | None
    low: float | None
    high: float | None
    waiting: int
    undecided: int


@dataclass(frozen=True, slots=True)
class WrongVideo:
    """A video that stands wrongly in the pool of a query."""

    query: str
    source: str
    video: str
    put_in_as: PutInAs


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How right the pools are: wrong among positives (they do not match), among negatives (they match), and together.

    `together` are the videos that were looked at, as they were drawn: of negatives usually fewer than pools have.
    """

    facts: CheckFacts
    positives: Share
    negatives: Share
    together: Share
    wrong: tuple[WrongVideo, ...]


POOL_CHECK_MADE = Event(
    "pool_check_made", EventGroup.MATERIAL, said("began a check of pools: {queries} queries, {pairs} pairs")
)
"""sha256 of the file of pools, seed, queries, pairs"""
