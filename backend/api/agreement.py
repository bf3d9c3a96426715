"""How well annotators agree: the board of a project, or of a file of raw annotations."""

from collections.abc import Mapping
from pathlib import Path

from backend.campaign.earlier.rules.raw_annotation import read_raw
from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project import scale_file
from backend.campaign.project.folder import Project
from backend.campaign.quality import agreement_board as boards
from backend.campaign.quality.model import AgreementBoard
from backend.campaign.quality.rules import board as rules
from backend.campaign.quality.rules.bootstrap import RESAMPLES
from backend.ground.reading import bytes_of


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
