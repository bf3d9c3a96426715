"""Summarise a file of raw annotations (one row per grade), and measure inter-annotator agreement, without a project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard
from backend.campaign.monitoring.quality.rules import aggregators
from backend.campaign.monitoring.quality.rules import board as rules
from backend.campaign.monitoring.quality.rules.board import no_origins
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Rounding
from backend.campaign.release.earlier.model import PUBLISHED_TOLERANCE
from backend.campaign.release.earlier.rules.raw_annotation import (
    RawAnnotations,
    read_raw,
    summarise,
)
from backend.campaign.setup.project import scale_file
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.scoring.statistics.bootstrap import RESAMPLES


def summarise_raw(file: Path, *, scale: str | None = None) -> dict[str, Any]:
    """Return counts and statistics of a raw annotation CSV by name: grades, verdicts and inter-annotator agreement.

    A verdict is the outcome of grading a pair. The consensus rule derives it, and the final grade, from the pair's
    grades.

    Args:
        file: the CSV.
        scale: the name of a scale, or the path of a scale file; the scale of TVR-Ranking if None.

    Raises:
        InputError: the file or the scale file has problems.
    """
    return dict(summarise(*read_raw_file(file, scale)))


def read_raw_file(file: Path, scale: str | None) -> tuple[RawAnnotations, int, Rounding]:
    """Return the grades in a raw annotation CSV, and the tolerance and rounding of the scale.

    `scale` is the name of a scale or the path of a scale file; None stands for the scale of TVR-Ranking.
    """
    if scale is None:
        return read_raw(file_bytes(file), file.name), PUBLISHED_TOLERANCE, Rounding.HALF_UP
    grading = scale_file.load_scale(scale)
    return read_raw(file_bytes(file), file.name, grading.scale.highest), grading.tolerance, grading.rounding


def agreement_of_file(file: Path, *, scale: str | None = None, resamples: int = RESAMPLES) -> AgreementBoard:
    """Return the agreement statistics of a raw annotation CSV, without those by query, split and day.

    Args:
        file: CSV with the columns pair_id, worker, relevance and perhaps round and adjudicated.
        scale: as in `summarise_raw`.
        resamples: number of resamples of the pairs for 95 % intervals; 0 leaves intervals out.

    Raises:
        InputError: the file has problems, all of which are listed.
    """
    graded, _ = _graded(file, scale)
    return rules.measure(graded, no_origins(graded), resamples=resamples)


def other_relevances_of_file(
    file: Path, *, scale: str | None = None, progress: Progress | None = None
) -> AggregatorReport:
    """Compare the final grades of a raw annotation CSV with those that mean, median and Dawid-Skene would give.

    The final grades follow from the consensus rule. The CSV has the columns of `agreement_of_file`.
    """
    graded, names = _graded(file, scale)
    return aggregators.report(graded, names, progress=steps_of(progress, aggregators.LEARNING))


def _graded(file: Path, scale: str | None) -> tuple[GradedPairs, Sequence[str]]:
    """Return the grades of a file and the ids of its pairs, on the scale of TVR-Ranking if `scale` is None."""
    raw, tolerance, rounding = read_raw_file(file, scale)
    return raw.graded(tolerance, rounding), raw.pairs
