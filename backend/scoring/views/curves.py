"""What the charts of an evaluation draw: a measure by cut-off, and the order of runs under other measures.

Reads and writes nothing; the summary is what `Scoreboard.summary` makes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.scoring.statistics.distributions import TIE, tau_b
from backend.scoring.views.table import Named, keys_of, label, named

COLOURED = 10
"""Runs that can be told apart by their colours."""


@dataclass(frozen=True, slots=True)
class Point:
    """A run's mean at a cut-off; `panel` tells the threshold, such as `IoU>=0.5`, empty where there is none."""

    run: str
    panel: str
    k: int
    value: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A run's mean of one measure; `place` is its place, from 1, by the measure that the runs are sorted by.

    `ahead` tells that this measure puts the run before one that stands above it.
    """

    run: str
    place: int
    value: float
    ahead: bool


@dataclass(frozen=True, slots=True)
class Order:
    """One measure, the runs sorted by another; `tau_b` is how alike both orders are, None where one ties all runs."""

    key: str
    title: str
    tau_b: float | None
    steps: tuple[Placed, ...]


def by_cutoff(summary: Mapping[str, Any], key: str | None = None) -> list[Point]:
    """A measure (that of the key, or in focus) at all its cut-offs and thresholds, as far as every run has a mean.

    Nothing where there is one cut-off only, or none: a line needs two.
    """
    runs, one = summary["runs"], _one(summary, key)
    family = [
        (int(found.k), found)
        for found in named(summary).values()
        if found.measure is one.measure and found.k and all(found.key in run["measures"] for run in runs)
    ]
    if len({k for k, _ in family}) < 2:
        return []
    return [
        Point(label(run), _at(found), k, run["measures"][found.key])
        for k, found in family
        for run in leaders(summary, one.key)
    ]


def orders(summary: Mapping[str, Any], key: str | None = None) -> list[Order]:
    """Runs sorted by one measure (that in focus, if None) under it and under the others (AxIoU, Figure 5).

    Upper bounds are left out. Of each other measure there is one: at the same cut-off and threshold where it has
    those, else the middle of its keys. Equal means leave runs in the order in which they were given. Nothing of fewer
    than two runs.
    """
    first = _one(summary, key)
    runs = [run for run in summary["runs"] if first.key in run["measures"] and not run.get("upper_bound")]
    runs.sort(key=lambda run: -run["measures"][first.key])
    if len(runs) < 2:
        return []
    asked = np.array([run["measures"][first.key] for run in runs])
    found = []
    for one in [first, *_others(summary, first)]:
        if not all(one.key in run["measures"] for run in runs):
            continue
        values = np.array([run["measures"][one.key] for run in runs])
        alike = float(tau_b(asked, values))
        lowest = np.minimum.accumulate(values)
        steps = tuple(
            Placed(run["name"], place, float(value), bool(place > 1 and value > lowest[place - 2] + TIE))
            for place, (run, value) in enumerate(zip(runs, values, strict=True), start=1)
        )
        found.append(Order(one.key, one.title, None if np.isnan(alike) else alike, steps))
    return found


def leaders(summary: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """As many runs as can be told apart by colour, the best by one measure, in the order in which they were given."""
    falling = sorted(summary["runs"], key=lambda run: (run.get("upper_bound", False), -run["measures"].get(key, -1.0)))
    best = {run["name"] for run in falling[:COLOURED]}
    return [run for run in summary["runs"] if run["name"] in best]


def short_names(names: Sequence[str], most: int = 28) -> dict[str, str]:
    """Names for a chart: the middle of long ones is left out, because the ends tell models and seeds apart.

    >>> short_names(["XML", "a_model_of_last_winter_seed2018", "a_model_of_last_winter_seed2019"], 16).values()
    dict_values(['XML', 'a_model…_seed2018', 'a_model…_seed2019'])
    """
    found: dict[str, str] = {}
    for name in names:
        head = (most - 1) // 2
        short = name if len(name) <= most else f"{name[:head]}…{name[-(most - head) :]}"
        taken = short in found.values()
        found[name] = f"{short} ({len(found) + 1})" if taken else short
    return found


def _one(summary: Mapping[str, Any], key: str | None) -> Named:
    (one,) = named(summary, [summary["focus"] if key is None else key]).values()
    return one


def _others(summary: Mapping[str, Any], first: Named) -> list[Named]:
    """One key of every other measure."""
    families: dict[str, list[Named]] = {}
    for one in named(summary, keys_of(summary)).values():
        families.setdefault(one.measure.name, []).append(one)
    families.pop(first.measure.name, None)
    chosen = []
    for family in families.values():
        near = [one for one in family if one.k == first.k] or family
        same = [one for one in near if one.threshold == first.threshold] or near
        chosen.append(same[len(same) // 2])
    return chosen


def _at(one: Named) -> str:
    """The threshold alone, such as `IoU>=0.5`."""
    if one.threshold is None or one.measure.threshold is None:
        return ""
    return f"IoU{one.measure.threshold.sign(one.iou_compare)}{one.threshold}"
