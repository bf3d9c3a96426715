"""The interface between the training loop and a system: batches go in; losses, encodings and scores come out.

A system is one module in `backend.systems.learning.systems`, with a subclass of `System`. The loop, the data and
predicting know nothing else of it.

Sizes in shapes: B pairs of a query and a moment in a batch, Q queries, V videos, L clips of the longest video, W tokens
of the longest query, F numbers for a clip (`frame_dim`, then `subtitle_dim` more), D numbers for a token or a sentence
(`sentence_dim`). A clip is a short piece of a video. Clips that the mask leaves out are 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from backend.systems.learning.first_step import FirstStep

Encoded: TypeAlias = dict[str, Tensor]
"""Encodings of videos or queries by name; the first dimension of each tensor is the video or the query."""
Presets: TypeAlias = Mapping[str, Mapping[str, Mapping[str, object]]]
"""Published settings by data set and table: {"charades": {"model": {...}, "loss": {...}, "training": {...}}}."""


class Sizes(msgspec.Struct, frozen=True):
    """The sizes of the data that a network is made for; stored with its weights.

    Attributes:
        frame_dim: the length of a row of video features.
        sentence_dim: the length of a sentence vector, and of a token vector.
        subtitle_dim: the length of a row of subtitle features; 0 if there are no subtitles.
    """

    frame_dim: int
    sentence_dim: int
    subtitle_dim: int = 0


class StagePlan(msgspec.Struct, frozen=True):
    """One stage of training. Each stage but the first starts from the best weights of the stage before it.

    Attributes:
        learning_rate: the factor of `training.learning_rate` in this stage.
        batch: the number of pairs in a batch; None takes `training.batch`.
        hard_videos: the number of videos that are drawn for each query, by p'(v|q) of the scores of the weights from
            which the stage starts (see `hard_negatives`); 0 draws none. The first stage cannot draw any.
        hard_queries: the number of queries that are drawn for each video by p'(q|v).
    """

    learning_rate: float = 1.0
    batch: int | None = None
    hard_videos: int = 0
    hard_queries: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A batch of B training pairs (a query and a moment each), as tensors on one device.

    A video or query of several pairs occurs several times. A system that needs each video once uses
    `batch.video.unique(return_inverse=True)`.

    Attributes:
        numbers: the indices of the pairs in the training set, an int64 NumPy array `(B,)`.
        query: the index of each pair's training query, int64 `(B,)`.
        video: the index of each pair's video, int64 `(B,)`.
        words: the token vectors of the queries, float32 `(B, W, D)`, padded with 0; W is 0 for a system without
            `uses_words`.
        words_mask: bool `(B, W)`, True where there is a token.
        vectors: the sentence vectors of the queries, float32 `(B, D)`.
        clips: the clips of the videos, float32 `(B, L, F)`, padded with 0.
        mask: bool `(B, L)`, True where there is a clip.
        first: the number of the first clip of each moment, from 0, int64 `(B,)`.
        last: the number of its last clip.
        span: the start and end of each moment in clips, float32 `(B, 2)`: 2.5 is the middle of clip 2.
        weight: the weight of each pair in the loss, float32 `(B,)`, in 0..1.
        positives: bool `(B, B)`: row i, column j says whether the video of pair j has a moment of the query of pair i,
            pseudo-positive moments included.
    """

    numbers: npt.NDArray[np.int64]
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
    """S different videos, of which up to K were drawn as negatives of each query of a batch.

    Attributes:
        clips: float32 `(S, L, F)`.
        mask: bool `(S, L)`.
        video_of: the row in `clips` of each drawn video, int64 `(B, K)`.
        video_counts: bool `(B, K)`, False for entries to ignore.
    """

    clips: Tensor
    mask: Tensor
    video_of: Tensor
    video_counts: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class DrawnQueries:
    """R queries, of which up to K were drawn as negatives of each video of a batch; the same one may occur twice.

    Attributes:
        words: float32 `(R, W, D)`.
        mask: bool `(R, W)`.
        vectors: float32 `(R, D)`.
        query_of: the row in `words` and `vectors` of each drawn query, int64 `(B, K)`.
        query_counts: bool `(B, K)`, False for entries to ignore.
    """

    words: Tensor
    mask: Tensor
    vectors: Tensor
    query_of: Tensor
    query_counts: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The negatives of a batch: which pairs of the batch may be negatives of each other, and drawn ones.

    Attributes:
        potential: bool `(B, B)`, whether the video of pair j may serve as a negative of the query of pair i (equation 1
            of MVMR). Videos that have a moment of the query never may, unless the system `draws_positives`.
        videos: drawn videos; None if none are drawn.
        queries: drawn queries; None if none are drawn.
    """

    potential: Tensor
    videos: DrawnVideos | None = None
    queries: DrawnQueries | None = None


class System(nn.Module):
    """A system for finding moments: a network, its loss, and its scores of spans.

    A subclass has the constructor `(sizes: Sizes, model: ModelOptions, loss: LossOptions)`. It raises a `ValueError`
    for options that do not fit together, with a message that names them as `model.x` or `loss.y`.

    Attributes:
        name: the name in settings, such as "mmn".
        paper: one line: authors, year, title, where.
        ModelOptions: the table `[model]` of the settings. It has either `clip_s`, the length of a clip in seconds, or
            `clips`, the number of equal pieces into which each video is divided.
        LossOptions: the table `[loss]`. If it has the field `weighted`, this says whether a pair's `weight` is its
            similarity; else it is 1 where the training set gives no similarity.
        presets: the published settings by data set; tables `model`, `loss`, `training` and `predict`.
        uses_words: whether the system reads the token vectors of queries; others get none.
        takes_negatives: what the system uses of a folder of negatives (table `[negatives]`): "no" refuses the table,
            "potential" takes `Rivals.potential` alone, "drawn" also draws from the folder.
        path_fields: the fields of `ModelOptions` that are paths of files, or tuples of them. Relative ones start at the
            folder of the settings. They are not stored with the weights.
        epoch: the number of the current epoch of the stage, from 1; the loop sets it.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    ModelOptions: ClassVar[type[msgspec.Struct]]
    LossOptions: ClassVar[type[msgspec.Struct]]
    presets: ClassVar[Presets] = {}
    uses_words: ClassVar[bool] = False
    takes_negatives: ClassVar[Literal["no", "potential", "drawn"]] = "no"
    path_fields: ClassVar[tuple[str, ...]] = ()
    epoch: int = 1

    @classmethod
    def faults(cls, model: Any, loss: Any, *, negatives: bool) -> Sequence[str]:
        """Return what is wrong with settings, one message for each fault; called before any data is read.

        Args:
            model: an instance of `ModelOptions`.
            loss: an instance of `LossOptions`.
            negatives: whether the settings name a folder of negatives.
        """
        if negatives and cls.takes_negatives == "no":
            return [f"table [negatives] is not for the system {cls.name}: take it out"]
        return []

    @classmethod
    def first_step(cls, model: Any, loss: Any) -> FirstStep | None:
        """Return the first step of a system of two steps, by its settings; None for other systems.

        The first step is the run of another system. Predicting takes a query's videos from it, and adds "first_score"
        to their encodings: the logarithm of each video's score in the run, `(V,)`; `span_scores` then gets one query
        at a time. In training, `Rivals.videos` has videos drawn from the run.
        """
        return None

    @property
    def draws_positives(self) -> bool:
        """Whether a video that has a moment of a query may still be its negative; False as in TVR-Ranking, C.1."""
        return False

    def stage_plans(self) -> tuple[StagePlan, ...]:
        """Return the stages of training, in order; at least one."""
        return (StagePlan(),)

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return scalars by name: training minimises "loss", the others are its parts, columns of `history.csv`.

        Called in training mode. `rivals` is None if the settings have no `[negatives]` and the stage draws none. The
        names and their order are the same for each batch.
        """
        raise NotImplementedError

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return the encodings of videos, given clips `(V, L, F)` and bool `(V, L)`.

        Training calls it within `losses`, if at all. Predicting calls it in evaluation mode, without gradients.
        """
        raise NotImplementedError

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return the encodings of queries, given tokens `(Q, W, D)`, bool `(Q, W)` and sentence vectors `(Q, D)`."""
        raise NotImplementedError

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor | None:
        """Return the score of each video for each query, `(Q, V)`, higher is better.

        Predicting then scores only the spans of the best `predict.videos` videos of each query. None means that the
        system has no such first step: the spans of all videos are scored.
        """
        return None

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the score of the span from clip i to clip j, both included, `(Q, V, L, L)`; higher is better.

        It is -inf where there is no such span (j < i, padding), and comparable between the videos of a query. A score
        that contains that of the video computes it here again.
        """
        raise NotImplementedError
