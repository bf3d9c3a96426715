"""Values of pools: options and measures of a build, and the sample, facts and report of a check. Pure."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.messages import said
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools

T_POS, T_NEG = 0.9, 0.5
PAPERS_ENCODER = "sup-simcse-roberta-large"
"""Thresholds of the paper, and the encoder they belong to: supervised SimCSE on RoBERTa-large."""


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How pools are made: `pool` videos each, at most `positives` of them positive, the own one among these.

    A video is positive whose similarity with the query is at least `t_pos`, and negative where it is at most `t_neg`.
    `as_published` follows the published code where that departs from its paper; see `selecting`.
    """

    pool: int = 50
    positives: int = 5
    t_pos: float = T_POS
    t_neg: float = T_NEG
    seed: int = 0
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Captioned:
    """A corpus to build from: the moments of each video with their sentences, and how long each video lasts.

    `source` names it, `captions` says which sentences they are. `left_out` are remarks on what is not in it.
    """

    source: str
    captions: str
    moments: Mapping[str, Sequence[PoolMoment]]
    durations: Mapping[str, float]
    left_out: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class VisualBounds:
    """EMScore that a positive has to reach, and that a negative must not exceed, both means over query and video.

    `positive` is the mean over every query and its own video, `negative` over every query and one video, drawn, that
    is negative by its text.
    """

    positive: float
    negative: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A labelled pair: its similarity, whether alike (None is neither), the label to draw, in which half it is."""

    similarity: float
    alike: bool | None
    label: str
    first_half: bool


@dataclass(frozen=True, slots=True)
class Looks:
    """How to look at videos: the CLIP model, a folder or a name on the model hub (None: the usual), and how often."""

    clip: str | None = None
    frames_per_s: float = 1.0


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


def draw_sample(pools: Pools, queries: int, negatives: int, seed: int, *, most: int) -> CheckSample:
    """Draw queries that can be checked, with all their added positives and some of their negatives.

    A query can be checked if its pool is full, as in every published figure, and holds a video besides its own. The
    first query of a text stands for all of that text. Which negatives are drawn for a query depends on the seed and
    that query alone.

    Args:
        pools: of the file.
        queries: how many to draw; all that can be checked, if that is fewer.
        negatives: how many negatives a query, if its pool has so many.
        seed: of both draws.
        most: how many videos a query may have in all: negatives give way to positives.
    """
    seen: set[str] = set()
    checkable: list[PoolQuery] = []
    repeated = alone = 0
    for query in pools.full:
        text = " ".join(query.text.split())
        if len(query.videos) < 2:
            alone += 1
        elif text in seen:
            repeated += 1
        else:
            seen.add(text)
            checkable.append(query)
    chosen = random.Random(seed).sample(checkable, min(queries, len(checkable)))
    drawn = tuple(_drawn(query, negatives, seed, most) for query in chosen)
    return CheckSample(drawn, len(checkable), repeated, len(pools.queries) - len(pools.full), alone)


def _drawn(query: PoolQuery, negatives: int, seed: int, most: int) -> CheckedQuery:
    positives = tuple(video for video in query.positive_videos if video != query.own.video)
    room = max(0, min(negatives, len(query.negatives), most - len(positives)))
    return CheckedQuery(
        query, positives, tuple(random.Random(f"{seed}:{query.query_id}").sample(query.negatives, room))
    )


POOL_CHECK_MADE = Event(
    "pool_check_made", EventGroup.MATERIAL, said("started a pool check: {queries} queries, {pairs} pairs")
)
"""sha256 of the file of pools, seed, queries, pairs"""
