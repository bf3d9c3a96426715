"""What a measure is: a name, the kind of threshold it takes, and how it is computed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from backend.ground.timespan import Floats
from backend.scoring.matching.found import Found


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of ranked moments.

    `compute(found, cutoffs, thresholds)` returns the values of all queries, shape (cut-offs, thresholds, queries);
    a measure that takes no threshold gets none and returns shape (cut-offs, 1, queries). `highest` is the
    largest value there can be, None where there is no bound.

    >>> Measure("recall", "theta", lambda found, cutoffs, thresholds: ...).key(5, 0.3)
    'recall@5,0.3'
    """

    name: str
    threshold: Literal["mu", "theta"] | None
    compute: Callable[[Found, tuple[int, ...], tuple[float, ...]], Floats]
    highest: float | None = 1.0

    def key(self, k: int, threshold: float | None = None) -> str:
        """Name of one value, `name@K,threshold` or `name@K`."""
        return f"{self.name}@{k}" if threshold is None else f"{self.name}@{k},{threshold!r}"
