"""Exact search: which moments are the most similar to each query.

On processors that multiply bfloat16 several times as fast as float32, a first look at all scores in bfloat16 rules out
what cannot be among the best whatever the rounding did. It decides nothing, so a search finds the same without it. On a
processor with AMX that product takes a seventh of NumPy's time.
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
"""By how much of itself a number changes at most when it is rounded to bfloat16."""
_SUMMING = 2.0**-22
"""The same for each sum of a product, which is reckoned in float32; four times as much as it can be."""
_PAIRS_WITH_TORCH, _PAIRS_WITHOUT = 1 << 24, 1 << 30
"""Scores from which on it is worth trying, where torch is loaded already, and where it is to be loaded for this."""
_TIMES_AS_FAST = 2


def coarse_pays(vectors: FloatArray, queries: int) -> bool:
    """Whether so many queries are answered sooner with a first look in bfloat16; this machine is asked by trying."""
    if len(vectors) * queries < (_PAIRS_WITH_TORCH if "torch" in sys.modules else _PAIRS_WITHOUT):
        return False
    import torch

    some = vectors[:4096]
    few, across = torch.from_numpy(some[:256]).bfloat16(), torch.from_numpy(some).bfloat16().T.contiguous()
    in_bfloat16, in_float32 = _seconds(lambda: torch.mm(few, across)), _seconds(lambda: some[:256] @ some.T)
    return _TIMES_AS_FAST * in_bfloat16 < in_float32


def _seconds(work: Callable[[], object]) -> float:
    """The least of a few times by the clock, the first of which warms up."""
    took = []
    for _ in range(4):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


class Coarse:
    """The captions of a corpus in bfloat16."""

    def __init__(self, vectors: FloatArray, at_once: int) -> None:
        """Round them, and note by how much that moved them at most.

        Args:
            vectors: float32 `(captions, dim)`, contiguous.
            at_once: For how many queries there is room in one product.
        """
        import torch

        exact = torch.from_numpy(vectors)
        rounded = exact.bfloat16()
        # Lying across it is multiplied in half the time.
        self._captions = rounded.T.contiguous()
        self._moved = float(rounded.float().sub_(exact).norm(dim=1).max())
        self._longest = float(exact.norm(dim=1).max()) + self._moved
        self._room = torch.empty((at_once, len(vectors)), dtype=torch.bfloat16)

    def nearest(self, queries: FloatArray, depth: int, size: int) -> tuple[Integers, Integers, FloatArray]:
        """For each query all captions that may be among the `depth` with the largest inner products.

        Let e be what the roundings of a query q and of any caption c change at most in their product:
        `|q - q'| |c'| + |q| |c - c'|` and the error of the sum. If n is the `depth`-th largest of the products in
        bfloat16, `depth` captions score at least t = n - e - 2^-8 |n|, so nothing that scores less than t is needed;
        and what scores t or more has a product in bfloat16 of at least t - e, rounded.

        Args:
            queries: float32 `(queries, dim)`, not more than there is room for.
            depth: fewer than there are captions.
            size: captions in a group, of which there are at least `depth`; see `backend.encoders.search`.

        Returns:
            The numbers of queries and of captions, as pairs in no order; for each query the score that nothing reaches
            among what is not there.
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
"""Queries times captions in one product: 256 MB."""
_PAIRS_AT_ONCE = 2048
"""Pairs whose scores are reckoned exactly in one go: few enough for their vectors to stay in the processor's cache."""
_GROUP = 32
"""Captions that are looked at by their best score; fewer in a small corpus."""


class Captions:
    """The vectors of a corpus, to search in; the order of the corpus makes no difference to what is found."""

    def __init__(self, vectors: FloatArray, moments: Sequence[Sequence[int]], *, queries: int = 0) -> None:
        """Keep the corpus for any number of searches.

        Args:
            vectors: Unit vectors of the *distinct* captions, float32 `(captions, dim)`.
            moments: For each caption the ids of the moments it describes.
            queries: How many will be asked, as far as that is known: many may be worth some preparation.

        Raises:
            ValueError: There are more of the one than of the other.
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
        """For each query the `k` most similar moments, best first; all where there are fewer.

        A moment with several captions scores as its most similar one. Ties (see `QUANTUM`) go to the smaller id.
        All that is found is held at once: for very many queries call it with `QUERIES_AT_ONCE` at a time.

        Args:
            query_vectors: Unit vectors, float32 `(queries, dim)`.
            k: Moments a query, at least 1.

        Raises:
            ValueError: The vectors have another length than the captions', or `k` is below 1.
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
                found = rank_moments(query, caption, scores, self._described, count=len(some), k=k)
                enough = settled(found, k, unseen) | (depth >= len(self._vectors))
                parts.append(found.of(enough))
                order.append(some[enough])
                unsettled.append(some[~enough])
            pending = np.concatenate(unsettled)
            depth *= 2
        return Ranking.joined(parts, np.argsort(np.concatenate(order)))

    def _nearest(self, queries: FloatArray, depth: int) -> tuple[Integers, Integers, npt.NDArray[np.floating]]:
        """For each query at least the `depth` captions with the largest inner products, all if there are fewer.

        To sort out what matters takes as long as the product itself if every score is put in order. So captions are
        looked at in groups: the best scores of `depth` groups are scores of `depth` captions, so whatever scores less
        than all of them is not needed, and with it nearly all groups.

        Returns:
            The numbers of queries and of captions, as pairs in no order; for each query the score that nothing exceeds
            among what is not there.
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
        """The scores of those pairs. The product's sums depend on a caption's place among the others, these do not."""
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
    """`Captions.top` of any number of queries; `progress` is called with (queries done, all queries)."""
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
    """`Captions._nearest` with all scores in float32, for fewer than all captions, in groups of `size`.

    `room` is where the product goes, `(at least queries, captions)`: made anew each time it would cost a tenth more.
    """
    scores = np.matmul(queries, captions.T, out=room[: len(queries)])
    groups = len(captions) // size
    # Group g holds captions g, g + groups, g + 2 groups ...: so the best of all groups are found line by line.
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
