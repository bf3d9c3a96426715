"""What the training loop asks of a system: encodings of videos and queries, losses of a batch, scores of spans."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import msgspec
from torch import Tensor, nn

Encoded: TypeAlias = dict[str, Tensor]
"""Encodings of videos or queries by name; the first dimension of each tensor is the video or query."""
Presets: TypeAlias = Mapping[str, Mapping[str, Mapping[str, object]]]
"""Options by the name of a data set and of a table: {"charades": {"model": {...}, "loss": {...}, "training": {...}}}"""


class Sizes(msgspec.Struct, frozen=True):
    """The lengths of a row of video features, of a sentence or token vector, and of a row of subtitle features."""

    frame_dim: int
    sentence_dim: int
    subtitle_dim: int = 0


class StagePlan(msgspec.Struct, frozen=True):
    """One stage of training, which starts from the best checkpoint of the stage before.

    Attributes:
        learning_rate: the factor of `training.learning_rate`.
        batch: the size of a batch; None takes `training.batch`.
        hard_videos: the number of videos drawn for a query by p'(v|q), from the scores of the checkpoint from which
            the stage starts. 0 draws none.
        hard_queries: the number of queries drawn for a video by p'(q|v).
    """

    learning_rate: float = 1.0
    batch: int | None = None
    hard_videos: int = 0
    hard_queries: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A batch of B pairs of a query and a moment, as tensors on one device."""

    numbers: Any
    query: Tensor
    video: Tensor
    words: Tensor
    words_mask: Tensor
    vectors: Tensor
    clips: Tensor
    mask: Tensor
    first: Tensor
    last: Tensor
    span: Tensor
    weight: Tensor
    positives: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class DrawnVideos:
    """Drawn videos: clips (S, L, F), mask (S, L); `video_of` (B, K) rows into S, `video_counts` bool (B, K)."""

    clips: Tensor
    mask: Tensor
    video_of: Tensor
    video_counts: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class DrawnQueries:
    """Drawn queries: words (R, W, dim), mask, vectors (R, dim); `query_of` (B, K) rows into R, `query_counts`."""

    words: Tensor
    mask: Tensor
    vectors: Tensor
    query_of: Tensor
    query_counts: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """Negatives of a batch: `potential` bool (B, B), and the drawn ones, if any."""

    potential: Tensor
    videos: DrawnVideos | None = None
    queries: DrawnQueries | None = None


class System(nn.Module):
    """A system for finding moments; the training loop knows no other surface of it."""

    name: ClassVar[str]
    paper: ClassVar[str]
    ModelOptions: ClassVar[type[msgspec.Struct]]
    LossOptions: ClassVar[type[msgspec.Struct]]
    presets: ClassVar[Presets] = {}
    uses_words: ClassVar[bool] = False
    epoch: int = 1

    def stage_plans(self) -> tuple[StagePlan, ...]:
        """Return the stages of training, one after the other."""
        return (StagePlan(),)

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return scalars by name; training minimises "loss", the others are its parts."""
        raise NotImplementedError

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return the encodings of videos, given clips `(V, L, frame_dim)` and a mask `(V, L)`."""
        raise NotImplementedError

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return the encodings of queries, given tokens `(Q, W, dim)`, a mask and sentence vectors `(Q, dim)`."""
        raise NotImplementedError

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor | None:
        """Return the score of each video for each query, `(Q, V)`; None if there is no first step."""
        return None

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the score of the span from clip i to clip j, `(Q, V, L, L)`, -inf where there is none."""
        raise NotImplementedError
