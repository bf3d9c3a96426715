"""CONQUER: another system's run names the videos of a query, and a query-aware network finds the moment in them.

Paper: Hou, Ngo and Chan 2021, "CONQUER: Contextual Query-aware Ranking for Video Corpus Moment Retrieval", MM, pages
3900-3908; trained on TVR-Ranking by Liang et al. 2024, appendix C.1. Behaviour follows the public code
(houzhijian/CONQUER, commit d4af371). With D the length of encodings, L clips, W tokens, v and q encoded clips and
tokens, and every "block" a projection (layer norm, linear, ReLU) with a transformer layer behind it:

1. Encoding: one transformer layer reads all clips of a video, and its subtitles as L more rows; another reads tokens.
2. Query-dependent fusion: QDF = g_visual v + g_subtitle s, where g = softmax(linear(NetVLAD(q))) is one pair of weights
   for each query. Without subtitles, QDF is v.
3. Query-aware features: S_ij = w . [v_i; q_j; v_i * q_j]; V2Q_i = sum_j softmax_j(S_ij) q_j;
   Q2V = sum_i softmax_i(max_j S_ij) v_i; QAL_i = [v_i; V2Q_i; v_i * V2Q_i; v_i * Q2V], 4D numbers.
4. Context: C = block(QAL), and G = [QAL; C], 5D numbers.
5. Start and end: B = block(G) and E = block([C; B]); two convolutions on each give the logits b_i and e_i.
6. Shared normalisation: -log softmax(b)[first] - log softmax(e)[last], where both softmaxes run over all clips of the
   right video and of the drawn videos together. So logits compare over videos.
7. Score of a span by `similarity`: `general` r p_b(i) p_e(j), with p normalised in each video and r the score of the
   first run; `exclusive` the same with r = exp(r_v), r_v from a head of its own, trained by cross-entropy; `disjoint`
   exp(b_i + e_j). All are given as logarithms.

Departures, with reasons:

- The first run is a file of any system; the paper's is of HERO, whose predictions for TVR are not ours to ship.
- Loss of a pair times its weight (TVR-Ranking), and videos with another moment of the query are not drawn as negatives.
- Padding changes nothing here. In the public code, padded tokens count in NetVLAD, and padded clips in the
  convolutions and in the maximum of the video head, which is harmless only with its fixed sizes (100 clips, 30 tokens).
- Clips after the last learned position (`longest`) share it; the public code cuts videos there. Same for tokens.
- The transformer layer drops numbers between its two linear layers, too, as torch's own does.
- `exclusive` has no pre-trained encoders, and its r_v is not divided by the sum over candidates: same order.
- The public optimiser decays no biases and no layer norms, and its learning rate is constant; here the training loop
  decides. TVR-Ranking trains with a warm-up.
- Clips and subtitles are scaled to length 1 (public code: clips alone); the first layer norm makes it indifferent.
- Token vectors come from any frozen sentence encoder; the paper's RoBERTa is tuned on TVR.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor, nn
from torch.nn.functional import log_softmax, pad

from backend.systems.learning.first_step import FirstStep
from backend.systems.learning.losses import span_loss
from backend.systems.learning.system import Batch, Encoded, Presets, Rivals, Sizes, System
from backend.systems.learning.systems.query_aware import (
    ConquerOptions,
    ContextBlock,
    NetVLAD,
    PlacedEncoder,
    convolutions,
    projection,
    start_small,
)

Weight = Annotated[float, Meta(ge=0, le=1e6)]


class ConquerLoss(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss.

    Attributes:
        span: the weight of the loss of start and end.
        video: the weight of the loss of the video head, in `exclusive`.
        negatives: the number of videos drawn for a query from the first run; 0 normalises in the right video alone.
        pool: they are drawn from all videos before the right one and so many after it.
        weighted: whether a pair's losses are multiplied by its weight (TVR-Ranking, C.1).
    """

    span: Weight = 0.01
    video: Weight = 0.05
    negatives: Annotated[int, Meta(ge=0, le=10_000)] = 3
    pool: Annotated[int, Meta(ge=0, le=1_000_000)] = 1000
    weighted: bool = True


