"""How much each person had of something lately, so that others come first."""

import math
import time
from collections.abc import Callable

from backend.core.ids import AnnotatorId


class Lately:
    """A sum for each person, of which half is forgotten every `half_s` seconds; `clock` gives seconds.

    >>> now = [0.0]
    >>> lately = Lately(10.0, lambda: now[0])
    >>> lately.add(AnnotatorId(1), 8)
    >>> now[0] = 20.0
    >>> lately.add(AnnotatorId(1), 1)
    >>> lately.of(AnnotatorId(1)), lately.of(AnnotatorId(2))
    (3.0, 0.0)
    """

    def __init__(self, half_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._half_s = half_s
        self._clock = clock
        self._sums: dict[AnnotatorId, tuple[float, float]] = {}
        """What is left, and when that was reckoned."""

    def of(self, person: AnnotatorId) -> float:
        """What is left of a person's sum."""
        left, at = self._sums.get(person, (0.0, 0.0))
        return left * math.pow(0.5, (self._clock() - at) / self._half_s)

    def add(self, person: AnnotatorId, amount: float) -> None:
        """This person had so much more."""
        self._sums[person] = (self.of(person) + amount, self._clock())
