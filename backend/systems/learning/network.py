"""The network: clips of videos and sentences as vectors that meet late, so that videos are encoded once for all.

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
