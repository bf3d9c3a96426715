"""Hold what ranked predictions found in the truth of some queries: all that a measure reads."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.discount import Gain
from backend.scoring.matching.greedy import Pairs, beginnings, settle_pairs


@dataclass(frozen=True)
class Found:
    """P predictions of Q queries, sorted by query, then rank.

    `query` (0..Q-1) and `rank` (from 0) have shape (P,). `pairs` are the couples of a prediction and a truth
    moment of the same query and video, `relevance` is that of the truth moments. `ideal` has shape
    (cut-offs, Q): the DCG of the best ranking of each query's truth, `relevant` (Q,): how many of its moments have at
    least `min_relevance`, `irrelevant` how many have less. `strict` belongs to NDCG alone, `abandonment` to NCxIoU.
    """

    queries: int
    query: Indices
    rank: Indices
    pairs: Pairs
    relevance: Indices
    ideal: Floats
    relevant: Indices
    irrelevant: Indices
    gain: Gain
    strict: bool
    min_relevance: int
    abandonment: str

    def taken(self, mu: tuple[float, ...]) -> list[tuple[Indices, Indices]]:
        """For each mu, the predictions that take a truth moment one-to-one, and the relevance of each."""
        settled = settle_pairs(self.pairs, mu, strict=self.strict)
        return [(prediction, self.relevance[truth]) for prediction, truth in settled]

    def right(self, theta: tuple[float, ...], depth: int) -> list[Indices]:
        """For each theta, which of the first `depth` predictions take a relevant moment one-to-one, IoU >= theta."""
        near = self._relevant.take(self.rank[self._relevant.prediction] < depth)
        return [prediction for prediction, _ in settle_pairs(near, theta, strict=False)]

    @cached_property
    def iou(self) -> Floats:
        """r(k): IoU of each prediction with its best relevant truth moment, 0 where there is none, shape (P,)."""
        best = np.zeros(len(self.query))
        prediction = self._overlapping.prediction
        if len(prediction):
            first = beginnings(prediction)
            best[prediction[first]] = np.maximum.reduceat(self._overlapping.iou.values, first)
        return best

    @cached_property
    def best(self) -> Floats:
        """max(r(1), ..., r(k)) at each prediction, shape (P,)."""
        # NumPy orders complex numbers by real, then imaginary part: the maximum begins anew with each query.
        return np.maximum.accumulate(self.query + 1j * self.iou).imag

    @cached_property
    def last_best(self) -> Floats:
        """The highest r(k) of each query, 0 without a prediction, shape (Q,)."""
        last = np.zeros(self.queries)
        last[self.size > 0] = self.best[(np.cumsum(self.size) - 1)[self.size > 0]]
        return last

    def reaches(self, theta: float, *, strict: bool) -> Flags:
        """Whether r(k) >= theta, or r(k) > theta where `strict`, of each prediction, shape (P,)."""
        known = self._reaches.get((theta, strict))
        if known is None:
            # What meets nothing has r(k) = 0.
            known = np.full(len(self.query), theta < 0 if strict else theta <= 0)
            known[self._overlapping.prediction[self._overlapping.iou.reach(theta, strict=strict)]] = True
            self._reaches[theta, strict] = known
        return known

    def first_rank(self, flags: Flags) -> Floats:
        """Lowest rank of a flagged prediction of each query, infinite where there is none, shape (Q,)."""
        first = np.full(self.queries, np.inf)
        flagged = np.flatnonzero(flags)
        flagged = flagged[beginnings(self.query[flagged])]
        first[self.query[flagged]] = self.rank[flagged]
        return first

    def total(self, values: Floats, k: int) -> Floats:
        """Sum of `values`, shape (P,), over the first k ranks of each query, shape (Q,)."""
        if k not in self._first:
            first = np.flatnonzero(self.rank < k)
            self._first[k] = first, self.query[first]
        first, query = self._first[k]
        return np.bincount(query, values[first], minlength=self.queries).astype(np.float64, copy=False)

    @cached_property
    def size(self) -> Indices:
        """How many predictions each query has, shape (Q,)."""
        return np.bincount(self.query, minlength=self.queries)

    @cached_property
    def _first(self) -> dict[int, tuple[Indices, Indices]]:
        """Of each k that was asked for: the predictions of the first k ranks, and their queries."""
        return {}

    @cached_property
    def _overlapping(self) -> Pairs:
        """Couples with a relevant moment that overlap at all."""
        return self._relevant.take(self._relevant.iou.reach(0.0, strict=True))

    @cached_property
    def _relevant(self) -> Pairs:
        return self.pairs.take(self.relevance[self.pairs.truth] >= self.min_relevance)

    @cached_property
    def _reaches(self) -> dict[tuple[float, bool], Flags]:
        return {}
