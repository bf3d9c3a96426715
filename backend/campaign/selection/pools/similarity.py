"""Compute how similar a query and a video are by their texts: s_te of Yang et al. 2024, MVMR (CIKM), section 4.

s_te(q, v) is the largest cosine of the query q with a sentence of the video v. It decides which videos are in a pool,
and which ones are potential negatives in training (equation 1 of section 6.1): the videos other than the query's own
with s_te(q, v) < t_tr, a threshold. A more similar video may well show the query too.

Training draws a video v as a negative of q with the probability p'(v|q), and a query q as a negative of v with p'(q|v).
There are two kinds of these probabilities; both are 0 for what is no potential negative, and each row sums to 1:

- By texts, before there is a model (`distribution`): proportional to exp(s_te(q, v) / temperature). This is ours.
- By the scores r of a trained model (`hard_distribution`), as in the paper: equation 3.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.rules import Doubles, Sentences
from backend.core.progress import Progress, Steps, steps_of
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder, FloatArray
from backend.scoring.pools.model import PoolQuery, Pools
from backend.systems.learning.hard_negatives import hard_probabilities

_DIGITS = 5
"""Similarities are rounded to 1e-5, so that adding in another order moves no video across a threshold."""
_CELLS_AT_ONCE = 1 << 21
"""The most similarities, queries times sentences, that are in memory at once."""
_QUERIES_AT_ONCE = 256
"""The most queries whose similarities with all sentences are in memory at once."""
_Float = TypeVar("_Float", np.float32, np.float64)


def query_video(queries: FloatArray, sentences: FloatArray, starts: npt.NDArray[np.int64]) -> FloatArray:
    """Return s_te, the highest similarity of each query to a sentence of each video, `(queries, videos)`.

    All similarities are in memory at once. So pass only some hundreds of queries in a call, or the sentences of only
    some videos.

    Args:
        queries: Unit vectors, float32 `(queries, dim)`.
        sentences: Unit vectors `(sentences, dim)`, those of a video one after the other.
        starts: Index of each video's first sentence, `(videos,)`, ascending from 0.

    Raises:
        ValueError: A video has no sentence, or the first one does not begin at 0.

    Example: two videos, of which the second has two sentences.

    >>> sentences = np.array([[0, 1], [0.6, 0.8], [1, 0]], dtype=np.float32)
    >>> query_video(np.array([[1, 0]], dtype=np.float32), sentences, np.array([0, 1])).tolist()
    [[0.0, 1.0]]
    """
    if (len(starts) and starts[0] != 0) or (np.diff(starts, append=len(sentences)) <= 0).any():
        raise ValueError("every video needs a sentence, and the sentences of a video stand together")
    return best_sentences(queries @ sentences.T, starts)


def best_sentences(similarities: npt.NDArray[_Float], starts: npt.NDArray[np.int64]) -> npt.NDArray[_Float]:
    """Return s_te, the highest similarity of each query to a sentence of each video, `(queries, videos)`.

    `similarities` has the similarity of each query to each sentence, `(queries, sentences)`. `starts` is the index of
    each video's first sentence.
    """
    best: npt.NDArray[_Float] = np.maximum.reduceat(similarities, starts, axis=1)
    return best


def video_starts(videos: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the index of each video's first sentence. `videos` has the video of each sentence.

    >>> video_starts(["a", "b", "b", "c"]).tolist()
    [0, 1, 3]

    Raises:
        ValueError: The sentences of a video are not next to one another.
    """
    starts = [n for n, video in enumerate(videos) if n == 0 or video != videos[n - 1]]
    if len(starts) != len(set(videos)):
        raise ValueError("the sentences of a video do not stand together")
    return np.array(starts, dtype=np.int64)


def sentence_vectors(sentences: Sentences, encoder: Encoder, embeddings: Path, progress: Steps | None) -> FloatArray:
    """Return a vector for each sentence; a repeated text is encoded once."""
    texts = sorted({moment.sentence for moment in sentences.moments})
    row = {text: n for n, text in enumerate(texts)}
    vectors = encode_cached(encoder, texts, embeddings, progress=progress)
    return vectors[[row[moment.sentence] for moment in sentences.moments]]


