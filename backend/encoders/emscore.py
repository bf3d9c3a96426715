r"""Compute EMScore: how well a sentence fits a video, from the vectors of its words and of the video's frames.

Source: Shi, Yang, Xu, Yuan, Li, Hu and Zha, "EMScore: Evaluating Video Captioning via Coarse-Grained and Fine-Grained
Embedding Matching", CVPR 2022, without references (`EMScore(X, V)`), as github.com/ShiYaya/emscore computes it.
With unit vectors x_1 ... x_L of the tokens of sentence X (the first is the start token, the last the end token, which
stands for the whole sentence) and v_1 ... v_N of the frames of video V:

    coarse(X, V) = x_L . g / |g|                       with g = 1/N  sum_i v_i
    P(X, V)      = sum_j w_j  max_i x_j . v_i  /  sum_j w_j
    R(X, V)      = 1/N  sum_i  max_j x_j . v_i
    F(X, V)      = 2 P R / (P + R)
    full F(X, V) = (coarse + F) / 2

w_j is the IDF weight of token j. A token that occurs in c of M sentences has w = log((M + 1) / (c + 1)). A token of
every sentence, such as start and end, has the weight 0 in P; it still counts in R. If all tokens of a sentence have the
weight 0, they get equal weights. The end token gets no special weight here, as in the code of the benchmark MVMR. The
authors' code gives it the mean weight, but only if that code counts the sentences itself.

A worked example: two tokens along the axes, two frames, one along the first axis and one half-way between both.

>>> sentence = SentenceVectors((1, 2), np.eye(2, dtype=np.float32))
>>> half = np.sqrt(0.5)
>>> video = FrameVectors.of([np.array([[1, 0], [half, half]], dtype=np.float32)])
>>> found = score(sentence, video)
>>> [round(float(part[0]), 4) for part in (found.precision, found.recall, found.f)]
[0.8536, 0.8536, 0.8536]
>>> round(float(found.coarse[0]), 4), round(float(found.full_f[0]), 4)
(0.3827, 0.6181)

For P, token 1 is most similar to frame 1 (1.0) and token 2 to frame 2 (0.7071): the mean is 0.8536. For R, frame 1 is
most similar to token 1 (1.0), and frame 2 to either token (0.7071). For coarse, the mean frame g = (0.8536, 0.3536) has
the length 0.9239, and the end token is (0, 1): 0.3536 / 0.9239 = 0.3827. If the second token occurs in every sentence,
its weight is 0, and only the first token decides P:

>>> float(score(sentence, video, idf([(1, 2), (2,)])).precision[0])
1.0
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Idf:
    """The IDF weights of tokens (inverse document frequency): a token in few sentences has a high weight.

    Attributes:
        known: maps token ids to weights.
        unknown: the weight of any token that is not in `known`.
    """

    known: Mapping[int, float]
    unknown: float

    def of(self, tokens: Sequence[int]) -> Doubles:
        """Return the weights of a sentence's tokens, scaled so that they sum to 1."""
        weights = np.array([self.known.get(token, self.unknown) for token in tokens])
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(tokens), 1 / len(tokens))


def idf(sentences: Iterable[Iterable[int]]) -> Idf:
    """Return the IDF weights of tokens: a token that occurs in few of the sentences gets a high weight.

    The weight is `log((M + 1) / (c + 1))` for a token that occurs in c of M sentences; for an unknown token, c is 0.
    `sentences` has the token ids of each sentence.
    """
    counts: Counter[int] = Counter()
    total = 0
    for tokens in sentences:
        counts.update(set(tokens))
        total += 1
    return Idf({token: log((total + 1) / (count + 1)) for token, count in counts.items()}, log(total + 1))


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """A sentence encoded by CLIP: its token ids, and one unit vector for each token, float32 `(tokens, dim)`."""

    tokens: Sequence[int]
    vectors: FloatArray


@dataclass(frozen=True, slots=True)
class EmScores:
    """EMScores of one sentence with each of several videos.

    Every field is an array `(videos,)` with a value from -1 to 1 for each video. The docstring of this module has the
    formulas.

    Attributes:
        coarse: similarity of the whole sentence and the mean frame.
        precision: P, how well the frames cover the tokens.
        recall: R, how well the tokens cover the frames.
        f: the harmonic mean of precision and recall.
        full_f: the mean of `coarse` and `f`.
    """

    coarse: Doubles
    precision: Doubles
    recall: Doubles
    f: Doubles
    full_f: Doubles


@dataclass(frozen=True, slots=True)
class FrameVectors:
    """Frames of several videos in one array, so that one matrix product compares a sentence with all videos.

    Attributes:
        vectors: unit vectors of all frames, `(frames, dim)`, one video after the other.
        starts: for each video, the row of its first frame.
        counts: for each video, the number of its frames.
        whole: the unit vector of each video's mean frame, `(videos, dim)`.
    """

    vectors: FloatArray
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    whole: Doubles

    @classmethod
    def of(cls, videos: Sequence[FloatArray]) -> "FrameVectors":
        """Return the frames of several videos, joined into arrays.

        `videos` has the unit vectors of each video's frames, float32 `(frames, dim)`.

        Raises:
            ValueError: there is no video, or one has no frame.
        """
        if not videos or not all(len(video) for video in videos):
            raise ValueError("EMScore needs videos, and each of them a frame")
        means = np.array([video.mean(axis=0, dtype=np.float64) for video in videos])
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        # Opposite frames may cancel out; such a video gets the zero vector, without a division by zero.
        return cls._joined(list(videos), means / np.where(lengths > 0, lengths, 1))

    def some(self, videos: npt.NDArray[np.int64]) -> "FrameVectors":
        """Return the frames of some of the videos, given by index, in the order of these indexes."""
        if np.array_equal(videos, np.arange(len(self.counts))):
            return self  # copying all frames would take as long as comparing them with a sentence
        parts = [self.vectors[self.starts[n] : self.starts[n] + self.counts[n]] for n in videos]
        return self._joined(parts, self.whole[videos])

    @classmethod
    def _joined(cls, videos: list[FloatArray], whole: Doubles) -> "FrameVectors":
        counts = np.array([len(video) for video in videos], dtype=np.int64)
        return cls(np.concatenate(videos), np.cumsum(counts) - counts, counts, whole)


def score(sentence: SentenceVectors, videos: FrameVectors, weights: Idf | None = None) -> EmScores:
    """Return the EMScores of a sentence with each video, which tell how well the sentence fits the video.

    `weights` are the weights of the sentence's tokens; without them all tokens have the same weight.
    """
    similarities = (sentence.vectors @ videos.vectors.T).astype(np.float64)
    share = np.full(len(sentence.tokens), 1 / len(sentence.tokens)) if weights is None else weights.of(sentence.tokens)
    precision = share @ np.maximum.reduceat(similarities, videos.starts, axis=1)
    recall = np.add.reduceat(similarities.max(axis=0), videos.starts) / videos.counts
    both = precision + recall
    f = np.where(both != 0, 2 * precision * recall / np.where(both != 0, both, 1), 0)
    coarse = videos.whole @ sentence.vectors[-1].astype(np.float64)
    return EmScores(coarse, precision, recall, f, (coarse + f) / 2)
