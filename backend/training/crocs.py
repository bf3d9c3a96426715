"""The CroCs loss: queries and moments told apart in both directions, from weak and from strong negatives.

Equations 4 to 6 of Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval
against Multiple Distractors" (CIKM), as docs/decisions/051-negatives-and-crocs.md reads them. With s the cosine of a
query and a moment, D the margin, T the temperature, and for pair i of a query q_i and its moment m_i

(4) L_q = -mean_i log( e((s(q_i, m_i) - D) / T) / (e((s(q_i, m_i) - D) / T) + sum_m e(s(q_i, m) / T)) ),
    m over the weak negatives of q_i, moments of the batch in videos that are potential negatives of it, and over its
    strong negatives, moments of videos that were drawn by p'(v|q)
(5) L_v = the same from m_i to queries: of the batch if the video of m_i is a potential negative of them, and
    drawn by p'(q|v)
(6) L = L_q + L_v
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize


class CroCsLoss(nn.Module):
    """Equation 6; both directions weigh alike.

    Attributes:
        temperature: T, above 0; the published configurations for Charades-STA have 0.1.
        margin: D, by how much a right pair has to be better; there 0.4.
    """

    def __init__(self, temperature: float = 0.1, margin: float = 0.4) -> None:
        super().__init__()
        if not temperature > 0:
            raise ValueError(f"temperature must be above 0, not {temperature}")
        self.temperature = temperature
        self.margin = margin

    def forward(
        self,
        queries: Tensor,
        moments: Tensor,
        potential: Tensor,
        strong_moments: Tensor | None = None,
        strong_queries: Tensor | None = None,
        *,
        strong_moments_mask: Tensor | None = None,
        strong_queries_mask: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch, a number. Vectors need not be of unit length.

        Args:
            queries: `(pairs, dim)`.
            moments: `(pairs, dim)`; moment i is the right one of query i.
            potential: bool `(pairs, pairs)`, whether the video of moment j is a potential negative of query i, from
                `Distribution.potential`; the diagonal does not matter.
            strong_moments: `(pairs, any, dim)`, for each query moments of its strong negatives; None for none.
            strong_queries: `(pairs, any, dim)`, for each moment queries that are strong negatives of its video.
            strong_moments_mask: bool `(pairs, any)`, which of them count; None for all.
            strong_queries_mask: likewise.

        Raises:
            ValueError: `potential` is of another shape.
        """
        if potential.shape != (len(queries), len(moments)):
            raise ValueError(f"potential is {tuple(potential.shape)}, not {(len(queries), len(moments))}")
        q, m = normalize(queries, dim=-1), normalize(moments, dim=-1)
        cosine = q @ m.T
        right = cosine.diagonal()
        weak = potential & ~torch.eye(len(q), dtype=torch.bool, device=potential.device)
        return self._one_way(right, cosine, weak, q, strong_moments, strong_moments_mask) + self._one_way(
            right, cosine.T, weak.T, m, strong_queries, strong_queries_mask
        )

    def _one_way(
        self, right: Tensor, cosine: Tensor, weak: Tensor, anchors: Tensor, strong: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        """Equations 4 and 5: `right` is `(pairs,)`, `cosine` and `weak` `(pairs, pairs)`, `anchors` `(pairs, dim)`."""
        chosen = [(right - self.margin)[:, None], cosine.masked_fill(~weak, -torch.inf)]
        if strong is not None:
            hard = torch.einsum("pd,psd->ps", anchors, normalize(strong, dim=-1))
            chosen.append(hard if mask is None else hard.masked_fill(~mask, -torch.inf))
        logits = torch.cat(chosen, dim=1) / self.temperature
        return (logits.logsumexp(dim=1) - logits[:, 0]).mean()
