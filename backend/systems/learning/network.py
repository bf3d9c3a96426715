"""The network and its losses: clips and sentences as vectors that meet late, so that videos are encoded once for all.

What is taken from where, with q a query, v a video of L clips, D the length of encodings:

- Late interaction (Lei et al. 2020, "TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval", section 4, XML;
  Zhang et al. 2021, "Video Corpus Moment Retrieval with Contrastive Learning", section 3, ReLoCLNet): videos and
  queries are encoded apart, clips with the clips around them by self-attention, and each twice, to be told from other
  videos and to be located in their own.
- Score of a video (XML, section 4, video retrieval): s(v, q) = max over clips i of cos(r_i, r_q).
- Span (XML, section 4, ConvSE): s_i = l_i . l_q for i = 1..L; start and end are told by one filter of width 5 each over
  s, p_start = softmax(conv(s)), p_end = softmax(conv'(s)). A filter sees where similarity rises and falls: with the
  filter (0, -1, 1, 0, 0) the similarities (0, 0, 9, 9, 0) give (0, 0, 9, 0, -9), and the start is clip 3.

Departures: sentences come as one vector each, where XML has words with an attention over them for each modality, and
there is one modality, frames; so there is no modular attention and no cross encoding. Inner products of `span_logits`
are divided by the square root of D.

Losses: where a moment lies in its video, and which video it lies in. With w_i the similarity of pair i, of query q_i
and a moment in video v_i, and B pairs in a batch,

    L = mean_i w_i (a span_i + video_i)

`span_i` = -log p_start(first clip of the moment) - log p_end(its last clip): XML (Lei et al. 2020, section 4, moment
localization); ReLoCLNet (Zhang et al. 2021, section 3) has the same.

TVR-Ranking (Liang et al. 2024, appendix C.1) trains ReLoCLNet on pseudo training sets with two changes, both here: each
pair weighs as its similarity, w_i, and videos of a batch that are positives of a query too are masked from its
negatives. Their published code weighs what is told by single pairs in this way and leaves the hinge losses unweighted;
here the hinge is weighed too.
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
    """What the network's weights depend on: lengths of features, of sentence vectors, of encodings; heads."""

    frame_dim: int
    sentence_dim: int
    hidden: int
    heads: int
    dropout: float


@dataclass(frozen=True, slots=True, eq=False)
class EncodedVideos:
    """`retrieval` `(videos, clips, D)`, of unit length; `location` of that shape; `mask` `(videos, clips)`, bool."""

    retrieval: Tensor
    location: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQueries:
    """`retrieval` `(queries, D)`, of unit length; `location` of the same shape."""

    retrieval: Tensor
    location: Tensor


class LateInteraction(nn.Module):
    """See the module. It has no state besides its weights."""

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
            clips: float32 `(videos, clips, frame_dim)`, filled up to the longest.
            mask: bool `(videos, clips)`, True where there is a clip.
        """
        placed = self.frames(clips) + positions(clips.shape[1], self.shape.hidden).to(clips)
        seen = self.context(placed, src_key_padding_mask=~mask)
        retrieval, location = (head(seen) for head in self.video_heads)
        return EncodedVideos(normalize(retrieval, dim=-1), location, mask)

    def queries(self, vectors: Tensor) -> EncodedQueries:
        """Encode queries: float32 `(queries, sentence_dim)`."""
        seen = self.sentence(vectors)
        retrieval, location = (head(seen) for head in self.query_heads)
        return EncodedQueries(normalize(retrieval, dim=-1), location)

    def span_logits(self, queries: Tensor, clips: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Of each video, of one query each, the logits of start and end.

        Args:
            queries: `(videos, D)`, `location` of queries.
            clips: `(videos, clips, D)`, `location` of videos.
            mask: bool `(videos, clips)`.

        Returns:
            Both `(videos, clips)`, -inf where there is no clip.
        """
        similarity = torch.einsum("vd,vld->vl", queries, clips) / math.sqrt(self.shape.hidden)
        found = self.ends(similarity.masked_fill(~mask, 0.0)[:, None])
        start, end = found.masked_fill(~mask[:, None], -torch.inf).unbind(dim=1)
        return start, end


