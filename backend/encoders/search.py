"""Find the moments whose captions are most similar to each query, by exact search.

Some processors multiply bfloat16 numbers much faster than float32 ones; with AMX instructions, seven times as fast. On
these, a coarse pass first computes all scores in bfloat16. It rules out only captions that cannot be among the best
whatever the rounding error. The rest is scored exactly, so the results are the same as without the coarse pass.
"""

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from backend.core.progress import Steps
from backend.encoders.selection import SLACK, Described, Integers, Ranking, rank_moments, settled
from backend.encoders.sentence import FloatArray

_ROUNDING = 2.0**-8
"""The largest relative error of rounding a number to bfloat16."""
_SUMMING = 2.0**-22
"""A bound on the relative error of each addition in a product, which is in float32; four times the true bound."""
_PAIRS_WITH_TORCH, _PAIRS_WITHOUT = 1 << 24, 1 << 30
"""The fewest scores for which the coarse pass is tried: if torch is loaded already, and if it has to be loaded."""
_TIMES_AS_FAST = 2


def coarse_pays(vectors: FloatArray, queries: int) -> bool:
    """Return whether searching with bfloat16 vectors first saves time on this machine, from a short trial.

    This first search is coarse: it only rules out captions. `vectors` are those of the captions, and `queries` is the
    number of queries.
    """
    if len(vectors) * queries < (_PAIRS_WITH_TORCH if "torch" in sys.modules else _PAIRS_WITHOUT):
        return False
    import torch

    some = vectors[:4096]
    few, across = torch.from_numpy(some[:256]).bfloat16(), torch.from_numpy(some).bfloat16().T.contiguous()
    in_bfloat16, in_float32 = _seconds(lambda: torch.mm(few, across)), _seconds(lambda: some[:256] @ some.T)
    return _TIMES_AS_FAST * in_bfloat16 < in_float32


def _seconds(work: Callable[[], object]) -> float:
    """Return the shortest time of four runs of `work`, in seconds; the first run warms up."""
    took = []
    for _ in range(4):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


class Coarse:
    """The vectors of a corpus's captions, rounded to bfloat16 for a fast first search."""

    def __init__(self, vectors: FloatArray, at_once: int) -> None:
        """Round the vectors, and record the largest rounding error.

        Args:
            vectors: float32 `(captions, dim)`, contiguous.
            at_once: the most queries that one call of `nearest` gets.
        """
        import torch

        exact = torch.from_numpy(vectors)
        rounded = exact.bfloat16()
        # Stored transposed, the product takes half the time.
        self._captions = rounded.T.contiguous()
        self._moved = float(rounded.float().sub_(exact).norm(dim=1).max())
        self._longest = float(exact.norm(dim=1).max()) + self._moved
        self._room = torch.empty((at_once, len(vectors)), dtype=torch.bfloat16)

    def nearest(self, queries: FloatArray, depth: int, size: int) -> tuple[Integers, Integers, FloatArray]:
        """Return the captions that may be among the `depth` most similar ones of each query; others certainly are not.

        Args:
            queries: float32 `(queries, dim)`, at most `at_once`.
            depth: how many captions a query needs; smaller than the number of all captions.
            size: captions in a group. Groups are compared first by their best caption, see `Captions._nearest`. There
                have to be at least `depth` groups.

        Returns:
            Two arrays of equal length, in no order: the query's index and the caption's index of each pair. The third
            array has a score t for each query; every caption that was not returned has a lower score.

        Let q be a query, c a caption, and q' and c' their rounded vectors. Rounding changes their product by at most
        `|q - q'| |c'| + |q| |c - c'|` plus the error of the sum. Call this bound e, and n the `depth`-th largest
        rounded product. Products are rounded to bfloat16, too, which changes them by at most a 2^-8th. So at least
        `depth` captions have an exact product of t = n - e - 2^-8 |n| or more, and captions below t are not needed. All
        captions are returned whose rounded product is at least t - e, less the same 2^-8th; they include every caption
        with an exact product of t or more.
        """
        import torch

        exact = torch.from_numpy(queries)
        rounded = exact.bfloat16()
        scores = torch.mm(rounded, self._captions, out=self._room[: len(queries)])
        groups = scores.shape[1] // size
        grouped = scores[:, : size * groups].view(len(queries), size, groups)
        left_over = scores[:, size * groups :]
        best = torch.cat([grouped.amax(dim=1), left_over], dim=1).float()
        last = best.topk(depth, dim=1, sorted=False).values.amin(dim=1)
        off = (rounded.float() - exact).norm(dim=1) * self._longest
        off += exact.norm(dim=1) * (self._moved + _SUMMING * queries.shape[1] * self._longest)
        reached = last - off - _ROUNDING * last.abs()
        needed = (reached - off - _ROUNDING * (reached - off).abs())[:, None]
        query, group = (best[:, :groups] >= needed).nonzero(as_tuple=True)
        hit, member = (grouped[query, :, group].float() >= needed[query]).nonzero(as_tuple=True)
        alone, rest = (left_over.float() >= needed).nonzero(as_tuple=True)
        caption = torch.cat([group[hit] + groups * member, rest + size * groups])
        return torch.cat([query[hit], alone]).numpy(), caption.numpy(), reached.numpy()


