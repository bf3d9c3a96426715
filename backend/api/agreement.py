"""How well annotators agree: the board of a project, or of a file of raw annotations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from backend.campaign.earlier.rules.raw_annotation import read_raw
from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project import scale_file
from backend.campaign.project.folder import Project
from backend.campaign.quality import agreement_board as boards
from backend.campaign.quality.model import AgreementBoard
from backend.campaign.quality.rules import board as rules
from backend.campaign.quality.rules import board_tables as tables
from backend.campaign.quality.rules.bootstrap import RESAMPLES
from backend.ground.reading import bytes_of
from backend.ground.text_files import csv_text

if TYPE_CHECKING:
    from backend.campaign.quality.charts import BoardPicture


def agreement_board(project: Project, by: Person | Operator, *, resamples: int = RESAMPLES) -> AgreementBoard:
    """Everything about agreement as it stands now.

    Args:
        project: whose grades.
        by: a lead, or the machine's operator.
        resamples: of the pairs, for 95 % intervals; 0 leaves intervals out, which takes a tenth of the time.
    """
    gate.in_charge(project.store, by)
    return boards.report(project.store, resamples=resamples)


def agreement_version(project: Project, by: Person | Operator) -> str:
    """Changes whenever the board would."""
    gate.in_charge(project.store, by)
    return boards.version(project.store)


def agreement_of_file(file: Path, *, scale: str | None = None, resamples: int = RESAMPLES) -> AgreementBoard:
    """The board of a raw annotation CSV, which tells nothing of queries, splits and days.

    Args:
        file: pair_id, worker, relevance and perhaps round and adjudicated.
        scale: as in `summarise_raw`.
        resamples: as in `agreement_board`.

    Raises:
        InputError: with every problem of the file.
    """
    if scale is None:
        graded = read_raw(bytes_of(file), file.name).graded()
    else:
        grading = scale_file.named(scale)
        raw = read_raw(bytes_of(file), file.name, highest=grading.scale.highest)
        graded = raw.graded(grading.tolerance, grading.rounding)
    return rules.measure(graded, rules.no_origins(graded), resamples=resamples)


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
    return csv_text(columns, ([row[column] for column in columns] for row in rows))


def agreement_picture(board: AgreementBoard, name: str) -> BoardPicture:
    """A part of the board as a chart: all but figures, pairs and queries."""
    # Charts take as long to load as everything else together.
    from backend.campaign.quality import charts

    return charts.picture(board, name)


def agreement_picture_file(board: AgreementBoard, name: str, kind: str) -> bytes:
    """The same as a file, `png` or `svg`. Drawing it keeps all threads waiting: for a process of its own."""
    from backend.campaign.quality import charts

    return charts.file_of(board, name, kind)
