"""Split work into units with random numbers of their own, so that results depend on no number of processes.

A unit has its own seed sequence, a numbered child of the study's; see `backend.core.parallel.run_units`.
"""

from collections.abc import Iterator

import numpy as np


def generator_of(seed: int, *unit: int) -> np.random.Generator:
    """The random numbers of one unit of work: those of nobody else, and the same in any process.

    >>> bool(generator_of(7, 1, 2).random() == generator_of(7, 1, 2).random() != generator_of(7, 2, 1).random())
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=unit))


def chunks(total: int, size: int) -> Iterator[int]:
    """How many each chunk holds: `size`, and what is left at the end.

    >>> list(chunks(7, 3))
    [3, 3, 1]
    """
    for start in range(0, total, size):
        yield min(size, total - start)
