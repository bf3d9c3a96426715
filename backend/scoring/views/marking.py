"""Mark the best numbers of a table, and those that differ significantly from the baseline.

Reads and writes nothing; the summary is what `Scoreboard.summary` and `add_statistics` make.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from backend.scoring.presets import PRESETS
from backend.scoring.statistics.sureness import APART
from backend.scoring.views.table import Mark


def counted_queries(summary: Mapping[str, Any], run: Mapping[str, Any]) -> Hashable:
    """Stands for the queries that a run's means are of: equal for two runs of a summary where those are the same."""
    missing = summary["options"].get("missing", PRESETS[summary["preset"]].missing)
    return run["counted"], frozenset(map(str, run["missing"])) if missing != "zero" else None


def eligible(summary: Mapping[str, Any]) -> list[bool]:
    """Which runs one may be called the best of: the most that count the same queries, of two or more.

    Means over different queries are not comparable: a run that leaves out hard queries would look better. Where two
    sets of queries have as many runs, the larger set is taken.

    >>> runs = [{"counted": n, "missing": ["q"] * (3 - n)} for n in (3, 2, 3)]
    >>> eligible({"preset": "paper", "options": {"missing": "skip"}, "runs": runs})
    [True, False, True]
    """
    return fair([counted_queries(summary, run) for run in summary["runs"]], [run["counted"] for run in summary["runs"]])


def fair(queries: list[Hashable], sizes: list[int]) -> list[bool]:
    """Which of several means are over the same queries as most; none where no two are."""
    often = Counter(queries)
    most = max(zip(queries, sizes, strict=True), key=lambda one: (often[one[0]], one[1]), default=(None, 0))[0]
    return [one == most and often[most] > 1 for one in queries]


def marks(comparison: Mapping[str, Any] | None, *, best: bool) -> frozenset[Mark]:
    """The marks of a mean; `comparison` is its difference to the baseline, None where none was computed."""
    found = {Mark.BEST} if best else set()
    p = (comparison or {}).get("p_holm")
    if comparison and p is not None and p < APART:
        found.add(Mark.ABOVE if comparison["difference"] > 0 else Mark.BELOW)
    return frozenset(found)


def counted(summary: Mapping[str, Any]) -> list[str]:
    """How many queries each run's means are of, where that is not the same for all; and what follows."""
    runs, among = summary["runs"], eligible(summary)
    if len({counted_queries(summary, run) for run in runs}) < 2:
        return []
    sizes = ", ".join(f"{run['name']} {run['counted']:,}" for run in runs)
    same = ", ".join(run["name"] for run, alike in zip(runs, among, strict=True) if alike)
    rest = f"best is marked only among {same}, which count the same" if same else "no value is marked as best"
    return [f"Not every run counts the same queries: {sizes}; {rest}."]
