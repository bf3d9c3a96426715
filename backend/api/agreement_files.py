"""How well the annotators of a file of raw annotations agree, and how boards are written; no project needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard
from backend.campaign.monitoring.quality.rules import aggregators
from backend.campaign.monitoring.quality.rules import board as rules
from backend.campaign.monitoring.quality.rules import board_tables as tables
from backend.campaign.monitoring.quality.rules.origins import no_origins
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.release.earlier.rules.raw_annotation import read_raw
from backend.campaign.setup.project import scale_file
from backend.core.arriving import new_files
from backend.core.progress import Progress, named
from backend.core.reading import bytes_of
from backend.core.text_files import csv_text
from backend.scoring.statistics.bootstrap import RESAMPLES

if TYPE_CHECKING:
    from backend.campaign.monitoring.quality.charts import BoardPicture


def agreement_of_file(file: Path, *, scale: str | None = None, resamples: int = RESAMPLES) -> AgreementBoard:
    """The board of a raw annotation CSV, which tells nothing of queries, splits and days.

    Args:
        file: pair_id, worker, relevance and perhaps round and adjudicated.
        scale: as in `summarise_raw`.
        resamples: of the pairs, for 95 % intervals; 0 leaves intervals out.

    Raises:
        InputError: with every problem of the file.
    """
    graded, _ = _graded(file, scale)
    return rules.measure(graded, no_origins(graded), resamples=resamples)


def other_relevances_of_file(
    file: Path, *, scale: str | None = None, progress: Progress | None = None
) -> AggregatorReport:
    """The same of a raw annotation CSV, as `agreement_of_file` reads it."""
    graded, names = _graded(file, scale)
    return aggregators.report(graded, names, progress=named(progress, aggregators.LEARNING))


def other_relevances_csv(report: AggregatorReport) -> str:
    """The pairs of which another way makes something else, a row each."""
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
    """The same into a file; an earlier one is replaced.

    Raises:
        ProjectError: it cannot be written.
    """
    with new_files(out.parent) as part:
        (part / out.name).write_text(other_relevances_csv(report), encoding="utf-8")


def agreement_json(board: AgreementBoard) -> Mapping[str, object]:
    """The board as `reelrank agreement --json` prints it."""
    return rules.as_json(board)


def agreement_table(board: AgreementBoard, name: str) -> tables.Rows:
    """A part of the board, of the names in `rules.board_tables`, as rows: values by column."""
    return tables.table(board, name)


def agreement_csv(board: AgreementBoard, name: str) -> str:
    """The same as CSV; undefined figures are empty cells."""
    rows = tables.table(board, name)
    columns = list(rows[0]) if rows else []
    return csv_text(columns, ([row[column] for column in columns] for row in rows), for_people=True)


def agreement_picture(board: AgreementBoard, name: str) -> BoardPicture:
    """A part of the board as a chart: all but figures, pairs and queries."""
    # Charts take as long to load as everything else together.
    from backend.campaign.monitoring.quality import charts

    return charts.picture(board, name)


def agreement_picture_file(board: AgreementBoard, name: str, kind: str) -> bytes:
    """The same as a file, `png` or `svg`. Drawing it keeps all threads waiting: for a process of its own."""
    from backend.campaign.monitoring.quality import charts

    return charts.file_of(board, name, kind)


def _graded(file: Path, scale: str | None) -> tuple[GradedPairs, Sequence[str]]:
    """The grades of a file and the names of its pairs, on TVR-Ranking's scale unless another is named."""
    if scale is None:
        raw = read_raw(bytes_of(file), file.name)
        return raw.graded(), raw.pairs
    grading = scale_file.named(scale)
    raw = read_raw(bytes_of(file), file.name, highest=grading.scale.highest)
    return raw.graded(grading.tolerance, grading.rounding), raw.pairs
