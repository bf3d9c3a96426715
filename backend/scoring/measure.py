"""What a measure is: its name, its threshold, what people call it, its range, and how it is computed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from backend.ground.timespan import Floats
from backend.scoring.matching.found import Found

Compare = Literal[">=", ">"]
_GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "lambda", "mu", "rho", "tau"}
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """The IoU that a measure asks of a prediction.

    `symbol` is what titles and equations call it. `compare` is how an IoU meets it, None where the option
    `iou_compare` says so. `values` names the list of an evaluation that it is taken from: `mu` of graded measures,
    `theta` of the others.
    """

    symbol: str
    compare: Compare | None
    values: Literal["mu", "theta"] = "theta"

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


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of ranked moments: everything that any table, chart or page says of it stands here.

    `compute(found, cutoffs, thresholds)` returns the values of all queries, shape (cut-offs, thresholds, queries);
    a measure that takes no threshold gets none and returns shape (cut-offs, 1, queries). `description` is half a
    sentence for a legend, `source` an equation that the title must name to be understood. Values are from 0 to
    `highest`, None where there is no bound. `also` are other names under which it may be asked for, each with what
    the person is told.

    >>> reached = Measure("reached", "Reached", Threshold("tau", ">"), lambda found, k, taus: ..., "whether")
    >>> reached.key(5, 0.3), reached.title(5, 0.3), reached.signature, reached.title()
    ('reached@5,0.3', 'Reached@5, IoU>0.3', 'reached@K,tau', 'Reached@K, IoU>tau')
    """

    name: str
    short: str
    threshold: Threshold | None
    compute: Callable[[Found, tuple[int, ...], tuple[float, ...]], Floats]
    description: str
    source: str = ""
    highest: float | None = 1.0
    also: Mapping[str, str] = field(default_factory=dict)

    def key(self, k: int, threshold: float | None = None) -> str:
        """Name of one value, `name@K,threshold` or `name@K`."""
        return f"{self.name}@{k}" if threshold is None else f"{self.name}@{k},{threshold!r}"

    @property
    def signature(self) -> str:
        """The form of its keys, such as `recall@K,theta`."""
        return f"{self.name}@K" + (f",{self.threshold.symbol}" if self.threshold else "")

    def title(self, k: int | str = "K", threshold: float | str | None = None, *, iou_compare: str = "ge") -> str:
        """What people call it, at a cut-off and a threshold or in general; always says whether IoU must exceed."""
        at = f"{self.short}@{k}"
        if self.threshold:
            at += f", IoU{self.threshold.sign(iou_compare)}{self.threshold.symbol if threshold is None else threshold}"
        return f"{at} ({self.source})" if self.source else at