class Conquer(System):
    """The system `conquer`."""

    name = "conquer"
    paper = "Hou et al. 2021, CONQUER: Contextual Query-aware Ranking for Video Corpus Moment Retrieval, MM"
    ModelOptions: ClassVar[type[Struct]] = ConquerOptions
    LossOptions: ClassVar[type[Struct]] = ConquerLoss
    uses_words = True
    path_fields = ("first_run",)
    presets: ClassVar[Presets] = {
        name: {
            "loss": {"weighted": weighted},
            "training": {"learning_rate": 1e-4, "weight_decay": 0.01, "batch": 16, **schedule},
            "predict": {"videos": 10, "longest_s": 36.0},
        }
        for name, weighted, schedule in (
            ("tvr", False, {"epochs": 50, "evaluate_every": 1.0, "patience": 4}),
            ("tvr-ranking", True, {}),
        )
    }

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__()
        self.sizes, self.model, self.loss = sizes, cast(ConquerOptions, model), cast(ConquerLoss, loss)
        m = self.model
        if faults := self.faults(self.model, self.loss, negatives=False):
            raise ValueError("; ".join(faults))
        self.frames = projection(sizes.frame_dim, m)
        self.words = projection(sizes.sentence_dim, m)
        self.video_encoder, self.query_encoder = (PlacedEncoder(m, longest) for longest in m.longest)
        if sizes.subtitle_dim:
            self.subtitles = projection(sizes.subtitle_dim, m)
            self.pooling, self.drop = NetVLAD(m.clusters, m.hidden), nn.Dropout(m.dropout)
            self.fusion = nn.Linear(m.clusters * m.hidden, 2, bias=False)
        self.similarity = nn.Linear(3 * m.hidden, 1, bias=False)
        self.context, self.begin, self.end = (ContextBlock(m, n * m.hidden) for n in (4, 5, 2))
        self.readers = nn.ModuleList(convolutions(m) for _ in range(2))
        if m.similarity == "exclusive":
            self.holistic = ContextBlock(m, 5 * m.hidden)
            layers = nn.Linear(m.hidden, 128, bias=False), nn.ReLU(), nn.Linear(128, 1, bias=False)
            self.video_head = nn.Sequential(*layers)
        self.apply(start_small)

    @classmethod
    def faults(cls, model: ConquerOptions, loss: ConquerLoss, *, negatives: bool) -> Sequence[str]:
        """Return what is wrong with settings, one message for each fault."""
        found = list(super().faults(model, loss, negatives=negatives))
        if model.hidden % model.heads:
            found.append(f"`model.heads`, {model.heads}, has to divide `model.hidden`, {model.hidden}")
        if model.similarity == "general" and model.first_run is None:
            found.append("`model.similarity` general needs the scores of `model.first_run`: name a run there")
        return found

    @classmethod
    def first_step(cls, model: ConquerOptions, loss: ConquerLoss) -> FirstStep | None:
        """Return where the candidates of a query come from; None searches all videos."""
        if model.first_run is None:
            return None
        runs = (model.first_run,) if isinstance(model.first_run, str) else model.first_run
        return FirstStep(runs, model.first_scores, loss.negatives, loss.pool)

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return `visual` and, with subtitles, `subtitle`, each `(V, L, D)`, and `mask`; no query is needed."""
        dim, length = self.sizes.frame_dim, mask.shape[1]
        rows = [(self.frames(clips[..., :dim]), 0)]
        if self.sizes.subtitle_dim:
            rows.append((self.subtitles(clips[..., dim:]), 1))
        read = self.video_encoder(rows, mask)
        subtitle = {"subtitle": read[:, length:]} if self.sizes.subtitle_dim else {}
        return {"visual": read[:, :length], **subtitle, "mask": mask}

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return `words` `(Q, W, D)`, `mask`, and `fusion` `(Q, 2)`, the weights of frames and subtitles: step 2."""
        read = self.query_encoder([(self.words(words), 1)], mask)
        encoded = {"words": read, "mask": mask}
        if self.sizes.subtitle_dim:
            encoded["fusion"] = self.fusion(self.drop(self.pooling(read, mask))).softmax(dim=1)
        return encoded

    def aware(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return QAL `(pairs, L, 4D)` of pairs, row i of `queries` with row i of `videos`: steps 2 and 3."""
        clips, words = videos["visual"], queries["words"]
        if self.sizes.subtitle_dim:
            visual, subtitle = queries["fusion"][:, :, None, None].unbind(dim=1)
            clips = visual * clips + subtitle * videos["subtitle"]
        of_clip, of_word, of_both = self.similarity.weight[0].chunk(3)
        scores = (clips @ of_clip)[:, :, None] + (words @ of_word)[:, None] + (clips * of_both) @ words.mT
        scores = scores.masked_fill(~queries["mask"][:, None], -torch.inf)
        to_query = scores.softmax(dim=2) @ words
        strongest = scores.amax(dim=2).masked_fill(~videos["mask"], -torch.inf).softmax(dim=1)
        to_video = strongest[:, None] @ clips
        return torch.cat([clips, to_query, clips * to_query, clips * to_video], dim=2)

    def pair_logits(self, queries: Encoded, videos: Encoded) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return logits of start and end `(pairs, L)`, -inf where there is no clip, and r_v `(pairs,)`: 4, 5 and 7."""
        aware, mask = self.aware(queries, videos), videos["mask"]
        context = self.context(aware, mask)
        joined = torch.cat([aware, context], dim=2)
        begin = self.begin(joined, mask)
        end = self.end(torch.cat([context, begin], dim=2), mask)
        start, stop = (
            reader(rows.mT).squeeze(1).masked_fill(~mask, -torch.inf)
            for reader, rows in zip(self.readers, (begin, end), strict=True)
        )
        if self.model.similarity != "exclusive":
            return start, stop, None
        whole = self.holistic(joined, mask).masked_fill(~mask[..., None], -torch.inf).amax(dim=1)
        return start, stop, self.video_head(whole).squeeze(1)

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return `loss`, and its parts `span` and, in `exclusive`, `video`: step 6; drawn videos are the negatives."""
        pairs, length = len(batch.clips), batch.clips.shape[1]
        own = torch.arange(pairs, device=batch.clips.device)[:, None]
        chosen, counts = own, torch.ones_like(own, dtype=torch.bool)
        videos = self.encode_videos(batch.clips, batch.mask)
        if rivals is not None and (drawn := rivals.videos) is not None:
            others = self.encode_videos(drawn.clips, drawn.mask)
            length = max(length, drawn.clips.shape[1])
            videos = {
                name: torch.cat([_longer(videos[name], length), _longer(others[name], length)]) for name in videos
            }
            chosen = torch.cat([own, pairs + drawn.video_of], dim=1)
            counts = torch.cat([counts, drawn.video_counts], dim=1)
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        shared = chosen.shape[1]
        asked = {name: rows.repeat_interleave(shared, dim=0) for name, rows in queries.items()}
        start, end, relevance = self.pair_logits(asked, {name: rows[chosen.flatten()] for name, rows in videos.items()})
        ignored = ~counts[..., None]
        start, end = (x.view(pairs, shared, length).masked_fill(ignored, -torch.inf).flatten(1) for x in (start, end))
        weight = batch.weight if self.loss.weighted else torch.ones_like(batch.weight)
        parts = {"span": (weight * span_loss(start, end, batch.first, batch.last)).mean()}
        loss = self.loss.span * parts["span"]
        if relevance is not None:
            ranked = log_softmax(relevance.view(pairs, shared).masked_fill(~counts, -torch.inf), dim=1)
            parts["video"] = (weight * -ranked[:, 0]).mean()
            loss = loss + self.loss.video * parts["video"]
        return {"loss": loss, **parts}

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return the logarithm of the score of the span from clip i to clip j, `(Q, V, L, L)`: step 7.

        `general` needs the logarithm of the first run's scores, `videos["first_score"]` `(V,)`, so one query at a time.
        """
        count, shown = len(queries["mask"]), len(videos["mask"])
        parts: list[Tensor] = []
        for first_pair in range(0, count * shown, self.model.block):
            pairs = torch.arange(
                first_pair, min(first_pair + self.model.block, count * shown), device=videos["mask"].device
            )
            asked = {name: rows[pairs // shown] for name, rows in queries.items()}
            watched = {name: rows[pairs % shown] for name, rows in videos.items()}
            start, end, relevance = self.pair_logits(asked, watched)
            if self.model.similarity != "disjoint":
                start, end = log_softmax(start, dim=1), log_softmax(end, dim=1)
            first = watched["first_score"] if self.model.similarity == "general" else relevance
            scores = start[:, :, None] + end[:, None] + (0.0 if first is None else first[:, None, None])
            parts.append(scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).triu(), -torch.inf))
        return torch.cat(parts).view(count, shown, *parts[0].shape[1:])


def _longer(rows: Tensor, length: int) -> Tensor:
    """Pad encodings or a mask to this number of clips."""
    missing = length - rows.shape[1]
    return pad(rows, (0, missing) if rows.dim() == 2 else (0, 0, 0, missing))
