"""Match the ranked predictions of queries with truth moments. Measures are computed from these matches alone."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.gain import OwnGain
from backend.scoring.matching.columns import Grades, Indices, Run, Truth
from backend.scoring.matching.discount import Gain
from backend.scoring.matching.greedy import Pairs, TruthIndex, beginnings, settle_pairs


@dataclass(frozen=True, slots=True)
class MatchOrigin:
    """The run and the truth that matches were made from, for measures that a caller wrote.

    Such measures may use ids, names, times and scores. The built-in measures do not need them.

    Attributes:
        run: the run in rank order.
        first: the position in the run of the first prediction that was matched.
        truth: the truth.
        index: the moments of the truth, sorted by query and video.
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
        video: the video of each prediction, as an index of the truth's videos; shape (P,). Other videos have higher
            numbers.
        start_s: the start of each prediction in seconds, shape (P,).
        end_s: the end of each prediction in seconds, shape (P,).
        pairs: each prediction with each truth moment of the same query and video.
        truth: the truth moments of all queries of the truth, even of queries that are not among the Q.
        truth_query: the index in the truth of each query, shape (Q,); -1 for a query that the truth lacks.
        duration_s: the duration of each of the truth's videos in seconds, for measures that need it.
        ideal: the DCG of the ideal ranking of each query's truth, shape (cut-offs, Q).
        relevant: how many truth moments of each query have at least `min_relevance`, shape (Q,).
        irrelevant: how many truth moments of each query have less than `min_relevance`, shape (Q,).
        gain: the gain of NDCG and DCG.
        strict: whether an IoU must exceed mu; used by graded measures only.
        min_relevance: the relevance from which a moment counts as relevant.
        abandonment: where a person stops reading; used by NCxIoU only.
        persistence: how likely a person reads on after each rank; used by RBP only.
        map_depth: how many predictions of each query count; used by mAP only.
        highest: the highest relevance of the scale; used by ERR only.
        origin: the run and the truth themselves, for measures that a caller wrote.
    """

    queries: int
    query: Indices
    rank: Indices
    video: Indices
    start_s: Floats
    end_s: Floats
    pairs: Pairs
    truth: TruthIndex
    truth_query: Indices
    duration_s: Floats
    ideal: Floats
    relevant: Indices
    irrelevant: Indices
    gain: Gain | OwnGain
    strict: bool
    min_relevance: float
    abandonment: str
    persistence: float
    map_depth: int
    highest: float
    origin: MatchOrigin | None = None

    @property
    def relevance(self) -> Grades:
        """The relevance of the truth moments."""
        return self.truth.relevance

    def taken(self, mu: tuple[float, ...]) -> list[tuple[Indices, Grades]]:
        """Match predictions one-to-one with truth moments at each IoU threshold in `mu`.

        Returns:
            For each threshold, the indices of the matched predictions, and the relevance of the truth moment of each.
        """
        if mu not in self._taken:
            settled = settle_pairs(self.pairs, mu, strict=self.strict)
            self._taken[mu] = [(prediction, self.relevance[truth]) for prediction, truth in settled]
        return self._taken[mu]

    def hits(self, mu: tuple[float, ...]) -> list[Indices]:
        """Return, for each IoU threshold in `mu`, the indices of predictions that are matched with a relevant moment.

        Predictions are matched one-to-one with truth moments of any relevance, as in `taken`.
        """
        return [prediction[relevance >= self.min_relevance] for prediction, relevance in self.taken(mu)]

    def right(self, theta: tuple[float, ...], depth: int) -> list[Indices]:
        """Return, for each IoU threshold in `theta`, the indices of predictions matched with a relevant moment.

        Unlike in `taken`, only relevant moments take part. They are matched one-to-one with predictions, whose IoU must
        reach the threshold. Only the first `depth` predictions of each query are matched.
        """
        if (theta, depth) not in self._right:
            near = self.near.take(self.rank[self.near.prediction] < depth)
            self._right[theta, depth] = [prediction for prediction, _ in settle_pairs(near, theta, strict=False)]
        return self._right[theta, depth]

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
        """Return whether each prediction's highest IoU with a relevant moment is at least `theta`; shape (P,).

        If `strict` is true, the IoU must exceed the threshold `theta`.
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

    def counts(self, chosen: Indices, k: int) -> Indices:
        """Return for each query how many of its first k predictions are among the chosen ones, shape (Q,)."""
        return np.bincount(self.query[chosen[self.rank[chosen] < k]], minlength=self.queries)

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
        return self.near.take(self.near.iou.reach(0.0, strict=True))

    @cached_property
    def near(self) -> Pairs:
        """The pairs of a prediction and a relevant moment in the same query and video."""
        return self.pairs.take(self.relevance[self.pairs.truth] >= self.min_relevance)

    @cached_property
    def moments(self) -> tuple[Indices, Indices]:
        """The relevant truth moments of the Q queries: the query of each, and its index in `truth`."""
        query_of = np.repeat(self.truth.group_key // self.truth.videos, self.truth.group_size)
        first, last = (np.searchsorted(query_of, self.truth_query, side=side) for side in ("left", "right"))
        size = last - first
        moment = np.arange(size.sum()) + np.repeat(first - (np.cumsum(size) - size), size)
        relevant = self.relevance[moment] >= self.min_relevance
        return np.repeat(np.arange(self.queries), size)[relevant], moment[relevant]

    @cached_property
    def _taken(self) -> dict[tuple[float, ...], list[tuple[Indices, Grades]]]:
        return {}

    @cached_property
    def _right(self) -> dict[tuple[tuple[float, ...], int], list[Indices]]:
        return {}

    @cached_property
    def _reaches(self) -> dict[tuple[float, bool], Flags]:
        return {}
