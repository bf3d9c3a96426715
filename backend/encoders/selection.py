"""From scores to the K candidates of a query, such that the order of the corpus never matters.

Every search library breaks ties by row, so shuffling a corpus changed one top-40 set in eight. Here scores are
rounded to `QUANTUM` and ties go to the smaller moment id; a search hands over more captions than are needed, and
`settled` tells whether it handed over enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

QUANTUM = 1e-5
"""The grain of a similarity: far above float32 noise (about 1e-7), far below any difference in meaning."""

SLACK = 8
"""Captions searched beyond K at first, for ties at the cut."""

_PER_UNIT = 100_000  # 1 / QUANTUM, exact


@dataclass(frozen=True, slots=True)
class Candidate:
    """One moment chosen for a query.

    `similarity` is the cosine of the query with the moment's most similar caption, rounded to `QUANTUM`, so that
    ordering by (-similarity, moment_id) gives `rank` (from 1) exactly. `caption` is that caption's index in the
    searched captions.
    """

    moment_id: int
    similarity: float
    rank: int
    caption: int


def quanta(scores: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Scores as whole numbers of `QUANTUM`, nearest first.

    >>> quanta([0.5, 0.500004, 0.500006]).tolist()
    [50000, 50000, 50001]
    """
    return np.rint(np.asarray(scores, dtype=np.float64) * _PER_UNIT).astype(np.int64)


def rank_moments(
    captions: Sequence[int], scores: npt.ArrayLike, caption_moments: Sequence[Sequence[int]], k: int
) -> list[Candidate]:
    """The `k` best moments of the given captions, fewer if there are fewer.

    Args:
        captions: Indices of distinct captions.
        scores: Their similarity to the query, in the same order.
        caption_moments: For each caption of the corpus, the ids of the moments it describes.
        k: How many moments.

    Example: captions 0 and 2 share a score, caption 0 describes moments 7 and 9, caption 2 moment 8.

    >>> [(c.rank, c.moment_id, c.similarity) for c in rank_moments([0, 2], [0.9, 0.9], [[7, 9], [5], [8]], 2)]
    [(1, 7, 0.9), (2, 8, 0.9)]
    """
    best: dict[int, tuple[int, int]] = {}
    for caption, quantum in zip(captions, quanta(scores).tolist(), strict=True):
        for moment_id in caption_moments[caption]:
            if moment_id not in best or best[moment_id][0] < quantum:
                best[moment_id] = (quantum, int(caption))
    order = sorted((-quantum, moment_id) for moment_id, (quantum, _) in best.items())[:k]
    return [
        Candidate(moment_id, -negative / _PER_UNIT, rank, best[moment_id][1])
        for rank, (negative, moment_id) in enumerate(order, start=1)
    ]


def settled(candidates: Sequence[Candidate], k: int, worst_score: float) -> bool:
    """Whether captions scoring `worst_score` or less cannot change these candidates.

    `worst_score` is the lowest score that a search handed over. It may be float32, so one quantum is left for
    its error.
    """
    return len(candidates) == k and bool(quanta(candidates[-1].similarity) > quanta(worst_score) + 1)


def left_out(candidates: Sequence[Candidate], caption_moments: Sequence[Sequence[int]]) -> int:
    """How many moments the cut left out although a chosen candidate has the very same text.

    Such moments tie with the last candidate, so only their ids kept them out: a fact to show, not to hide.

    >>> left_out(rank_moments([0], [0.9], [[7, 8, 9]], 2), [[7, 8, 9]])
    1
    """
    chosen = {candidate.moment_id for candidate in candidates}
    same_text = {moment for candidate in candidates for moment in caption_moments[candidate.caption]}
    return len(same_text - chosen)
