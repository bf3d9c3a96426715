"""The parts of the network of `conquer`: projections, transformer layers, NetVLAD, and the convolutions of boundaries.

N is a number of videos or queries, D (`hidden`) the length of encodings.
"""

from typing import Literal, cast

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.nn.functional import normalize

from backend.systems.learning.field_types import Count, Positive, Share


class ConquerOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network; the defaults are the published ones.

    Attributes:
        first_run: the run file whose videos are searched, or several files, such as one of training and one of test
            queries; None searches all videos, which `general` cannot.
        first_scores: whether scores of the first run are logarithms, as those of XML and ReLoCLNet, or `linear`.
        similarity: how spans are scored; see `conquer`.
        hidden: D.
        heads: the number of heads of each transformer layer; it divides `hidden`.
        dropout: the share of numbers dropped in training.
        filters: the number of filters between the two convolutions, of widths 5 and 1.
        clusters: the number of clusters of NetVLAD, which reads tokens for the fusion with subtitles.
        longest: the number of learned positions of clips, and of tokens.
        clip_s: the length of a clip in seconds.
        block: how many pairs of a query and a video are read at once in prediction.
    """

    first_run: str | tuple[str, ...] | None = None
    first_scores: Literal["log", "linear"] = "log"
    similarity: Literal["general", "exclusive", "disjoint"] = "general"
    hidden: Count = 768
    heads: Count = 12
    dropout: Share = 0.1
    filters: Count = 128
    clusters: Count = 32
    longest: tuple[Count, Count] = (100, 30)
    clip_s: Positive = 1.5
    block: Count = 64


class PlacedEncoder(nn.Module):
    """A transformer layer over rows with learned positions and kinds: 0 for frames, 1 for text."""

    def __init__(self, model: ConquerOptions, longest: int) -> None:
        super().__init__()
        self.positions, self.kinds = nn.Embedding(longest, model.hidden), nn.Embedding(2, model.hidden)
        self.norm, self.dropout = nn.LayerNorm(model.hidden), nn.Dropout(model.dropout)
        self.layer = transformer_layer(model)

    def forward(self, rows: list[tuple[Tensor, int]], mask: Tensor) -> Tensor:
        """Return encodings of all given rows `(N, length, D)`, joined in their order; all have the same `mask`."""
        place = torch.arange(mask.shape[1], device=mask.device).clamp(max=self.positions.num_embeddings - 1)
        placed = torch.cat([part + self.kinds.weight[kind] + self.positions(place) for part, kind in rows], dim=1)
        return cast(
            Tensor, self.layer(self.dropout(self.norm(placed)), src_key_padding_mask=~mask.repeat(1, len(rows)))
        )


class ContextBlock(nn.Module):
    """A projection to D numbers, and a transformer layer over it."""

    def __init__(self, model: ConquerOptions, width: int) -> None:
        super().__init__()
        self.projection, self.layer = projection(width, model), transformer_layer(model)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Return `(N, L, D)`, with 0 where there is no clip."""
        read: Tensor = self.layer(self.projection(rows), src_key_padding_mask=~mask)
        return read.masked_fill(~mask[..., None], 0.0)


class NetVLAD(nn.Module):
    """Summarises the tokens of a query as one vector: how far they lie from each of several learned centres.

    Each token belongs to all clusters, to some more than to others. Source: NetVLAD (Arandjelovic et al. 2016), as in
    CONQUER's public code.
    """

    def __init__(self, clusters: int, hidden: int) -> None:
        super().__init__()
        self.assign = nn.Parameter(torch.randn(hidden, clusters) / hidden**0.5)
        self.centres = nn.Parameter(torch.randn(hidden, clusters) / hidden**0.5)
        self.norm = nn.LayerNorm(clusters)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Return unit vectors `(Q, D * clusters)` of tokens `(Q, W, D)`."""
        share = self.norm(words @ self.assign).softmax(dim=-1).masked_fill(~mask[..., None], 0.0)
        apart = torch.einsum("qwd,qwc->qdc", words, share) - share.sum(dim=1, keepdim=True) * self.centres
        return normalize(normalize(apart, dim=1).flatten(1), dim=1)


def projection(width: int, model: ConquerOptions) -> nn.Sequential:
    """Return the layers that project rows of this width to D numbers."""
    return nn.Sequential(nn.LayerNorm(width), nn.Dropout(model.dropout), nn.Linear(width, model.hidden), nn.ReLU())


def transformer_layer(model: ConquerOptions) -> nn.TransformerEncoderLayer:
    """Return one layer of BERT: normalised behind each part, 4 D numbers inside, GELU."""
    sizes = model.hidden, model.heads, 4 * model.hidden, model.dropout
    return nn.TransformerEncoderLayer(*sizes, activation="gelu", batch_first=True)


def convolutions(model: ConquerOptions) -> nn.Sequential:
    """Return the layers that give each clip one logit, from itself and two clips on either side."""
    wide = nn.Conv1d(model.hidden, model.filters, 5, padding=2, bias=False)
    return nn.Sequential(wide, nn.ReLU(), nn.Conv1d(model.filters, 1, 1, bias=False))


def start_small(module: nn.Module) -> None:
    """Draw weights of linear layers and embeddings with a standard deviation of 0.02, as the public code does."""
    with torch.no_grad():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.normal_(std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.zero_()
        if isinstance(module, nn.MultiheadAttention):
            module.in_proj_weight.normal_(std=0.02)
