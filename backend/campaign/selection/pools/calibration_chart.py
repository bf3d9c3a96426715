"""Figure 8 of the MVMR paper: similarities of labelled pairs by their label, with the thresholds found."""

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import altair as alt
import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.model import Measured
from backend.campaign.selection.pools.thresholds_file import StoredThresholds
from backend.core.text_files import csv_text
from backend.scoring.drawing import PALETTE, save

_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
_POINTS = 150
"""At most so many pairs of a label are drawn as points."""


def write(measured: Sequence[Measured], found: StoredThresholds, numbers: Path, charts: Sequence[Path]) -> None:
    """Write the quantiles of each label as CSV, and the figure, `.png` or `.svg` by name."""
    by_label: dict[str, list[float]] = {}
    for one in measured:
        by_label.setdefault(one.label, []).append(one.similarity)
    rows = [_row(label, np.array(by_label[label])) for label in sorted(by_label)]
    numbers.write_text(csv_text(list(rows[0]), [row.values() for row in rows]), "utf-8", newline="")
    chart = _chart(rows, by_label, found).to_dict()
    for path in charts:
        save(chart, path)


def _row(label: str, similarities: npt.NDArray[np.float64]) -> dict[str, str | float]:
    quantiles = {name: round(float(np.quantile(similarities, share)), 5) for name, share in _QUANTILES.items()}
    return {"label": label, "pairs": len(similarities), **quantiles}


def _chart(
    rows: list[dict[str, str | float]], by_label: dict[str, list[float]], found: StoredThresholds
) -> alt.TopLevelMixin:
    points = [
        {"label": label, "similarity": value, "aside": aside}
        for label, values in by_label.items()
        for value, aside in _some(label, values)
    ]
    title = "Label" if any(row["label"] == "positive" for row in rows) else "Score that people gave (0 to 5), from"
    order = [str(row["label"]) for row in rows]
    across = alt.X(
        "label:N", sort=order, scale=alt.Scale(domain=order), title=title, axis=alt.Axis(labelAngle=0, grid=False)
    )
    low = min(0.0, *(min(values) for values in by_label.values()))
    up = alt.Scale(domain=[low - 0.02, 1.05], nice=False)
    boxes = alt.Chart(alt.InlineData(rows))
    lines = alt.Chart(
        alt.InlineData(
            [
                {"at": found.t_pos, "what": f"t_pos {found.t_pos:g}"},
                {"at": found.t_neg, "what": f"t_neg {found.t_neg:g}"},
            ]
        )
    )
    chart: alt.TopLevelMixin = alt.layer(
        alt.Chart(alt.InlineData(points))
        .mark_circle(size=12, opacity=0.3, color=PALETTE[0])
        .encode(
            x=across,
            xOffset=alt.XOffset("aside:Q", scale=alt.Scale(domain=[-1.6, 1.6])),
            y=alt.Y("similarity:Q", scale=up, title="Similarity (cosine)"),
        ),
        boxes.mark_rule(color="#444444").encode(x=across, y=alt.Y("q05:Q", scale=up), y2="q95:Q"),
        boxes.mark_bar(size=16, color=PALETTE[4], opacity=0.7).encode(x=across, y=alt.Y("q25:Q", scale=up), y2="q75:Q"),
        boxes.mark_tick(size=26, thickness=2, color="#000000").encode(x=across, y=alt.Y("median:Q", scale=up)),
        lines.mark_rule(strokeDash=[5, 3], color=PALETTE[1]).encode(y=alt.Y("at:Q", scale=up)),
        lines.mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=PALETTE[1], fontSize=11).encode(
            x=alt.value(0), y=alt.Y("at:Q", scale=up), text="what:N"
        ),
    ).properties(
        width=alt.Step(max(46, 420 // len(rows))),
        height=320,
        title=alt.TitleParams(
            "How similar are pairs that are labelled alike?",
            subtitle=[
                f"{found.alike + found.different + found.neither:,} pairs of {found.labels}. Boxes: the middle half, "
                "with the median;",
                "lines from 5 % to 95 %; points: up to 150 pairs of each label.",
            ],
            anchor="start",
        ),
    )
    return chart


def _some(label: str, values: list[float]) -> list[tuple[float, float]]:
    """Some of the similarities, evenly among all of them, each with how far aside it is drawn."""
    step = max(1, len(values) / _POINTS)
    chosen = [values[int(n * step)] for n in range(min(len(values), _POINTS))]
    return [(value, _aside(f"{label} {n}")) for n, value in enumerate(chosen)]


def _aside(name: str) -> float:
    """A number from -1 to 1 that is a point's own: the same figure at every drawing."""
    return int.from_bytes(blake2b(name.encode(), digest_size=2).digest()) / 32767.5 - 1
