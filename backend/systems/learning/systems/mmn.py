"""MMN: moments and sentences meet in two spaces, one for IoU and one for mutual matching.

Paper: Wang et al. 2022, "Negative Sample Matters: A Renaissance of Metric Learning for Temporal Grounding", AAAI. We
follow MVMR (Yang et al. 2024, section 6.3 and appendix B.1), which trains it as a baseline, and the public code
(MCG-NJU/MMN, commit e694e69).

A video is L clips (`clips`). A layer and ReLU reduce their features; `pool` clips at a time are averaged, which leaves
N = L / pool. From these, `moment_map` makes the N x N map and its convolutions; C of its cells hold a moment. Two
linear projections take each cell to d numbers, in the IoU space and in the matching space. A sentence is the mean of
its tokens (special tokens included), normalised and projected to both spaces likewise. All comparisons are cosines.

Losses of pairs (q_i, m_i), by the equations of MVMR:

(4) L_bce: the mean over cells of the cross-entropy of sigma(10 cos) in the IoU space with the cell's IoU with m_i,
    scaled so that `min_iou` is 0 and `max_iou` is 1. A cell spans the time from its first clip to its last one.
(5) L_rmm: `matching_loss` twice, `cells` and `queries`. In both, the right pairs are q_i and the `top` cells with the
    highest IoU with m_i. For q_i, wrong moments are all cells of other videos, and those of its own video with IoU
    below `negative_iou`. For the cells of m_i, wrong queries are those of other videos, and those of the same video
    whose moment has less IoU with m_i.
(6) L = L_bce + weight * L_rmm, the score is `product_score`.

Departures, with reasons:

- The text encoder is frozen (published: DistilBERT, trained with the rest), as no model can be had everywhere.
- Clips are means of raw features scaled to length 1; in the public code, the rows are scaled and their mean is not.
- Equation 5 sums over pairs; the public code takes the mean, and so do we: the weights are made for that.
- A cell that is no negative is not in the denominator. In the public code it counts as cosine 0 (`left_out_as_zero`),
  and 1e-6 is added.
- Videos that have another moment of the query are no negatives (TVR-Ranking, C.1), nor is the query itself. In the
  published data sets, each query has a single moment.
- No layer norm of moments: MVMR has one in its text, but not in its code, nor has MMN.
- A batch is pairs; in the public code it is 48 videos (TACoS: 4) with all their sentences. The public optimiser clips
  gradients and lowers the learning rate in steps; here the training loop decides.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor, nn
from torch.nn.functional import normalize

from backend.systems.learning.field_types import Count, Positive
from backend.systems.learning.matching import first_rows, iou_loss, mutual_matching, product_score, scaled_iou
from backend.systems.learning.moment_map import MapConvolutions, map_faults, max_pooled_map, span_iou, valid_cells
from backend.systems.learning.system import Batch, Encoded, Presets, Rivals, Sizes, System
from backend.systems.learning.systems.moment_presets import MMN_PRESETS

Fraction = Annotated[float, Meta(ge=0, le=1)]
Weight = Annotated[float, Meta(ge=0, le=1e6)]


class ModelOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network; the defaults are those for Charades-STA.

    Attributes:
        clips: L, the number of pieces of equal length into which each video is divided.
        pool: the number of pieces that are averaged after the first layer; it divides `clips`, N = clips / pool.
        pooling: how many diagonals of the map are filled at each step size; see `moment_map.diagonals`.
        hidden: the length of the vectors of clips and of cells.
        kernel: the width of the kernel of the convolutions.
        layers: the number of convolutions.
        joint: d, the length of vectors in the two spaces.
        power: the power of the matching score in the score of a moment: 1 in MVMR's equation 6.
    """

    clips: Annotated[int, Meta(ge=2, le=4096)] = 32
    pool: Count = 2
    pooling: tuple[Count, ...] = (15,)
    hidden: Count = 512
    kernel: Count = 5
    layers: Count = 8
    joint: Count = 256
    power: Positive = 1.0


class LossOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss; the defaults are those for Charades-STA. The module explains the terms.

    Attributes:
        min_iou: the IoU of a cell up to which its target is 0.
        max_iou: the IoU from which its target is 1.
        top: the number of cells that count as right for a moment.
        negative_iou: the IoU below which cells and moments of the same video are wrong.
        margin: by how much the cosine of a right pair must exceed those of wrong ones.
        temperature: by which these cosines are divided.
        weight: the weight of mutual matching.
        full_epochs: after so many epochs, mutual matching counts a hundredth of this; None keeps the weight.
        weighted: whether a pair's losses are multiplied by its weight (TVR-Ranking, C.1).
        left_out_as_zero: see `matching_loss`.
    """

    min_iou: Fraction = 0.5
    max_iou: Fraction = 1.0
    top: Count = 1
    negative_iou: Fraction = 0.5
    margin: Annotated[float, Meta(ge=0, le=2)] = 0.4
    temperature: Positive = 0.1
    weight: Weight = 0.05
    full_epochs: Count | None = None
    weighted: bool = False
    left_out_as_zero: bool = False


class MMN(System):
    """The network and losses of MMN; `CroCs` and G2L change the losses."""

    name = "mmn"
    paper = "Wang et al. 2022, Negative Sample Matters: A Renaissance of Metric Learning for Temporal Grounding, AAAI"
    ModelOptions: ClassVar[type[Struct]] = ModelOptions
    LossOptions: ClassVar[type[Struct]] = LossOptions
    uses_words = True
    cells: Tensor
    presets: ClassVar[Presets] = MMN_PRESETS

    @classmethod
    def faults(cls, model: Any, loss: Any, *, negatives: bool) -> Sequence[str]:
        """Return what is wrong with settings, one message for each fault; see `System`."""
        return [*super().faults(model, loss, negatives=negatives), *map_faults(model, loss)]

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__()
        self.model, self.loss = cast(ModelOptions, model), cast(LossOptions, loss)
        m = self.model
        if faults := self.faults(self.model, self.loss, negatives=False):
            raise ValueError("; ".join(faults))
        valid = valid_cells(m.clips // m.pool, m.pooling)
        self.clip_layer = nn.Linear(sizes.frame_dim + sizes.subtitle_dim, m.hidden)
        self.convolutions = MapConvolutions(m.hidden, m.hidden, m.kernel, m.layers, valid)
        self.moment_heads = nn.ModuleDict({space: nn.Linear(m.hidden, m.joint) for space in ("iou", "match")})
        self.sentence_norm = nn.LayerNorm(sizes.sentence_dim)
        self.sentence_heads = nn.ModuleDict({s: nn.Linear(sizes.sentence_dim, m.joint) for s in ("iou", "match")})
        self.register_buffer("cells", valid.nonzero(), persistent=False)

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return unit vectors of the C moments of each video in both spaces, `iou` and `match` `(V, C, d)`.

        With the sizes for Charades-STA, ActivityNet and TACoS, a video takes 0.3, 2.3 and 5.2 MB.

        Args:
            clips: `(V, L, frame_dim)`; every video has all L clips, so `mask` is not needed.
            mask: bool `(V, L)`.
        """
        if clips.shape[1] != self.model.clips:
            raise ValueError(f"videos have {clips.shape[1]} clips, not `model.clips`, {self.model.clips}")
        moments = self.moments(clips)
        return {space: normalize(head(moments), dim=-1) for space, head in self.moment_heads.items()}

    def moments(self, clips: Tensor) -> Tensor:
        """Return the vectors of the C moments of each video, `(V, C, hidden)`, which the two heads project."""
        pooled = self.clip_layer(clips).relu().unflatten(1, (-1, self.model.pool)).mean(dim=2)
        maps: Tensor = self.convolutions(max_pooled_map(pooled, self.model.pooling))
        return maps.permute(0, 2, 3, 1)[:, self.cells[:, 0], self.cells[:, 1]]

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return unit vectors of queries in both spaces, `iou` and `match` `(Q, d)`, from the mean of their tokens."""
        counts = mask.sum(dim=1, keepdim=True).clamp(min=1)
        mean = words.masked_fill(~mask[..., None], 0.0).sum(dim=1) / counts
        normed = self.sentence_norm(mean)
        return {space: normalize(head(normed), dim=-1) for space, head in self.sentence_heads.items()}

    def cell_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the score of each moment of each video for each query, `(Q, V, C)`, in 0..1."""
        iou, match = (torch.einsum("qd,vcd->qvc", queries[space], videos[space]) for space in ("iou", "match"))
        return product_score(iou, match, self.model.power)

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return r(q, v), the score of the best moment of each video (MVMR, equation 3), `(Q, V)`.

        The n best moments of a query are in its n best videos, so searching these alone loses none.
        """
        return self.cell_scores(queries, videos).amax(dim=-1)

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the score of the span from clip i to clip j, `(Q, V, L, L)`; -inf where no cell holds that moment."""
        scores, length = self.cell_scores(queries, videos), self.model.clips
        spans = scores.new_full((*scores.shape[:2], length, length), -torch.inf)
        spans[:, :, self.cells[:, 0] * self.model.pool, (self.cells[:, 1] + 1) * self.model.pool - 1] = scores
        return spans

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return the losses of a batch: "loss", and its parts "bce", "cells" and "queries"."""
        videos, of_pair = self.batch_videos(batch)
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        wrong = ~batch.positives
        wrong_videos, wrong_queries = wrong[:, first_rows(of_pair)], wrong.T | self.apart(batch)
        return self.losses_of(batch, of_pair, queries, videos, wrong_videos, wrong_queries)

    def batch_videos(self, batch: Batch) -> tuple[Encoded, Tensor]:
        """Return the encodings of the U different videos of a batch, and the number of each pair's video, `(B,)`."""
        of_pair = batch.video.unique(return_inverse=True)[1]  # type: ignore[no-untyped-call]  # torch has no types there
        rows = first_rows(of_pair)
        return self.encode_videos(batch.clips[rows], batch.mask[rows]), of_pair

    def apart(self, batch: Batch) -> Tensor:
        """Return which pairs have the same video, different queries and little overlap of moments, bool `(B, B)`."""
        same = (batch.video[:, None] == batch.video) & (batch.query[:, None] != batch.query)
        return same & (span_iou(batch.span, batch.span) < self.loss.negative_iou)

    def losses_of(
        self,
        batch: Batch,
        of_pair: Tensor,
        queries: Encoded,
        videos: Encoded,
        wrong_videos: Tensor,
        wrong_queries: Tensor,
        *,
        negative_bce: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return the losses of B pairs with given negatives; cells of the pair's own video are always added to them.

        Args:
            batch: the pairs.
            of_pair: the number of each pair's video among `videos`, `(B,)`.
            queries: encodings of queries; the first B are those of the pairs, others follow.
            videos: encodings of videos.
            wrong_videos: bool `(B, videos)`, the videos whose cells are negatives of the query of each pair.
            wrong_queries: bool `(B, queries)`, the queries that are negatives of the moment of each pair.
            negative_bce: the weight in equation 4 of cells of wrong videos, whose target is 0.
        """
        options, pairs = self.loss, len(of_pair)
        # Encodings may be bfloat16; IoUs and sums are not.
        iou = torch.einsum("bd,vcd->bvc", queries["iou"][:pairs], videos["iou"]).to(batch.span)
        overlap = self.overlaps(batch)
        weight = batch.weight.to(batch.span) if options.weighted else batch.span.new_ones(pairs)
        targets = scaled_iou(overlap, options.min_iou, options.max_iou)
        bce = iou_loss(iou, of_pair, targets, weight, wrong_videos, negative_bce)
        halves = mutual_matching(
            *(queries["match"], videos["match"], of_pair, overlap, wrong_videos, wrong_queries),
            top=options.top,
            negative_iou=options.negative_iou,
            margin=options.margin,
            temperature=options.temperature,
            left_out_as_zero=options.left_out_as_zero,
        )
        cells_half, queries_half = ((weight[:, None] * half).mean() for half in halves)
        loss = bce + self.share() * options.weight * (cells_half + queries_half)
        return {"loss": loss, "bce": bce, "cells": cells_half, "queries": queries_half}

    def overlaps(self, batch: Batch) -> Tensor:
        """Return the IoU of the moment of each pair with each of the C moments of the map, `(B, C)`."""
        cells = torch.stack([self.cells[:, 0], self.cells[:, 1] + 1], dim=1).to(batch.span)
        return span_iou(batch.span / self.model.pool, cells)

    def share(self) -> float:
        """Return how much all losses but L_bce count in this epoch: 1, and 0.01 after `full_epochs` epochs."""
        late = self.loss.full_epochs is not None and self.epoch > self.loss.full_epochs
        return 0.01 if late else 1.0
