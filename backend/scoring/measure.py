"""Describe a measure: its name, threshold, title and range, and the function that computes it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches

Compare = Literal[">=", ">"]
Level = float | Literal["avg"]
AVERAGE: Literal["avg"] = "avg"
"""Stands for a threshold in keys, and means the average over the measure's fixed thresholds."""
_GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "lambda", "mu", "rho", "tau"}
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """The IoU threshold of a measure.

    Attributes:
        symbol: its name in titles and equations.
        compare: whether an IoU must reach (`>=`) or exceed (`>`) it; None if the option `iou_compare` decides.
        values: the option that gives the values of the threshold: `mu` for graded measures, `theta` for the others.
        averaged: fixed thresholds for one more value, `NAME@avg`: the mean over these thresholds. Empty if the measure
            has no such value.
    """

    symbol: str
    compare: Compare | None
    values: Literal["mu", "theta"] = "theta"
    averaged: tuple[float, ...] = ()

    @property
    def tex(self) -> str:
        r"""The symbol in LaTeX math notation.

        >>> Threshold("mu", None).tex, Threshold("m", ">").tex
        ('\\mu', 'm')
        """
        return f"\\{self.symbol}" if self.symbol in _GREEK else self.symbol

    def sign(self, iou_compare: str = "ge") -> Compare:
        """Return how an IoU is compared with the threshold: `>=` or `>`.

        `iou_compare` is the option of the evaluation (`ge` or `gt`). It decides if the measure has no fixed comparison.
        """
        return self.compare or (">" if iou_compare == "gt" else ">=")

    def words(self, value: Level | str | None = None) -> str:
        """Return a threshold as text for titles.

        A number is returned as it is. None returns the symbol, such as `theta`. `AVERAGE` (the text `avg`) returns the
        range of `averaged` as first:step:last.

        >>> Threshold("theta", ">=", averaged=(0.5, 0.55, 0.6)).words(AVERAGE)
        '0.5:0.05:0.6'
        """
        if value == AVERAGE:
            return f"{self.averaged[0]:g}:{self.averaged[1] - self.averaged[0]:.2g}:{self.averaged[-1]:g}"
        return self.symbol if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of ranked moments: how to compute it, and the texts that tables, charts and pages show for it.

    Attributes:
        name: its name in keys.
        short: its name in titles.
        threshold: the IoU threshold that it depends on, or None.
        compute: `compute(matches, cutoffs, thresholds)` returns the values of all queries, of shape (cut-offs,
            thresholds, queries). For a measure without a threshold, the shape is (cut-offs, 1, queries).
        description: half a sentence that explains the measure in a legend.
        source: the equation in a paper, if a title must name it to be understood.
        highest: the upper bound of values, None if there is none. The lower bound is 0.
        depth: a number if the measure always looks at the first `depth` predictions and ignores the cut-offs. Its keys
            then have no K, and `compute` returns one cut-off. None for other measures.
        depth_option: the option of the evaluation that may set another depth; empty if there is none.
        usual: whether it is computed by default.
        needs_durations: whether it needs the duration of every video that has a relevant moment.
        also: other names that a caller may use for the measure, each with a note to show to that caller.

    >>> reached = Measure("reached", "Reached", Threshold("tau", ">"), lambda found, k, taus: ..., "whether")
    >>> reached.key(5, 0.3), reached.title(5, 0.3), reached.signature, reached.title()
    ('reached@5,0.3', 'Reached@5, IoU>0.3', 'reached@K,tau', 'Reached@K, IoU>tau')
    >>> first = Measure("first", "First", Threshold("tau", ">"), lambda found, k, taus: ..., "whether", depth=1)
    >>> first.key(None, 0.3), first.title(None, 0.3), first.signature, first.title()
    ('first@0.3', 'First, IoU>0.3', 'first@tau', 'First, IoU>tau')
    """

    name: str
    short: str
    threshold: Threshold | None
    compute: Callable[[Matches, tuple[int, ...], tuple[float, ...]], Floats]
    description: str
    source: str = ""
    highest: float | None = 1.0
    depth: int | None = None
    depth_option: str = ""
    usual: bool = True
    needs_durations: bool = False
    also: Mapping[str, str] = field(default_factory=dict)

    def key(self, k: int | str | None, threshold: Level | str | None = None) -> str:
        """Return the name of one value: `name@K,threshold`, `name@K`, `name@threshold` or `name`."""
        parts = [str(part) for part in (None if self.depth else k, threshold) if part is not None]
        return self.name + ("@" + ",".join(parts) if parts else "")

    def keys(self, cutoffs: Iterable[int], thresholds: Sequence[float]) -> tuple[str, ...]:
        """Return the names of all values, such as `ndcg@20,0.5`, by cut-off, then by threshold.

        If the measure has a mean over fixed thresholds, it comes last for each cut-off.
        """
        levels: list[Level | None] = [*thresholds, *([AVERAGE] if self.threshold and self.threshold.averaged else [])]
        return tuple(
            self.key(k, level) for k in (cutoffs if self.depth is None else [None]) for level in levels or [None]
        )

    def values(self, matches: Matches, cutoffs: tuple[int, ...], thresholds: tuple[float, ...]) -> Floats:
        """Return all values in the order of `keys`, shape (keys, queries)."""
        averaged = self.threshold.averaged if self.threshold else ()
        levels = tuple(dict.fromkeys((*thresholds, *averaged)))
        values = self.compute(matches, cutoffs, levels)
        if averaged:
            asked, fixed = (values[:, [levels.index(level) for level in part]] for part in (thresholds, averaged))
            values = np.concatenate([asked, fixed.mean(axis=1, keepdims=True)], axis=1)
        return values.reshape(values.shape[0] * values.shape[1], -1)

    def read(self, key: str) -> tuple[str | None, str | None]:
        """Return the rank cut-off and the IoU threshold in one of the measure's keys, as text.

        Each is None if the key has none.
        """
        parts = [part for part in key.partition("@")[2].split(",") if part]
        k = parts.pop(0) if parts and self.depth is None else None
        return k, parts[0] if parts else None

    @property
    def signature(self) -> str:
        """The general form of the measure's keys, such as `recall@K,theta`."""
        return self.key("K", self.threshold.symbol if self.threshold else None)

    def title(self, k: int | str | None = "K", threshold: Level | str | None = None, *, iou_compare: str = "ge") -> str:
        """Return the measure's title, for one cut-off and threshold or in general.

        It always says whether an IoU must reach or exceed the threshold.
        """
        at = self.short if self.depth or k is None else f"{self.short}@{k}"
        if self.threshold:
            at += f", IoU{self.threshold.sign(iou_compare)}{self.threshold.words(threshold)}"
        return f"{at} ({self.source})" if self.source else at
