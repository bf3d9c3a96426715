"""Options, corpora and measures of a build of pools, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.scoring.pools.model import PoolMoment

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
