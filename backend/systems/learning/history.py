"""Losses and NDCG by epoch, for people: as CSV, and as a picture."""

from collections.abc import Sequence
from pathlib import Path

from backend.ground.arriving import new_files
from backend.ground.text_files import csv_text
from backend.systems.learning.checkpoints import HISTORY, Epoch

PICTURES = ("history.png", "history.svg")


def write_table(folder: Path, epochs: Sequence[Epoch]) -> None:
    """Write `history.csv`: a row an epoch."""
    figures = list(epochs[0].figures)
    rows = [[one.epoch, one.loss, one.span, one.video, *(one.figures[key] for key in figures)] for one in epochs]
    with new_files(folder) as part:
        text = csv_text(["epoch", "loss", "span", "video", *figures], rows)
        (part / HISTORY).write_text(text, "utf-8", newline="")


def write_pictures(folder: Path, epochs: Sequence[Epoch], stopping: str, best: int) -> None:
    """Draw both: losses above, the figures of the validation queries below, with a rule at the best epoch.

    Args:
        folder: where to.
        epochs: at least one.
        stopping: key of the figure that decides.
        best: the best epoch by it.
    """
    # Charts take as long to load as everything else together.
    import altair as alt

    from backend.scoring.drawing import save

    losses = [
        {"epoch": one.epoch, "what": what, "value": value}
        for one in epochs
        for what, value in (("all", one.loss), ("spans", one.span), ("videos", one.video))
    ]
    figures = [
        {"epoch": one.epoch, "what": key, "value": value} for one in epochs for key, value in one.figures.items()
    ]

    def lines(rows: list[dict[str, object]], title: str) -> alt.LayerChart | alt.FacetChart:
        across = alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickMinStep=1, format="d"))
        drawn = alt.Chart(alt.InlineData(rows)).mark_line(point=len(epochs) < 2)
        drawn = drawn.encode(x=across, y=alt.Y("value:Q", title=title), color=alt.Color("what:N", title=title))
        rule = alt.Chart(alt.InlineData([{"epoch": best}])).mark_rule(strokeDash=[4, 3], color="#7f7f7f")
        return alt.layer(rule.encode(x="epoch:Q"), drawn).properties(width=420, height=180)

    told = f"the broken line is epoch {best}, the best by {stopping}"
    both = alt.vconcat(lines(losses, "training loss"), lines(figures, "validation queries"), title=told)
    both = both.resolve_scale(color="independent")
    with new_files(folder) as part:
        for name in PICTURES:
            save(both, part / name)
