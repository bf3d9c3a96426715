"""BET, the Bi-Encoder Transformer: a transformer encodes the clips of a video, and two MLPs encode the query.

Source: Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple
Distractors" (CIKM), appendix B.2, equations 11 to 13. No code of this system is public. With L clips and W tokens:

- (11) H_v = TransformerEnc(clips W_v): one vector of D numbers for each clip.
- (12) h_s, h_e = MLP_s(mean of tokens W_q), MLP_e(mean of tokens W_q): two vectors for a query, by MLPs of 3 layers.
- (13) p_s = sigmoid(r cos(H_v, h_s)), p_e = sigmoid(r cos(H_v, h_e)), for each clip.
- The labels and the loss are those of CET, equations 9 and 10: `boundaries.py`.

As in the paper, the loss of a pair is of its own query and video alone; other videos of the batch are no negatives.

What differs from the paper, or is not in it, is the same as for CET (`cet.py`): the frozen text encoder, position
encodings for clips, the inner sizes of the transformer, the number of clips, the score p_s p_e of a span, `weighted`.
Equation 13's p is at least sigmoid(-r), so the loss cannot fall to 0: with r = 10 that is 4.5e-5 for each clip.
"""

from typing import ClassVar, cast

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.nn.functional import normalize

from backend.systems.learning.field_types import Count, Positive, Share
from backend.systems.learning.network import positions
from backend.systems.learning.system import Batch, Encoded, Presets, Rivals, Sizes, System
from backend.systems.learning.systems.boundaries import (
    BoundaryOptions,
    boundary_losses,
    boundary_scores,
    interpolated_labels,
    three_layers,
    transformer,
)
from backend.systems.learning.systems.cet import PRESETS


class BiEncoderOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network: D, the transformer's layers, heads and dropout, r, and the pieces of a video.

    Attributes:
        hidden: D, the length of encodings.
        layers: the number of layers of the transformer.
        heads: the number of heads of its self-attention; it divides `hidden`.
        dropout: the share of numbers that its layers drop in training.
        scale: r, by which cosines are multiplied (equation 13).
        clips: into how many pieces of equal length every video is divided.
    """

    hidden: Count = 512
    layers: Count = 6
    heads: Count = 8
    dropout: Share = 0.1
    scale: Positive = 10.0
    clips: Count = 16


class BiEncoder(System):
    """The system `bet`."""

    name: ClassVar[str] = "bet"
    paper: ClassVar[str] = "Yang et al. 2024, MVMR (CIKM): Bi-Encoder Transformer, appendix B.2"
    ModelOptions: ClassVar[type[Struct]] = BiEncoderOptions
    LossOptions: ClassVar[type[Struct]] = BoundaryOptions
    presets: ClassVar[Presets] = PRESETS
    uses_words: ClassVar[bool] = True

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__()
        self.model, self.loss = cast(BiEncoderOptions, model), cast(BoundaryOptions, loss)
        hidden = self.model.hidden
        self.clips = nn.Linear(sizes.frame_dim + sizes.subtitle_dim, hidden, bias=False)
        self.words = nn.Linear(sizes.sentence_dim, hidden, bias=False)
        self.encoder = transformer(hidden, self.model.layers, self.model.heads, self.model.dropout)
        self.start, self.end = three_layers(hidden, hidden), three_layers(hidden, hidden)

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return `loss` and its halves `start` and `end`, equation 10; negatives are not used."""
        videos = self.encode_videos(batch.clips, batch.mask)["clips"]
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        starts, ends = (self.model.scale * torch.einsum("bd,bld->bl", queries[key], videos) for key in ("start", "end"))
        labels = interpolated_labels(batch.span, batch.first, batch.last, batch.clips.shape[1], self.loss.power)
        return boundary_losses(starts, ends, labels, batch.mask, batch.weight)

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return `clips`, unit vectors `(videos, clips, D)` by equation 11, and their `mask`."""
        placed = self.clips(clips) + positions(clips.shape[1], self.model.hidden).to(clips)
        return {"clips": normalize(self.encoder(placed, src_key_padding_mask=~mask), dim=-1), "mask": mask}

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return `start` and `end`, unit vectors `(queries, D)` by equation 12."""
        pooled = self.words(words).masked_fill(~mask[..., None], 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return {"start": normalize(self.start(pooled), dim=-1), "end": normalize(self.end(pooled), dim=-1)}

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return p_s(i) p_e(j) of the span from clip i to clip j, `(queries, videos, clips, clips)`, from 0 to 1."""
        starts, ends = (
            self.model.scale * torch.einsum("qd,vld->qvl", queries[key], videos["clips"]) for key in ("start", "end")
        )
        return boundary_scores(starts, ends, videos["mask"])
