"""What the systems `cet` and `bet` share: options, layers, labels, loss and scores of starts and ends of a moment.

Source: Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple
Distractors" (CIKM), appendix B.2. L is the number of clips of a video, and clip i, from 0, covers [i, i + 1).
"""

from typing import Annotated, ClassVar, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from backend.systems.learning.field_types import Count, Positive, Share
from backend.systems.learning.positions import positions
from backend.systems.learning.system import Batch, Encoded, Presets, Rivals, Sizes, System

PRESETS: Presets = {
    data: {"model": {"clips": clips}, "training": {"learning_rate": 1e-3}}
    for data, clips in (("charades", 16), ("activitynet", 64), ("tacos", 128))
}
"""AdamW with 1e-3 for every data set (appendix B.2); the numbers of clips are MMN's."""


class TransformerOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network: D, the transformer's layers, heads and dropout, and the pieces of a video.

    Attributes:
        hidden: D, the length of projected clips and tokens.
        layers: the number of layers of the transformer.
        heads: the number of heads of its self-attention; it divides `hidden`.
        dropout: the share of numbers that its layers drop in training.
        clips: into how many pieces of equal length every video is divided.
    """

    hidden: Count = 512
    layers: Count = 6
    heads: Count = 8
    dropout: Share = 0.1
    clips: Count = 16


class BoundaryOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss.

    Attributes:
        power: the exponent k of the interpolated labels (equation 9).
        weighted: whether a pair's loss is multiplied by the similarity of its query and moment. Not so in the paper.
        other_videos: how many other videos of the batch are negatives of each query; 0 as in the paper. They make
            scores of different videos comparable, and each costs as much as the query's own video.
    """

    power: Positive = 10.0
    weighted: bool = False
    other_videos: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


def interpolated_labels(span: Tensor, first: Tensor, last: Tensor, clips: int, power: float) -> tuple[Tensor, Tensor]:
    """Return how much each clip is a start, and an end, of its pair's moment, each `(pairs, clips)` from 0 to 1.

    Equation 9. With [x_s, x_e] the moment in clips, and x*_s and x*_e its first and last clip, for x*_s <= i <= x*_e

        start_i = ((x_e - i) / (x*_e - x*_s + 1))^k,  end_i = ((i + 1 - x_s) / (x*_e - x*_s + 1))^k

    and 0 elsewhere. The paper defines neither x nor x*. As x* is an index in the condition, we read it as a clip, and x
    as the exact time, in clips. The paper prints i - x_s for the end. That cannot hold for both: if clips count from 0,
    the end of a moment of one clip would be 0 or below; if they count from 1, its start would be. Here both measure to
    the far side of the clip, so a moment of whole clips has a start and an end of 1. The start of a moment that ends
    within a clip is less: with k = 10, 0.35 on average over such ends if it has four clips, and 0.09 if it has one.

    Args:
        span: float `(pairs, 2)`, the moment in clips; 2.5 is the middle of clip 2.
        first: int64 `(pairs,)`, x*_s.
        last: int64 `(pairs,)`, x*_e.
        clips: L, the length of the result.
        power: k; the larger it is, the faster labels fall from 1.

    Example: the moment [1, 3] covers clips 1 and 2. With k = 1, the starts of clips 0 to 3 are 0, 1, 1/2, 0, and the
    ends are 0, 1/2, 1, 0.
    """
    place = torch.arange(clips, device=span.device)
    within = (place >= first[:, None]) & (place <= last[:, None])
    length = (last - first + 1)[:, None]
    start = ((span[:, 1:] - place) / length).clamp(0, 1) ** power
    end = ((place + 1 - span[:, :1]) / length).clamp(0, 1) ** power
    return start.masked_fill(~within, 0.0), end.masked_fill(~within, 0.0)


def boundary_losses(
    starts: Tensor, ends: Tensor, labels: tuple[Tensor, Tensor], mask: Tensor, weight: Tensor
) -> dict[str, Tensor]:
    """Return the scalars `loss`, `start` and `end`: equation 10, L = (L_s + L_e) / 2.

    L_s and L_e are the mean over pairs of w times the mean over the video's clips of the binary cross-entropy.

    Args:
        starts: `(pairs, clips)`, logits x of p_s = sigmoid(x).
        ends: logits of p_e, as for `starts`.
        labels: see `interpolated_labels`.
        mask: bool `(pairs, clips)`, True where there is a clip.
        weight: `(pairs,)`, w.
    """

    def one(logits: Tensor, label: Tensor) -> Tensor:
        entropy = binary_cross_entropy_with_logits(logits.to(label), label, reduction="none").masked_fill(~mask, 0.0)
        return (weight * entropy.sum(dim=1) / mask.sum(dim=1)).mean()

    start, end = one(starts, labels[0]), one(ends, labels[1])
    return {"loss": (start + end) / 2, "start": start, "end": end}


