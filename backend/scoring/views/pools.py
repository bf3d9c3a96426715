"""What pools are to a summary: how many predictions lay outside them, and each run in the own video and in the pool.

Reads and writes nothing; the summary is of a scoreboard in pools, see `pools.scoring`.
"""

from collections.abc import Mapping
from typing import Any

from backend.scoring.views.naming import named
from backend.scoring.views.ranking import conventions
from backend.scoring.views.table import Cell, Column, Table, number

OWN, POOL = "own video", "pool"
_NOTE = (
    "Own video: the predictions of the query's own video in the order of the file, against the truth that lies there; "
    "pool: as everywhere else here. A query may gain in its pool, whose other videos hold positives too."
)


def told(summary: Mapping[str, Any]) -> str:
    """How large the pools are, and how many predictions of each run lay outside them."""
    pool, runs = summary["pool"], summary["runs"]
    outside = ", ".join(f"{run['name']} {run['outside_pool']:,}" for run in runs)
    return f"pools of {pool['size']} of {pool['videos']:,} videos; predictions outside them, left out: {outside}"


def own_and_pool(summary: Mapping[str, Any]) -> Table:
    """Runs in the query's own video (VMR) and in its pool (MVMR), side by side, a row for each run and measure.

    What MVMR's Figure 6 shows.
    """
    columns = (
        Column("run", "run", number=False),
        Column("measure", "measure", number=False),
        Column("own_video", OWN, "In the query's own video alone (VMR)."),
        Column("pool", POOL, "In the query's pool of videos (MVMR)."),
        Column("difference", "difference", "Pool minus own video."),
        Column("ratio", "pool / own", "Pool divided by own video.", "%"),
    )
    rows = []
    for run in summary["runs"]:
        for key, alone in run["own_video"]["measures"].items():
            pooled = run["measures"][key]
            ratio = pooled / alone if alone > 0 else None
            rows.append(
                (
                    Cell(run["name"], run["name"]),
                    Cell(key, key),
                    Cell(alone, number(alone)),
                    Cell(pooled, number(pooled)),
                    Cell(pooled - alone, f"{pooled - alone:+.4f}"),
                    Cell(ratio, "-" if ratio is None else f"{ratio:.1%}"),
                )
            )
    return Table(f"Own video and pool, preset {conventions(summary)}", columns, tuple(rows), (_NOTE,))


def bars(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each run, measure, cut-off and setting: `{"run", "panel", "k", "setting", "value"}`.

    `panel` is what measures of several cut-offs share, such as `R@K, IoU>=0.5`; `k` is empty where a measure has none.
    """
    names = named(summary)
    rows = []
    for run in summary["runs"]:
        for key, alone in run["own_video"]["measures"].items():
            one = names[key]
            panel = one.measure.title("K", one.threshold, iou_compare=one.iou_compare)
            k = "" if one.k is None else int(one.k)
            rows += [
                {"run": run["name"], "panel": panel, "k": k, "setting": setting, "value": value}
                for setting, value in ((OWN, alone), (POOL, run["measures"][key]))
            ]
    return rows
