"""Measure how well the annotators of a file of raw annotations agree; no project is needed."""

from collections.abc import Sequence
from pathlib import Path

from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard
from backend.campaign.monitoring.quality.rules import aggregators
from backend.campaign.monitoring.quality.rules import board as rules
from backend.campaign.monitoring.quality.rules.board import no_origins
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.release.earlier.raw_summary import read_raw_file
from backend.core.progress import Progress, named
from backend.scoring.statistics.bootstrap import RESAMPLES


def agreement_of_file(file: Path, *, scale: str | None = None, resamples: int = RESAMPLES) -> AgreementBoard:
    """Return the agreement board of a raw annotation CSV, which tells nothing of queries, splits and days.

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
    """Return what mean, median and Dawid-Skene would make of a raw annotation CSV; see `agreement_of_file`."""
    graded, names = _graded(file, scale)
    return aggregators.report(graded, names, progress=named(progress, aggregators.LEARNING))


def _graded(file: Path, scale: str | None) -> tuple[GradedPairs, Sequence[str]]:
    """The grades of a file and the names of its pairs, on TVR-Ranking's scale unless another is named."""
    raw, tolerance, rounding = read_raw_file(file, scale)
    return raw.graded(tolerance, rounding), raw.pairs
