"""Sort the pairs of probes into bins, by rank and by similarity. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

TOP, RANKS_A_BIN = 60, 5
"""The top of a probe, and how many ranks stand together; all ranks after the top are one bin."""
OTHERS = "others"
SIMILARITIES_A_BIN = 0.05
_QUANTA = 100_000
"""Similarities are whole numbers of 1/100,000; counted so, no bin hangs on how a float is rounded."""


class Graded(Protocol):
    """A pair that has a relevance."""

    @property
    def rank(self) -> int:
        """Among all moments, from 1."""

    @property
    def similarity(self) -> float:
        """Of query and caption."""

    @property
    def relevance(self) -> int | None:
        """None for a pair that counts in no bin."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs that stand together, and the mean of their relevances."""

    name: str
    pairs: int
    mean: float


def by_rank(pairs: Iterable[Graded]) -> list[Bin]:
    """Bins of five ranks down to 60, then the others; empty ones are left out."""
    return _bins(pairs, lambda pair: _rank_place(pair.rank), rank_bin)


def by_similarity(pairs: Iterable[Graded]) -> list[Bin]:
    """Bins of 0.05, the least similar first; empty ones are left out."""
    return _bins(pairs, lambda pair: _similarity_place(pair.similarity), _similarity_name)


def rank_bin(place: int) -> str:
    """What a bin of ranks is called.

    >>> rank_bin(0), rank_bin(11), rank_bin(12)
    ('1–5', '56–60', 'others')
    """
    first = place * RANKS_A_BIN + 1
    return OTHERS if first > TOP else f"{first}–{first + RANKS_A_BIN - 1}"


def all_ranks() -> list[str]:
    """Every bin of ranks, also where it is empty.

    >>> len(all_ranks()), all_ranks()[::6]
    (13, ['1–5', '31–35', 'others'])
    """
    return [rank_bin(place) for place in range(TOP // RANKS_A_BIN + 1)]


def all_similarities(pairs: Iterable[Graded]) -> list[str]:
    """Every bin from the least to the most similar pair, also where it is empty."""
    places = [_similarity_place(pair.similarity) for pair in pairs]
    return [_similarity_name(place) for place in range(min(places), max(places) + 1)]


def bins_of(pair: Graded) -> tuple[str, str]:
    """The names of the bins of a pair, by rank and by similarity."""
    return rank_bin(_rank_place(pair.rank)), _similarity_name(_similarity_place(pair.similarity))


def _rank_place(rank: int) -> int:
    return min((rank - 1) // RANKS_A_BIN, TOP // RANKS_A_BIN)


def _similarity_place(similarity: float) -> int:
    return round(similarity * _QUANTA) // round(SIMILARITIES_A_BIN * _QUANTA)


def _similarity_name(place: int) -> str:
    return f"{place * SIMILARITIES_A_BIN:.2f}"


def _bins(pairs: Iterable[Graded], place: Callable[[Graded], int], name: Callable[[int], str]) -> list[Bin]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for pair in pairs:
        if pair.relevance is not None:
            found[place(pair)].append(pair.relevance)
    return [Bin(name(at), len(values), _mean(values)) for at, values in sorted(found.items())]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)
