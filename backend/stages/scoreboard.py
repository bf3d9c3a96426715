"""Score many runs of files against graded ground truth: what `reelrank evaluate` shows.

Reads: truth, run and video map files. Writes: nothing.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, Unpack

from backend.core.errors import InputError, Problem
from backend.core.metrics.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, settle
from backend.core.metrics.scoring import prepare_run, prepare_truth, score
from backend.stages.run_files import read_run, read_truth, read_videos


def evaluate_files(
    truth_path: Path,
    run_paths: Sequence[Path],
    *,
    videos: Path | None = None,
    preset: Preset = "paper",
    k: Iterable[SupportsIndex] = DEFAULT_K,
    mu: Iterable[float] = DEFAULT_MU,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """Score run files: the object that `reelrank evaluate --json` prints.

    Returns:
        `{"preset", "options", "truth": {"queries", "moments"}, "runs": [{"name", "queries", "missing",
        "measures"}], "warnings"}`: `options` are those that differ from the preset, `missing` the ids of truth
        queries that the run lacks, as the truth file writes them, `queries` how many of them it has.

    Raises:
        InputError: with the problems of all files; nothing is scored then.
    """
    settings = settle(preset, k, mu, options)
    problems: list[Problem] = []
    key = names = None
    try:
        key = prepare_truth(read_truth(truth_path), settings)
    except InputError as error:
        problems += error.problems
    try:
        names = None if videos is None else read_videos(videos)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    prepared = []
    for path in run_paths:
        try:
            run = read_run(path, names)
            if key is not None:
                prepared.append(prepare_run(run, key, settings))
        except InputError as error:
            problems += error.problems
    if problems or key is None:
        raise InputError(problems)
    stems = [path.stem for path in run_paths]
    warnings = [*key.warnings, *(warning for run_ in prepared for warning in run_.warnings)]
    runs = []
    for path, run_ in zip(run_paths, prepared, strict=True):
        scores = score(key, run_, settings)
        if not scores.queries:
            warnings.append(f"{path}: no query counts, so there is no mean")
        runs.append(
            {
                "name": path.stem if stems.count(path.stem) == 1 else str(path),
                "queries": len(key.truth.queries) - len(run_.missing),
                "missing": [key.truth.queries[i] for i in run_.missing],
                "measures": scores.mean(settings),
            }
        )
    return {
        "preset": settings.preset,
        "options": settings.changed,
        "truth": {"queries": len(key.truth.queries), "moments": len(key.truth.video)},
        "runs": runs,
        "warnings": warnings,
    }
