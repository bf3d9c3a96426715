"""ReLoCLNet: the late interaction of XML, trained with contrastive losses of frames and of videos.

Paper: Zhang et al. 2021, "Video Corpus Moment Retrieval with Contrastive Learning", SIGIR, section 3. `two_streams` has
the equations, the public code, and what differs from it. ReLoCLNet's layers:

- Tokens: input, two self-attentions, modular attention.
- Clips: input, a self-attention, the cross encoding, and two self-attentions. The second self-attention gives the
  encoding m of the contrastive losses; the last one gives that by which videos are scored, and that for spans. Without
  subtitles, the cross encoding drops out. The published code always has both streams.

Loss of pair i of a query and a moment, with the similarity w_i (TVR-Ranking, C.1):

    w_i (hinge_i + 0.01 span_i + 0.03 frame_i + 0.03 contrast_i)

- `hinge` and `span` are those of XML.
- FrameCL: `frame_loss` of the query and its clips m.
- VideoCL: `losses.nce_loss` with T = 1 of the scores s_ij = mean over streams of max over clips of q_m . m, which are
  inner products. The numerator has all positives of the query, as in TVR-Ranking's paper; `positives = "own"` has the
  pair's own video alone, as in its code and in that of ReLoCLNet.
"""

import math
from typing import ClassVar

import torch
from msgspec import Struct
from torch import Tensor
from torch.nn.functional import softplus

from backend.systems.learning.field_types import Count
from backend.systems.learning.losses import nce_loss
from backend.systems.learning.system import Batch, Encoded, Presets, Rivals
from backend.systems.learning.two_streams import (
    StreamLoss,
    StreamOptions,
    TwoStreams,
    Weight,
    best_clips,
    published_presets,
)


class ReLoCLNetOptions(StreamOptions, frozen=True, forbid_unknown_fields=True):
    """Options of the network with ReLoCLNet's defaults; see `StreamOptions`."""

    hidden: Count = 384
    heads: Count = 8
    max_clips: Count = 128
    alpha: float = 30.0


class ReLoCLNetLoss(StreamLoss, frozen=True, forbid_unknown_fields=True):
    """Options of the losses of ReLoCLNet; see `StreamLoss`.

    Attributes:
        frame: the weight of FrameCL.
        contrast: the weight of VideoCL.
    """

    frame: Weight = 0.03
    contrast: Weight = 0.03


class ReLoCLNet(TwoStreams):
    """The system `reloclnet`."""

    name: ClassVar[str] = "reloclnet"
    paper: ClassVar[str] = "Zhang et al. 2021, Video Corpus Moment Retrieval with Contrastive Learning, SIGIR"
    ModelOptions: ClassVar[type[Struct]] = ReLoCLNetOptions
    LossOptions: ClassVar[type[Struct]] = ReLoCLNetLoss
    presets: ClassVar[Presets] = published_presets({})
    word_layers: ClassVar[int] = 2
    clip_layers: ClassVar[tuple[int, int]] = (3, 3)
    retrieval: ClassVar[int] = -1
    loss: ReLoCLNetLoss

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return `loss`, and its parts `span`, `hinge`, `frame` and `contrast`; drawn negatives are not used."""
        options, positives = self.loss, self.positives(batch)
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        asked = queries["streams"]
        *_, middle, location = self.encode_stages(batch.clips, batch.mask)
        videos: Encoded = {"location": location, "mask": batch.mask}
        frame = frame_loss(asked, middle, batch.first, batch.last, batch.mask)
        contrast = nce_loss(best_clips(asked, middle, batch.mask), positives, 1.0)
        parts = {
            "span": (options.span, self.span_losses(batch, asked, location)),
            "hinge": (options.hinge, self.hinge_losses(self.video_scores(queries, videos), positives)),
            "frame": (options.frame, frame),
            "contrast": (options.contrast, contrast),
        }
        return self.total(batch, parts)


def frame_loss(queries: Tensor, clips: Tensor, first: Tensor, last: Tensor, mask: Tensor) -> Tensor:
    """Return FrameCL of each pair, `(pairs,)`: low if the query is more similar to its moment than to the other clips.

    It is an estimate of mutual information by the Jensen-Shannon divergence, with its sign turned. With p(x) =
    log(1 + exp(x)) and x the inner product of the query and a clip, for each stream:

        mean over clips outside the moment of (p(x) - log 2) - mean over clips inside of (log 2 - p(-x))

    The result is the mean over streams. If no clip is outside, the first mean is 0.

    Args:
        queries: `(pairs, S, D)`.
        clips: `(pairs, clips, S, D)`, those of each pair's video.
        first: int64 `(pairs,)`, the first clip of the moment.
        last: int64 `(pairs,)`, its last clip.
        mask: bool `(pairs, clips)`, True where there is a clip.

    Example: one stream, with x = log 3 in a moment of one clip, and x = 0 outside: the loss is 0 - log 2 + log(4/3) =
    log(2/3).
    """
    products, log_2 = torch.einsum("bsd,blsd->bsl", queries, clips), math.log(2)
    place = torch.arange(mask.shape[1], device=mask.device)
    within = (place >= first[:, None]) & (place <= last[:, None])

    def mean(values: Tensor, counts: Tensor) -> Tensor:
        return values.masked_fill(~counts[:, None], 0.0).sum(dim=-1) / counts.sum(dim=1).clamp(min=1)[:, None]

    outside = mean(softplus(products) - log_2, mask & ~within)
    return (outside - mean(log_2 - softplus(-products), within)).mean(dim=-1)
