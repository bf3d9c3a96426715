"""Prepare the data of an evaluation's charts: a measure by cut-off, and the order of runs under other measures.

Reads and writes nothing. `Scoreboard.summary` makes the summary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.scoring.statistics.distributions import TIE, tau_b
from backend.scoring.views.table import NamedKey, keys_of, label, named_keys

COLOURED = 10
"""Number of runs that can be told apart by colour."""


@dataclass(frozen=True, slots=True)
class Point:
    """A run's mean at a cut-off. `panel` is the threshold, such as `IoU>=0.5`, or empty if there is none."""

    run: str
    panel: str
    k: int
    value: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A run's mean of one measure. `place` is the run's rank, from 1, under the measure that sorts the runs.

    `ahead` is true if the run has a higher mean than a run with a better `place`.
    """

    run: str
    place: int
    value: float
    ahead: bool


@dataclass(frozen=True, slots=True)
class Order:
    """The runs' means under one measure, listed in the order in which another measure sorts the runs.

    `steps` has a mean for each run. `tau_b` is Kendall's tau-b between the orders of runs under the two measures. It is
    None if one of them ties all runs. The first measure of a chart is itself the one that sorts.
    """

    key: str
    title: str
    tau_b: float | None
    steps: tuple[Placed, ...]


def by_cutoff(summary: Mapping[str, Any], key: str | None = None) -> list[Point]:
    """Return the means of the best runs under one measure, at each cut-off and threshold where all runs have a mean.

    `key` is a value of the measure, such as `ndcg@20,0.5`; None takes the summary's main measure (`focus`). With fewer
    than two cut-offs the list is empty, because a line needs two points.
    """
    runs, chosen = summary["runs"], _named_key(summary, key)
    family = [
        (int(entry.k), entry)
        for entry in named_keys(summary).values()
        if entry.measure.name == chosen.measure.name and entry.k and all(entry.key in run["measures"] for run in runs)
    ]
    if len({k for k, _ in family}) < 2:
        return []
    return [
        Point(label(run), _threshold_text(entry), k, run["measures"][entry.key])
        for k, entry in family
        for run in leaders(summary, chosen.key)
    ]


def orders(summary: Mapping[str, Any], key: str | None = None) -> list[Order]:
    """Return the runs sorted by one measure, with their means under it and under the others (AxIoU, Figure 5).

    `key`, such as `ndcg@20,0.5`, is the value that sorts; None takes the summary's main one (`focus`). Upper bounds are
    left out. In preset `axiou` all other values are shown, as in that figure. Otherwise every other measure is shown at
    the cut-off and threshold of `key` if possible, or else at its middle ones. Runs with equal means stay in the given
    order. With fewer than two runs the list is empty.
    """
    first = _named_key(summary, key)
    runs = [run for run in summary["runs"] if first.key in run["measures"] and not run.get("upper_bound")]
    runs.sort(key=lambda run: -run["measures"][first.key])
    if len(runs) < 2:
        return []
    sort_values = np.array([run["measures"][first.key] for run in runs])
    result = []
    for entry in [first, *_others(summary, first)]:
        if not all(entry.key in run["measures"] for run in runs):
            continue
        values = np.array([run["measures"][entry.key] for run in runs])
        tau = float(tau_b(sort_values, values))
        lowest = np.minimum.accumulate(values)
        steps = tuple(
            Placed(run["name"], place, float(value), bool(place > 1 and value > lowest[place - 2] + TIE))
            for place, (run, value) in enumerate(zip(runs, values, strict=True), start=1)
        )
        result.append(Order(entry.key, entry.title, None if np.isnan(tau) else tau, steps))
    return result


def leaders(summary: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the ten best runs by the measure `key`, as many as colours can tell apart, in the order of the summary."""
    falling = sorted(summary["runs"], key=lambda run: (run.get("upper_bound", False), -run["measures"].get(key, -1.0)))
    best = {run["name"] for run in falling[:COLOURED]}
    return [run for run in summary["runs"] if run["name"] in best]


def short_names(names: Sequence[str], most: int = 28) -> dict[str, str]:
    """Shorten names for a chart. The middle of a long one is left out, because the ends tell models and seeds apart.

    >>> short_names(["XML", "a_model_of_last_winter_seed2018", "a_model_of_last_winter_seed2019"], 16).values()
    dict_values(['XML', 'a_model…_seed2018', 'a_model…_seed2019'])
    """
    shortened: dict[str, str] = {}
    for name in names:
        head = (most - 1) // 2
        short = name if len(name) <= most else f"{name[:head]}…{name[-(most - head) :]}"
        taken = short in shortened.values()
        shortened[name] = f"{short} ({len(shortened) + 1})" if taken else short
    return shortened


def _named_key(summary: Mapping[str, Any], key: str | None) -> NamedKey:
    (entry,) = named_keys(summary, [summary["focus"] if key is None else key]).values()
    return entry


def _others(summary: Mapping[str, Any], first: NamedKey) -> list[NamedKey]:
    """Return one key, such as `map@avg`, for every measure except that of `first`; in preset `axiou` all other keys.

    If possible, a measure's key has the cut-off and threshold of `first`.
    """
    if summary["preset"] == "axiou":
        return [entry for entry in named_keys(summary, keys_of(summary)).values() if entry.key != first.key]
    families: dict[str, list[NamedKey]] = {}
    for entry in named_keys(summary, keys_of(summary)).values():
        families.setdefault(entry.measure.name, []).append(entry)
    families.pop(first.measure.name, None)
    chosen = []
    for family in families.values():
        near = [entry for entry in family if entry.k == first.k] or family
        same = [entry for entry in near if entry.threshold == first.threshold] or near
        chosen.append(same[len(same) // 2])
    return chosen


def _threshold_text(entry: NamedKey) -> str:
    """Return the threshold alone, such as `IoU>=0.5`; empty if there is none."""
    if entry.threshold is None or entry.measure.threshold is None:
        return ""
    return f"IoU{entry.measure.threshold.sign(entry.iou_compare)}{entry.threshold}"
