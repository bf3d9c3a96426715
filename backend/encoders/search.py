"""Exact search: which moments are the most similar to each query. faiss does the arithmetic, the core the ranking."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from backend.encoders.selection import SLACK, Candidate, rank_moments, settled
from backend.encoders.sentence import FloatArray
from backend.ground.progress import Steps

_QUERIES_AT_ONCE = 512


def top_moments(
    query_vectors: FloatArray,
    caption_vectors: FloatArray,
    caption_moments: Sequence[Sequence[int]],
    k: int,
    *,
    progress: Steps | None = None,
) -> list[list[Candidate]]:
    """For each query the `k` most similar moments, best first; the order of the corpus makes no difference.

    A moment with several captions scores as its most similar one. Ties (see `QUANTUM`) go to the smaller id.

    Args:
        query_vectors: Unit vectors, float32 `(queries, dim)`.
        caption_vectors: Unit vectors of the *distinct* captions, float32 `(captions, dim)`.
        caption_moments: For each caption the ids of the moments it describes.
        k: Moments a query, at least 1; all are returned where the corpus has fewer.
        progress: Called with (queries done, all queries).

    Raises:
        ValueError: The shapes do not fit together, or `k` is below 1.
    """
    if len(caption_vectors) != len(caption_moments) or query_vectors.shape[1:] != caption_vectors.shape[1:]:
        raise ValueError(
            f"{len(caption_moments)} captions do not fit vectors of shape {caption_vectors.shape}, "
            f"or those do not fit queries of shape {query_vectors.shape}"
        )
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    ranked: list[list[Candidate]] = []
    for start in range(0, len(query_vectors), _QUERIES_AT_ONCE):
        block = np.ascontiguousarray(query_vectors[start : start + _QUERIES_AT_ONCE], dtype=np.float32)
        ranked += _search(block, caption_vectors, caption_moments, k)
        if progress is not None:
            progress(len(ranked), len(query_vectors))
    return ranked


def _search(
    queries: FloatArray, captions: FloatArray, caption_moments: Sequence[Sequence[int]], k: int
) -> list[list[Candidate]]:
    """`top_moments` of one block, searching deeper for those queries whose cut falls among ties."""
    found: list[list[Candidate]] = [[] for _ in queries]
    pending = list(range(len(queries))) if len(captions) else []
    depth = min(k + SLACK, len(captions))
    while pending:
        scores, indices = _nearest(queries[pending], captions, depth)
        unsettled = []
        for query, row, rough in zip(pending, indices, scores, strict=True):
            # faiss's sums depend on a caption's place in its blocks; these do not.
            exact = (captions[row].astype(np.float64) * queries[query]).sum(axis=1)
            found[query] = rank_moments(row.tolist(), exact, caption_moments, k)
            if depth < len(captions) and not settled(found[query], k, float(rough[-1])):
                unsettled.append(query)
        pending = unsettled
        depth = min(2 * depth, len(captions))
    return found


def _nearest(queries: FloatArray, captions: FloatArray, depth: int) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Scores and indices of the `depth` captions with the largest inner products, best first."""
    import faiss

    scores, indices = faiss.knn(queries, captions, depth, metric=faiss.METRIC_INNER_PRODUCT)
    return scores, indices
