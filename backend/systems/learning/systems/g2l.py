"""G2L: MMN's network, with negatives weighted by geodesic distances and a loss from game theory.

Paper: Li et al. 2023, "G2L: Semantically Aligned and Uniform Video Grounding via Geodesic and Game Theory", ICCV. This
is the behaviour of its public code (lihxxxxx/G2L, commit 892370e), which MVMR (Yang et al. 2024, appendix B.2) trains.

The network (with other initial weights), its scores, L_bce and the half L_queries of mutual matching are those of
`mmn.py`. With C moments of a video, query q of moment m, u a unit vector in the matching space, T the temperature:

(1) g_j, `geodesic_similarity` of m and moment j of the same video. p_1..p_n are the n moments with the highest g
    (`similar`), and P_i = g(p_i) exp(u_q . u(p_i)); moments beyond the limit have P = 0.
(2) L_weak = mean over i of -P_i/T + log( sum_i exp(P_i/T) + sum_same exp(S_j/T) + sum_other exp(O_j/T) ), where j runs
    over all moments of the same video and of others: S_j = n_j exp(u_q . u_j), n_j = 1 if the IoU of j and m is below
    `negative_iou`, else 0; O_j = u_q . u_j.
(3) L_hard is the same with S_j = n_j exp(u_q . u_j) exp(u_m . u_j) (1 + g_j; 1 if g_j = 1), and
    O_j = (u_q . u_j) ( [s_j > mean s] (u_m . u_j) + [u_m . u_j > mean u_m . u] s_j ), where s is 1000 times the softmax
    of u_q . u over all moments of other videos, and means are over them and the queries of the same video.
(4) L_sa, `interaction_loss`, between the queries of a video and its moments with the highest g and u_q . u.
(5) L = L_bce + f ( w (L_queries + `hard` L_hard + `weak` L_weak) + `interaction` L_sa ), f = 1, and 0.01 after
    `full_epochs` epochs. The published configuration for ActivityNet has `weak` = 0.

The public code has some properties that its paper does not mention. They are kept, as the figures in MVMR come from it:
P and S have a second exponential, O does not; a moment with n_j = 0 still adds exp(0) to the sum; the sign of L_sa is
such that training lowers the alignment of pairs with a positive interaction; see also `interaction_loss`.

Departures, with reasons:

- MMN's, where both have the same part: the frozen text encoder (published: BERT, the sum of its last two layers,
  averaged with padding), the means of raw features, and no negatives in videos with another moment of the query.
- L_sa takes the interactions as constants. In the public code, gradients flow through their filler, -1e9.
- Logarithms of sums are computed stably, without the published 1e-6.
- Distances count up to a limit below 1, so the public code's edges of length 1 between all moments are left out.
- Left out: layers of the public class that nothing calls (attention, feed-forward), its warm-up of the learning rate.
- The public code has a configuration for ActivityNet only. The presets of the other data sets are MMN's with its G2L
  options. They take one right moment, because (3) is defined for one; MMN's TACoS has three.
"""

from typing import Annotated, ClassVar, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor, nn
from torch.nn.functional import normalize

from backend.systems.learning.field_types import Count
from backend.systems.learning.matching import first_rows
from backend.systems.learning.system import Batch, Presets, Rivals, Sizes
from backend.systems.learning.systems import mmn

REMOVED, SPREAD = -1e9, 1000.0
"""What fills vectors that an interaction leaves out, and the factor of the softmax in (3)."""


class GeodesicOptions(mmn.LossOptions, frozen=True, forbid_unknown_fields=True):
    """Options of the loss: those of MMN, and others, whose defaults are those for ActivityNet.

    Attributes:
        neighbours: the number of nearest moments to which the graph joins each moment.
        limit: the longest geodesic distance that counts.
        similar: the number of geodesically similar moments that are right for a query.
        players: the number of moments a query that interactions take by each of the two criteria.
        hard: the weight of L_hard beside L_queries.
        weak: the weight of L_weak.
        interaction: the weight of L_sa.
    """

    neighbours: Count = 5
    limit: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    similar: Count = 5
    players: Count = 7
    hard: mmn.Weight = 1.0
    weak: mmn.Weight = 0.0
    interaction: mmn.Weight = 0.0005


