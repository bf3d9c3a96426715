"""Compute how likely each video is drawn as a negative of a query, and each query as one of a video.

Equations 1 to 3 of Yang et al. 2024, MVMR (CIKM), section CroCs, as docs/decisions/051-negatives-and-crocs.md reads
them:

(1) The potential negatives of a query are the videos other than its own with s_te(q, v) < t_tr; what is more similar
    may well show the query too.
(2) p'(v|q) = exp(s_te(q, v) / temperature) over the sum of that over all potential negatives of q; 0 for the others.
(3) p'(q|v) likewise over the queries of other videos with s_te(q, v) < t_tr.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.encoders.sentence import FloatArray

LEAST_TEMPERATURE = 0.03
"""Below it the least similar negative, at a cosine of -1, has a probability that float32 cannot tell from none."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """How negatives are drawn for some anchors: queries that want videos, or videos that want queries.

    Attributes:
        probability: float32 `(anchors, others)`, each row 1 in sum, or all 0 where nothing is a potential negative;
            0 for what is not, and above 0 for what is.
        potential: how many potential negatives each anchor has, `(anchors,)`.
        effective: how many equally likely ones would be as uncertain (the exponential of the entropy); 0 for none.
    """

    probability: FloatArray
    potential: npt.NDArray[np.int64]
    effective: npt.NDArray[np.float64]


def distribution(similarity: FloatArray, own: npt.NDArray[np.bool_], threshold: float, temperature: float) -> Drawn:
    """Equations 1 and 2 (or 3) for some anchors.

    Args:
        similarity: s_te of anchors and others, `(anchors, others)`.
        own: where the two belong together, of the same shape.
        threshold: t_tr, what is as similar as that or more is no negative.
        temperature: at least `LEAST_TEMPERATURE`; the smaller, the more the most similar ones are drawn.

    >>> similarity = np.array([[1, 0.92, 0.8, 0.1]], dtype=np.float32)
    >>> found = distribution(similarity, np.array([[True, False, False, False]]), 0.9, 0.5)
    >>> found.probability.round(3).tolist(), found.potential.tolist()
    ([[0.0, 0.0, 0.8019999861717224, 0.1979999989271164]], [2])
    """
    negative = (similarity < threshold) & ~own
    logits = np.where(negative, similarity.astype(np.float64) / temperature, -np.inf)
    # Without a negative the best is -inf, and -inf - -inf is no number.
    best = np.max(logits, axis=1, initial=-2 / LEAST_TEMPERATURE, keepdims=True)
    weight = np.exp(logits - best)
    total = weight.sum(axis=1, keepdims=True)
    probability = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    entropy = -np.sum(probability * np.log(probability, out=np.zeros_like(weight), where=negative), axis=1)
    potential = negative.sum(axis=1)
    effective = np.where(potential > 0, np.exp(entropy), 0.0)
    return Drawn(probability.astype(np.float32), potential, effective)
