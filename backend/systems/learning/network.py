"""The network and its losses. Videos and queries are encoded apart (late interaction), so each video is encoded once.

Sources, with q a query, v a video of L clips, and D the length of encodings:

- Late interaction (Lei et al. 2020, "TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval", section 4, XML;
  Zhang et al. 2021, "Video Corpus Moment Retrieval with Contrastive Learning", section 3, ReLoCLNet): videos and
  queries are encoded apart. Self-attention encodes clips with the clips around them. Each is encoded twice: for
  finding the video, and for finding the moment in it.
- Score of a video (XML, section 4, video retrieval): s(v, q) = max over clips i of cos(r_i, r_q).
- Span (XML, section 4, ConvSE): s_i = l_i . l_q for i = 1..L; start and end come from one filter each, of width 5, over
  s, p_start = softmax(conv(s)), p_end = softmax(conv'(s)). A filter sees where similarity rises and falls: with the
  filter (0, -1, 1, 0, 0) the similarities (0, 0, 9, 9, 0) give (0, 0, 9, 0, -9), and the start is clip 3.

Departures: a sentence is one vector, where XML has words and attention over them for each modality. There is one
modality, frames, so there is no modular attention and no cross encoding. Inner products of `span_logits`
are divided by the square root of D.

Losses: one for the place of a moment in its video, one for the choice of the video. With w_i the
similarity of pair i, of query q_i and a moment in video v_i, and B pairs in a batch,

    L = mean_i w_i (a span_i + video_i)

`span_i` = -log p_start(first clip of the moment) - log p_end(its last clip): XML (Lei et al. 2020, section 4, moment
localization); ReLoCLNet (Zhang et al. 2021, section 3) has the same.

TVR-Ranking (Liang et al. 2024, appendix C.1) trains ReLoCLNet on pseudo training sets with two changes, both here: a
pair weighs by its similarity, w_i, and other positives of a query in the batch are masked from its negatives. Their
published code weighs the losses of single pairs in this way, but not the hinge losses; here those are weighed too.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

KERNEL = 5
"""Clips that a start or an end is told by."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network: lengths of features, sentence vectors and encodings, and the number of heads."""

    frame_dim: int
    sentence_dim: int
    hidden: int
    heads: int
    dropout: float


@dataclass(frozen=True, slots=True, eq=False)
class EncodedVideos:
    """Encoded videos.

    `retrieval` `(videos, clips, D)` has vectors of unit length, for finding the video. `location` has the same shape,
    for finding the moment in it. `mask` `(videos, clips)` is True where there is a clip.
    """

    retrieval: Tensor
    location: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQueries:
    """Encoded queries, each encoded twice.

    `retrieval` `(queries, D)` has vectors of unit length, for finding the video. `location` has the same shape, for
    finding the moment in it.
    """

    retrieval: Tensor
    location: Tensor


class LateInteraction(nn.Module):
    """The network that this module describes. It has no state besides its weights."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        hidden = shape.hidden
        self.frames = nn.Sequential(
            nn.LayerNorm(shape.frame_dim),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.frame_dim, hidden),
            nn.ReLU(),
            nn.LayerNorm(hidden),
        )
        self.context = nn.TransformerEncoderLayer(
            hidden, shape.heads, 2 * hidden, shape.dropout, batch_first=True, norm_first=True
        )
        self.sentence = nn.Sequential(
            nn.LayerNorm(shape.sentence_dim),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.sentence_dim, hidden),
            nn.ReLU(),
            nn.LayerNorm(hidden),
        )
        self.video_heads = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        self.query_heads = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        # Without a bias: a softmax does not see it.
        self.ends = nn.Conv1d(1, 2, KERNEL, padding=KERNEL // 2, bias=False)

    def videos(self, clips: Tensor, mask: Tensor) -> EncodedVideos:
        """Encode videos.

        Args:
            clips: float32 `(videos, clips, frame_dim)`, padded to the longest video.
            mask: bool `(videos, clips)`, True where there is a clip.
        """
        placed = self.frames(clips) + positions(clips.shape[1], self.shape.hidden).to(clips)
        encoded = self.context(placed, src_key_padding_mask=~mask)
        retrieval, location = (head(encoded) for head in self.video_heads)
        return EncodedVideos(normalize(retrieval, dim=-1), location, mask)

    def queries(self, vectors: Tensor) -> EncodedQueries:
        """Encode queries, given their sentence vectors, float32 `(queries, sentence_dim)`."""
        encoded = self.sentence(vectors)
        retrieval, location = (head(encoded) for head in self.query_heads)
        return EncodedQueries(normalize(retrieval, dim=-1), location)

    def span_logits(self, queries: Tensor, clips: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of start and end for each pair of a query and a video.

        Args:
            queries: `(videos, D)`, `location` of one query for each video.
            clips: `(videos, clips, D)`, `location` of videos.
            mask: bool `(videos, clips)`.

        Returns:
            The logits of each clip as the start and as the end, each `(videos, clips)`; -inf where there is no clip.
        """
        similarity = torch.einsum("vd,vld->vl", queries, clips) / math.sqrt(self.shape.hidden)
        logits = self.ends(similarity.masked_fill(~mask, 0.0)[:, None])
        start, end = logits.masked_fill(~mask[:, None], -torch.inf).unbind(dim=1)
        return start, end


