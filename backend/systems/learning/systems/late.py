"""late: a small teaching model, which encodes videos and queries separately (late interaction).

So each video is encoded only once, whatever the number of queries. Sources, with q a query, v a video of L clips, and D
the length of encodings (`hidden`):

- Late interaction (Lei et al. 2020, "TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval", section 4, XML;
  Zhang et al. 2021, "Video Corpus Moment Retrieval with Contrastive Learning", section 3, ReLoCLNet): self-attention
  encodes each clip together with the other clips of its video. Every clip and every query has two encodings: r for
  finding the video (`retrieval`), and l for finding the moment in it (`location`).
- Score of a video (XML, section 4, video retrieval): s(v, q) = max over clips i of cos(r_i, r_q).
- Span (XML, section 4, ConvSE): s_i = l_i . l_q for i = 1..L; start and end come from one filter each, of width 5, over
  s, p_start = softmax(conv(s)), p_end = softmax(conv'(s)). A filter sees where similarity rises and falls: with the
  filter (0, -1, 1, 0, 0) the similarities (0, 0, 9, 9, 0) give (0, 0, 9, 0, -9), and the start is clip 3.
- Score of the span from clip i to clip j (XML, section 4, inference): p_start(i) p_end(j) exp(alpha s(v, q)). Runs
  contain its logarithm.

`losses.py` has the losses. Here the loss is `span` times the one for the place of the moment, plus the one for the
choice of the video; both are means over pairs, weighted by the pairs' weights.

Differences from these papers: a sentence is one vector, while XML encodes its words, with attention over them for each
modality. Subtitles are more numbers of each clip, so there is no modular attention and no cross encoding. Inner
products in `span_logits` are divided by the square root of D. In the loss `crocs` (Yang et al. 2024, MVMR), the clip
that is most similar to the query stands for a moment or a video, because videos are ranked by their most similar clip;
it has no weights of pairs. The system `crocs` is the published one.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor, nn
from torch.nn.functional import normalize

from backend.systems.learning.field_types import Count, Positive, Share
from backend.systems.learning.losses import hinge_loss, nce_loss, positives_of, span_loss
from backend.systems.learning.positions import positions
from backend.systems.learning.system import Batch, Encoded, Rivals, Sizes, System
from backend.training import CroCsLoss

KERNEL = 5
"""The number of clips that a start or an end depends on."""


class ModelOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network.

    Attributes:
        hidden: D, the length of encodings.
        heads: the number of heads of the self-attention; it divides `hidden`.
        dropout: the share of numbers that are dropped in training.
        clip_s: the length of a clip in seconds, 1.5 for TVR. Features are averaged over a clip; spans begin and end
            with clips.
        alpha: the weight of the video's score in the score of a span (XML: 20).
    """

    hidden: Count = 256
    heads: Count = 4
    dropout: Share = 0.1
    clip_s: Positive = 1.5
    alpha: Annotated[float, Meta(ge=0, le=1000)] = 20.0


class LossOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss, which has one part for the choice of the video and one for the place of the moment in it.

    Attributes:
        video: the loss for the choice of the video, as in ReLoCLNet (`nce`), XML (`hinge`) or MVMR (`crocs`).
        weighted: whether a pair's losses are multiplied by the similarity of its query and moment, except `crocs`
            (TVR-Ranking, C.1).
        positives: which videos of a batch match a query. `top`: all that have one of its top N moments (TVR-Ranking,
            C.1). `own`: only the video of the pair itself, as in TVR-Ranking's published code. A positive is in the
            numerator of `nce`, and no negative in `hinge` and `crocs`.
        temperature: the temperature T of `nce` and `crocs`, by which scores are divided.
        margin: the margin of `hinge` and `crocs`, by which a pair should score higher than its negatives. The default
            is XML's value for `hinge`; the published configuration of `crocs` has 0.4.
        span: the weight of the loss for the place of the moment; the other part has the weight 1.
    """

    video: Literal["nce", "hinge", "crocs"] = "nce"
    weighted: bool = True
    positives: Literal["top", "own"] = "top"
    temperature: Positive = 0.1
    margin: Annotated[float, Meta(ge=0, le=2)] = 0.1
    span: Annotated[float, Meta(ge=0, le=1e6)] = 1.0


class Late(System):
    """The network, which encodes videos and queries separately, and its losses.

    Encodings of videos: `retrieval`, unit vectors `(V, L, D)`, `location`, `(V, L, D)`, and `mask`, bool `(V, L)`.
    Encodings of queries: `retrieval`, unit vectors `(Q, D)`, and `location`, `(Q, D)`.
    """

    name = "late"
    paper = "no paper: a small model after Lei et al. 2020, TVR, ECCV (XML), with one vector a sentence"
    ModelOptions: ClassVar[type[Struct]] = ModelOptions
    LossOptions: ClassVar[type[Struct]] = LossOptions
    takes_negatives = "drawn"

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__()
        self.model, self.loss = cast(ModelOptions, model), cast(LossOptions, loss)
        hidden, heads, dropout = self.model.hidden, self.model.heads, self.model.dropout

        def projection(length: int) -> nn.Sequential:
            return nn.Sequential(
                nn.LayerNorm(length), nn.Dropout(dropout), nn.Linear(length, hidden), nn.ReLU(), nn.LayerNorm(hidden)
            )

        self.frames = projection(sizes.frame_dim + sizes.subtitle_dim)
        self.context = nn.TransformerEncoderLayer(hidden, heads, 2 * hidden, dropout, batch_first=True, norm_first=True)
        self.sentence = projection(sizes.sentence_dim)
        self.video_heads = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        self.query_heads = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        # Without a bias: a softmax does not see it.
        self.ends = nn.Conv1d(1, 2, KERNEL, padding=KERNEL // 2, bias=False)

    @classmethod
    def faults(cls, model: Any, loss: Any, *, negatives: bool) -> Sequence[str]:
        """See `System.faults`."""
        faults = []
        if model.hidden % model.heads or model.hidden % 2:
            field = f"field `model.hidden` is {model.hidden}"
            faults.append(f"{field}: it has to be even, and `model.heads`, {model.heads}, has to divide it")
        if loss.video == "crocs" and not negatives:
            faults.append("field `loss.video` is crocs: add the table [negatives] with the `folder` of its negatives")
        if loss.video != "crocs" and negatives:
            faults.append(f"table [negatives] is for `loss.video` crocs, not {loss.video}: take one of them out")
        return faults

    @property
    def draws_positives(self) -> bool:
        """Whether videos with a moment of the query may be negatives: with `positives = "own"`."""
        return self.loss.positives == "own"

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return the encodings of videos, see the class."""
        placed = self.frames(clips) + positions(clips.shape[1], self.model.hidden).to(clips)
        encoded = self.context(placed, src_key_padding_mask=~mask)
        retrieval, location = (head(encoded) for head in self.video_heads)
        return {"retrieval": normalize(retrieval, dim=-1), "location": location, "mask": mask}

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return the encodings of queries, given their sentence vectors; tokens are not used."""
        encoded = self.sentence(sentence)
        retrieval, location = (head(encoded) for head in self.query_heads)
        return {"retrieval": normalize(retrieval, dim=-1), "location": location}

    def span_logits(self, similarity: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits that say how likely the query's moment starts, and ends, at each clip; -inf at padding.

        Args:
            similarity: `(pairs, L)`, the inner product of the encodings `location` of a query and each clip.
            mask: bool `(pairs, L)`, True where there is a clip.
        """
        scaled = similarity / math.sqrt(self.model.hidden)
        logits = self.ends(scaled.masked_fill(~mask, 0.0)[:, None])
        start, end = logits.masked_fill(~mask[:, None], -torch.inf).unbind(dim=1)
        return start, end

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the score of each video for each query, `(Q, V)`: the cosine of its most similar clip."""
        return clip_scores(queries, videos).amax(dim=-1)

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return log p_start(i) + log p_end(j) + alpha s(v, q), `(Q, V, L, L)`."""
        similarity = torch.einsum("qd,vld->qvl", queries["location"], videos["location"])
        mask = videos["mask"].expand(similarity.shape)
        logits = self.span_logits(similarity.flatten(0, 1), mask.flatten(0, 1))
        start, end = (part.log_softmax(dim=1).view(similarity.shape) for part in logits)
        scores = self.model.alpha * clip_scores(queries, videos).amax(dim=-1)
        whole = scores[:, :, None, None] + start[:, :, :, None] + end[:, :, None, :]
        return whole.masked_fill(
            torch.ones(whole.shape[2:], dtype=torch.bool, device=whole.device).tril(-1), -torch.inf
        )

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return "loss", its part "span" for the place of the moment, and its part "video"."""
        options = self.loss
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        videos = self.encode_videos(batch.clips, batch.mask)
        similarity = torch.einsum("vd,vld->vl", queries["location"], videos["location"])
        logits = self.span_logits(similarity, batch.mask)
        span = (batch.weight * span_loss(*logits, batch.first, batch.last)).mean()
        if options.video == "crocs":
            video = self.crocs_loss(batch, rivals, queries, videos)
        else:
            scores = self.video_scores(queries, videos)
            positives = positives_of(batch.positives, own_only=options.positives == "own")
            each = (
                nce_loss(scores, positives, options.temperature)
                if options.video == "nce"
                else hinge_loss(scores, positives, options.margin)
            )
            video = (batch.weight * each).mean()
        return {"loss": options.span * span + video, "span": span, "video": video}

    def crocs_loss(self, batch: Batch, rivals: Rivals | None, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the CroCs loss of a batch, a scalar; `backend.training.CroCsLoss` has the formula.

        The nearest clip of the moment stands for a moment, the nearest clip of all for a drawn video.
        """
        if rivals is None or rivals.videos is None or rivals.queries is None:
            raise ValueError("crocs needs negatives")
        scores = torch.einsum("bd,bld->bl", queries["retrieval"], videos["retrieval"])
        place = torch.arange(scores.shape[1], device=scores.device)
        within = (place >= batch.first[:, None]) & (place <= batch.last[:, None])
        nearest = scores.masked_fill(~within, -torch.inf).argmax(dim=1)
        moments = videos["retrieval"][torch.arange(len(nearest), device=nearest.device), nearest]
        drawn, asked = rivals.videos, rivals.queries
        others = self.encode_videos(drawn.clips, drawn.mask)
        clip = clip_scores(queries, others).argmax(dim=-1).gather(1, drawn.video_of)
        wrong_queries = self.encode_queries(asked.words, asked.mask, asked.vectors)["retrieval"][asked.query_of]
        value: Tensor = CroCsLoss(self.loss.temperature, self.loss.margin)(
            queries["retrieval"],
            moments,
            rivals.potential,
            others["retrieval"][drawn.video_of, clip],
            wrong_queries,
            strong_moments_mask=drawn.video_counts,
            strong_queries_mask=asked.query_counts,
        )
        return value


def clip_scores(queries: Encoded, videos: Encoded) -> Tensor:
    """Return the cosine of each query and each clip, `(Q, V, L)`; -inf where there is no clip."""
    scores = torch.einsum("qd,vld->qvl", queries["retrieval"], videos["retrieval"])
    return scores.masked_fill(~videos["mask"][None], -torch.inf)
