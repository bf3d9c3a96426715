"""Group probe pairs into bins by rank and by similarity. Pure functions.

A probe is a sample of a query's moments, graded to learn down to which rank grading is worthwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

TOP, RANKS_A_BIN = 60, 5
"""How many ranks the top of a probe has, and how many share a bin. All ranks below the top are one bin."""
OTHERS = "others"
SIMILARITIES_A_BIN = 0.05
_QUANTA = 100_000
"""Similarities are counted in whole steps of 1/100,000, so that rounding of floats never moves a pair to another bin.
"""


class Graded(Protocol):
    """A pair with a rank, a similarity and perhaps a relevance, which can be grouped into bins."""

    @property
    def rank(self) -> int:
        """The position of the pair's moment among all moments by similarity to the query, counted from 1."""

    @property
    def similarity(self) -> float:
        """The cosine similarity of two vectors: that of the query and that of the moment's caption."""

    @property
    def relevance(self) -> int | None:
        """The relevance of the pair; None if it has none yet, so that no bin counts it."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A group of pairs with near ranks or similarities: how many pairs it has, and the mean of their relevances."""

    name: str
    pairs: int
    mean: float


def by_rank(pairs: Iterable[Graded]) -> list[Bin]:
    """Group pairs into bins by rank: bins of five ranks each for ranks 1 to 60, then one for all ranks beyond.

    Pairs without a relevance, and bins without pairs, are left out.
    """
    return _bins(pairs, lambda pair: _rank_place(pair.rank), rank_bin)


def by_similarity(pairs: Iterable[Graded]) -> list[Bin]:
    """Group pairs into bins that each cover 0.05 of similarity, the least similar first.

    Pairs without a relevance, and bins without pairs, are left out.
    """
    return _bins(pairs, lambda pair: _similarity_place(pair.similarity), _similarity_name)


def rank_bin(place: int) -> str:
    """Return the name of a bin (range of ranks), given the number of the bin, counted from 0.

    >>> rank_bin(0), rank_bin(11), rank_bin(12)
    ('1–5', '56–60', 'others')
    """
    first = place * RANKS_A_BIN + 1
    return OTHERS if first > TOP else f"{first}–{first + RANKS_A_BIN - 1}"


def all_ranks() -> list[str]:
    """Return the names of all bins (ranges of ranks), empty ones too.

    >>> len(all_ranks()), all_ranks()[::6]
    (13, ['1–5', '31–35', 'others'])
    """
    return [rank_bin(place) for place in range(TOP // RANKS_A_BIN + 1)]


def all_similarities(pairs: Iterable[Graded]) -> list[str]:
    """Return the names of all bins (ranges of similarity) from the least to the most similar pair, empty ones too."""
    places = [_similarity_place(pair.similarity) for pair in pairs]
    return [_similarity_name(place) for place in range(min(places), max(places) + 1)]


def bins_of(pair: Graded) -> tuple[str, str]:
    """Return the names of the two bins of a pair: its bin of ranks and its bin of similarities."""
    return rank_bin(_rank_place(pair.rank)), _similarity_name(_similarity_place(pair.similarity))


def _rank_place(rank: int) -> int:
    return min((rank - 1) // RANKS_A_BIN, TOP // RANKS_A_BIN)


def _similarity_place(similarity: float) -> int:
    return round(similarity * _QUANTA) // round(SIMILARITIES_A_BIN * _QUANTA)


def _similarity_name(place: int) -> str:
    return f"{place * SIMILARITIES_A_BIN:.2f}"


def _bins(pairs: Iterable[Graded], place: Callable[[Graded], int], name: Callable[[int], str]) -> list[Bin]:
    relevances: defaultdict[int, list[int]] = defaultdict(list)
    for pair in pairs:
        if pair.relevance is not None:
            relevances[place(pair)].append(pair.relevance)
    return [Bin(name(number), len(values), _mean(values)) for number, values in sorted(relevances.items())]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)