def geodesic_similarity(moments: Tensor, sources: Tensor, neighbours: int, limit: float) -> Tensor:
    """Return 1 - the geodesic distance of each source and each moment of a video, `(sources, C)`, or 0 beyond `limit`.

    Each moment has an edge to those `neighbours` others with the smallest Euclidean distance. The length of an edge is
    1 - the cosine of the two vectors. The geodesic distance is the length of the shortest path from the source.

    Args:
        moments: the vectors of the moments, not scaled, `(C, d)`.
        sources: int64 `(sources,)`, indices of moments.
        neighbours: the number of edges from each moment.
        limit: the largest distance that counts.

    Example: (1, 0), (1, 1) and (0, 1) with one edge each and a limit of 1: (1, 0) has an edge to (1, 1) of the length
    1 - cos 45 degrees = 0.29. (1, 1) has one back or one to (0, 1), which are as near.
    """
    with torch.no_grad():
        apart = torch.cdist(moments, moments, compute_mode="donot_use_mm_for_euclid_dist").fill_diagonal_(torch.inf)
        targets = apart.topk(min(neighbours, len(moments) - 1), dim=1, largest=False).indices
        unit = normalize(moments, dim=1)
        lengths = (1 - torch.einsum("cd,ckd->ck", unit, unit[targets])).clamp(min=0)
        distance = moments.new_full((len(sources), len(moments)), torch.inf)
        distance[torch.arange(len(sources), device=sources.device), sources] = 0.0
        into = targets.flatten().expand(len(sources), -1)
        while True:  # as many times as the longest path has edges
            over = (distance[:, :, None] + lengths).flatten(1)
            shorter = distance.scatter_reduce(1, into, over, "amin")
            if torch.equal(shorter, distance):
                return (1 - distance).masked_fill(distance > limit, 0.0)
            distance = shorter


def contrast(right: Tensor, wrong: Tensor, temperature: float) -> Tensor:
    """Return -right_i / T + log of the sum of exp(x / T) over all right and wrong of the query, `(queries, right)`."""
    return torch.cat([right, wrong], dim=1).div(temperature).logsumexp(dim=1, keepdim=True) - right / temperature


def alignment(scores: Tensor) -> Tensor:
    """Return how well queries and moments `(..., N, M)` are aligned, from 0 to 1.

    With a the softmax over moments, it is the mean of: the mean over moments of the maximum of a over queries, and the
    mean over queries of the maximum of a over moments.
    """
    likely = scores.softmax(dim=-1)
    return (likely.amax(dim=-2).mean(dim=-1) + likely.amax(dim=-1).mean(dim=-1)) / 2


def interactions(queries: Tensor, moments: Tensor) -> Tensor:
    """Return the interaction of each moment and each query of a video, `(M, N)`, without gradients.

    A(all) - A(without i) + A(without j) - A(without both), for moment i, query j and `alignment` A. (A Banzhaf
    interaction would have - A(without j) + A(without both); the public code has these signs.)

    "Without" fills the vector with -1e9, as the public code does. So a query that is left out chooses the moment whose
    numbers have the smallest sum. A moment that is left out has likelihood 0 if the sum of the query's numbers is
    positive, but 1 if it is negative.

    Args:
        queries: unit vectors `(N, d)`.
        moments: unit vectors `(M, d)`.
    """
    with torch.no_grad():
        scores = queries @ moments.T
        columns = torch.arange(len(moments), device=scores.device)
        without_i = scores.expand(len(moments), -1, -1).clone()
        without_i[columns, :, columns] = REMOVED * queries.sum(dim=1)
        of_moment = alignment(scores) - alignment(without_i)
        by_query = []
        for j in range(len(queries)):
            without_j, without_both = scores.clone(), without_i.clone()
            without_j[j] = without_both[:, j] = REMOVED * moments.sum(dim=1)
            without_both[columns, j, columns] = queries.shape[1] * REMOVED**2
            by_query.append(of_moment + alignment(without_j) - alignment(without_both))
        return torch.stack(by_query, dim=1)


def interaction_loss(queries: Tensor, moments: Tensor) -> Tensor:
    """Return sum_n x_n log a_n * N / M, a scalar: x are the interactions, scaled to length 1, and a the softmax.

    a is the softmax over moments of the inner products. As in the public code, number n of a is query n // M and moment
    n % M, while number n of x is moment n // N and query n % N: they are the same pair only if N = 1.

    Args:
        queries: unit vectors of the N queries of a video, `(N, d)`.
        moments: unit vectors of M of its moments, `(M, d)`.
    """
    targets = normalize(interactions(queries, moments).flatten(), dim=0)
    return (targets * (queries @ moments.T).log_softmax(dim=1).flatten()).sum() * len(queries) / len(moments)


def _preset(data: str, **changes: dict[str, object]) -> dict[str, dict[str, object]]:
    """Return the preset of MMN with other values in some tables."""
    return {table: {**options, **changes.get(table, {})} for table, options in mmn.MMN.presets[data].items()}


