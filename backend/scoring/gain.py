"""Gains that a caller defines: a function, or a mapping from relevances to gains.

A gain is what a moment adds to (N)DCG before its rank discounts it. The built-in gains `linear` and `exp2` are defined
elsewhere.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import SupportsFloat

import numpy as np

from backend.core.messages import said
from backend.core.timespan import Floats, Integers

AnyGain = str | Mapping[float, float] | Callable[[float], float]
"""A gain as a caller gives it: a name, a function, or a mapping from relevances to gains."""


class OwnGain(str):
    """A gain that a caller defined: a text that tables and files show, with a method `of` that computes the gain.

    The text is the name of the function, or the entries of the mapping. `function` returns the gain of one value.

    >>> own_gain({1: 1, 2: 3.5}), own_gain(math.sqrt).of(np.array([0, 4])).tolist()
    ('1:1 2:3.5', [0.0, 2.0])
    """

    __slots__ = ("function", "is_mapping")

    function: Callable[[float], SupportsFloat]
    is_mapping: bool

    def __new__(cls, text: str, function: Callable[[float], SupportsFloat], *, is_mapping: bool = False) -> "OwnGain":
        """Make a gain that is shown as `text` and computed by `function`."""
        self = super().__new__(cls, text)
        self.function, self.is_mapping = function, is_mapping
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str, Callable[[float], SupportsFloat]], dict[str, bool]]:
        """Return the arguments from which `copy` and `pickle` make a gain equal to this one."""
        return (str.__str__(self), self.function), {"is_mapping": self.is_mapping}

    def of(self, values: Floats | Integers) -> Floats:
        """Return the gain of each value, a relevance or an IoU, in the shape of `values`.

        Raises:
            ValueError: a gain is not a finite number of at least 0, or a mapping lacks a value.
        """
        distinct, place = np.unique(values, return_inverse=True)
        gains = np.array([self._of(value) for value in distinct.tolist()], dtype=np.float64)
        return np.asarray(gains[place].reshape(np.shape(values)), dtype=np.float64)

    def _of(self, value: float) -> float:
        try:
            gain = float(self.function(value))
        except KeyError:
            raise ValueError(said("has no value for {value:g}; add it to the mapping", value=value)) from None
        except (TypeError, ValueError):
            gain = math.nan
        if not (math.isfinite(gain) and gain >= 0):
            raise ValueError(said("of {value:g} is not a finite number of at least 0", value=value))
        return gain

    def fault(self, relevances: Sequence[float]) -> str | None:
        """Return why this gain cannot be used for the given relevances, or None if it can.

        The relevances must be in rising order. The gain must not fall where the relevance rises, because NDCG's ideal
        ranking puts the highest relevances first.
        """
        try:
            gains = self.of(np.array(relevances, dtype=np.float64))
        except ValueError as error:
            return str(error)
        falls = np.flatnonzero(np.diff(gains) < 0)
        if not len(falls):
            return None
        at = int(falls[0])
        return said("falls from relevance {low:g} to {high:g}", low=relevances[at], high=relevances[at + 1])


def own_gain(given: object) -> OwnGain:
    """Return a function, or a mapping from relevances to gains, as a gain.

    A mapping gives relevance 0 the gain 0 unless it says otherwise.

    Raises:
        ValueError: it is neither, or a relevance or a gain of the mapping is not a number.
    """
    if isinstance(given, Mapping):
        try:
            gains = {0.0: 0.0} | {float(relevance): float(gain) for relevance, gain in given.items()}
        except (TypeError, ValueError):
            raise ValueError(said("is not a mapping from relevances to gains, such as {1: 1, 2: 3}")) from None
        text = " ".join(f"{float(relevance):g}:{float(gain):g}" for relevance, gain in sorted(given.items()))
        return OwnGain(text, gains.__getitem__, is_mapping=True)
    if callable(given) and not isinstance(given, type):
        name = getattr(given, "__name__", type(given).__name__)
        return OwnGain("own function" if name == "<lambda>" else name, given)
    raise ValueError(said("{given} is no name, function or mapping from relevances to gains", given=repr(given)))
