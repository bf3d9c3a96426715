"""Show one query to a measure that a caller wrote: its predictions, its truth moments, and how they match.

`own_measures` calls such a measure for each query.
"""

from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Grades, Indices, QueryKey
from backend.scoring.matching.found import Matches, MatchOrigin
from backend.scoring.matching.greedy import settle_pairs


class MatchChunk:
    """The matches of predictions with truth moments, for several queries that are scored together."""

    def __init__(self, matches: Matches) -> None:
        if matches.origin is None:
            raise ValueError("these matches do not say where they come from")
        self.matches, self.origin = matches, matches.origin
        self.first = np.cumsum(matches.size) - matches.size
        index = self.origin.index
        self.edges = np.append(index.group_first, len(index.relevance))
        """The positions in the index at which groups of truth moments begin, and the end of the last."""
        self._taken: dict[float, tuple[Indices, Indices]] = {}

    def taken(self, mu: float) -> tuple[Indices, Indices]:
        """Return two arrays of indices: predictions, and the truth moment matched to each at the IoU threshold mu."""
        if mu not in self._taken:
            self._taken[mu] = settle_pairs(self.matches.pairs, [mu], strict=self.matches.strict)[0]
        return self._taken[mu]


_Array = TypeVar("_Array", bound=np.ndarray[Any, Any])


def _part(values: _Array, rows: slice) -> _Array:
    part = values[rows]
    part.flags.writeable = False
    return cast("_Array", part)


class QueryMatches:
    """The first predictions of one query in rank order, and the truth moments of the query.

    There are P predictions, at least one, and T truth moments, grouped by video. Arrays are read-only, because other
    measures read them too.

    Attributes:
        query: the id of the query, as the truth has it.
        min_relevance: the relevance from which a truth moment counts as relevant.
    """

    def __init__(self, query: QueryKey, number: int, chunk: MatchChunk, size: int) -> None:
        """Show the first `size` predictions of the query with id `query`, which has index `number` in `chunk`."""
        self.query = query
        self.min_relevance = chunk.matches.min_relevance
        self._number, self._chunk = number, chunk
        first = int(chunk.first[number])
        self._rows = slice(first, first + size)

    @property
    def iou(self) -> Floats:
        """The highest IoU of each prediction with a relevant moment in its video, 0 if there is none; shape (P,)."""
        return _part(self._chunk.matches.iou, self._rows)

    @cached_property
    def ious(self) -> Floats:
        """The IoU of each prediction with each truth moment, 0 if they are in different videos; shape (P, T)."""
        pairs, rows = self._chunk.matches.pairs, self._rows
        low, high = np.searchsorted(pairs.prediction, (rows.start, rows.stop))
        ious = np.zeros((rows.stop - rows.start, len(self.relevance)))
        prediction, truth = pairs.prediction[low:high] - rows.start, pairs.truth[low:high] - self._moments.start
        ious[prediction, truth] = pairs.iou.take(np.arange(low, high)).values
        return ious

    def matched(self, mu: float) -> Indices:
        """Return the truth moment matched to each prediction at the IoU threshold mu, -1 for none; shape (P,).

        A truth moment is matched at most once, as for NDCG. The result has indices into `relevance` and the columns
        of `ious`.
        """
        prediction, truth = self._chunk.taken(mu)
        low, high = np.searchsorted(prediction, (self._rows.start, self._rows.stop))
        matched = np.full(self._rows.stop - self._rows.start, -1, dtype=np.int64)
        matched[prediction[low:high] - self._rows.start] = truth[low:high] - self._moments.start
        return matched

    def relevance_at(self, mu: float) -> Floats:
        """Return the relevance of the truth moment matched to each prediction, 0 for none; shape (P,).

        `mu` is the IoU that a match needs.
        """
        matched = self.matched(mu)
        relevance = np.zeros(len(matched))
        relevance[matched >= 0] = self.relevance[matched[matched >= 0]]
        return relevance

    @property
    def video(self) -> list[str]:
        """The video of each prediction, P names."""
        run = self._origin.run
        return [run.videos[number] for number in run.video[self._of_run].tolist()]

    @property
    def start_s(self) -> Floats:
        """The start of each prediction in seconds, shape (P,)."""
        return _part(self._origin.run.start_s, self._of_run)

    @property
    def end_s(self) -> Floats:
        """The end of each prediction in seconds, shape (P,)."""
        return _part(self._origin.run.end_s, self._of_run)

    @property
    def score(self) -> Floats:
        """The score of each prediction, shape (P,)."""
        return _part(self._origin.run.score, self._of_run)

    @property
    def relevance(self) -> Grades:
        """The relevance of each truth moment, shape (T,)."""
        relevance: Grades = self._origin.index.relevance[self._moments]
        relevance.flags.writeable = False
        return relevance

    @property
    def truth_video(self) -> list[str]:
        """The video of each truth moment, T names."""
        index, videos = self._origin.index, self._origin.truth.videos
        groups = np.searchsorted(index.group_first, np.arange(self._moments.start, self._moments.stop), "right") - 1
        return [videos[number] for number in (index.group_key[groups] % index.videos).tolist()]

    @property
    def truth_start_s(self) -> Floats:
        """The start of each truth moment in seconds, shape (T,)."""
        return _part(self._origin.index.start_s, self._moments)

    @property
    def truth_end_s(self) -> Floats:
        """The end of each truth moment in seconds, shape (T,)."""
        return _part(self._origin.index.end_s, self._moments)

    @property
    def _origin(self) -> MatchOrigin:
        return self._chunk.origin

    @property
    def _of_run(self) -> slice:
        """The positions of this query's predictions among all predictions of the run."""
        return slice(self._rows.start + self._origin.first, self._rows.stop + self._origin.first)

    @cached_property
    def _moments(self) -> slice:
        """The positions of the query's truth moments in the index of all truth moments."""
        index, number = self._origin.index, int(self._origin.truth_query[self._number])
        low, high = np.searchsorted(index.group_key, (number * index.videos, (number + 1) * index.videos))
        return slice(int(self._chunk.edges[low]), int(self._chunk.edges[high]))