QUERIES_AT_ONCE = 512
_SCORES_AT_ONCE = 1 << 26
"""The most scores (queries times captions) in one product: 256 MB."""
_PAIRS_AT_ONCE = 2048
"""Pairs whose exact scores are computed at once: few enough for their vectors to stay in the processor's cache."""
_GROUP = 32
"""Captions in a group, which is first judged by its best score; fewer in a small corpus."""


class Captions:
    """A corpus of captions to search by vectors; results do not depend on the order of the corpus."""

    def __init__(self, vectors: FloatArray, moments: Sequence[Sequence[int]], *, queries: int = 0) -> None:
        """Prepare the corpus for any number of searches.

        Args:
            vectors: Unit vectors of the *distinct* captions, float32 `(captions, dim)`.
            moments: For each caption the ids of the moments it describes.
            queries: The expected number of queries, if known. For many queries, more work is done here to speed up each
                search.

        Raises:
            ValueError: `vectors` and `moments` have different lengths.
        """
        if len(vectors) != len(moments):
            raise ValueError(f"{len(moments)} captions do not fit vectors of shape {vectors.shape}")
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self._described = Described(moments)
        at_once = max(1, min(QUERIES_AT_ONCE, _SCORES_AT_ONCE // max(1, len(vectors))))
        self._coarse = Coarse(self._vectors, at_once) if coarse_pays(self._vectors, queries) else None
        self._room = np.empty((0 if self._coarse else at_once, len(vectors)), dtype=np.float32)
        self._at_once = at_once

    def top(self, query_vectors: FloatArray, k: int) -> Ranking:
        """Return for each query the `k` most similar moments, best first; all moments if there are fewer.

        A moment is as similar to a query as its most similar caption. Similarities are rounded to steps of `QUANTUM`
        (1e-5). Of moments with equal similarity, the smaller id comes first. The whole result is held in memory: for
        very many queries, pass `QUERIES_AT_ONCE` at a time.

        Args:
            query_vectors: Unit vectors, float32 `(queries, dim)`.
            k: Moments for each query, at least 1.

        Raises:
            ValueError: The dimension of the vectors differs from the captions', or `k` is below 1.
        """
        if query_vectors.shape[1:] != self._vectors.shape[1:]:
            raise ValueError(f"queries of shape {query_vectors.shape} do not fit captions of {self._vectors.shape}")
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        queries = np.ascontiguousarray(query_vectors, dtype=np.float32)
        parts, order = [Ranking.empty(0)], [np.zeros(0, dtype=np.int64)]
        pending = np.arange(len(queries))
        depth = k + SLACK
        while len(pending):
            unsettled = []
            for start in range(0, len(pending), self._at_once):
                some = pending[start : start + self._at_once]
                query, caption, unseen = self._nearest(queries[some], depth)
                scores = self._exact(queries[some], query, caption)
                ranking = rank_moments(query, caption, scores, self._described, count=len(some), k=k)
                enough = settled(ranking, k, unseen) | (depth >= len(self._vectors))
                parts.append(ranking.of(enough))
                order.append(some[enough])
                unsettled.append(some[~enough])
            pending = np.concatenate(unsettled)
            depth *= 2
        return Ranking.joined(parts, np.argsort(np.concatenate(order)))

    def _nearest(self, queries: FloatArray, depth: int) -> tuple[Integers, Integers, npt.NDArray[np.floating]]:
        """Return for each query at least the `depth` most similar captions; all captions if there are no more.

        Sorting all scores would take as long as computing them. So captions are divided into groups, and only the best
        score of each group is sorted. Each of the `depth` best groups has at least one caption with its best score. So
        these groups hold enough captions, and a group whose best score is lower than theirs is not looked into.

        Returns:
            Two arrays of equal length, in no order: the query's index and the caption's index of each pair. The third
            array has a score for each query; no caption that was left out scores higher.
        """
        count = len(self._vectors)
        if depth >= count:
            query, caption = np.divmod(np.arange(len(queries) * count), max(1, count))
            return query, caption, np.full(len(queries), -2, dtype=np.float32)
        size = min(_GROUP, max(1, count // (4 * depth)))
        if self._coarse:
            return self._coarse.nearest(queries, depth, size)
        return _nearest(queries, self._vectors, depth, size, self._room)

    def _exact(self, queries: FloatArray, query: Integers, caption: Integers) -> npt.NDArray[np.float64]:
        """Return the score of each pair of a query and a caption, given by their indexes, float64 `(pairs,)`.

        Unlike an element of a matrix product, a score computed here does not depend on the caption's position in the
        corpus.
        """
        scores = np.empty(len(query))
        for start in range(0, len(query), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            left, right = self._vectors[caption[part]], queries[query[part]]
            np.einsum("pd,pd->p", left, right, dtype=np.float64, out=scores[part])
        return scores


def top_moments(
    query_vectors: FloatArray,
    caption_vectors: FloatArray,
    caption_moments: Sequence[Sequence[int]],
    k: int,
    *,
    progress: Steps | None = None,
) -> Ranking:
    """Return for each query the `k` most similar moments, best first, for any number of queries.

    Args:
        query_vectors: Unit vectors, float32 `(queries, dim)`.
        caption_vectors: Unit vectors of the distinct captions, float32 `(captions, dim)`.
        caption_moments: For each caption the ids of the moments it describes.
        k: Moments for each query, at least 1.
        progress: Called with (queries done, all queries).
    """
    captions = Captions(caption_vectors, caption_moments, queries=len(query_vectors))
    parts = [captions.top(query_vectors[:0], k)]
    for start in range(0, len(query_vectors), QUERIES_AT_ONCE):
        parts.append(captions.top(query_vectors[start : start + QUERIES_AT_ONCE], k))
        if progress is not None:
            progress(start + len(parts[-1]), len(query_vectors))
    return Ranking.joined(parts)


def _nearest(
    queries: FloatArray, captions: FloatArray, depth: int, size: int, room: FloatArray
) -> tuple[Integers, Integers, FloatArray]:
    """Return for each query at least its `depth` most similar captions, computed in float32.

    Captions are compared in groups of `size`; `Captions._nearest` describes this and the three returned arrays. `depth`
    must be below the number of captions. `room` is an array `(at least queries, captions)` that the scores are written
    to. Allocating it anew for each call takes a tenth more time.
    """
    scores = np.matmul(queries, captions.T, out=room[: len(queries)])
    groups = len(captions) // size
    # Group g holds captions g, g + groups, g + 2 groups ..., so the maxima of all groups are computed row by row.
    grouped = scores[:, : size * groups].reshape(len(queries), size, groups)
    left_over = scores[:, size * groups :]
    best = np.concatenate([grouped.max(axis=1), left_over], axis=1)
    place = best.shape[1] - depth
    needed = np.partition(best, place, axis=1)[:, place]
    query, group = np.nonzero(best[:, :groups] >= needed[:, None])
    hit, member = np.nonzero(grouped[query, :, group] >= needed[query, None])
    alone, rest = np.nonzero(left_over >= needed[:, None])
    caption = group[hit] + groups * member
    return np.concatenate([query[hit], alone]), np.concatenate([caption, rest + size * groups]), needed
