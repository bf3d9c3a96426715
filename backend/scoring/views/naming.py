"""What the keys of an evaluation are called: each has a measure, which owns its words.

Reads and writes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.scoring import measures as family
from backend.scoring.measure import Measure
from backend.scoring.presets import PRESETS


@dataclass(frozen=True, slots=True)
class Named:
    """One value of an evaluation; `threshold` is text as in the key, None where the measure takes none."""

    key: str
    measure: Measure
    k: str
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
        title = self.measure.title(iou_compare=self.iou_compare)
        return f"{self.measure.signature}: {title}; {self.measure.description}"


def keys_of(summary: Mapping[str, Any]) -> list[str]:
    """Every key that a run of the summary has a mean of, in the order of the evaluation."""
    return list(dict.fromkeys(key for run in summary["runs"] for key in run["measures"]))


def named(summary: Mapping[str, Any], keys: Iterable[str] | None = None) -> dict[str, Named]:
    """The keys of a summary (all of which there are means, if None) with what they are called."""
    iou_compare = summary["options"].get("iou_compare", PRESETS[summary["preset"]].iou_compare)
    found = {}
    for key in keys_of(summary) if keys is None else keys:
        name, _, at = key.partition("@")
        k, _, threshold = at.partition(",")
        found[key] = Named(key, family.MEASURES[name], k, threshold or None, iou_compare)
    return found


def legend(summary: Mapping[str, Any]) -> list[str]:
    """A line for each measure of the summary: what its keys stand for, and whether IoU must reach or exceed."""
    return list(dict.fromkeys(one.legend for one in named(summary).values()))
