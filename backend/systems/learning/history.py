"""Write losses and NDCG by epoch for people: as CSV, and as a picture."""

from collections.abc import Sequence
from pathlib import Path

from backend.core.atomic_output import new_files
from backend.core.text_files import csv_text
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
    # The renderer takes long to load.
    from backend.scoring.drawing import Specification, channel, save

    losses = [
        {"epoch": one.epoch, "what": what, "value": value}
        for one in epochs
        for what, value in (("all", one.loss), ("spans", one.span), ("videos", one.video))
    ]
    figures = [
        {"epoch": one.epoch, "what": key, "value": value} for one in epochs for key, value in one.figures.items()
    ]

    def lines(rows: list[dict[str, object]], title: str) -> Specification:
        x = channel("epoch:Q", title="epoch", axis={"tickMinStep": 1, "format": "d"})
        y, color = channel("value:Q", title=title), channel("what:N", title=title)
        return {
            "width": 420,
            "height": 180,
            "layer": [
                {
                    "data": {"values": [{"epoch": best}]},
                    "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#7f7f7f"},
                    "encoding": {"x": channel("epoch:Q")},
                },
                {
                    "data": {"values": rows},
                    "mark": {"type": "line", "point": len(epochs) < 2},
                    "encoding": {"x": x, "y": y, "color": color},
                },
            ],
        }

    both = {
        "title": f"the broken line is epoch {best}, the best by {stopping}",
        "vconcat": [lines(losses, "training loss"), lines(figures, "validation queries")],
        "resolve": {"scale": {"color": "independent"}},
    }
    with new_files(folder) as part:
        for name in PICTURES:
            save(both, part / name)
