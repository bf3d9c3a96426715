"""The losses of the network for finding moments: for the choice of the video, and for the moment's place in it.

With B pairs in a batch, pair i of a query q_i and a moment in video v_i, its similarity w_i, and a the weight of the
loss for the place,

    L = mean_i w_i (a span_i + video_i)

`span_i` is `span_loss`, and `video_i` is `nce_loss` or `hinge_loss`. The third choice, the CroCs loss in `rivals.py`,
is a mean over the batch without w_i.

TVR-Ranking (Liang et al. 2024, appendix C.1) trains XML and ReLoCLNet on pseudo training sets with two changes, which
are both made here:

- The loss of a pair is multiplied by w_i, its similarity, which lies in 0..1. Their published code multiplies the
  losses of ReLoCLNet, but not its additional hinge losses. Here w_i multiplies the hinge loss, too.
- A query has several matching videos (positives) in a batch, so a mask M says which ones: M_ij = 1 if video v_j has one
  of the top N moments of query q_i, else 0. In their published code, M is the diagonal: only v_i is a positive of q_i.

The paper describes the mask for "a video-level contrastive loss" of XML. XML's own loss for the video is a hinge, which
has no numerator for the mask: see `hinge_loss`.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def span_loss(start: Tensor, end: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the loss for the place of the moment, -log p_start(first) - log p_end(last), for each pair, `(pairs,)`.

    Source: XML (Lei et al. 2020, section 4, moment localization). ReLoCLNet (Zhang et al. 2021, section 3) has the
    same.

    Args:
        start: logits of the start, `(pairs, clips)`, -inf where there is no clip.
        end: logits of the end, as for `start`.
        first: int64 `(pairs,)`, the number of the first clip of the moment, from 0.
        last: int64 `(pairs,)`, the number of its last clip.

    Example: a video has two clips, with the logits (0, log 3) for the start and (0, 0) for the end. For a moment that
    is the second clip, the loss is -log(3/4) - log(1/2) = log(8/3).
    """
    return cross_entropy(start, first, reduction="none") + cross_entropy(end, last, reduction="none")


def positives_of(positives: Tensor, *, own_only: bool) -> Tensor:
    """Return the mask M of a batch, bool `(pairs, pairs)`: whether video j is a positive of query i.

    Args:
        positives: bool `(pairs, pairs)`, whether the video of pair j has one of the top N moments of pair i's query.
        own_only: True to take the pair's own video alone, as in the published code: M is the diagonal.
    """
    return torch.eye(len(positives), dtype=torch.bool, device=positives.device) if own_only else positives


def nce_loss(scores: Tensor, positives: Tensor, temperature: float) -> Tensor:
    """Return the contrastive loss of each pair, `(pairs,)`: low if the query's positives score higher than the rest.

    With e(x) = exp(x / T), s_ij the score of query i and video j, and M the mask of positives,

        -log( sum_j M_ij e(s_ij) / (sum_j e(s_ij) + sum_j e(s_ji)) )

    The denominator has both directions: all videos of the batch for query i, and all queries of the batch for video i.
    So it has e(s_ii) twice.

    Sources: ReLoCLNet (Zhang et al. 2021, section 3, VideoCL), with the denominator of its published code; TVR-Ranking,
    appendix C.1, for the numerator: the masked scores are summed in the place of the diagonal. It prints no formula; we
    take the sum inside the logarithm, as in L_in of its source, Khosla et al. 2020, "Supervised Contrastive Learning"
    (equation 3), without the factor 1 / |P(i)|, which does not change gradients. With M = 1 on the diagonal alone, this
    is the loss of the published code of ReLoCLNet and of TVR-Ranking. Both have inner products without T; this code has
    cosines and T.

    Args:
        scores: `(pairs, pairs)`, the score of the query of pair i and the video of pair j.
        positives: M, bool `(pairs, pairs)`, True on the diagonal.
        temperature: T, above 0.

    Example: two pairs and T = 1. The first query has the scores (log 2, 0), the second (log 3, log 4). If only a
    query's own video is a positive, the losses are -log( 2 / (2 + 1 + 2 + 3) ) = log 4 and
    -log( 4 / (3 + 4 + 1 + 4) ) = log 3. If the second video is a positive of the first query, too, the loss of the
    first is -log( (2 + 1) / (2 + 1 + 2 + 3) ) = log(8/3).
    """
    scaled = scores / temperature
    every = torch.cat([scaled, scaled.T], dim=1).logsumexp(dim=1)
    return every - scaled.masked_fill(~positives, -torch.inf).logsumexp(dim=1)


def hinge_loss(scores: Tensor, positives: Tensor, margin: float, hardest: int | None = None) -> Tensor:
    """Return the hinge loss of each pair, `(pairs,)`; it is 0 if the pair scores a margin higher than all negatives.

    XML, section 4 (video retrieval), with margin D: max(0, D + s(v', q) - s(v, q)) + max(0, D + s(v, q') - s(v, q)). In
    XML the other video v' and the other query q' are drawn from the batch; its published code later draws them from the
    negatives with the highest scores. Here each of the two terms is the mean over all of these negatives, which is the
    expected value of a draw. A term without negatives is 0.

    A positive is never a negative: video j is no negative of query i if M_ij = 1, nor query j of video i if M_ji = 1.
    This is our reading of TVR-Ranking's mask, which the paper defines for the numerator of a contrastive loss.

    Args:
        scores: `(pairs, pairs)`, the score of the query of pair i and the video of pair j.
        positives: M, bool `(pairs, pairs)`, True on the diagonal.
        margin: D.
        hardest: how many negatives with the highest scores count, for each pair and term; None counts all.

    Example: two pairs, D = 0.1, and the scores (0.5, 0.45) of the first query and (0.3, 0.2) of the second. The first
    pair has the terms 0.05 for the other video and 0 for the other query. The second has 0.2 and 0.35.
    """
    right, negatives = scores.diagonal()[:, None], ~positives

    def one_way(rivals: Tensor, counts: Tensor) -> Tensor:
        number = counts.sum(dim=1)
        kept = rivals.masked_fill(~counts, -torch.inf)
        if hardest is not None:
            kept, number = kept.topk(min(hardest, kept.shape[1])).values, number.clamp(max=hardest)
        return (margin + kept - right).clamp(min=0).sum(dim=1) / number.clamp(min=1)

    return one_way(scores, negatives) + one_way(scores.T, negatives.T)
