"""Write agreement boards, and other relevances, as tables and pictures.

Apart from `agreement_board`, because `agreement RAW.csv` needs neither a project nor the packages that open one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard
from backend.campaign.monitoring.quality.rules import board_tables as tables
from backend.core.atomic_output import new_files
from backend.core.text_files import csv_text

if TYPE_CHECKING:
    from backend.campaign.monitoring.quality.charts import BoardPicture


def other_relevances_csv(report: AggregatorReport) -> str:
    """Return the pairs of which another way makes something else as CSV, a row each."""
    columns = ["pair_id", "query", "grades", "final", "by_lead", "mean", "median", "dawid_skene"]
    rows = (
        (
            *(one.pair, one.query, " ".join(map(str, one.grades)), one.final, int(one.by_lead)),
            *(one.mean, one.median, one.dawid_skene),
        )
        for one in report.pairs
    )
    return csv_text(columns, rows, for_people=True)


def write_other_relevances(report: AggregatorReport, out: Path) -> None:
    """Write `other_relevances_csv` into a file; an earlier one is replaced.

    Raises:
        ProjectError: it cannot be written.
    """
    with new_files(out.parent) as part:
        (part / out.name).write_text(other_relevances_csv(report), encoding="utf-8")


def agreement_csv(board: AgreementBoard, name: str) -> str:
    """Return a part of the board, of the names in `rules.board_tables`, as CSV; undefined figures are empty cells."""
    rows = tables.table(board, name)
    columns = list(rows[0]) if rows else []
    return csv_text(columns, ([row[column] for column in columns] for row in rows), for_people=True)


def agreement_picture(board: AgreementBoard, name: str) -> BoardPicture:
    """Return a part of the board as a chart: all but figures, pairs and queries."""
    # Charts take as long to load as everything else together.
    from backend.campaign.monitoring.quality import charts

    return charts.picture(board, name)


def agreement_picture_file(board: AgreementBoard, name: str, kind: str) -> bytes:
    """Return the chart as a file, `png` or `svg`. Drawing it keeps all threads waiting: for a process of its own."""
    from backend.campaign.monitoring.quality import charts

    return charts.file_of(board, name, kind)
