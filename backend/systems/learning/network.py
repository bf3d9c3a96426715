"""The network for finding moments, and its losses. It encodes videos and queries separately (late interaction).

So each video is encoded only once, whatever the number of queries. Sources, with q a query, v a video of L clips, and D
the length of encodings:

- Late interaction (Lei et al. 2020, "TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval", section 4, XML;
  Zhang et al. 2021, "Video Corpus Moment Retrieval with Contrastive Learning", section 3, ReLoCLNet): self-attention
  encodes each clip together with the other clips of its video. Every clip and every query has two encodings: r for
  finding the video (`retrieval`), and l for finding the moment in it (`location`).
- Score of a video (XML, section 4, video retrieval): s(v, q) = max over clips i of cos(r_i, r_q).
- Span (XML, section 4, ConvSE): s_i = l_i . l_q for i = 1..L; start and end come from one filter each, of width 5, over
  s, p_start = softmax(conv(s)), p_end = softmax(conv'(s)). A filter sees where similarity rises and falls: with the
  filter (0, -1, 1, 0, 0) the similarities (0, 0, 9, 9, 0) give (0, 0, 9, 0, -9), and the start is clip 3.

Differences from these papers: here a sentence is one vector, while XML encodes its words, with attention over them for
each modality. There is only one modality, frames, so there is no modular attention and no cross encoding. Inner
products in `span_logits` are divided by the square root of D.

The loss has two parts: one for the place of a moment in its video, one for the choice of the video. With B pairs in a
batch, pair i of a query q_i and a moment in video v_i, its similarity w_i, and a the weight of the first part,

    L = mean_i w_i (a span_i + video_i)

`span_i` = -log p_start(first clip of the moment) - log p_end(its last clip): XML (Lei et al. 2020, section 4, moment
localization); ReLoCLNet (Zhang et al. 2021, section 3) has the same. `video_i` is `nce_loss` or `hinge_loss`. The
third choice, the CroCs loss in `rivals.py`, is a mean over the batch without w_i.

TVR-Ranking (Liang et al. 2024, appendix C.1) trains ReLoCLNet on pseudo training sets with two changes, which are both
made here. The loss of a pair is multiplied by its similarity w_i. Other videos that match the query are not used as its
negatives. Their published code multiplies other losses by w_i, but not the hinge losses; here it multiplies them, too.
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
    """The sizes of the network: lengths of features, sentence vectors and encodings, number of heads, and dropout."""

    frame_dim: int
    sentence_dim: int
    hidden: int
    heads: int
    dropout: float


@dataclass(frozen=True, slots=True, eq=False)
class EncodedVideos:
    """Videos encoded by the network; each clip has two encodings of D numbers (`hidden` in the settings).

    Attributes:
        retrieval: unit vectors for finding the video, `(videos, clips, D)`.
        location: vectors for finding the moment in the video, `(videos, clips, D)`.
        mask: `(videos, clips)`, True where there is a clip.
    """

    retrieval: Tensor
    location: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQueries:
    """Queries encoded by the network; each query has two encodings of D numbers (`hidden` in the settings).

    Attributes:
        retrieval: unit vectors for finding the video, `(queries, D)`.
        location: vectors for finding the moment in the video, `(queries, D)`.
    """

    retrieval: Tensor
    location: Tensor


class LateInteraction(nn.Module):
    """The network, which encodes videos and queries separately. It has no state besides its weights."""

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
        """Return the encodings of videos.

        Args:
            clips: float32 `(videos, clips, frame_dim)`, the features of each clip, padded to the longest video.
            mask: bool `(videos, clips)`, True where there is a clip.
        """
        placed = self.frames(clips) + positions(clips.shape[1], self.shape.hidden).to(clips)
        encoded = self.context(placed, src_key_padding_mask=~mask)
        retrieval, location = (head(encoded) for head in self.video_heads)
        return EncodedVideos(normalize(retrieval, dim=-1), location, mask)

    def queries(self, vectors: Tensor) -> EncodedQueries:
        """Return the encodings of queries, given their sentence vectors, float32 `(queries, sentence_dim)`."""
        encoded = self.sentence(vectors)
        retrieval, location = (head(encoded) for head in self.query_heads)
        return EncodedQueries(normalize(retrieval, dim=-1), location)

    def span_logits(self, queries: Tensor, clips: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits that say how likely the query's moment starts, and ends, at each clip of a video.

        Args:
            queries: `(videos, D)`, the encoding `location` of one query for each video; all may be the same query.
            clips: `(videos, clips, D)`, the encoding `location` of the videos.
            mask: bool `(videos, clips)`, True where there is a clip.

        Returns:
            The logits of the start and of the end, each `(videos, clips)`; -inf where there is no clip.
        """
        similarity = torch.einsum("vd,vld->vl", queries, clips) / math.sqrt(self.shape.hidden)
        logits = self.ends(similarity.masked_fill(~mask, 0.0)[:, None])
        start, end = logits.masked_fill(~mask[:, None], -torch.inf).unbind(dim=1)
        return start, end


