"""Compute the answer key of open pairs, and choose whose answers become judgements."""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from backend.core.ids import AnnotatorId, PairId


def median(grades: Sequence[int]) -> int:
    """The median of some grades: of an even number the mean of the middle two.

    A half goes up, however a campaign rounds.

    Source: the key of the qualification of TVR-Ranking's annotators.

    Raises:
        ValueError: no grade.

    >>> median([4, 0, 1]), median([0, 4, 1, 2]), median([3, 4])
    (1, 2, 4)
    """
    if not grades:
        raise ValueError("there is no median of no grades")
    ordered, half = sorted(grades), len(grades) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half] + 1) // 2


def spread(
    answered: Mapping[PairId, Collection[AnnotatorId]], places: Mapping[PairId, int], seed: int
) -> dict[PairId, list[AnnotatorId]]:
    """Whose answers become judgements of which pair: of each pair as many people as it has places, spread evenly.

    The pairs are gone through in an order that the seed decides; each takes those who have the fewest so far, and among
    equals those whom the seed decides. No grade is looked at, so that agreement cannot be chosen. The same pairs and
    people give the same choice, in whatever order they come.

    Args:
        answered: who answered each pair.
        places: how many judgements each pair can take, 0 or more.
        seed: decides among equals.

    Returns:
        The people of each pair that has a place and an answer, in the order of choice.

    >>> spread({PairId(1): [AnnotatorId(7), AnnotatorId(8), AnnotatorId(9)]}, {PairId(1): 2}, seed=1)
    {1: [8, 9]}
    """
    rng, had = random.Random(seed), Counter[AnnotatorId]()
    order = sorted(answered)
    rng.shuffle(order)
    chosen: dict[PairId, list[AnnotatorId]] = {}
    for pair in order:
        people = sorted(set(answered[pair]))
        rng.shuffle(people)
        people.sort(key=lambda person: had[person])  # stable: the seed decides among equals
        if taken := people[: places.get(pair, 0)]:
            chosen[pair] = taken
            had.update(taken)
    return chosen
