"""Choose the candidates of each query, its K most similar moments, independently of the order of the corpus.

Search libraries decide ties by row, so shuffling a corpus changed one in eight of the sets of the best 40 moments. Here
scores are rounded to `QUANTUM`, and of moments with equal scores the smaller id comes first. A search returns a few
captions more than needed, and `settled` says whether they are enough. The candidates of many queries are kept as
arrays: creating an object for each of 131,000 candidates took as long as the search.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

QUANTUM = 1e-5
"""The step of a similarity: far above float32 noise (about 1e-7), far below any difference in meaning."""

SLACK = 8
"""Additional captions that a search first asks for beyond K, to resolve ties at the cut."""

_PER_UNIT = 100_000  # 1 / QUANTUM, exact

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One moment chosen for a query.

    Attributes:
        moment_id: the id of the moment.
        similarity: the cosine of the query with the moment's most similar caption, rounded to `QUANTUM` (1e-5).
        rank: the position in the query's list, from 1. The list is sorted by falling similarity, then by moment id.
        caption: the index of the most similar caption among the captions that were searched.
    """

    moment_id: int
    similarity: float
    rank: int
    caption: int


class Described:
    """The ids of the moments that each caption describes, joined into one array.

    Caption c describes the moments `ids[starts[c]:starts[c + 1]]`.
    """

    def __init__(self, caption_moments: Sequence[Sequence[int]]) -> None:
        self.counts = np.fromiter(map(len, caption_moments), dtype=np.int64, count=len(caption_moments))
        self.starts = starting(self.counts)
        self.ids = np.fromiter((i for ids in caption_moments for i in ids), dtype=np.int64, count=int(self.starts[-1]))
        self.distinct = np.unique(self.ids)

    def __len__(self) -> int:
        """Return the number of captions."""
        return len(self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The candidates of several queries, best first, as arrays with one element for each candidate.

    Attributes:
        starts: query q has the elements `[starts[q]:starts[q + 1]]` of each of the other arrays.
        moment_ids: the id of each candidate's moment.
        similarities: the similarity of each candidate as an integer, in steps of `QUANTUM` (1e-5).
        captions: the index of the caption that each similarity belongs to, as in a `Candidate`.
    """

    starts: Integers
    moment_ids: Integers
    similarities: Integers
    captions: Integers

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.starts) - 1

    def __getitem__(self, query: int) -> list[Candidate]:
        """Return the candidates of the query with this index, best first."""
        rows = slice(self.starts[query], self.starts[query + 1])
        columns = (column[rows].tolist() for column in (self.moment_ids, self.similarities, self.captions))
        return [
            Candidate(moment_id, similarity / _PER_UNIT, rank, caption)
            for rank, (moment_id, similarity, caption) in enumerate(zip(*columns, strict=True), start=1)
        ]

    def __iter__(self) -> Iterator[list[Candidate]]:
        """Yield the candidates of each query, best first."""
        return (self[query] for query in range(len(self)))

    @property
    def counts(self) -> Integers:
        """The number of candidates of each query."""
        return np.diff(self.starts)

    def of(self, queries: npt.NDArray[np.bool_]) -> "Ranking":
        """Return the ranking of some of the queries: those for which the mask `queries` is True."""
        rows = np.repeat(queries, self.counts)
        return Ranking(
            starting(self.counts[queries]), self.moment_ids[rows], self.similarities[rows], self.captions[rows]
        )

    @classmethod
    def empty(cls, queries: int) -> "Ranking":
        """Return a ranking with this number of queries, none of which has a candidate."""
        return cls(np.zeros(queries + 1, dtype=np.int64), *(np.zeros(0, dtype=np.int64) for _ in range(3)))

    @classmethod
    def joined(cls, parts: Sequence["Ranking"], order: Integers | None = None) -> "Ranking":
        """Join rankings (at least one) into one, the queries of the first ranking first.

        With `order`, query i of the result is query `order[i]` of the joined ranking.
        """
        counts = np.concatenate([part.counts for part in parts])
        columns = [
            np.concatenate([part.moment_ids for part in parts]),
            np.concatenate([part.similarities for part in parts]),
            np.concatenate([part.captions for part in parts]),
        ]
        if order is not None:
            rows = spans(starting(counts)[:-1][order], counts[order])
            counts, columns = counts[order], [column[rows] for column in columns]
        return cls(starting(counts), *columns)


def starting(counts: Integers) -> Integers:
    """Return the start index of each of several adjacent slices, given their lengths, and the end of the last one.

    >>> starting(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])