def boundary_scores(starts: Tensor, ends: Tensor, mask: Tensor) -> Tensor:
    """Return the score p_s(i) p_e(j) of the span from clip i to clip j; -inf if i > j, or if a clip is missing.

    The paper does not say how spans are scored. This is the product that question answering takes; it lies from 0 to 1,
    so it compares spans of different videos.

    Args:
        starts: `(..., clips)`, logits of p_s.
        ends: `(..., clips)`, logits of p_e.
        mask: bool, of the same shape or one that fits it, True where there is a clip.

    Returns:
        `(..., clips, clips)`.
    """
    scores = starts.sigmoid()[..., :, None] * ends.sigmoid()[..., None, :]
    ordered = torch.ones(scores.shape[-2:], dtype=torch.bool, device=mask.device).triu()
    return scores.masked_fill(~(mask[..., :, None] & mask[..., None, :] & ordered), -torch.inf)


def three_layers(hidden: int, outputs: int) -> nn.Sequential:
    """Return the 3-layer MLP of equations 8 and 12, with ReLU between its layers."""
    return nn.Sequential(
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


def transformer(hidden: int, layers: int, heads: int, dropout: float) -> nn.TransformerEncoder:
    """Return the transformer encoder of equations 7 and 11.

    The paper gives the number of layers and the size. The rest are Vaswani et al.'s sizes (2017, section 3): 4 times as
    wide between layers, and ReLU. Layers normalise their input rather than their output: without a warm-up, which the
    paper does not mention, six layers do not learn at its learning rate otherwise.

    Raises:
        ValueError: `heads` does not divide `hidden`.
    """
    if hidden % heads:
        raise ValueError(f"`model.heads`, {heads}, has to divide `model.hidden`, {hidden}")
    layer = nn.TransformerEncoderLayer(hidden, heads, 4 * hidden, dropout, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, layers, nn.LayerNorm(hidden), enable_nested_tensor=False)


class BoundarySystem(System):
    """A system that gives each clip of a video a logit of the start and of the end of a query's moment.

    A subclass says what it encodes, and how the logits come from the encodings. `outputs` is the length of the results
    of its two MLPs.
    """

    ModelOptions: ClassVar[type[Struct]] = TransformerOptions
    LossOptions: ClassVar[type[Struct]] = BoundaryOptions
    presets: ClassVar[Presets] = PRESETS
    uses_words: ClassVar[bool] = True

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct, *, outputs: int) -> None:
        super().__init__()
        options, self.loss = cast(TransformerOptions, model), cast(BoundaryOptions, loss)
        self.hidden = options.hidden
        self.clips = nn.Linear(sizes.frame_dim + sizes.subtitle_dim, options.hidden, bias=False)
        self.words = nn.Linear(sizes.sentence_dim, options.hidden, bias=False)
        self.encoder = transformer(options.hidden, options.layers, options.heads, options.dropout)
        self.start, self.end = three_layers(options.hidden, outputs), three_layers(options.hidden, outputs)

    def placed(self, clips: Tensor) -> Tensor:
        """Return the projected clips with their positions, `(videos, clips, D)`."""
        rows: Tensor = self.clips(clips)
        return rows + positions(clips.shape[1], self.hidden).to(clips)

    def boundary_logits(self, queries: Encoded, videos: Encoded) -> tuple[Tensor, Tensor]:
        """Return logits of the start and the end of each query in its video, each `(pairs, clips)`.

        Row i of `queries` and row i of `videos` are a pair.
        """
        raise NotImplementedError

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return `loss` and its halves `start` and `end`: equation 10, and `others` if `other_videos` are negatives.

        `others` is the mean of equation 10 with labels of 0 over each query and the videos of the next K pairs of the
        batch; a video that has a moment of the query counts 0. It is added to `loss`.
        """
        videos = self.encode_videos(batch.clips, batch.mask)
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        starts, ends = self.boundary_logits(queries, videos)
        labels = interpolated_labels(batch.span, batch.first, batch.last, batch.clips.shape[1], self.loss.power)
        parts = boundary_losses(starts, ends, labels, batch.mask, batch.weight)
        if not self.loss.other_videos:
            return parts
        pairs = torch.arange(len(batch.mask), device=batch.mask.device)
        parts["others"] = torch.zeros_like(parts["loss"])
        count = min(self.loss.other_videos, len(pairs) - 1)
        for shift in range(1, count + 1):
            other = (pairs + shift) % len(pairs)
            rows = {name: encoded[other] for name, encoded in videos.items()}
            starts, ends = self.boundary_logits(queries, rows)
            none = torch.zeros_like(starts, dtype=batch.weight.dtype)
            counts = (~batch.positives[pairs, other]).to(batch.weight)
            parts["others"] += boundary_losses(starts, ends, (none, none), rows["mask"], counts)["loss"] / count
        parts["loss"] = parts["loss"] + parts["others"]
        return parts
