"""The parts of XML and ReLoCLNet: encoders of query tokens and of clips in one or two streams, and scores of both.

Sources: XML (Lei et al. 2020, "TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval", section 4; public code
jayleicn/TVRetrieval, commit d99a9ea) and ReLoCLNet (Zhang et al. 2021, "Video Corpus Moment Retrieval with Contrastive
Learning", section 3; public code 26hzhang/ReLoCLNet, commit 56cb666). The paper of TVR-Ranking has their changes
(Liang et al. 2024, appendix C.1; public code Ranking-VMR/TVR-Ranking, commit db1dc44, has ReLoCLNet alone).

The streams are the frames of a video and, if the data has them, its subtitles: S = 2, otherwise S = 1. D is `hidden`.

- Input (clips of a stream, tokens): x = Dropout(LN(ReLU(W Dropout(LN(features))) + position)).
- Self-attention: A(x) = LN(x + Dropout(W' heads(x, x))), with `heads` softmax(Q K^T / sqrt(D / number of heads)) V.
- Cross encoding: each stream attends to the other one, C(x, y) = LN(x + heads(x, y)). It has no W'.
- Modular attention: for each stream m, weights a = softmax over tokens of w_m . token; the query of the stream is
  q_m = sum over tokens of a token.
- Score of a video: s = mean over streams of the maximum over clips of cos(q_m, clip).
- ConvSE: the similarity of clip i is the mean over streams of (W_m q_m + b_m) . clip_i. Two filters of width 5 over the
  similarities give the logits of the start and of the end.
- Score of the span from clip i to clip j: p_start(i) p_end(j) exp(alpha s). `span_scores` gives its logarithm.

Departures of both systems from the published code, with reasons:

- Similarities of missing clips count as 0 in the filters. In the published code, filters see similarities of padding,
  so the last two clips of a video depend on the videos beside it.
- The end of a moment is its last clip. In the published code it is the clip after that, unless the video ends there, so
  spans are from clip i to before clip j, and none ends with the video. A moment of one clip can be found.
- Spans have no lower limit of their length (published: 2 clips). `predict.longest_s` is the upper one (published: 15
  clips, 22.5 s).
- A video of more than `max_clips` clips keeps them all, and neighbours share a position. The published code averages it
  down to `max_clips`; then its spans would end with other clips than the training loop's.
- Features and tokens are not scaled to length 1. The first layer normalises them in any case.
- The hinge losses take the mean over all negatives of the batch instead of drawing one; see `losses.hinge_loss`.
- In TVR-Ranking's published code, the similarities of pairs do not multiply the hinge losses. Here they do.
- The training loop's AdamW decays all weights and does not cut gradients; see docs/training.md.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor, nn
from torch.nn.functional import normalize, scaled_dot_product_attention

from backend.systems.learning.field_types import Count, Positive, Share
from backend.systems.learning.losses import hinge_loss, positives_of, span_loss
from backend.systems.learning.system import Batch, Encoded, Presets, Sizes, System

KERNEL = 5
"""Clips that a start or an end is told by."""
Weight = Annotated[float, Meta(ge=0, le=1e6)]


class StreamOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network; the defaults are those of XML.

    Attributes:
        hidden: D, numbers in every encoding.
        heads: the number of heads of the attentions; it divides `hidden`.
        input_dropout: the share of numbers dropped from input features and their projections in training.
        dropout: the same for the attentions.
        clip_s: the length of a clip in seconds. Features are averaged over a clip; spans begin and end with clips.
        max_clips: the number of positions of clips that have an encoding.
        max_words: the number of tokens of a query that are read; later ones are left out.
        alpha: the weight of the video's score in the score of a span.
    """

    hidden: Count = 256
    heads: Count = 4
    input_dropout: Share = 0.1
    dropout: Share = 0.1
    clip_s: Positive = 1.5
    max_clips: Count = 100
    max_words: Count = 30
    alpha: Annotated[float, Meta(ge=0, le=1000)] = 20.0