def clip_scores(queries: EncodedQueries, videos: EncodedVideos) -> Tensor:
    """The cosine of each query and each clip, `(queries, videos, clips)`; -inf where there is no clip."""
    return torch.einsum("qd,vld->qvl", queries.retrieval, videos.retrieval).masked_fill(~videos.mask, -torch.inf)


def video_scores(queries: EncodedQueries, videos: EncodedVideos) -> Tensor:
    """The score of each video for each query, `(queries, videos)` in [-1, 1]: that of its best clip."""
    return clip_scores(queries, videos).amax(dim=-1)


def positions(length: int, hidden: int) -> Tensor:
    """Encodings of places, `(length, hidden)`, for videos of any length.

    Vaswani et al. 2017, "Attention Is All You Need", section 3.5: sines at even numbers, cosines at odd ones, of
    place / 10000^(number / hidden); place 0 is 0, 1, 0, 1, ...
    """
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, hidden, 2) / hidden)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def span_loss(start: Tensor, end: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """-log p_start(first) - log p_end(last) of each pair, `(pairs,)`.

    Args:
        start: logits, `(pairs, clips)`, -inf where there is no clip.
        end: the same.
        first: int64 `(pairs,)`, the clip that the moment begins with.
        last: the one that it ends with.

    Two clips with logits (0, log 3) for the start and (0, 0) for the end, a moment of the second clip alone:
    -log(3/4) - log(1/2) = log(8/3).
    """
    return cross_entropy(start, first, reduction="none") + cross_entropy(end, last, reduction="none")


def negatives_of(positives: Tensor, *, masked: bool) -> Tensor:
    """Which videos of a batch are negatives of which queries, bool `(pairs, pairs)`.

    Args:
        positives: bool `(pairs, pairs)`, whether the video of pair j has a moment of the query of pair i.
        masked: leave out all positives (TVR-Ranking, C.1); else only each pair's own video.
    """
    return ~positives if masked else ~torch.eye(len(positives), dtype=torch.bool, device=positives.device)


def nce_loss(scores: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Of each pair, `(pairs,)`: its score among those of its query's negatives and of its video's.

    ReLoCLNet, section 3 (VideoCL): with e(x) = exp(x / T), s_ij the score of query i and video j, N the negatives,

        -log( e(s_ii) / (e(s_ii) + sum of e(s_ij), (i, j) in N, + sum of e(s_ji), (j, i) in N) )

    It has inner products where we have cosines and T, and its code counts e(s_ii) twice below the line.

    Args:
        scores: `(pairs, pairs)`.
        negatives: see `negatives_of`.
        temperature: T, above 0.

    Two pairs, T = 1, scores (log 2, 0) of the first query and (log 3, log 4) of the second, all others negatives: for
    the first pair 2 / (2 + 1 + 3), a loss of log 3; for the second 4 / (4 + 3 + 1), log 2.
    """
    right = scores.diagonal()[:, None]
    rivals = torch.cat([scores.masked_fill(~negatives, -torch.inf), scores.T.masked_fill(~negatives.T, -torch.inf)], 1)
    return (torch.cat([right, rivals], dim=1) / temperature).logsumexp(dim=1) - right[:, 0] / temperature


def hinge_loss(scores: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """Of each pair, `(pairs,)`: by how much its score falls short of beating negatives by a margin, both ways added.

    XML, section 4 (video retrieval): max(0, D + s(v', q) - s(v, q)) + max(0, D + s(v, q') - s(v, q)). There v' and
    q' are drawn from the batch; here it is the mean over all of them, which is what a draw is expected to give. 0 where
    there is no negative.

    Args:
        scores: `(pairs, pairs)`.
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
