"""Collect the problems of truth and runs, to report all at once even if some files could only be read in part."""

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
    problems: list[Problem], read: Callable[..., _Read], *arguments: Any, refusals: list[PartlyRead] | None = None
) -> _Read | None:
    """Return what `read` returns for these arguments, or None if it refuses them.

    The problems are then added to `problems`. If the file was read in part, its refusal is added to `refusals`.
    """
    try:
        return read(*arguments)
    except InputError as error:
        problems += error.problems
        if refusals is not None and isinstance(error, PartlyRead):
            refusals.append(error)
        return None


def further_problems(
    truth: Truth | None, runs: Iterable[Run], refusals: Iterable[PartlyRead], settings: Settings
) -> list[Problem]:
    """Return a problem for each value that `settings` do not allow.

    Files read in full are checked, and so is the readable part of refused files.

    If a truth or run was refused, queries missing in it are no problem.
    """
    rests = [refusal.rest for refusal in refusals]
    readable = truth or next((rest for rest in rests if isinstance(rest, Truth)), None)
    options = replace(settings.conventions, missing="zero")
    if truth is None:
        options = replace(options, unknown="ignore")
    settings = replace(settings, conventions=options)
    if readable is None or not readable.queries:
        return []
    problems: list[Problem] = []
    try:
        key = prepare_truth(readable, settings)
    except InputError as error:
        problems += error.problems
        # Check the runs against the valid moments. NDCG needs nothing but these.
        lenient = replace(settings, conventions=replace(options, invalid="skip"), measures=("ndcg",), asked=None)
        key = prepare_truth(readable, lenient)
    for run in (*runs, *(rest for rest in rests if isinstance(rest, Run))):
        try:
            prepare_run(run, key, settings)
        except InputError as error:
            problems += error.problems
    return problems


def sort_by_file(problems: Iterable[Problem], files: Iterable[object]) -> list[Problem]:
    """Return the problems in the order of these files, keeping their order within each file."""
    place = {str(file): number for number, file in enumerate(files)}
    return sorted(problems, key=lambda problem: place.get(problem.file, len(place)))


def sort_by_row(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems sorted by row, those of whole files first."""
    return sorted(problems, key=lambda problem: problem.row or 0)
