"""Compute rank discounts, and read how likely a person stops reading a ranked list at each rank.

The discount 1 / log2(k + 1) serves TVR-Ranking and AxIoU. The probability p(k) of stopping at rank k serves NCxIoU:

- `uniform`: each of the K ranks has the same probability, which gives AxIoU;
- `err`, as in the expected reciprocal rank: the IoU at rank k is the probability that a person who reads it stops;
- otherwise the probabilities of ranks 1, 2, ..., such as `0.5,0.3,0.2`. Later ranks have 0. The sum is at most 1; the
  rest is the probability of stopping nowhere.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.gain import OwnGain
from backend.scoring.matching.columns import Grades, Indices

Gain = Literal["linear", "exp2"]


def discounted(query: Indices, rank: Indices, gains: Floats, queries: int, cutoffs: Sequence[int]) -> Floats:
    """Return the sum over ranks k = 1..K of gain / log2(k + 1) for each cut-off K and query, shape (cut-offs, queries).

    Args:
        query: index of the query of each ranked moment, shape (N,).
        rank: rank of each moment, counting from 0, rising within each query; shape (N,).
        gains: gain of each moment, shape (N,); moments without gain may be left out.
        queries: number of queries; those without a moment get 0.
        cutoffs: values of K, at least 1.

    >>> discounted(np.array([0, 0]), np.array([0, 2]), np.array([1.0, 1.0]), 1, [1, 3]).tolist()  # log2(4) is 2
    [[1.0], [1.5]]
    """
    discounts = np.log2(np.arange(2, int(rank.max(initial=0)) + 3))
    terms = gains / discounts[rank]
    sums = np.zeros((len(cutoffs), queries))
    for row, k in zip(sums, cutoffs, strict=True):
        # bincount adds in the order of its input, here by rank: the last bits are those of a loop over ranks.
        counted = np.flatnonzero(rank < k)
        row[:] = np.bincount(query[counted], terms[counted], minlength=queries)
    return sums


def gains_of(relevance: Grades, gain: Gain | OwnGain) -> Floats:
    """Return the gain of each relevance: the relevance itself, 2**relevance - 1, or a gain of the caller's own.

    >>> gains_of(np.array([0, 3]), "exp2").tolist(), gains_of(np.array([0.5]), "linear").tolist()
    ([0.0, 7.0], [0.5])
    """
    if isinstance(gain, OwnGain):
        return gain.of(relevance)
    if gain == "linear":
        return relevance.astype(np.float64)
    return np.ldexp(1.0, relevance) - 1.0 if relevance.dtype == np.int64 else np.exp2(relevance) - 1.0


def stop_chances(query: Indices, rank: Indices, chance: Floats, queries: int) -> Floats:
    """Return the probability that a person stops at each moment of ranked lists, shape (N,).

    A person reads a list from rank 0 on. At each moment that they reach, they stop with probability `chance`.

    Args:
        query: query number of each moment, shape (N,).
        rank: rank of each moment, counting from 0; each rank occurs at most once in a query; shape (N,).
        chance: probability of stopping at each moment for a person who reaches it, shape (N,).
        queries: number of queries.

    >>> stop_chances(np.array([0, 0]), np.array([0, 2]), np.array([0.5, 0.5]), 1).tolist()
    [0.5, 0.25]
    """
    by_rank = np.argsort(rank, kind="stable")
    edges = np.searchsorted(rank[by_rank], np.arange(int(rank.max(initial=-1)) + 2))
    reading, stops = np.ones(queries), np.empty(len(rank))
    for low, high in pairwise(edges.tolist()):
        moments = by_rank[low:high]
        stops[moments] = reading[query[moments]] * chance[moments]
        reading[query[moments]] *= 1 - chance[moments]
    return stops


ERR, UNIFORM = "err", "uniform"
NAMED = (UNIFORM, ERR)


def read_abandonment(value: object) -> str:
    """Return the abandonment option as text: a name, or probabilities separated by commas.

    Raises:
        ValueError: it is neither; the message says why.

    >>> read_abandonment([0.5, 0.25]), read_abandonment("0.50, .25"), read_abandonment("uniform")
    ('0.5,0.25', '0.5,0.25', 'uniform')
    """
    if value in NAMED:
        return str(value)
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Iterable):
        raise ValueError(f"{value!r} is neither {' nor '.join(NAMED)} nor probabilities such as 0.5,0.3,0.2")
    try:
        chances = [float(part) for part in parts]
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is neither {' nor '.join(NAMED)} nor probabilities such as 0.5,0.3,0.2") from None
    if not chances or not all(math.isfinite(chance) and chance >= 0 for chance in chances):
        raise ValueError(f"{value!r} contains a value that is not a probability: each must be a number of at least 0")
    if math.fsum(chances) > 1 + 1e-9:
        raise ValueError(f"{value!r}: the probabilities add up to {math.fsum(chances):.6g}, which is more than 1")
    return ",".join(map(repr, chances))


def probabilities(text: str) -> list[float]:
    """Return the probabilities of ranks 1, 2, ... from a result of `read_abandonment` that is not a name."""
    return [float(part) for part in text.split(",")]
