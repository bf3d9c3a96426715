"""The network for finding moments. It encodes videos and queries separately (late interaction).

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
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

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