def iterate_similarities(
    sentences: Sentences, vectors: FloatArray, queries: Sequence[int] | None = None
) -> Iterator[tuple[int, Doubles, Doubles]]:
    """Yield (number, similarities to all sentences, similarities to all videos) for each sentence.

    Its similarity to a video (s_te) is the highest to a sentence of that video. `queries` has the numbers of the
    sentences to yield; None yields all.
    """
    numbers = np.arange(len(vectors)) if queries is None else np.array(queries)
    at_once = max(1, _CELLS_AT_ONCE // len(vectors))
    for start in range(0, len(numbers), at_once):
        block = numbers[start : start + at_once]
        similarities = round_similarities(vectors[block] @ vectors.T)
        for n, s_te in enumerate(best_sentences(similarities, sentences.starts)):
            yield int(block[n]), similarities[n], s_te


def round_similarities(similarities: FloatArray | Doubles) -> Doubles:
    """Round similarities to five decimals, which is how they are compared with thresholds."""
    values: Doubles = similarities.astype(np.float64).round(_DIGITS)
    return values


PAIR_BINS = 100
"""Bins of `count_pairs` for similarities from 0 to 1, and as many again from -1 to 0."""


def count_pairs(vectors: FloatArray, repeats: Sequence[int]) -> npt.NDArray[np.int64]:
    """Count the pairs of different queries by their cosine similarity, in 2 * `PAIR_BINS` bins from -1 to 1.

    Bin b holds similarities from b / `PAIR_BINS` - 1 on, and below the next bin; the last one also holds 1. A pair
    counts once. Similarities are rounded as they are for thresholds. They are computed in blocks, so memory grows with
    the number of texts and not with its square.

    Args:
        vectors: a unit vector for each distinct text, float32 `(texts, dim)`.
        repeats: number of queries that have this text. Queries with equal texts are pairs with a similarity of 1.

    Example: three queries, of which two have one text, and the third is at a right angle to it.

    >>> counts = count_pairs(np.eye(2, dtype=np.float32), [2, 1])
    >>> [(int(b), int(counts[b])) for b in np.flatnonzero(counts)]
    [(100, 2), (199, 1)]
    """
    times = np.array(repeats, dtype=np.float64)
    counts = np.zeros(2 * PAIR_BINS)
    at_once = max(1, _CELLS_AT_ONCE // len(vectors))
    for start in range(0, len(vectors), at_once):
        block = vectors[start : start + at_once]
        similarities = round_similarities(block @ vectors[start:].T)
        # The addend lifts a value that rounding left just below a bound of bins.
        bins = np.floor((similarities + 1) * PAIR_BINS + 1e-6).astype(np.int64).clip(0, 2 * PAIR_BINS - 1)
        pairs = np.triu(times[start : start + at_once, None] * times[start:], k=1)  # each pair once, none with itself
        counts += np.bincount(bins.ravel(), pairs.ravel(), minlength=len(counts))
    counts[-1] += np.sum(times * (times - 1) / 2)
    return counts.astype(np.int64)


class PoolVectors:
    """The vectors of all sentences of a file of pools. Each text is encoded once, unless the cache has it."""

    def __init__(self, pools: Pools, encoder: Encoder, embeddings: Path, progress: Progress | None) -> None:
        self._moments = {video: moments for video, moments in pools.moments.items() if moments}
        texts = [moment.sentence for moments in self._moments.values() for moment in moments]
        unique = list(dict.fromkeys(texts))
        self._vectors = encode_cached(encoder, unique, embeddings, progress=steps_of(progress, "encoding sentences"))
        self._row = {text: row for row, text in enumerate(unique)}
        self._number = {video: number for number, video in enumerate(self._moments)}
        counts = np.array([len(moments) for moments in self._moments.values()])
        self._starts = np.cumsum(counts) - counts
        self._sentences = self.unit_vectors(texts)

    def unit_vectors(self, texts: Sequence[str]) -> FloatArray:
        """Return the unit vectors of texts of the file."""
        return self._vectors[[self._row[text] for text in texts]]

    def scores(self, queries: Sequence[PoolQuery], videos: Sequence[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """Return the similarity s_te of each query to the videos listed for it; NaN for a video without sentences.

        s_te is the highest similarity of the query to a sentence of the video. `videos` has one list for each query.
        """
        results = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            part = queries[start : start + _QUERIES_AT_ONCE]
            table = query_video(self.unit_vectors([query.text for query in part]), self._sentences, self._starts)
            for row, names in zip(table, videos[start : start + _QUERIES_AT_ONCE], strict=True):
                numbers = np.array([self._number.get(video, -1) for video in names], dtype=int)
                results.append(np.where(numbers < 0, np.nan, row[numbers]).astype(np.float64))
        return results

    def nearest(self, query: PoolQuery, video: str) -> str:
        """Return the sentence of a video that is most similar to the query; empty if the video has none."""
        sentences = [moment.sentence for moment in self._moments.get(video, ())]
        return (
            sentences[int(np.argmax(self.unit_vectors(sentences) @ self.unit_vectors([query.text])[0]))]
            if sentences
            else ""
        )


LEAST_TEMPERATURE = 0.03
"""The lowest temperature. Below it, float32 cannot tell the probability of a negative with cosine -1 from 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Distributions:
    """The probabilities with which negatives are drawn in training for some anchors.

    The anchors are either queries, whose negatives are videos, or videos, whose negatives are queries.

    Attributes:
        probability: float32 `(anchors, others)`; above 0 for potential negatives, 0 for all others. Each row sums to 1,
            or is all 0 if the anchor has no potential negative.
        potential: number of potential negatives of each anchor, `(anchors,)`.
        effective: effective number of negatives of each anchor, `(anchors,)`: the number of equally likely negatives
            that has the same entropy (the exponential of the entropy); 0 without negatives.
    """

    probability: FloatArray
    potential: npt.NDArray[np.int64]
    effective: npt.NDArray[np.float64]


def distribution(
    similarity: FloatArray, own: npt.NDArray[np.bool_], threshold: float, temperature: float
) -> Distributions:
    """Return the probabilities with which negatives are drawn for some anchors, by text similarity.

    The anchors are either queries, whose negatives are videos, or videos, whose negatives are queries. The equations
    are in the docstring of this module.

    Args:
        similarity: similarity s_te of each query and video, `(anchors, others)`.
        own: True where `similarity` belongs to a query and its own video; it has the same shape.
        threshold: t_tr; a query and a video with this similarity or more are no negatives of each other.
        temperature: at least `LEAST_TEMPERATURE`; the smaller it is, the more often similar negatives are drawn.

    >>> similarity = np.array([[1, 0.92, 0.8, 0.1]], dtype=np.float32)
    >>> found = distribution(similarity, np.array([[True, False, False, False]]), 0.9, 0.5)
    >>> found.probability.round(3).tolist(), found.potential.tolist()
    ([[0.0, 0.0, 0.8019999861717224, 0.1979999989271164]], [2])
    """
    negative = (similarity < threshold) & ~own
    logits = np.where(negative, similarity.astype(np.float64) / temperature, -np.inf)
    # `initial` keeps the maximum finite where there is no negative: -inf minus -inf is NaN.
    best = np.max(logits, axis=1, initial=-2 / LEAST_TEMPERATURE, keepdims=True)
    weight = np.exp(logits - best)
    total = weight.sum(axis=1, keepdims=True)
    probability = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return _described(probability, negative)


def hard_distribution(
    similarity: FloatArray, own: npt.NDArray[np.bool_], threshold: float, scores: FloatArray
) -> Distributions:
    """Return the probabilities with which negatives are drawn for some anchors, by a model's scores (equation 3).

    Args:
        similarity: see `distribution`.
        own: see there; these are the golden pairs, whose mean score negatives should have.
        threshold: see there.
        scores: r of each query and video, the shape of `similarity`.

    >>> similarity, own = np.zeros((1, 3), dtype=np.float32), np.array([[True, False, False]])
    >>> found = hard_distribution(similarity, own, 0.9, np.array([[1, 1, 0]], dtype=np.float32))
    >>> found.probability.astype(float).round(3).tolist()
    [[0.0, 0.731, 0.269]]
    """
    negative = (similarity < threshold) & ~own
    return _described(hard_probabilities(scores, own, negative).astype(np.float64), negative)


def _described(probability: Doubles, negative: npt.NDArray[np.bool_]) -> Distributions:
    logarithm = np.log(probability, out=np.zeros_like(probability), where=probability > 0)
    entropy = -np.sum(probability * logarithm, axis=1)
    potential = negative.sum(axis=1)
    effective = np.where(potential > 0, np.exp(entropy), 0.0)
    return Distributions(probability.astype(np.float32), potential, effective)


Draw: TypeAlias = Callable[[FloatArray, npt.NDArray[np.bool_], slice, bool], Distributions]
"""A function of the similarities of a block of anchors and others, of which pairs are right, of the place of the block
among all anchors, and of whether anchors are videos."""


def by_texts(threshold: float, temperature: float) -> Draw:
    """Return the function that draws by text similarity; see `distribution`."""
    return lambda similarity, own, _block, _videos: distribution(similarity, own, threshold, temperature)


def by_scores(threshold: float, scores: FloatArray) -> Draw:
    """Return the function that draws by scores `(queries, videos)`; see `hard_distribution`."""
    return lambda similarity, own, block, videos: hard_distribution(
        similarity, own, threshold, (scores.T if videos else scores)[block]
    )
