"""Contrastive losses and scores that several systems share."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

SHARPNESS = 10.0
"""MMN multiplies cosines by it before the sigmoid."""


def matching_loss(
    right: Tensor, wrong: Tensor, counts: Tensor, *, margin: float, temperature: float, left_out_as_zero: bool = False
) -> Tensor:
    """Return the mutual matching loss of each right pair: low if it beats all wrong ones by the margin, `(pairs, k)`.

    Source: equation 5 of MVMR (Yang et al. 2024), one of its two halves. With the cosine s of a right pair, those of
    its wrong pairs s_j, the margin D and the temperature T,

        -log( exp((s - D) / T) / (exp((s - D) / T) + sum_j exp(s_j / T)) )

    Args:
        right: cosines `(pairs, k)`; the k right partners of an anchor have the same wrong ones.
        wrong: cosines `(pairs, any)`, or `(pairs, k, any)` if the right partners have wrong ones of their own.
        counts: bool of the shape of `wrong`, which of them are negatives.
        margin: D.
        temperature: T, above 0.
        left_out_as_zero: whether one that is no negative counts as a negative with the cosine 0, as in the public code
            of MMN and CroCs, instead of not at all.

    Example: T = 1, D = 0; the right pair has log 2, a wrong one 0. The loss is -log( 2 / (2 + 1) ) = log 1.5.

    >>> round(float(matching_loss(
    ...     torch.tensor([[2.]]).log(), torch.zeros(1, 1), torch.ones(1, 1).bool(), margin=0, temperature=1).exp()), 4)
    1.5
    """
    if wrong.ndim == right.ndim:
        wrong, counts = wrong[:, None], counts[:, None]
    # A number instead of -inf: the gradient of a sum without negatives stays finite. Cosines are at most 1.
    filled = (wrong / temperature).masked_fill(~counts, 0.0 if left_out_as_zero else -1e4)
    return softplus(filled.logsumexp(dim=-1) - (right - margin) / temperature)


def mutual_matching(
    queries: Tensor,
    moments: Tensor,
    of_pair: Tensor,
    overlap: Tensor,
    wrong_videos: Tensor,
    wrong_queries: Tensor,
    *,
    top: int,
    negative_iou: float,
    margin: float,
    temperature: float,
    left_out_as_zero: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return both halves of equation 5 of MVMR for each pair and each of its right cells, both `(pairs, top)`.

    The first half has wrong cells for the query, the second one wrong queries for the cells. The right cells of a pair
    are the `top` ones of its video with the highest IoU with its moment.

    Args:
        queries: unit vectors `(queries, dim)`; the first ones are those of the pairs.
        moments: unit vectors of the cells of videos, `(videos, cells, dim)`.
        of_pair: the number of each pair's video, `(pairs,)`.
        overlap: the IoU of the moment of each pair with each cell, `(pairs, cells)`.
        wrong_videos: bool `(pairs, videos)`, the videos whose cells are negatives of the query of each pair.
        wrong_queries: bool `(pairs, queries)`, the queries that are negatives of the moment of each pair.
        top: the number of right cells.
        negative_iou: cells of the pair's own video with a lower IoU are negatives of its query.
        margin: see `matching_loss`, also for the other arguments.
        temperature: see there.
        left_out_as_zero: see there; for cells alone.
    """
    pairs = torch.arange(len(of_pair), device=of_pair.device)
    cosines = torch.einsum("bd,vcd->bvc", queries[: len(pairs)], moments).to(overlap)
    best = overlap.topk(top, dim=1).indices
    right = cosines[pairs[:, None], of_pair[:, None], best]
    counts = wrong_videos[:, :, None].expand_as(cosines).clone()
    counts[pairs, of_pair] = overlap < negative_iou
    others = torch.einsum("bkd,qd->bkq", moments[of_pair[:, None], best], queries).to(overlap)
    return (
        matching_loss(
            *(right, cosines.flatten(1), counts.flatten(1)),
            margin=margin,
            temperature=temperature,
            left_out_as_zero=left_out_as_zero,
        ),
        matching_loss(right, others, wrong_queries[:, None].expand_as(others), margin=margin, temperature=temperature),
    )


def scaled_iou(iou: Tensor, lowest: float, highest: float) -> Tensor:
    """Return IoUs scaled to targets in 0..1: `lowest` and less is 0, `highest` and more is 1."""
    return ((iou - lowest) / (highest - lowest)).clamp(0, 1)


def iou_loss(
    cosines: Tensor, of_pair: Tensor, targets: Tensor, weight: Tensor, wrong_videos: Tensor, wrong_weight: float
) -> Tensor:
    """Return the mean binary cross-entropy of sigma(10 cosine) with targets over cells: equation 4 of MVMR.

    Args:
        cosines: the cosine of the query of each pair with each cell of each video, `(pairs, videos, cells)`.
        of_pair: the number of each pair's video, `(pairs,)`.
        targets: the targets of the cells of this video, `(pairs, cells)`.
        weight: the weight of each pair, `(pairs,)`.
        wrong_videos: bool `(pairs, videos)`, the videos whose cells are negatives of the query. Their target is 0.
        wrong_weight: how much a cell of them counts beside one of the pair's video: 1 in equation 4, 0 in MMN.

    Example: one cell of cosine 0 with any target gives log 2.
    """
    pairs = torch.arange(len(of_pair), device=of_pair.device)
    own = SHARPNESS * cosines[pairs, of_pair]
    sums = binary_cross_entropy_with_logits(own, targets, reduction="none").sum(dim=1)
    if wrong_weight:
        others = softplus(SHARPNESS * cosines).sum(dim=2).masked_fill(~wrong_videos, 0.0)
        sums = sums + wrong_weight * others.sum(dim=1)
    return (weight * sums).sum() / (targets.shape[1] * (len(pairs) + wrong_weight * wrong_videos.sum()))


def product_score(iou: Tensor, match: Tensor, power: float) -> Tensor:
    """Return the score of a moment from its cosines in the two spaces, sigma(10 iou) * ((1 + match) / 2)^power.

    Equation 6 of MVMR is s_iou * s_rmm. Cosines as they are would give two negative ones a high product, so each is
    first mapped to 0..1, as in the public code; `power` is 1 in equation 6, and less in the public configurations.
    """
    return torch.sigmoid(SHARPNESS * iou) * ((1 + match) / 2).clamp(min=0).pow(power)


def first_rows(groups: Tensor) -> Tensor:
    """Return the first row of each group, given the number of each row's group.

    >>> first_rows(torch.tensor([1, 0, 1])).tolist()
    [1, 0]
    """
    numbers = torch.arange(int(groups.max()) + 1, device=groups.device)
    return (groups == numbers[:, None]).int().argmax(dim=1)