def spans(starts: Integers, counts: Integers) -> Integers:
    """Return several series of consecutive integers, joined: series i has `counts[i]` integers from `starts[i]` on.

    >>> spans(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    return np.arange(counts.sum()) + np.repeat(starts - starting(counts)[:-1], counts)


def quanta(scores: npt.ArrayLike) -> Integers:
    """Return scores as integers, in steps of `QUANTUM` (1e-5), rounded to the nearest.

    >>> quanta([0.5, 0.500004, 0.500006]).tolist()
    [50000, 50000, 50001]
    """
    return np.rint(np.asarray(scores, dtype=np.float64) * _PER_UNIT).astype(np.int64)


def rank_moments(
    queries: Integers,
    captions: Integers,
    scores: npt.NDArray[np.float64],
    described: Described,
    *,
    count: int,
    k: int,
) -> Ranking:
    """Return the `k` best moments of each query, from the scores of (query, caption) pairs.

    A query gets fewer moments if its captions describe fewer than `k`. A moment has the score of its best caption, and
    of moments with equal scores the smaller id comes first.

    Args:
        queries: Index of the query of each (query, caption) pair, from 0.
        captions: Index of the caption of each pair; each pair occurs once.
        scores: Similarity of each pair.
        described: For each caption of the corpus, the ids of the moments it describes.
        count: Number of queries.
        k: The most moments of a query.

    Example: captions 0 and 2 both have the score 0.9. Caption 0 describes moments 7 and 9, and caption 2 moment 8. With
    k = 2, moment 9 is left out, because its id is the largest.

    >>> query, caption, score = np.array([0, 0]), np.array([0, 2]), np.array([0.9, 0.9])
    >>> found = rank_moments(query, caption, score, Described([[7, 9], [5], [8]]), count=1, k=2)
    >>> [(c.rank, c.moment_id, c.similarity) for c in found[0]]
    [(1, 7, 0.9), (2, 8, 0.9)]
    """
    several = described.counts[captions]
    moment = described.ids[spans(described.starts[captions], several)]
    query, caption, quantum = (np.repeat(column, several) for column in (queries, captions, quanta(scores)))
    order = np.lexsort((caption, moment, -quantum, query))
    if len(described.distinct) < len(described.ids):
        # Each moment is kept once, with its best score; of equal captions, the first one of the corpus counts.
        pair = query * len(described.distinct) + np.searchsorted(described.distinct, moment)
        order = order[np.sort(np.unique(pair[order], return_index=True)[1])]
    counts = np.bincount(query[order], minlength=count)
    order = order[spans(starting(counts)[:-1], np.minimum(counts, k))]
    return Ranking(starting(np.minimum(counts, k)), moment[order], quantum[order], caption[order])


def settled(ranking: Ranking, k: int, unseen: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return for each query whether its `k` candidates are final: captions that were not ranked cannot change them.

    Args:
        ranking: the candidates of each query.
        k: the number of candidates that each query is to have; a query with fewer is not settled.
        unseen: for each query, a score that no caption left out of the ranking exceeds. It may be float32, so the last
            candidate has to be better by more than one `QUANTUM`.
    """
    full: npt.NDArray[np.bool_] = ranking.counts == k
    last = np.zeros(len(ranking), dtype=np.int64)
    last[full] = ranking.similarities[ranking.starts[1:][full] - 1]
    clear: npt.NDArray[np.bool_] = last > quanta(unseen) + 1
    return full & clear


def left_out(candidates: Sequence[Candidate], caption_moments: Sequence[Sequence[int]]) -> int:
    """Return how many moments share their exact caption with a candidate but are not candidates themselves.

    Such a moment has the same score as the last candidate and was left out only because of its id. Users should be
    told.

    >>> left_out([Candidate(7, 0.9, 1, 0), Candidate(8, 0.9, 2, 0)], [[7, 8, 9]])
    1
    """
    chosen = {candidate.moment_id for candidate in candidates}
    same_text = {moment for candidate in candidates for moment in caption_moments[candidate.caption]}
    return len(same_text - chosen)
