"""Score run files against a truth file: the scoreboard, or the object that `reelrank evaluate --json` prints.

Reads: truth, run and video map files. Writes: nothing.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, Unpack

from backend.ground.errors import InputError, Problem
from backend.ground.progress import Progress
from backend.scoring.files.reading import read_run, read_truth, read_videos
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, settle
from backend.scoring.scoreboard import Scoreboard, score_runs


def score_files(
    truth_path: Path,
    run_paths: Sequence[Path],
    *,
    videos: Path | None = None,
    preset: Preset = "paper",
    k: Iterable[SupportsIndex] = DEFAULT_K,
    mu: Iterable[float] = DEFAULT_MU,
    theta: Iterable[float] = DEFAULT_MU,
    min_relevance: int = 1,
    measures: Iterable[str] | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Scoreboard:
    """Score run files against a truth file. A run is named as its file, or by its path where two files share a name.

    Args:
        truth_path: the truth.
        run_paths: the runs.
        videos: `name -> [duration, index]`, for runs that give videos by index.
        preset: `paper` or `official`.
        k: rank cut-offs.
        mu: IoU thresholds of graded measures.
        theta: IoU thresholds of measures without grades.
        min_relevance: what counts as relevant where relevance is not graded.
        measures: their names; all in preset `paper`, `ndcg` in `official` where not given.
        progress: called with (what is done, done, all).
        **options: see `backend.api.evaluate`.

    Raises:
        InputError: with the problems of all files; nothing is scored then.
    """
    settings = settle(preset, k, mu, options, theta=theta, min_relevance=min_relevance, measures=measures)
    problems: list[Problem] = []
    truth = names = None
    try:
        truth = read_truth(truth_path)
    except InputError as error:
        problems += error.problems
    try:
        names = None if videos is None else read_videos(videos)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    runs = {}
    for number, (name, path) in enumerate(zip(_names(run_paths), run_paths, strict=True), start=1):
        try:
            runs[name] = read_run(path, names)
        except InputError as error:
            problems += error.problems
        if progress:
            progress("reading runs", number, len(run_paths))
    if truth is None:
        raise InputError(problems)
    try:
        board = score_runs(truth, runs, settings, progress=progress)
    except InputError as error:
        place = {str(path): number for number, path in enumerate((truth_path, *run_paths))}
        found = sorted([*problems, *error.problems], key=lambda problem: place.get(problem.file, len(place)))
        raise InputError(found) from None
    if problems:
        raise InputError(problems)
    return board


def evaluate_files(truth_path: Path, run_paths: Sequence[Path], **asked: Any) -> dict[str, Any]:
    """Score run files: the object that `reelrank evaluate --json` prints; takes what `score_files` takes.

    Returns:
        `{"preset", "options", "focus", "truth": {"queries", "moments"}, "runs": [{"name", "queries", "counted",
        "missing", "measures"}], "warnings"}`: `options` are those that differ from the preset, `missing` the
        ids of truth queries that the run lacks, as the truth file writes them, `queries` how many of them it has,
        `counted` how many its means are of; where measures were asked for under other names,
        `notes` tell.

    Raises:
        InputError: with the problems of all files; nothing is scored then.
    """
    return score_files(truth_path, run_paths, **asked).summary()


def _names(paths: Sequence[Path]) -> list[str]:
    stems = [path.stem for path in paths]
    names = [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError([Problem(name, None, "is given twice") for name in twice])
    return names