class G2L(mmn.MMN):
    """The system `g2l`; its loss takes about 200 bytes for each pair of a query and a moment of the batch."""

    name = "g2l"
    paper = "Li et al. 2023, G2L: Semantically Aligned and Uniform Video Grounding via Geodesic and Game Theory, ICCV"
    LossOptions: ClassVar[type[Struct]] = GeodesicOptions
    presets: ClassVar[Presets] = {
        "charades": _preset("charades"),
        "activitynet": _preset("activitynet", loss={"full_epochs": 5}, training={"epochs": 21}),
        "tacos": _preset("tacos", loss={"top": 1}),
    }

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__(sizes, model, loss)
        self.geodesic = cast(GeodesicOptions, loss)
        for layer in (*self.convolutions.modules(), *self.moment_heads.modules()):
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return the losses of a batch: "loss", and its parts "bce", "queries", "hard", "weak" and "interaction"."""
        options, (_, of_pair) = self.geodesic, batch.video.unique(return_inverse=True)  # type: ignore[no-untyped-call]
        rows = first_rows(of_pair)
        moments = self.moments(batch.clips[rows])
        # Encodings may be bfloat16; distances and sums are not.
        raw, of_iou = (self.moment_heads[space](moments).to(batch.span) for space in ("match", "iou"))
        videos = {"iou": normalize(of_iou, dim=-1), "match": normalize(raw, dim=-1)}
        encoded = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        queries = {space: rows.to(batch.span) for space, rows in encoded.items()}
        others = ~batch.positives
        of_mmn = self.losses_of(batch, of_pair, queries, videos, others[:, rows], others.T | self.apart(batch))
        overlap = self.overlaps(batch)
        weight = batch.weight.to(raw) if options.weighted else raw.new_ones(len(of_pair))
        hard, weak, interaction = [], [], []
        for video in range(len(rows)):
            pairs = (of_pair == video).nonzero()[:, 0]
            vectors, counts = queries["match"][pairs], others[pairs][:, rows]
            with torch.autocast(raw.device.type, enabled=False):
                parts = self.losses_in(video, raw[video], videos["match"], vectors, overlap[pairs], counts)
            hard.append(weight[pairs, None] * parts[0])
            weak.append(weight[pairs, None] * parts[1])
            interaction.append(parts[2])
        means = {"queries": of_mmn["queries"], "hard": torch.cat(hard).mean(), "weak": torch.cat(weak).mean()}
        matching = means["queries"] + options.hard * means["hard"] + options.weak * means["weak"]
        total = torch.stack(interaction).sum()
        loss = of_mmn["bce"] + self.share() * (options.weight * matching + options.interaction * total)
        return {"loss": loss, "bce": of_mmn["bce"], **means, "interaction": total}

    def losses_in(
        self, video: int, raw: Tensor, unit: Tensor, queries: Tensor, overlap: Tensor, others: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return L_hard and L_weak of the N queries of a video, each `(N, similar)`, and its L_sa, a scalar.

        Args:
            video: the number of the video.
            raw: the vectors of its moments, not scaled, `(C, d)`.
            unit: unit vectors of the moments of all videos, `(V, C, d)`.
            queries: unit vectors of its queries, `(N, d)`.
            overlap: the IoU of each moment with the moment of each query, `(N, C)`.
            others: bool `(N, V)`, the videos that are others for each query.
        """
        options, own = self.geodesic, unit[video]
        best = overlap.topk(1, dim=1).indices[:, 0]
        similarity = geodesic_similarity(raw, best, options.neighbours, options.limit)
        cosine, like_best = queries @ own.T, own[best] @ own.T
        nearest = similarity.topk(min(options.similar, len(own)), dim=1)
        right = cosine.gather(1, nearest.indices).exp() * nearest.values
        same = (overlap < options.negative_iou) * cosine.exp()
        same_hard = same * like_best.exp() * (1 + similarity.masked_fill(similarity == 1, 0.0))

        counts = others.repeat_interleave(len(own), dim=1)
        other, other_like_best = queries @ unit.flatten(0, 1).T, own[best] @ unit.flatten(0, 1).T
        likely = SPREAD * other.masked_fill(~counts, REMOVED).softmax(dim=1)
        chosen = (likely > likely[counts].mean()) * other_like_best
        alike = (other_like_best > other_like_best[counts].mean()) * likely
        other_hard = (other * (chosen + alike)).masked_fill(~counts, REMOVED)
        other_weak = other.masked_fill(~counts, REMOVED)
        hard = contrast(right, torch.cat([same_hard, other_hard], dim=1), options.temperature)
        weak = contrast(right, torch.cat([same, other_weak], dim=1), options.temperature)

        players = [scores.topk(min(options.players, len(own)), dim=1).indices for scores in (similarity, cosine)]
        return hard, weak, interaction_loss(queries, own[torch.cat(players, dim=1).flatten()])
