"""Compute the losses: where a moment lies in its video, and which video it lies in.

With w_i the similarity of pair i, of query q_i and a moment in video v_i, and B pairs in a batch,

    L = mean_i w_i (a span_i + video_i)

`span_i` = -log p_start(first clip of the moment) - log p_end(its last clip): XML (Lei et al. 2020, section 4, moment
localization); ReLoCLNet (Zhang et al. 2021, section 3) has the same.

TVR-Ranking (Liang et al. 2024, appendix C.1) trains ReLoCLNet on pseudo training sets with two changes, both here: each
pair weighs as its similarity, w_i, and videos of a batch that are positives of a query too are masked from its
negatives. Their published code weighs what is told by single pairs in this way and leaves the hinge losses unweighted;
here the hinge is weighed too.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


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
