"""Collect the problems of all truth and run files, so that one error can report them together."""

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
    """Return what `read` returns for these arguments, or None if it raises an `InputError`.

    The error's problems are then appended to `problems`. A `PartlyRead` error holds the readable part of its file. It
    is also appended to `refusals`, if that list is given.
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
    """Return the values in truth and runs that the settings forbid, such as an end before a start.

    `truth` and `runs` are the files that could be read in full. `refusals` are the errors of files that could be read
    in part; these parts are checked too. Queries without predictions are not reported. If `truth` is None, queries that
    only a run has are not reported either.
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
    """Return the problems in the order of `files`. Problems of one file keep their order."""
    place = {str(file): number for number, file in enumerate(files)}
    return sorted(problems, key=lambda problem: place.get(problem.file, len(place)))


def sort_by_row(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems sorted by row. Problems of a whole file, which have no row, come first."""
    return sorted(problems, key=lambda problem: problem.row or 0)
