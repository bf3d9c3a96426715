"""Name the keys of an evaluation for people, in the words of their measure.

Reads and writes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.scoring.measure import AVERAGE, Measure
from backend.scoring.measures import measure_of
from backend.scoring.presets import PRESETS


@dataclass(frozen=True, slots=True)
class Named:
    """One value of an evaluation; `k` and `threshold` are text as in the key, None where it has none."""

    key: str
    measure: Measure
    k: str | None
    threshold: str | None
    iou_compare: str

    @property
    def title(self) -> str:
        """Such as `R@10, IoU>=0.5`."""
        return self.measure.title(self.k, self.threshold, iou_compare=self.iou_compare)

    @property
    def help(self) -> str:
        """The title and what the measure tells."""
        return f"{self.title}: {self.measure.description}"

    @property
    def legend(self) -> str:
        """What all keys of the measure stand for, such as `recall@K,theta: R@K, IoU>=theta; share of ...`."""
        average = self.threshold == AVERAGE
        title = self.measure.title(threshold=AVERAGE if average else None, iou_compare=self.iou_compare)
        form = self.key if average else self.measure.signature
        return f"{form}: {title}; {'mean of the same over these thresholds' if average else self.measure.description}"


def keys_of(summary: Mapping[str, Any]) -> list[str]:
    """Every key that a run of the summary has a mean of, in the order of the evaluation."""
    return list(dict.fromkeys(key for run in summary["runs"] for key in run["measures"]))


def named(summary: Mapping[str, Any], keys: Iterable[str] | None = None) -> dict[str, Named]:
    """The keys of a summary (all of which there are means, if None) with what they are called."""
    iou_compare = summary["options"].get("iou_compare", PRESETS[summary["preset"]].iou_compare)
    found = {}
    for key in keys_of(summary) if keys is None else keys:
        measure = measure_of(key)
        found[key] = Named(key, measure, *measure.read(key), iou_compare)
    return found


def legend(summary: Mapping[str, Any]) -> list[str]:
    """A line for each measure of the summary: what its keys stand for, and whether IoU must reach or exceed.

    The last one, where the truth was pooled, tells how much of each run somebody has graded.
    """
    lines = list(dict.fromkeys(one.legend for one in named(summary).values()))
    return [*lines, *judged(summary)]


def judged(summary: Mapping[str, Any]) -> list[str]:
    """A line for each Judged@K that is told of runs and not in the table: `judged@20,0.5: mine 61.2%; ...`."""
    runs = [run for run in summary["runs"] if run.get("judged")]
    keys = dict.fromkeys(key for run in runs for key in run["judged"] if key not in run["measures"])
    shares = {key: ", ".join(f"{run['name']} {run['judged'][key]:.1%}" for run in runs) for key in keys}
    return [f"{key}: {shares[key]}; {named(summary, [key])[key].measure.description}" for key in keys]
