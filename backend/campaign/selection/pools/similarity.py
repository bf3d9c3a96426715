"""Compute how similar a query and a video are by their texts: s_te of Yang et al. 2024, MVMR (CIKM), section 4.

s_te(q, v) is the largest cosine of the query with a sentence of the video. It is what pools are built on, and what
potential negatives to train on are told by: equations 1 to 3 of section CroCs, as
docs/decisions/051-negatives-and-crocs.md reads them:

(1) The potential negatives of a query are the videos other than its own with s_te(q, v) < t_tr; what is more similar
    may well show the query too.
(2) p'(v|q) = exp(s_te(q, v) / temperature) over the sum of that over all potential negatives of q; 0 for the others.
(3) p'(q|v) likewise over the queries of other videos with s_te(q, v) < t_tr.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.rules import Doubles, Sentences
from backend.core.progress import Progress, Steps, named
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder, FloatArray
from backend.scoring.pools.model import PoolQuery, Pools

_DIGITS = 5
"""Similarities are rounded to 1e-5: sums in another order move no video across a threshold."""
_CELLS_AT_ONCE = 1 << 21
"""Queries times sentences whose similarities are held at once."""
_QUERIES_AT_ONCE = 256
"""Queries whose similarities with all sentences are held at once."""
_Float = TypeVar("_Float", np.float32, np.float64)


def query_video(queries: FloatArray, sentences: FloatArray, starts: npt.NDArray[np.int64]) -> FloatArray:
    """s_te of every query with every video, `(queries, videos)`: the best sentence of a video counts.

    The product with all sentences is held at once: give some hundreds of queries at a time, or some videos' sentences.

    Args:
        queries: Unit vectors, float32 `(queries, dim)`.
        sentences: Unit vectors `(sentences, dim)`, those of a video one after the other.
        starts: Where the sentences of each video begin, `(videos,)`; the last video's go to the end.

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
    """The same from similarities with every sentence, `(queries, sentences)`."""
    found: npt.NDArray[_Float] = np.maximum.reduceat(similarities, starts, axis=1)
    return found


def video_starts(videos: Sequence[str]) -> npt.NDArray[np.int64]:
    """Where the sentences of each video begin, from the video of each sentence.

    >>> video_starts(["a", "b", "b", "c"]).tolist()
    [0, 1, 3]

    Raises:
        ValueError: The sentences of a video do not stand together.
    """
    starts = [n for n, video in enumerate(videos) if n == 0 or video != videos[n - 1]]
    if len(starts) != len(set(videos)):
        raise ValueError("the sentences of a video do not stand together")
    return np.array(starts, dtype=np.int64)


def sentence_vectors(sentences: Sentences, encoder: Encoder, embeddings: Path, progress: Steps | None) -> FloatArray:
    """A vector of each sentence, each text encoded once."""
    texts = sorted({moment.sentence for moment in sentences.moments})
    row = {text: n for n, text in enumerate(texts)}
    found = encode_cached(encoder, texts, embeddings, progress=progress)
    return found[[row[moment.sentence] for moment in sentences.moments]]