def clip_scores(queries: EncodedQueries, videos: EncodedVideos) -> Tensor:
    """Return the cosine of each query and each clip, `(queries, videos, clips)`; -inf where there is no clip."""
    return torch.einsum("qd,vld->qvl", queries.retrieval, videos.retrieval).masked_fill(~videos.mask, -torch.inf)


def video_scores(queries: EncodedQueries, videos: EncodedVideos) -> Tensor:
    """Return the score of each video for each query, `(queries, videos)` in [-1, 1]: the score of its best clip."""
    return clip_scores(queries, videos).amax(dim=-1)


def positions(length: int, hidden: int) -> Tensor:
    """Return position encodings, `(length, hidden)`, for videos of any length.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5. For each even n below `hidden`, the encoding
    of clip number p (from 0) has sin(p / 10000^(n / hidden)) at n, and the cosine of the same angle at n + 1. So the
    encoding of clip 0 is 0, 1, 0, 1, ...
    """
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, hidden, 2) / hidden)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def span_loss(start: Tensor, end: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the span loss of each pair, -log p_start(first) - log p_end(last), `(pairs,)`.

    Args:
        start: logits of the start, `(pairs, clips)`, -inf where there is no clip.
        end: logits of the end, as for `start`.
        first: int64 `(pairs,)`, the first clip of the moment.
        last: int64 `(pairs,)`, its last clip.

    Two clips with logits (0, log 3) for the start and (0, 0) for the end, a moment of the second clip alone:
    -log(3/4) - log(1/2) = log(8/3).
    """
    return cross_entropy(start, first, reduction="none") + cross_entropy(end, last, reduction="none")


def negatives_of(positives: Tensor, *, masked: bool) -> Tensor:
    """Return which videos of a batch are negatives of which queries, bool `(pairs, pairs)`.

    Args:
        positives: bool `(pairs, pairs)`, whether the video of pair j has a moment of the query of pair i.
        masked: whether all positives are left out of the negatives (TVR-Ranking, C.1). Otherwise only each pair's own
            video is left out.
    """
    return ~positives if masked else ~torch.eye(len(positives), dtype=torch.bool, device=positives.device)


def nce_loss(scores: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Return the contrastive loss of each pair, `(pairs,)`: its score against the negatives of its query and its video.

    ReLoCLNet, section 3 (VideoCL): with e(x) = exp(x / T), s_ij the score of query i and video j, N the negatives,

        -log( e(s_ii) / (e(s_ii) + sum of e(s_ij), (i, j) in N, + sum of e(s_ji), (j, i) in N) )

    ReLoCLNet has inner products where we have cosines and T, and its code counts e(s_ii) twice in the denominator.

    Args:
        scores: `(pairs, pairs)`, the score of the query of pair i and the video of pair j.
        negatives: see `negatives_of`.
        temperature: T, above 0.

    Two pairs, T = 1, scores (log 2, 0) of the first query and (log 3, log 4) of the second, all others negatives: for
    the first pair 2 / (2 + 1 + 3), a loss of log 3; for the second 4 / (4 + 3 + 1), log 2.
    """
    right = scores.diagonal()[:, None]
    rivals = torch.cat([scores.masked_fill(~negatives, -torch.inf), scores.T.masked_fill(~negatives.T, -torch.inf)], 1)
    return (torch.cat([right, rivals], dim=1) / temperature).logsumexp(dim=1) - right[:, 0] / temperature


def hinge_loss(scores: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """Return the hinge loss of each pair, `(pairs,)`: by how much it fails to beat its negatives by the margin.

    The losses against other videos and against other queries are added.

    XML, section 4 (video retrieval): max(0, D + s(v', q) - s(v, q)) + max(0, D + s(v, q') - s(v, q)). There v' and
    q' are drawn from the batch; here the loss is the mean over all of them, the expectation of a draw. It is 0 without
    negatives.

    Args:
        scores: `(pairs, pairs)`, the score of the query of pair i and the video of pair j.
        negatives: see `negatives_of`.
        margin: D.

    Two pairs, D = 0.1, scores (0.5, 0.45) and (0.3, 0.2): the first pair gives 0.05 for the other video and 0 for the
    other query, the second 0.2 and 0.35.
    """
    right = scores.diagonal()[:, None]

    def one_way(rivals: Tensor, counts: Tensor) -> Tensor:
        short = (margin + rivals - right).clamp(min=0).masked_fill(~counts, 0.0)
        return short.sum(dim=1) / counts.sum(dim=1).clamp(min=1)

    return one_way(scores, negatives) + one_way(scores.T, negatives.T)
