"""Pure: turns that are drawn by a seed and by names alone, so that the order of a corpus changes no draw."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Turns = npt.NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def names_drawn(names: Sequence[str], seed: int) -> Turns:
    """A number of each name that follows from it and the seed, `(names,)`."""
    return np.array([_number(f"{seed} {name}") for name in names], dtype=np.uint64)


def turns(drawn: Turns, purpose: str) -> Turns:
    """When it is each name's turn for one purpose, such as the positives of a query: a number that sorts them.

    SplitMix64's last steps (Steele, Lea, Flood 2014), by which neighbouring numbers are no neighbours any more.
    """
    mixed = drawn ^ np.uint64(_number(purpose))
    mixed = (mixed ^ (mixed >> _S30)) * _FIRST
    mixed = (mixed ^ (mixed >> _S27)) * _SECOND
    return np.asarray(mixed ^ (mixed >> _S31), dtype=np.uint64)


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