class StreamLoss(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the losses that XML and ReLoCLNet share.

    Attributes:
        span: the weight of the loss for the place of the moment.
        hinge: the weight of the hinge losses for the video.
        margin: the margin of the hinge losses.
        hard_after: after so many epochs, only the hardest negatives count in the hinge losses; None counts all always.
        hard_pool: the number of the hardest negatives.
        weighted: whether a pair's losses are multiplied by the similarity of its query and moment (TVR-Ranking, C.1).
        positives: which videos of a batch match a query. `top`: all that have one of its top N moments (TVR-Ranking,
            C.1). `own`: only the video of the pair itself, as published. A positive is never a negative of `hinge`.
    """

    span: Weight = 0.01
    hinge: Weight = 1.0
    margin: Annotated[float, Meta(ge=0, le=2)] = 0.1
    hard_after: Count | None = 20
    hard_pool: Count = 20
    weighted: bool = True
    positives: Literal["top", "own"] = "top"


class Attention(nn.Module):
    """Multi-head attention, without a projection of its result."""

    def __init__(self, options: StreamOptions) -> None:
        super().__init__()
        self.heads, self.dropout = options.heads, options.dropout
        self.query, self.key, self.value = (nn.Linear(options.hidden, options.hidden) for _ in range(3))

    def forward(self, rows: Tensor, others: Tensor, mask: Tensor) -> Tensor:
        """Return what `rows` `(n, k, D)` see of `others` `(n, l, D)`, `(n, k, D)`; `mask` `(n, l)` says which exist."""
        asks, keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.query(rows), self.key(others), self.value(others))
        )
        dropout = self.dropout if self.training else 0.0
        seen = scaled_dot_product_attention(asks, keys, values, attn_mask=mask[:, None, None], dropout_p=dropout)
        return seen.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    """Self-attention with a residual connection and layer norm: each clip or token sees the others of its row."""

    def __init__(self, options: StreamOptions) -> None:
        super().__init__()
        self.attention = Attention(options)
        self.output = nn.Sequential(nn.Linear(options.hidden, options.hidden), nn.Dropout(options.dropout))
        self.norm = nn.LayerNorm(options.hidden)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Return the encoded rows, `(n, k, D)`; `mask` `(n, k)` says which exist."""
        encoded: Tensor = self.norm(rows + self.output(self.attention(rows, rows, mask)))
        return encoded


class Positions(nn.Module):
    """Learned encodings of positions, added to rows before they are normalised."""

    def __init__(self, count: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.table, self.norm, self.drop = nn.Embedding(count, hidden), nn.LayerNorm(hidden), nn.Dropout(dropout)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Return rows `(n, k, D)` with their positions; `mask` `(n, k)` says which exist.

        In a sequence of more rows than the table has, neighbours share a position.
        """
        count, place = self.table.num_embeddings, torch.arange(rows.shape[1], device=rows.device)
        shared = place * count // mask.sum(dim=1, keepdim=True).clamp(min=count)
        placed: Tensor = self.drop(self.norm(rows + self.table(shared.clamp(max=count - 1))))
        return placed


class Stream(nn.Module):
    """The layers of one stream of a video: input, self-attentions, cross encoding, and the query's layer for ConvSE."""

    def __init__(self, dim: int, options: StreamOptions, layers: int, *, crossed: bool) -> None:
        super().__init__()
        self.project = input_layer(dim, options)
        self.layers = nn.ModuleList(SelfAttention(options) for _ in range(layers))
        self.query = nn.Linear(options.hidden, options.hidden)
        if crossed:
            self.cross, self.cross_norm = Attention(options), nn.LayerNorm(options.hidden)


class TwoStreams(System):
    """The network of XML and ReLoCLNet, which differ in their numbers of layers and in their losses."""

    uses_words: ClassVar[bool] = True
    word_layers: ClassVar[int]
    """The number of self-attentions of tokens."""
    clip_layers: ClassVar[tuple[int, int]]
    """The number of self-attentions of clips, with frames alone, and with subtitles."""
    retrieval: ClassVar[int]
    """Which of them gives the encoding by which videos are scored; the last one gives that for spans."""

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__()
        self.model, self.loss = cast(StreamOptions, model), cast(StreamLoss, loss)
        m = self.model
        if faults := self.faults(m, self.loss, negatives=False):
            raise ValueError("; ".join(faults))
        self.columns = [dim for dim in (sizes.frame_dim, sizes.subtitle_dim) if dim]
        crossed = len(self.columns) == 2
        self.clip_positions = Positions(m.max_clips, m.hidden, m.input_dropout)
        self.word_positions = Positions(m.max_words, m.hidden, m.input_dropout)
        self.words = input_layer(sizes.sentence_dim, m)
        self.word_encoders = nn.ModuleList(SelfAttention(m) for _ in range(self.word_layers))
        self.modular = nn.Linear(m.hidden, len(self.columns), bias=False)
        layers = self.clip_layers[crossed]
        self.streams = nn.ModuleList(Stream(dim, m, layers, crossed=crossed) for dim in self.columns)
        # One filter for the start and one for the end. Without a bias: a softmax does not see it.
        self.ends = nn.Conv1d(1, 2, KERNEL, padding=KERNEL // 2, bias=False)
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=0.02)
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.zeros_(part.bias)

    @classmethod
    def faults(cls, model: StreamOptions, loss: StreamLoss, *, negatives: bool) -> Sequence[str]:
        """See `System.faults`."""
        faults = list(super().faults(model, loss, negatives=negatives))
        if model.hidden % model.heads:
            faults.append(f"field `model.heads` is {model.heads}: it has to divide `model.hidden`, {model.hidden}")
        return faults

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return `streams`, the query of each stream, `(queries, S, D)`; sentence vectors are not used."""
        words, mask = words[:, : self.model.max_words], mask[:, : self.model.max_words]
        rows = self.word_positions(self.words(words), mask)
        for layer in self.word_encoders:
            rows = layer(rows, mask)
        attention = self.modular(rows).masked_fill(~mask[..., None], -torch.inf).softmax(dim=1)
        return {"streams": torch.einsum("qws,qwd->qsd", attention, rows)}

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return `location` and, if it is another one, `retrieval`, both `(videos, clips, S, D)`, and the `mask`."""
        stages = self.encode_stages(clips, mask)
        encoded = {"location": stages[-1], "mask": mask}
        return encoded if self.retrieval == -1 else {**encoded, "retrieval": stages[self.retrieval]}

    def encode_stages(self, clips: Tensor, mask: Tensor) -> list[Tensor]:
        """Return the encodings of clips after each self-attention, each `(videos, clips, S, D)`.

        With two streams, the first self-attention is followed by the cross encoding.

        Args:
            clips: `(videos, clips, frame_dim + subtitle_dim)`.
            mask: bool `(videos, clips)`, True where there is a clip.
        """
        streams = self._streams()
        parts = zip(streams, torch.split(clips, self.columns, dim=-1), strict=True)
        rows = [self.clip_positions(stream.project(part), mask) for stream, part in parts]
        stages = []
        for number in range(len(streams[0].layers)):
            if number == 1 and len(rows) == 2:
                both = zip(streams, rows, reversed(rows), strict=True)
                rows = [stream.cross_norm(own + stream.cross(own, other, mask)) for stream, own, other in both]
            rows = [stream.layers[number](one, mask) for stream, one in zip(streams, rows, strict=True)]
            stages.append(torch.stack(rows, dim=2))
        return stages

    def _streams(self) -> list[Stream]:
        return cast(list[Stream], list(self.streams))

    def span_logits(self, queries: Tensor, clips: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the start and of the end of queries in videos, each `(..., clips)`.

        Args:
            queries: `(..., S, D)`; it may be broadcast.
            clips: `(..., clips, S, D)`, the encoding for the place of the moment.
            mask: bool `(..., clips)`; the logits are -inf where there is no clip.
        """
        asked = torch.stack([stream.query(queries[..., n, :]) for n, stream in enumerate(self._streams())], dim=-2)
        similarity = torch.einsum("...sd,...lsd->...l", asked, clips) / len(self.columns)
        logits = self.ends(similarity.masked_fill(~mask, 0.0).reshape(-1, 1, mask.shape[-1]))
        start, end = logits.unflatten(0, similarity.shape[:-1]).unbind(dim=-2)
        return start.masked_fill(~mask, -torch.inf), end.masked_fill(~mask, -torch.inf)

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return log(p_start(i) p_end(j)) + alpha s for the span from clip i to clip j, `(queries, videos, L, L)`."""
        logits = self.span_logits(queries["streams"][:, None], videos["location"], videos["mask"])
        start, end = (one.log_softmax(dim=-1) for one in logits)
        ordered = torch.ones(start.shape[-1], start.shape[-1], dtype=torch.bool, device=start.device).triu()
        spans = (start[..., :, None] + end[..., None, :]).masked_fill(~ordered, -torch.inf)
        return self.model.alpha * self.video_scores(queries, videos)[..., None, None] + spans

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the score of each video for each query, `(queries, videos)`, from -1 to 1."""
        clips = videos.get("retrieval", videos["location"])
        return best_clips(normalize(queries["streams"], dim=-1), normalize(clips, dim=-1), videos["mask"])

    def span_losses(self, batch: Batch, queries: Tensor, location: Tensor) -> Tensor:
        """Return the loss for the place of the moment of each pair, `(pairs,)`; see `losses.span_loss`."""
        return span_loss(*self.span_logits(queries, location, batch.mask), batch.first, batch.last)

    def hinge_losses(self, scores: Tensor, positives: Tensor) -> Tensor:
        """Return the hinge losses of each pair, `(pairs,)`; see `losses.hinge_loss`."""
        hard = self.loss.hard_after is not None and self.epoch > self.loss.hard_after
        return hinge_loss(scores, positives, self.loss.margin, self.loss.hard_pool if hard else None)

    def positives(self, batch: Batch) -> Tensor:
        """Return the mask of positives by the options, bool `(pairs, pairs)`; see `losses.positives_of`."""
        return positives_of(batch.positives, own_only=self.loss.positives == "own")

    def total(self, batch: Batch, parts: Mapping[str, tuple[float, Tensor]]) -> dict[str, Tensor]:
        """Return the mean of each part over pairs, times their weights by the options, and the sum `loss`.

        Args:
            batch: the pairs.
            parts: the factor of each part in `loss`, and its values for the pairs, `(pairs,)`.
        """
        means = {
            name: (batch.weight * each).mean() if self.loss.weighted else each.mean()
            for name, (_, each) in parts.items()
        }
        return {"loss": torch.stack([factor * means[name] for name, (factor, _) in parts.items()]).sum(), **means}


def published_presets(tvr_ranking: Mapping[str, object]) -> Presets:
    """Return the presets: as published for TVR, and as in TVR-Ranking, whose options of the loss are given.

    Both have at most 15 clips of 1.5 s in a span. TVR-Ranking's scripts have batches of 512.
    """
    predict = {"longest_s": 22.5}
    own = {"weighted": False, "positives": "own"}
    return {
        "tvr": {"loss": own, "training": {"epochs": 100}, "predict": predict},
        "tvr-ranking": {"loss": tvr_ranking, "training": {"batch": 512}, "predict": predict},
    }


def input_layer(dim: int, options: StreamOptions) -> nn.Sequential:
    """Return the projection of features or tokens, ReLU(W Dropout(LN(x)) + b)."""
    return nn.Sequential(
        nn.LayerNorm(dim), nn.Dropout(options.input_dropout), nn.Linear(dim, options.hidden), nn.ReLU()
    )


def best_clips(queries: Tensor, clips: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over streams of the highest inner product of a query and a clip, `(queries, videos)`.

    Args:
        queries: `(queries, S, D)`.
        clips: `(videos, clips, S, D)`.
        mask: bool `(videos, clips)`, True where there is a clip.

    Example: one stream, the query (1, 0), and a video of the clips (.6, .8) and (.8, .6): .8.
    """
    products = torch.einsum("qsd,vlsd->qvsl", queries, clips).masked_fill(~mask[:, None], -torch.inf)
    return products.amax(dim=-1).mean(dim=-1)