def similarities_of(sentences: Sentences, vectors: FloatArray) -> Iterator[tuple[int, Doubles, Doubles]]:
    """Of each sentence its number, its similarities with all sentences, and s_te with all videos."""
    at_once = max(1, _CELLS_AT_ONCE // len(vectors))
    for start in range(0, len(vectors), at_once):
        similarities = rounded(vectors[start : start + at_once] @ vectors.T)
        for n, s_te in enumerate(best_sentences(similarities, sentences.starts)):
            yield start + n, similarities[n], s_te


def rounded(similarities: FloatArray | Doubles) -> Doubles:
    """Similarities as they are compared with thresholds."""
    found: Doubles = similarities.astype(np.float64).round(_DIGITS)
    return found


class PoolVectors:
    """The vectors of all sentences of a file of pools; each text is encoded once, and only where it is not cached."""

    def __init__(self, pools: Pools, encoder: Encoder, embeddings: Path, progress: Progress | None) -> None:
        self._said = {video: moments for video, moments in pools.moments.items() if moments}
        texts = [moment.sentence for moments in self._said.values() for moment in moments]
        unique = list(dict.fromkeys(texts))
        self._vectors = encode_cached(encoder, unique, embeddings, progress=named(progress, "encoding sentences"))
        self._row = {text: row for row, text in enumerate(unique)}
        self._number = {video: number for number, video in enumerate(self._said)}
        counts = np.array([len(moments) for moments in self._said.values()])
        self._starts = np.cumsum(counts) - counts
        self._sentences = self.of(texts)

    def of(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors of texts of the file."""
        return self._vectors[[self._row[text] for text in texts]]

    def scores(self, queries: Sequence[PoolQuery], videos: Sequence[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """s_te of each query with those videos that are named for it; NaN for a video of which nothing is said."""
        found = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            part = queries[start : start + _QUERIES_AT_ONCE]
            table = query_video(self.of([query.text for query in part]), self._sentences, self._starts)
            for row, wanted in zip(table, videos[start : start + _QUERIES_AT_ONCE], strict=True):
                numbers = np.array([self._number.get(video, -1) for video in wanted], dtype=int)
                found.append(np.where(numbers < 0, np.nan, row[numbers]).astype(np.float64))
        return found

    def nearest(self, query: PoolQuery, video: str) -> str:
        """The sentence of a video that is most similar to the query."""
        said = [moment.sentence for moment in self._said.get(video, ())]
        return said[int(np.argmax(self.of(said) @ self.of([query.text])[0]))] if said else ""


LEAST_TEMPERATURE = 0.03
"""Below it the least similar negative, at a cosine of -1, has a probability that float32 cannot tell from none."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """How negatives are drawn for some anchors: queries that want videos, or videos that want queries.

    Attributes:
        probability: float32 `(anchors, others)`, each row 1 in sum, or all 0 where nothing is a potential negative;
            0 for what is not, and above 0 for what is.
        potential: how many potential negatives each anchor has, `(anchors,)`.
        effective: how many equally likely ones would be as uncertain (the exponential of the entropy); 0 for none.
    """

    probability: FloatArray
    potential: npt.NDArray[np.int64]
    effective: npt.NDArray[np.float64]


def distribution(similarity: FloatArray, own: npt.NDArray[np.bool_], threshold: float, temperature: float) -> Drawn:
    """Equations 1 and 2 (or 3) for some anchors.

    Args:
        similarity: s_te of anchors and others, `(anchors, others)`.
        own: where the two belong together, of the same shape.
        threshold: t_tr, what is as similar as that or more is no negative.
        temperature: at least `LEAST_TEMPERATURE`; the smaller, the more the most similar ones are drawn.

    >>> similarity = np.array([[1, 0.92, 0.8, 0.1]], dtype=np.float32)
    >>> found = distribution(similarity, np.array([[True, False, False, False]]), 0.9, 0.5)
    >>> found.probability.round(3).tolist(), found.potential.tolist()
    ([[0.0, 0.0, 0.8019999861717224, 0.1979999989271164]], [2])
    """
    negative = (similarity < threshold) & ~own
    logits = np.where(negative, similarity.astype(np.float64) / temperature, -np.inf)
    # Without a negative the best is -inf, and -inf - -inf is no number.
    best = np.max(logits, axis=1, initial=-2 / LEAST_TEMPERATURE, keepdims=True)
    weight = np.exp(logits - best)
    total = weight.sum(axis=1, keepdims=True)
    probability = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    entropy = -np.sum(probability * np.log(probability, out=np.zeros_like(weight), where=negative), axis=1)
    potential = negative.sum(axis=1)
    effective = np.where(potential > 0, np.exp(entropy), 0.0)
    return Drawn(probability.astype(np.float32), potential, effective)
