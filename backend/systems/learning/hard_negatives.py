"""The probabilities with which hard negatives are drawn in training, from a trained model's scores.

Source: equations 2 and 3 of MVMR (Yang et al. 2024, section 6.2). r is a model's own score:

(2) p'(m|q) is proportional to exp(-(r(q, m) - mean r(q, m+))^2), over the potential negatives m of q, where m+ are its
    golden moments; p'(q|m) likewise, with the mean of r(q+, m) over the golden queries of m.
(3) p'(v|q) is the same with r(q, v), the maximum over the moments of v; so is p'(q|v).

One function serves all four, as they differ in what the rows and columns are. Training draws by (3), as the paper does
to save time. With scores in 0..1, no negative is more than e = 2.7 times as likely as another.

Whoever trains gets r for all training queries and videos in blocks and keeps it: 4 bytes for each query and video,
265 MB for Charades-STA (12,404 x 5,336), 1.5 GB for ActivityNet (37,421 x 10,009), 3 MB for TACoS (9,790 x 75).
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

_CELLS_AT_ONCE = 1 << 22
"""The most scores that are in memory in double precision at once."""


def hard_probabilities(scores: npt.NDArray[np.floating], golden: Bools, potential: Bools) -> Floats:
    """Return p', the probability with which each column is drawn as a negative of its row, `(anchors, others)`.

    Args:
        scores: r of each row and column, `(anchors, others)`; finite where `golden` or `potential`.
        golden: bool of the same shape, the right pairs.
        potential: bool of the same shape, which columns may be drawn.

    Returns:
        float32 `(anchors, others)`, each row sums to 1. A row is all 0 if it has no right or no potential column. The
        probability of a potential column is above 0 for scores in 0..1.

    Raises:
        ValueError: a pair is golden and potential at once.

    Example: the right column has the score 1. Of the others, the one with the score 1 is e^1 times as likely as the one
    with the score 0.

    >>> right, potential = np.array([[True, False, False]]), np.array([[False, True, True]])
    >>> hard_probabilities(np.array([[1.0, 1.0, 0.0]]), right, potential).astype(float).round(3).tolist()
    [[0.0, 0.731, 0.269]]
    """
    if (golden & potential).any():
        raise ValueError("a right pair cannot be a potential negative")
    result = np.zeros(scores.shape, dtype=np.float32)
    for block in _blocks(*scores.shape):
        r = scores[block].astype(np.float64)
        count = golden[block].sum(axis=1, keepdims=True)
        mean = np.where(golden[block], r, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
        exponent = np.where(potential[block] & (count > 0), -((r - mean) ** 2), -np.inf)
        # The largest exponent is taken out, so that large scores do not leave a row of zeros.
        weight = np.exp(exponent - np.max(exponent, axis=1, initial=-1e300, keepdims=True))
        total = weight.sum(axis=1, keepdims=True)
        result[block] = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return result


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    at_once = max(1, _CELLS_AT_ONCE // max(1, columns))
    return (slice(start, min(rows, start + at_once)) for start in range(0, rows, at_once))
