"""Write tables and charts of how far annotators agree, and of relevances by mean, median and Dawid-Skene.

This module is kept apart from `agreement_board` for the command `reelrank agreement RAW.csv`, which measures a file of
grades. That command needs neither a project nor the packages that open one.
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
    """Return CSV with one row for each pair whose relevance would differ by mean, median or Dawid-Skene."""
    columns = ["pair_id", "query", "grades", "final", "by_lead", "mean", "median", "dawid_skene"]
    rows = (
        (
            *(pair.pair, pair.query, " ".join(map(str, pair.grades)), pair.final, int(pair.by_lead)),
            *(pair.mean, pair.median, pair.dawid_skene),
        )
        for pair in report.pairs
    )
    return csv_text(columns, rows, for_people=True)


def write_other_relevances(report: AggregatorReport, out: Path) -> None:
    """Write `other_relevances_csv` to a file, replacing an earlier one.

    Raises:
        ProjectError: the file cannot be written.
    """
    with new_files(out.parent) as part:
        (part / out.name).write_text(other_relevances_csv(report), encoding="utf-8")


def agreement_csv(board: AgreementBoard, name: str) -> str:
    """Return a table of the agreement board (how far annotators agree) as CSV. Undefined figures are empty cells.

    `name` is one of the names in `rules.board_tables.TABLES`.
    """
    rows = tables.table(board, name)
    columns = list(rows[0]) if rows else []
    return csv_text(columns, ([row[column] for column in columns] for row in rows), for_people=True)


def agreement_picture(board: AgreementBoard, name: str) -> BoardPicture:
    """Return a chart of the agreement board, which shows how far annotators agree.

    `name` is the name of the table to draw. The tables of figures, pairs and queries have no chart.
    """
    # Imported here because charts take as long to load as everything else together.
    from backend.campaign.monitoring.quality import charts

    return charts.picture(board, name)


def agreement_picture_file(board: AgreementBoard, name: str, kind: str) -> bytes:
    """Return a chart of the agreement board (how far annotators agree) as the content of a PNG or SVG file.

    `name` is the name of the table to draw, and `kind` is `png` or `svg`. Drawing blocks all threads, so do it in
    another process.
    """
    from backend.campaign.monitoring.quality import charts

    return charts.file_of(board, name, kind)
