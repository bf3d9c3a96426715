"""Pure: what a probe holds. See `choosing`."""

import random
from collections.abc import Collection, Sequence
from typing import TypeVar

_Ranked = TypeVar("_Ranked")

PROBE_TOP, PROBE_OTHERS = 60, 60
"""How many of the most similar moments of a query, and of all others, its probe wants judged (TVR-Ranking)."""


def probed(texts: Collection[str], count: int, seed: int) -> set[str]:
    """The queries to probe, drawn by seed: the same in whatever order they come.

    >>> probed(["a", "b", "c"], 2, 7) == probed(["c", "b", "a"], 2, 7), len(probed(["a", "b"], 2, 7))
    (True, 2)
    """
    return set(random.Random(seed).sample(sorted(texts), count))


def probe(ranked: Sequence[_Ranked], text: str, seed: int) -> list[_Ranked]:
    """The top of all moments, which come best first, and a draw from those after it; in the order of rank.

    >>> found = probe(range(1, 1001), "A cat sits.", 7)
    >>> found[:60] == [*range(1, 61)], len(found), min(found[60:]) > 60, found == sorted(set(found))
    (True, 120, True, True)
    """
    rest = range(PROBE_TOP, len(ranked))
    others = random.Random(f"{seed} {text}").sample(rest, min(PROBE_OTHERS, len(rest)))
    return [*ranked[:PROBE_TOP], *(ranked[place] for place in sorted(others))]
