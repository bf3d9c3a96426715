"""Collect the problems of truth and runs, so that all are told at once although some files could not be read whole."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from backend.core.errors import InputError, Problem
from backend.scoring.files.text import PartlyRead
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import Settings
from backend.scoring.scores import prepare_run, prepare_truth

_Read = TypeVar("_Read")


def read_or_collect(
    problems: list[Problem], read: Callable[..., _Read], *given: Any, refusals: list[PartlyRead] | None = None
) -> _Read | None:
    """What `read` makes of what is given; None where that is refused, and then its problems are among the others."""
    try:
        return read(*given)
    except InputError as error:
        problems += error.problems
        if refusals is not None and isinstance(error, PartlyRead):
            refusals.append(error)
        return None


def further_problems(
    truth: Truth | None, runs: Iterable[Run], refusals: Iterable[PartlyRead], settings: Settings
) -> list[Problem]:
    """The values that `settings` do not let pass, in files that were read whole and in what was read of the others.

    A truth that was refused says nothing of queries that it lacks, nor a run of those that are missing in it.
    """
    rests = [refusal.rest for refusal in refusals]
    kept = truth or next((rest for rest in rests if isinstance(rest, Truth)), None)
    options = replace(settings.conventions, missing="zero")
    if truth is None:
        options = replace(options, unknown="ignore")
    settings = replace(settings, conventions=options)
    if kept is None or not kept.queries:
        return []
    problems: list[Problem] = []
    try:
        key = prepare_truth(kept, settings)
    except InputError as error:
        problems += error.problems
        # Runs are held against the moments that are right.
        key = prepare_truth(kept, replace(settings, conventions=replace(options, invalid="skip")))
    for run in (*runs, *(rest for rest in rests if isinstance(rest, Run))):
        try:
            prepare_run(run, key, settings)
        except InputError as error:
            problems += error.problems
    return problems


def in_order(problems: Iterable[Problem], files: Iterable[object]) -> list[Problem]:
    """Problems file by file, in the order of these files, and as they stand within each."""
    place = {str(file): number for number, file in enumerate(files)}
    return sorted(problems, key=lambda problem: place.get(problem.file, len(place)))


def by_row(problems: Iterable[Problem]) -> list[Problem]:
    """Problems by their rows, those of whole files first."""
    return sorted(problems, key=lambda problem: problem.row or 0)
