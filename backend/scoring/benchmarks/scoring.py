"""Score runs with the figures and conventions of a published benchmark.

Reads and writes nothing; `scored_files` reads files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from backend.core.errors import InputError, Problem
from backend.core.progress import Progress
from backend.scoring.benchmarks.benchmark import Benchmark, Part
from backend.scoring.matching.columns import QueryKey, Run, Truth
from backend.scoring.own_measures import AnyMeasure, describe
from backend.scoring.pools.scoring import Pooled, in_own_video, with_own_video
from backend.scoring.presets import Options, Settings
from backend.scoring.scoreboard import Scoreboard, Setting, score_runs
from backend.scoring.scores import Narrowing


def score_benchmark(
    benchmark: Benchmark,
    truth: Truth,
    runs: Mapping[str, Run],
    asked: Options,
    also: Sequence[AnyMeasure] = (),
    *,
    beside: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    narrowing: Narrowing | None = None,
    progress: Progress | None = None,
) -> Scoreboard:
    """Score runs by the figures and conventions of a benchmark.

    A benchmark groups its figures by the truth and predictions that they use, for example those for short moments.

    Args:
        benchmark: the benchmark.
        truth: the graded moments of each query.
        runs: the runs by name.
        asked: the caller's options, which override the benchmark's.
        also: measures to compute beside the published figures.
        beside: the values of figures that do not score moments (such as highlights), by run and by name of the figure.
        narrowing: selects the predictions that count, for example those in a query's pool of videos. None keeps all.
        progress: called with the name of the step, how much of it is done, and its total.

    Returns:
        The scoreboard (scores of all runs) of the first group of figures for which every run has predictions. Its
        summary has `benchmark` (name, title, evaluator, digits, percent, figures, notes). For each run the summary has
        `figures`: the value of every figure by name, or None if no query counts.

    Raises:
        InputError: lists the problems of the truth and of all runs. Nothing is scored then.
    """
    if not any(part.figures for part in benchmark.parts):
        lacking = [run.file for name, run in runs.items() if not beside.get(name)]
        message = f"{benchmark.name} scores clips: give files, and runs with `pred_saliency_scores`"
        if lacking:
            raise InputError([Problem(file, None, message) for file in lacking])
    only_highlights = _only_highlights(runs, beside)
    if only_highlights:
        _require_queries(truth, runs, benchmark.missing(asked))
        asked = {**asked, "missing": "skip"}
    parts = benchmark.planned(asked, also)
    named = runs
    if parts[0][1].conventions.missing != "published":
        # Drop unanswered queries now: once a part removes predictions, a query without any counts 0.
        runs = {name: _answered_queries(run) for name, run in runs.items()}
    boards = [_board(part, settings, truth, runs, narrowing, progress) for part, settings in parts]
    first = next((board for board in boards if board and len(board.runs) == len(runs)), None)
    if first is None:
        message = "and its runs share no part of the benchmark: score them separately" if any(boards) else ""
        raise InputError.single(truth.file, message or "holds no query")
    values: dict[str, dict[str, float | None]] = {name: {} for name in runs}
    for (part, _), board in zip(parts, boards, strict=True):
        means = {run.name: run.means for run in board.runs} if board else {}
        for name, of_run in values.items():
            of_run.update({figure.name: means.get(name, {}).get(figure.key) for figure in part.figures})
    figures = [
        {"name": figure.name, "key": figure.key, "about": figure.about, "queries": len(board.queries) if board else 0}
        for (part, _), board in zip(parts, boards, strict=True)
        for figure in part.figures
    ]
    if benchmark.beside and any(beside.values()):
        figures += [{"name": figure.name, "key": "", "about": figure.about} for figure in benchmark.beside.figures]
        for name, of_run in values.items():
            of_run.update({figure.name: beside.get(name, {}).get(figure.name) for figure in benchmark.beside.figures})
    facts = {
        "name": benchmark.name,
        "title": benchmark.title,
        "evaluator": benchmark.evaluator,
        "digits": benchmark.digits,
        "percent": benchmark.percent,
        "figures": figures,
        "notes": list(benchmark.notes),
    }
    # Parts with fewer queries, such as those of one type, only repeat warnings of the parts with all queries.
    whole = [board for board in boards if board and len(board.queries) == len(first.queries)]
    warnings = tuple(dict.fromkeys(warning for board in whole for warning in board.warnings))
    of_runs: dict[str, dict[str, Any]] = {name: {"figures": found} for name, found in values.items()}
    if only_highlights:  # what the board knows is about moments
        warnings = ()
        for name, run in named.items():
            missing = _queries_without_entry(truth, run)
            of_runs[name] |= {"queries": len(truth.queries) - len(missing), "missing": missing}
    own = {name: describe(measure) for _, settings in parts for name, measure in settings.own.items()}
    setting = Setting(facts={"benchmark": facts} | ({"own_measures": own} if own else {}), of_run=of_runs)
    return replace(first, warnings=warnings, setting=setting)


def score_benchmark_in_pools(
    benchmark: Benchmark,
    pooled: Pooled,
    runs: Mapping[str, Run],
    asked: Options,
    also: Sequence[AnyMeasure] = (),
    *,
    files: Mapping[str, str],
    own_video: bool = False,
    progress: Progress | None = None,
) -> Scoreboard:
    """Score runs by a benchmark that searches each query in its own pool of videos.

    The moments that the pools list for a query are its truth. The summary shows `files` among the options: the name of
    the pools as `pool`, and that of a first step as `first_step`. With `own_video`, each run is also scored in the
    query's own video alone; see `with_own_video`.

    Raises:
        InputError: lists the problems of the truth and of all runs. Nothing is scored then.
    """
    full = {name: pooled.places.without_short(run) for name, run in runs.items()}
    board = score_benchmark(benchmark, pooled.truth, full, asked, also, narrowing=pooled.narrowing, progress=progress)
    setting = replace(board.setting, options={**files, **pooled.pooling.options})
    board = replace(board, setting=setting, warnings=(*pooled.warnings, *board.warnings))
    if own_video:
        truth, narrowing = in_own_video(pooled)
        alone = score_benchmark(benchmark, truth, full, asked, also, narrowing=narrowing, progress=progress)
        board = with_own_video(board, alone)
    return board


def require_only(
    benchmark: Benchmark | None, *, asked: bool, truth: bool, pools: bool, also: Sequence[AnyMeasure] = ()
) -> None:
    """Raise an error if the caller set options that the benchmark sets itself, or gave files that it does not use.

    Args:
        benchmark: the benchmark, or None if the caller named none; then only `also` is refused.
        asked: whether the caller chose measures, K, mu, theta, relevance or preset.
        truth: whether a truth is given.
        pools: whether pools are given.
        also: the measures that the caller adds to those of the benchmark.

    Raises:
        InputError: says what to leave out or to give.
    """
    if benchmark is None:
        if also:
            raise InputError.single("also", "adds measures to those of a benchmark; without one, choose with measures")
        return
    benchmark.planned(Options(), also)
    if asked or (pools and not benchmark.in_pools):
        advice = "sets its own measures, K, mu, theta and preset; leave these and pools out"
        raise InputError.single("benchmark", f"{benchmark.name} {advice}")
    if benchmark.in_pools and (truth or not pools):
        advice = "takes its truth from the pools; give pools and no truth"
        raise InputError.single("benchmark", f"{benchmark.name} {advice}")


def _only_highlights(runs: Mapping[str, Run], beside: Mapping[str, Mapping[str, float]]) -> bool:
    """Return whether all runs have scores for highlights, but no predicted moments.

    Raises:
        InputError: this is so for some of the runs only.
    """
    only = [name for name, run in runs.items() if beside.get(name) and not len(run.video)]
    if only and len(only) < len(runs):
        raise InputError.single(runs[only[0]].file, "has highlights and no moments; score it without the other runs")
    return bool(only)


def _require_queries(truth: Truth, runs: Mapping[str, Run], missing: str) -> None:
    """Raise an `InputError` if a run lacks a query of the truth and the option `missing` is `error`."""
    if missing != "error":
        return
    problems = []
    for run in runs.values():
        problems += [Problem(run.file, None, f"query {q} is missing") for q in _queries_without_entry(truth, run)]
    if problems:
        raise InputError(problems)


def _queries_without_entry(truth: Truth, run: Run) -> list[QueryKey]:
    named = set(map(str, run.queries))
    return [query for query in truth.queries if str(query) not in named]


def _answered_queries(run: Run) -> Run:
    return replace(run.answered(), tasks={task: of_task.answered() for task, of_task in run.tasks.items()})


def _board(
    part: Part,
    settings: Settings,
    truth: Truth,
    runs: Mapping[str, Run],
    narrowing: Narrowing | None,
    progress: Progress | None,
) -> Scoreboard | None:
    """Return the scores of the runs for `part`, one group of a benchmark's figures.

    Return None if the truth has no query for this group, or if no run has predictions for it. `narrowing` selects the
    predictions that count; None keeps all. `progress` is told how much is done.
    """
    left = part.of_truth(truth)
    selected = {name: part.of_run(run, left) for name, run in runs.items()}
    runs_left = {name: run for name, run in selected.items() if run is not None}
    if not left.queries or (runs and not runs_left):
        return None
    return score_runs(left, runs_left, settings, narrowing=narrowing, part=True, progress=progress)
