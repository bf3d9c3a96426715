"""Score run files against a truth file; return the scoreboard or the object that `reelrank evaluate --json` prints.

Reads: truth, run and video map files. Writes: nothing.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, SupportsIndex, Unpack

from backend.core.errors import InputError, Problem
from backend.core.parallel import run_units
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.core.where import HERE, Where
from backend.scoring.benchmarks import benchmark_named
from backend.scoring.benchmarks.scoring import require_only, score_benchmark, score_benchmark_in_pools
from backend.scoring.collected_problems import further_problems, read_or_collect, sort_by_file, sort_by_row
from backend.scoring.files.facts import Facts, Inputs, Source, read_facts
from backend.scoring.files.formats import map_of, read_run, read_tasks, read_truth, read_videos
from backend.scoring.files.release_folder import choose_truth, other_truths, queries_of, split_hints
from backend.scoring.files.text import PartlyRead
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.own_measures import AnyMeasure
from backend.scoring.plausibility import add_video_facts
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import PoolFile
from backend.scoring.pools.scoring import Pooled, prepare_pools, score_in_pools
from backend.scoring.presets import (
    DEFAULT_MU,
    POOL_K,
    POOL_MEASURES,
    POOL_MU,
    Options,
    Preset,
    Settings,
    settle,
)
from backend.scoring.run_files import RunFile, RunList, named_files
from backend.scoring.scoreboard import Scoreboard, score_runs


def score_files(
    truth_path: Path | None,
    run_paths: Sequence[Path | RunFile],
    *,
    videos: Path | None = None,
    preset: Preset = "paper",
    k: Iterable[SupportsIndex] | None = None,
    mu: Iterable[float] | None = None,
    theta: Iterable[float] | None = None,
    min_relevance: float = 1,
    measures: Iterable[AnyMeasure] | None = None,
    pool: PoolFile | None = None,
    benchmark: str | None = None,
    also: Sequence[AnyMeasure] = (),
    others: Sequence[Path] = (),
    where: Where = HERE,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Scoreboard:
    """Score run files against a truth file. Runs without a name get that of their file.

    Args:
        truth_path: the truth, or the folder of a release; None takes the truth from `pool`, the moments that it lists.
        run_paths: the runs. If given as `RunFile`, the summary has the model, variant, seed and split of each.
        videos: `name -> [duration, index]`, or the release that has it, for runs that give videos by index.
        preset: `paper`, `tvr-ranking` or `axiou`.
        k: rank cut-offs; default 10, 20, 40, in pools 1, 5, 20, 50, in preset `axiou` 1, 5, 10.
        mu: IoU thresholds of graded measures; default .3, .5, .7, in pools .5, .7.
        theta: IoU thresholds of measures without grades; default as for mu.
        min_relevance: lowest relevance that counts as relevant for measures without graded relevance.
        measures: names or keys of measures, or measures of your own. Default in pools: recall (MVMR's Rank n@m), AxIoU
            and NDCG. Otherwise the usual ones in preset `paper`, and `ndcg` in `tvr-ranking`. Preset `axiou` has its
            own measures, cut-offs and thresholds in pools too.
        pool: a file that gives each query its own pool of videos; predictions count only in these.
        benchmark: name of a published benchmark, such as `charades-sta`. It sets measures, cut-offs, thresholds and
            conventions; options that are given override its own.
        also: measures to compute beside the figures of the benchmark.
        others: truths of other splits. If a run shares no query with the truth, the error names the truth among these
            that fits.
        where: where run files are read and, except with pools and benchmarks, scored.
        progress: called with the name of the step, how much of it is done, and its total.
        **options: see `backend.scoring.evaluate.evaluate`.

    Raises:
        InputError: lists the problems of all files. Nothing is scored then.
    """
    chosen = None if benchmark is None else benchmark_named(benchmark)
    asked = preset != "paper" or min_relevance != 1 or any((measures, k, mu, theta))
    require_only(chosen, asked=asked, truth=truth_path is not None, pools=pool is not None, also=also)
    as_mvmr = pool is not None and preset != "axiou"
    levels = POOL_MU if as_mvmr else DEFAULT_MU
    settings = settle(
        preset,
        POOL_K if as_mvmr and k is None else k,
        levels if mu is None else mu,
        chosen.options_with(options) if chosen else options,
        theta=levels if theta is None else theta,
        min_relevance=min_relevance,
        measures=POOL_MEASURES if as_mvmr and measures is None else measures,
    )
    problems: list[Problem] = []
    refusals: list[PartlyRead] = []
    files = named_files(run_paths)
    note = ""
    if truth_path is not None:
        chosen_truth = choose_truth(truth_path, videos=videos, queries=queries_of(file.path for file in files))
        truth_path, videos, note = chosen_truth.path, chosen_truth.videos, chosen_truth.note
    of_truth = partial(read_truth, repair=chosen.repair if chosen else "leave out")
    truth = None if truth_path is None else read_or_collect(problems, of_truth, truth_path, refusals=refusals)
    names = None if videos is None else read_or_collect(problems, read_videos, videos)
    if videos is not None and names is None:
        raise InputError(problems)
    runs, beside = {}, {}
    reader = read_tasks if chosen and chosen.tasks else read_run
    read = run_units(
        _read,
        (reader, names, truth),
        [file.path for file in files],
        where,
        sees=[file.path for file in files] if where.cluster else (),
        progress=steps_of(progress, "reading runs"),
    )
    for file, (run, wrong, refused) in zip(files, read, strict=True):
        problems += wrong
        refusals += refused
        if run is not None:
            runs[file.name] = run
        if chosen and truth_path:
            beside[file.name] = chosen.figures_beside(truth_path, file.path, options, problems)
    truth = None if truth is None else add_video_facts(truth, names)
    paths = (truth_path, pool and pool.path, pool and pool.first_step, *(file.path for file in files))
    if refusals and not pool:
        rules = chosen.planned(options)[0][1] if chosen else settings
        raise InputError(
            sort_by_file(sort_by_row([*problems, *further_problems(truth, runs.values(), refusals, rules)]), paths)
        )
    if truth is None and (truth_path or not pool):
        raise InputError(
            problems or [Problem("truth", None, "is missing: give one, or give pools, whose moments become the truth")]
        )
    try:
        if chosen and truth:
            board = score_benchmark(chosen, truth, runs, options, also, beside=beside, progress=progress)
        elif chosen and pool:
            pooled, shown = _pooled(pool, None, names), _pool_files(pool)
            board = score_benchmark_in_pools(
                chosen, pooled, runs, options, also, files=shown, own_video=pool.own_video, progress=progress
            )
        elif pool:
            board = _in_pools(pool, truth, runs, names, settings, progress)
        elif truth:
            board = score_runs(truth, runs, settings, where=where, progress=progress)
    except InputError as error:
        hints = split_hints(truth, runs.values(), (*other_truths(truth_path), *others)) if truth and truth_path else []
        raise InputError(sort_by_file([*problems, *error.problems, *hints], paths)) from None
    if problems:
        raise InputError(problems)
    of_run = {file.name: {**board.setting.of_run.get(file.name, {}), **file.facts} for file in files}
    board = replace(board, setting=replace(board.setting, of_run=of_run)).noted(note)
    return board.with_upper_bounds({file.name for file in files if file.upper_bound})


def _read(
    shared: tuple[Callable[..., Run], Mapping[int, str] | None, Truth | None], path: Path
) -> tuple[Run | None, list[Problem], list[PartlyRead]]:
    """Read one run file. Worker processes call this.

    Args:
        shared: the function that reads a run, the names of videos by index, and the truth; the same for all files.
        path: the file.

    Returns:
        The run, or None if the file was refused; the problems of the file; and errors about files of which a part could
        be read, each with this part.
    """
    reader, names, truth = shared
    problems: list[Problem] = []
    refusals: list[PartlyRead] = []
    return read_or_collect(problems, reader, path, names, truth, refusals=refusals), problems, refusals


def score_splits(runs: RunList, **asked: Any) -> dict[str, Scoreboard]:
    """Return the scoreboard of each split, by its name: the runs of the split, scored against its truth.

    The other arguments are those of `score_files`.

    Raises:
        InputError: lists the problems of all files of all splits.
    """
    problems: list[Problem] = []
    boards = {}
    for split in runs.splits:
        try:
            others = [path for other, path in runs.truths.items() if other != split]
            boards[split] = score_files(runs.truths.get(split), runs.of(split), others=others, **asked)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return boards


def _in_pools(
    pool: PoolFile,
    truth: Truth | None,
    runs: Mapping[str, Run],
    names: Mapping[int, str] | None,
    settings: Settings,
    progress: Progress | None,
) -> Scoreboard:
    """Score the runs with each query searched in its own pool of videos.

    If no truth is given, the moments that the file of pools lists are the truth.
    """
    said = "the truth comes from the pools: a query's own moment and its positives, relevance 1"
    return score_in_pools(
        _pooled(pool, truth, names),
        runs,
        settings,
        options=_pool_files(pool),
        notes=() if truth else (said,),
        own_video=pool.own_video,
        progress=progress,
    )


def _pool_files(pool: PoolFile) -> dict[str, str]:
    """Return the names of the file of pools and of the first step, to show beside the scores."""
    return {"pool": pool.path.name} | ({"first_step": pool.first_step.name} if pool.first_step else {})


def _pooled(pool: PoolFile, truth: Truth | None, names: Mapping[int, str] | None) -> Pooled:
    problems: list[Problem] = []
    pools = read_or_collect(problems, read_pools, pool.path)
    first = None if pool.first_step is None else read_or_collect(problems, read_run, pool.first_step, names)
    if pools is None or problems:
        raise InputError(problems)
    return prepare_pools(pools, str(pool.path), pool.pooling, truth=truth, first=first)


def evaluate_files(truth_path: Path | None, run_paths: Sequence[Path | RunFile], **asked: Any) -> dict[str, Any]:
    """Score run files; return the object that `reelrank evaluate --json` prints.

    The arguments are those of `score_files`.

    Returns:
        `{"preset", "options", "focus", "truth": {"queries", "moments"}, "runs": [{"name", "queries", "counted",
        "missing", "measures"}], "warnings"}`. `options` are those that differ from the preset. In a run, `missing` has
        the ids of the truth's queries that the run lacks, as the truth file writes them. `queries` is the number of the
        truth's queries that the run has, and `counted` the number of queries in its means. `notes` is added if measures
        were asked for by other names. If each query is searched in its own pool of videos, `pool` and each run's
        `outside_pool` (and `own_video`) are added, see `score_in_pools`.

    Raises:
        InputError: lists the problems of all files. Nothing is scored then.
    """
    return score_files(truth_path, run_paths, **asked).summary()


def file_inputs(
    truth: Path | None, runs: Sequence[Path], videos: Path | None = None, pool: PoolFile | None = None
) -> Inputs:
    """Return the files that scores are made from, with their hashes, query texts and video durations.

    The truth may be None if pools are given.

    Raises:
        InputError: a file cannot be read, or neither truth nor pools are given.
    """
    videos = None if videos is None else map_of(videos)
    if truth is not None:
        chosen = choose_truth(truth, videos=videos, queries=queries_of(runs))
        truth, videos = chosen.path, chosen.videos
    named_file = truth or (pool.path if pool else None)
    if named_file is None:
        raise InputError.single("truth", "is missing: give one, or give pools, whose moments become the truth")
    files = [("truth", truth), *(("run", path) for path in runs), ("videos", videos)]
    files += [("pools", pool.path), ("first step", pool.first_step)] if pool else []
    sources = []
    for what, path in files:
        if path is not None:
            content = file_bytes(path)
            sources.append(Source(what, path.name, len(content), hashlib.sha256(content).hexdigest()))
    facts = Facts({}, {}) if truth is None else read_facts(truth, videos)
    if pool:
        pools = read_pools(pool.path)
        texts = {query.query_id: query.text for query in pools.queries}
        facts = Facts(texts | dict(facts.texts), dict(pools.durations) | dict(facts.durations))
    return Inputs(named_file.name.split(".")[0], named_file.name, facts, tuple(sources))
