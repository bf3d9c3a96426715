"""Match the ranked predictions of queries with truth moments. Measures are computed from these matches alone."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.gain import OwnGain
from backend.scoring.matching.columns import Indices, Run, Truth
from backend.scoring.matching.discount import Gain
from backend.scoring.matching.greedy import Pairs, TruthIndex, beginnings, settle_pairs


@dataclass(frozen=True, slots=True)
class MatchOrigin:
    """The run and the truth that matches were made from: ids, names, times and scores, which only own measures need.

    Attributes:
        run: the run in rank order.
        first: the position in the run of the first prediction that was matched.
        truth: the truth.
        index: its moments, sorted.
        truth_query: the index in the truth of each of the Q queries, shape (Q,).
    """

    run: Run
    first: int
    truth: Truth
    index: TruthIndex
    truth_query: Indices


@dataclass(frozen=True)
class Matches:
    """P predictions of Q queries, sorted by query, then rank, and their pairs with truth moments.

    Attributes:
        queries: the number of queries, Q.
        query: the query of each prediction, 0..Q-1, shape (P,).
        rank: the rank of each prediction, from 0, shape (P,).
        pairs: each prediction with each truth moment of the same query and video.
        relevance: the relevance of the truth moments.
        ideal: the DCG of the ideal ranking of each query's truth, shape (cut-offs, Q).
        relevant: how many truth moments of each query have at least `min_relevance`, shape (Q,).
        irrelevant: how many have less, shape (Q,).
        gain: the gain of NDCG and DCG.
        strict: whether an IoU must exceed mu; used by graded measures only.
        min_relevance: the relevance from which a moment counts as relevant.
        abandonment: where a person stops reading; used by NCxIoU only.
        origin: the run and the truth themselves, for measures that a caller wrote.
    """

    queries: int
    query: Indices
    rank: Indices
    pairs: Pairs
    relevance: Indices
    ideal: Floats
    relevant: Indices
    irrelevant: Indices
    gain: Gain | OwnGain
    strict: bool
    min_relevance: int
    abandonment: str
    origin: MatchOrigin | None = None

    def taken(self, mu: tuple[float, ...]) -> list[tuple[Indices, Indices]]:
        """Match predictions one-to-one with truth moments at each mu.

        Returns:
            For each mu, the indices of the matched predictions, and the relevance of the truth moment of each.
        """
        settled = settle_pairs(self.pairs, mu, strict=self.strict)
        return [(prediction, self.relevance[truth]) for prediction, truth in settled]

    def right(self, theta: tuple[float, ...], depth: int) -> list[Indices]:
        """Return for each theta the indices of the predictions that are matched with a relevant moment.

        Predictions and moments with IoU >= theta are matched one-to-one. Only the first `depth` predictions of each
        query are matched.
        """
        near = self._relevant.take(self.rank[self._relevant.prediction] < depth)
        return [prediction for prediction, _ in settle_pairs(near, theta, strict=False)]

    @cached_property
    def iou(self) -> Floats:
        """The highest IoU of each prediction with a relevant moment, 0 if it overlaps none; shape (P,).

        The value of the prediction at rank k is called r(k).
        """
        best = np.zeros(len(self.query))
        prediction = self._overlapping.prediction
        if len(prediction):
            first = beginnings(prediction)
            best[prediction[first]] = np.maximum.reduceat(self._overlapping.iou.values, first)
        return best

    @cached_property
    def best(self) -> Floats:
        """The highest IoU that each prediction and those ranked before it reach with a relevant moment, shape (P,).

        At rank k it is max(r(1), ..., r(k)), where r is `iou`.
        """
        # NumPy orders complex numbers by real part (the query), then imaginary: the maximum restarts with each query.
        return np.maximum.accumulate(self.query + 1j * self.iou).imag

    @cached_property
    def last_best(self) -> Floats:
        """The highest IoU of each query's predictions with a relevant moment, 0 without predictions; shape (Q,)."""
        last = np.zeros(self.queries)
        last[self.size > 0] = self.best[(np.cumsum(self.size) - 1)[self.size > 0]]
        return last

    def reaches(self, theta: float, *, strict: bool) -> Flags:
        """Return whether each prediction's highest IoU with a relevant moment is at least theta; shape (P,).

        If `strict` is true, it must exceed theta.
        """
        known = self._reaches.get((theta, strict))
        if known is None:
            # A prediction that overlaps no relevant moment has r(k) = 0.
            known = np.full(len(self.query), theta < 0 if strict else theta <= 0)
            known[self._overlapping.prediction[self._overlapping.iou.reach(theta, strict=strict)]] = True
            self._reaches[theta, strict] = known
        return known

    def first_rank(self, flags: Flags) -> Floats:
        """Return each query's lowest rank, from 0, of a prediction marked in `flags`; shape (Q,).

        It is infinite if no prediction of the query is marked.
        """
        first = np.full(self.queries, np.inf)
        flagged = np.flatnonzero(flags)
        flagged = flagged[beginnings(self.query[flagged])]
        first[self.query[flagged]] = self.rank[flagged]
        return first

    def total(self, values: Floats, k: int) -> Floats:
        """Return for each query the sum of `values` over its first k predictions, shape (Q,).

        `values` has one value for each prediction, shape (P,).
        """
        if k not in self._first:
            first = np.flatnonzero(self.rank < k)
            self._first[k] = first, self.query[first]
        first, query = self._first[k]
        return np.bincount(query, values[first], minlength=self.queries).astype(np.float64, copy=False)

    @cached_property
    def size(self) -> Indices:
        """The number of predictions of each query, shape (Q,)."""
        return np.bincount(self.query, minlength=self.queries)

    @cached_property
    def _first(self) -> dict[int, tuple[Indices, Indices]]:
        """For each k, the indices of all queries' first k predictions, and the query of each: a cache for `total`."""
        return {}

    @cached_property
    def _overlapping(self) -> Pairs:
        """The pairs of a prediction and a relevant moment that have an IoU above 0."""
        return self._relevant.take(self._relevant.iou.reach(0.0, strict=True))

    @cached_property
    def _relevant(self) -> Pairs:
        return self.pairs.take(self.relevance[self.pairs.truth] >= self.min_relevance)

    @cached_property
    def _reaches(self) -> dict[tuple[float, bool], Flags]:
        return {}
