"""Describe a measure: its name, its threshold, what people call it, its range, and how it is computed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Found

Compare = Literal[">=", ">"]
Level = float | Literal["avg"]
AVERAGE: Literal["avg"] = "avg"
"""In keys, in place of a threshold: the mean over the thresholds that the measure is averaged over."""
_GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "lambda", "mu", "rho", "tau"}
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """The IoU that a measure asks of a prediction.

    `symbol` is what titles and equations call it. `compare` is how an IoU meets it, None where the option
    `iou_compare` says so. `values` names the list of an evaluation that it is taken from: `mu` of graded measures,
    `theta` of the others. A measure that is also read as its mean over fixed thresholds has these in `averaged`.
    """

    symbol: str
    compare: Compare | None
    values: Literal["mu", "theta"] = "theta"
    averaged: tuple[float, ...] = ()

    @property
    def tex(self) -> str:
        r"""The symbol in LaTeX's mathematics.

        >>> Threshold("mu", None).tex, Threshold("m", ">").tex
        ('\\mu', 'm')
        """
        return f"\\{self.symbol}" if self.symbol in _GREEK else self.symbol

    def sign(self, iou_compare: str = "ge") -> Compare:
        """How an IoU meets the threshold, where the evaluation compares by `iou_compare` (`ge` or `gt`)."""
        return self.compare or (">" if iou_compare == "gt" else ">=")

    def words(self, value: Level | str | None = None) -> str:
        """A threshold as a title has it: the symbol in general, the range where it is the mean over `averaged`.

        >>> Threshold("theta", ">=", averaged=(0.5, 0.55, 0.6)).words(AVERAGE)
        '0.5:0.05:0.6'
        """
        if value == AVERAGE:
            return f"{self.averaged[0]:g}:{self.averaged[1] - self.averaged[0]:.2g}:{self.averaged[-1]:g}"
        return self.symbol if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of ranked moments: everything that any table, chart or page says of it stands here.

    `compute(found, cutoffs, thresholds)` returns the values of all queries, shape (cut-offs, thresholds, queries);
    a measure that takes no threshold gets none and returns shape (cut-offs, 1, queries). One that looks at the first
    `depth` predictions of a list, whatever the cut-offs are, has no K in its keys and returns shape (1, ...).
    `description` is half a sentence for a legend, `source` an equation that the title must name to be understood.
    Values are from 0 to `highest`, None where there is no bound. One that is not `usual` has to be asked for. `also`
    are other names under which it may be asked for, each with what the person is told.

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
    compute: Callable[[Found, tuple[int, ...], tuple[float, ...]], Floats]
    description: str
    source: str = ""
    highest: float | None = 1.0
    depth: int | None = None
    usual: bool = True
    also: Mapping[str, str] = field(default_factory=dict)

    def key(self, k: int | str | None, threshold: Level | str | None = None) -> str:
        """Name of one value: `name@K,threshold`, `name@K`, `name@threshold` or `name`."""
        parts = [str(part) for part in (None if self.depth else k, threshold) if part is not None]
        return self.name + ("@" + ",".join(parts) if parts else "")

    def keys(self, cutoffs: Iterable[int], thresholds: Sequence[float]) -> tuple[str, ...]:
        """Names of all its values: cut-off by cut-off, then thresholds and, where it has one, their fixed average."""
        levels: list[Level | None] = [*thresholds, *([AVERAGE] if self.threshold and self.threshold.averaged else [])]
        return tuple(
            self.key(k, level) for k in (cutoffs if self.depth is None else [None]) for level in levels or [None]
        )

    def values(self, found: Found, cutoffs: tuple[int, ...], thresholds: tuple[float, ...]) -> Floats:
        """All its values in the order of `keys`, shape (keys, queries)."""
        averaged = self.threshold.averaged if self.threshold else ()
        levels = tuple(dict.fromkeys((*thresholds, *averaged)))
        values = self.compute(found, cutoffs, levels)
        if averaged:
            asked, fixed = (values[:, [levels.index(level) for level in part]] for part in (thresholds, averaged))
            values = np.concatenate([asked, fixed.mean(axis=1, keepdims=True)], axis=1)
        return values.reshape(values.shape[0] * values.shape[1], -1)

    def read(self, key: str) -> tuple[str | None, str | None]:
        """Cut-off and threshold of one of its keys, as they are written there."""
        parts = [part for part in key.partition("@")[2].split(",") if part]
        k = parts.pop(0) if parts and self.depth is None else None
        return k, parts[0] if parts else None

    @property
    def signature(self) -> str:
        """The form of its keys, such as `recall@K,theta`."""
        return self.key("K", self.threshold.symbol if self.threshold else None)

    def title(self, k: int | str | None = "K", threshold: Level | str | None = None, *, iou_compare: str = "ge") -> str:
        """What people call it, at a cut-off and a threshold or in general; always says whether IoU must exceed."""
        at = self.short if self.depth or k is None else f"{self.short}@{k}"
        if self.threshold:
            at += f", IoU{self.threshold.sign(iou_compare)}{self.threshold.words(threshold)}"
        return f"{at} ({self.source})" if self.source else at
