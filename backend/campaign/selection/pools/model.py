"""Data types for making pools of videos, and for the check of a sample of pools by people. Pure."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from backend.core.events import Event, EventGroup
from backend.core.messages import said
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools

T_POS, T_NEG = 0.9, 0.5
PAPERS_ENCODER = "sup-simcse-roberta-large"
"""The thresholds of the paper, and their encoder: supervised SimCSE on RoBERTa-large."""


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Options for building pools.

    Each pool has `pool` videos. At most `positives` of them are positive, and the query's own video is one of these. A
    video is positive if its similarity with the query is at least `t_pos`, and negative if it is at most `t_neg`.
    `as_published` follows the published code where it departs from its paper; see `rules.DEPARTURES`.
    """

    pool: int = 50
    positives: int = 5
    t_pos: float = T_POS
    t_neg: float = T_NEG
    seed: int = 0
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class CaptionedCorpus:
    """A corpus to build pools from: the moments of each video with their sentences, and its duration in seconds.

    `source` names the corpus. `captions` says whether the sentences are published captions, or imprecise ones
    (rewritten without names). `left_out` has remarks on entries that were left out of it.
    """

    source: str
    captions: str
    moments: Mapping[str, Sequence[PoolMoment]]
    durations: Mapping[str, float]
    left_out: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class VisualBounds:
    """The bounds of EMScore: a positive video has to reach `positive`, a negative one must not exceed `negative`.

    `positive` is the mean EMScore of all queries with their own videos. `negative` is the mean EMScore of all pairs of
    a query and a video that is negative by its texts (Yang et al. 2024, section 4.2). With `as_published`, it is the
    mean of one such video a query, drawn at random, as the published code computes it.
    """

    positive: float
    negative: float


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A labelled pair of texts with its similarity.

    A pair that is not alike is different. `label` names the violin of the figure that has the pair. `first_half` says
    in which half of the pairs it is when thresholds are found from one half and tested on the other; see
    `calibrating.held_out_shares`.
    """

    similarity: float
    alike: bool
    label: str
    first_half: bool


@dataclass(frozen=True, slots=True)
class VisualOptions:
    """Options for EMScore on videos: the CLIP model and the number of frames a second.

    `clip` is a folder or a name on the model hub; None is the default model.
    """

    clip: str | None = None
    frames_per_s: float = 1.0


class PutInAs(StrEnum):
    """The role of a video in a pool: positive, with a moment that the query describes, or negative, without one."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query whose pool people check, and the videos that they watch for it, without the query's own video."""

    query: PoolQuery
    positives: tuple[str, ...]
    negatives: tuple[str, ...]

    @property
    def videos(self) -> tuple[str, ...]:
        """All videos that people watch, the positives first."""
        return self.positives + self.negatives


@dataclass(frozen=True, slots=True)
class CheckSample:
    """The sample of a file of pools that people check.

    `drawn` has the queries that were drawn, and `checkable` counts all queries that could have been drawn. The other
    fields count the queries that could not, by reason. `repeated`: an earlier query has the same text. `short`: the
    pool is not full. `alone`: the pool holds only the query's own video.
    """

    drawn: tuple[CheckedQuery, ...]
    checkable: int
    repeated: int
    short: int
    alone: int


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """The origin of the sample that people check in a project: the file of pools, and how the sample was drawn.

    `queries` counts the queries that could have been drawn, and `drawn` those that were. At most `negatives` negative
    videos were drawn for each.
    """

    file: str
    sha256: str
    seed: int
    queries: int
    drawn: int
    negatives: int


@dataclass(frozen=True, slots=True)
class SampleReport:
    """The size of a sample of pools that people are to check, and remarks for the person who made it.

    `checkable` counts all queries that could have been drawn. `videos`, `positives` and `negatives` count the videos to
    watch. `notes` name irregularities, such as videos whose length differs from the file.
    """

    queries: int
    checkable: int
    videos: int
    positives: int
    negatives: int
    encoder: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """The share of wrong videos among settled ones, with the bounds of Wilson's interval.

    A video is wrong if it was put in as a positive and does not match, or as a negative and matches.
    `share`, `low` and `high` are from 0 to 1, and None while nothing is settled. `waiting` counts videos that lack
    grades. `undecided` counts videos whose grades gave no consensus and that no lead has adjudicated.
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
    """A video that people found in the wrong role: a positive that does not match, or a negative that matches.

    `query` is the query's text. `source` names the file of pools and the query's id in it. `put_in_as` is the role
    there.
    """

    query: str
    source: str
    video: str
    put_in_as: PutInAs


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of people's check of pools: the shares of positives that do not match, and of negatives that match.

    `facts` tells where the sample comes from. `together` is the share among all videos of the sample, which usually has
    fewer negatives than the pools. `wrong` names the videos in the wrong role.
    """

    facts: CheckFacts
    positives: Share
    negatives: Share
    together: Share
    wrong: tuple[WrongVideo, ...]


def draw_sample(pools: Pools, queries: int, negatives: int | None, seed: int) -> CheckSample:
    """Draw queries whose pools people can check; return each with its positives and some of its negatives.

    The query's own video is not among these positives.

    A query can be checked if its pool is full and has more than the query's own video. Of queries with the same text
    only the first can be drawn. The negatives of a query depend only on the seed and that query.

    Args:
        pools: the pools of the file.
        queries: how many queries to draw; if fewer can be checked, all of them are drawn.
        negatives: how many negatives to draw for each query; if its pool has fewer, or for None, all of them are drawn.
        seed: seeds the draw of queries and the draw of negatives.
    """
    texts: set[str] = set()
    checkable: list[PoolQuery] = []
    repeated = alone = 0
    for query in pools.full:
        text = " ".join(query.text.split())
        if len(query.videos) < 2:
            alone += 1
        elif text in texts:
            repeated += 1
        else:
            texts.add(text)
            checkable.append(query)
    chosen = random.Random(seed).sample(checkable, min(queries, len(checkable)))
    drawn = tuple(_draw_videos(query, negatives, seed) for query in chosen)
    return CheckSample(drawn, len(checkable), repeated, len(pools.queries) - len(pools.full), alone)


def _draw_videos(query: PoolQuery, negatives: int | None, seed: int) -> CheckedQuery:
    positives = tuple(video for video in query.positive_videos if video != query.own.video)
    count = len(query.negatives) if negatives is None else min(negatives, len(query.negatives))
    drawn = random.Random(f"{seed}:{query.query_id}").sample(query.negatives, count)
    return CheckedQuery(query, positives, tuple(drawn))


def even_size(videos: int, most: int) -> int:
    """Return the size of batches that split a number of videos evenly, with at most `most` videos each.

    >>> even_size(9, 40), even_size(40, 40), even_size(49, 40), even_size(99, 40)
    (9, 40, 25, 33)
    """
    return ceil(videos / ceil(videos / most))


POOL_CHECK_MADE = Event(
    "pool_check_made", EventGroup.MATERIAL, said("started a pool check: {queries} queries, {pairs} pairs")
)
"""sha256 of the file of pools, seed, queries, pairs"""