def clip_scores(queries: EncodedQueries, videos: EncodedVideos) -> Tensor:
    """Return the cosine of each query and each clip, `(queries, videos, clips)`; -inf where there is no clip."""
    return torch.einsum("qd,vld->qvl", queries.retrieval, videos.retrieval).masked_fill(~videos.mask, -torch.inf)


def video_scores(queries: EncodedQueries, videos: EncodedVideos) -> Tensor:
    """Return the score of each video for each query, `(queries, videos)`: the cosine of its most similar clip."""
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
    """Return the loss for the place of the moment, -log p_start(first) - log p_end(last), for each pair, `(pairs,)`.

    Args:
        start: logits of the start, `(pairs, clips)`, -inf where there is no clip.
        end: logits of the end, as for `start`.
        first: int64 `(pairs,)`, the number of the first clip of the moment, from 0.
        last: int64 `(pairs,)`, the number of its last clip.

    Example: a video has two clips, with the logits (0, log 3) for the start and (0, 0) for the end. For a moment that
    is the second clip, the loss is -log(3/4) - log(1/2) = log(8/3).
    """
    return cross_entropy(start, first, reduction="none") + cross_entropy(end, last, reduction="none")


def negatives_of(positives: Tensor, *, masked: bool) -> Tensor:
    """Return which videos of a batch are negatives of which queries, bool `(pairs, pairs)`.

    Row i, column j is for the query of pair i and the video of pair j.

    Args:
        positives: bool `(pairs, pairs)`, whether the video of pair j has a moment of the query of pair i.
        masked: True if no video with a moment of the query is a negative (TVR-Ranking, C.1). With False, only the video
            of pair i itself is no negative.
    """
    return ~positives if masked else ~torch.eye(len(positives), dtype=torch.bool, device=positives.device)


def nce_loss(scores: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Return the contrastive loss of each pair, `(pairs,)`, which is low if the pair scores higher than its negatives.

    The negatives of a pair are other videos for its query, and other queries for its video. ReLoCLNet, section 3
    (VideoCL): with e(x) = exp(x / T), s_ij the score of query i and video j, and N the negatives,

        -log( e(s_ii) / (e(s_ii) + sum of e(s_ij), (i, j) in N, + sum of e(s_ji), (j, i) in N) )

    ReLoCLNet uses inner products without T, where this code uses cosines and T. Its code counts e(s_ii) twice in the
    denominator.

    Args:
        scores: `(pairs, pairs)`, the score of the query of pair i and the video of pair j.
        negatives: see `negatives_of`.
        temperature: T, above 0.

    Example: two pairs and T = 1. The first query has the scores (log 2, 0), the second (log 3, log 4), and each is a
    negative of the other. The loss of the first pair is -log( 2 / (2 + 1 + 3) ) = log 3, that of the second is
    -log( 4 / (4 + 3 + 1) ) = log 2.
    """
    right = scores.diagonal()[:, None]
    rivals = torch.cat([scores.masked_fill(~negatives, -torch.inf), scores.T.masked_fill(~negatives.T, -torch.inf)], 1)
    return (torch.cat([right, rivals], dim=1) / temperature).logsumexp(dim=1) - right[:, 0] / temperature


def hinge_loss(scores: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """Return the hinge loss of each pair, `(pairs,)`: how far it is from scoring a margin higher than its negatives.

    XML, section 4 (video retrieval), with margin D: max(0, D + s(v', q) - s(v, q)) + max(0, D + s(v, q') - s(v, q)). In
    XML the other video v' and the other query q' are drawn from the batch. Here each of the two terms is the mean over
    all negatives in the batch, which is the expected value of a draw. Without negatives it is 0.

    Args:
        scores: `(pairs, pairs)`, the score of the query of pair i and the video of pair j.
        negatives: see `negatives_of`.
        margin: D.

    Example: two pairs, D = 0.1, and the scores (0.5, 0.45) of the first query and (0.3, 0.2) of the second. The first
    pair has the terms 0.05 for the other video and 0 for the other query. The second has 0.2 and 0.35.
    """
    right = scores.diagonal()[:, None]

    def one_way(rivals: Tensor, counts: Tensor) -> Tensor:
        short = (margin + rivals - right).clamp(min=0).masked_fill(~counts, 0.0)
        return short.sum(dim=1) / counts.sum(dim=1).clamp(min=1)

    return one_way(scores, negatives) + one_way(scores.T, negatives.T)
