"""Score runs against graded ground truth; both are given as Python objects or files.

Reads: the files whose paths are given. Writes: nothing.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, SupportsIndex, TypeGuard, Unpack, cast

from backend.core.errors import InputError, Problem
from backend.scoring.benchmarks import benchmark_named
from backend.scoring.benchmarks.scoring import require_only, score_benchmark, score_benchmark_in_pools
from backend.scoring.breakdown import AnyGroups
from backend.scoring.collected_problems import further_problems, read_or_collect, sort_by_file, sort_by_row
from backend.scoring.files.objects import (
    AnyRun,
    AnyTruth,
    held,
    run_from,
    run_name,
    tasks_from,
    truth_from,
    videos_from,
)
from backend.scoring.files.release_folder import choose_truth
from backend.scoring.files.text import PartlyRead
from backend.scoring.gain import AnyGain
from backend.scoring.own_measures import AnyMeasure
from backend.scoring.plausibility import add_video_facts
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import PoolConventions, Pools
from backend.scoring.pools.scoring import prepare_pools, score_in_pools
from backend.scoring.presets import DEFAULT_MU, Options, Preset, settle
from backend.scoring.requested_values import listed
from backend.scoring.result import Evaluation, Evaluations, breakdowns
from backend.scoring.run_files import named_files
from backend.scoring.scoreboard import Scoreboard, score_runs
from backend.scoring.statistics.resampling import RESAMPLES
from backend.scoring.statistics.sureness import Sureness, add_statistics

_NO_OPTIONS = frozenset(
    (
        "preset",
        "k",
        "mu",
        "theta",
        "min_relevance",
        "measures",
        "benchmark",
        "also",
        "videos",
        "pools",
        "pooling",
        "first_step",
        "by",
    )
)
"""The keyword arguments of `evaluate` that are not conventions."""


class Wanted(Options, total=False):
    """The keyword arguments of `evaluate` and `compare` besides truth and runs; see `evaluate`."""

    preset: Preset | None
    k: Iterable[SupportsIndex] | SupportsIndex | None
    mu: Iterable[float] | float | None
    theta: Iterable[float] | float | None
    min_relevance: float
    measures: Iterable[AnyMeasure] | AnyMeasure | None
    benchmark: str | None
    also: Iterable[AnyMeasure] | AnyMeasure | None
    videos: str | os.PathLike[str] | Mapping[str, Any] | None
    pools: Pools | str | os.PathLike[str] | None
    pooling: PoolConventions | None
    first_step: AnyRun | None
    by: AnyGroups | Sequence[AnyGroups] | None


def evaluate(
    truth: AnyTruth | None,
    run: AnyRun,
    *,
    preset: Preset | None = None,
    k: Iterable[SupportsIndex] | SupportsIndex | None = None,
    mu: Iterable[float] | float | None = None,
    theta: Iterable[float] | float | None = None,
    min_relevance: float = 1,
    measures: Iterable[AnyMeasure] | AnyMeasure | None = None,
    benchmark: str | None = None,
    also: Iterable[AnyMeasure] | AnyMeasure | None = None,
    videos: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    pools: Pools | str | os.PathLike[str] | None = None,
    pooling: PoolConventions | None = None,
    first_step: AnyRun | None = None,
    by: AnyGroups | Sequence[AnyGroups] | None = None,
    order: str | None = None,
    missing: str | None = None,
    gain: AnyGain | None = None,
    iou_compare: str | None = None,
    arithmetic: str | None = None,
    zero_relevance: str | None = None,
    unknown: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    dedupe_predictions: bool | None = None,
    invalid: str | None = None,
    nms: float | None = None,
    abandonment: str | Sequence[float] | None = None,
    persistence: float | None = None,
    map_depth: int | None = None,
    iou_epsilon: float | None = None,
) -> Evaluation:
    """Score a run: return each measure's mean over the queries, and its value for each query.

    Args:
        truth: `{query: [{"video", "start", "end", "relevance"}]}`, with times in seconds and relevance 0-4, or any
            number from 0 to 1000 if you name the `gain`. It may also be entries as in truth files (a list or a
            generator), or a data frame (pandas, polars, pyarrow, Hugging Face datasets) with a row for each moment. Or
            give the path of a truth file or of a release's folder, an open file, or the content of one as text or
            bytes. Fields may have any name that truth files use (`video_name`, `timestamp`). None takes the truth from
            `pools`: all moments that match a query.
        run: `{query: [[video, start, end, score], ...]}`, best first; a prediction may also be an object. If no
            prediction has a score, write `[video, start, end]`. Anything that the truth may be, a run may be too.
        preset: `paper`, `tvr-ranking` or `axiou`; sets every option that you do not give.
        k: rank cut-offs, whole numbers from 1; default 10, 20, 40, in preset `axiou` 1, 5, 10.
        mu: IoU thresholds of NDCG, in (0, 1]; default .3, .5, .7.
        theta: IoU thresholds of measures without graded relevance, in (0, 1]; default .3, .5, .7.
        min_relevance: lowest relevance that counts as relevant for measures without graded relevance: 1-4, or any
            number above 0 if you name the `gain`.
        measures: one or more names of measures (`rank` stands for `recall`, `ap` for `axiou_ap`), keys, or measures of
            your own, which are functions of a query (see `backend.scoring.own_measures`). A key such as `ndcg@20,0.5`,
            `map@avg` or `miou` chooses one value, whatever `k`, `mu` and `theta` are. By default preset `paper`
            computes the measures of the papers; docs/metrics.md lists all others. `tvr-ranking` computes only `ndcg`,
            and `axiou` the twelve of its experiments: R@K, IoU>theta (`recall_gt`) and AxIoU@K.
        benchmark: name of a published benchmark, such as `charades-sta`. It sets measures, cut-offs, thresholds and
            conventions. `figures` of the result has the figures that the benchmark's own evaluator prints.
        also: measures to add to `figures`, such as `["miou", "recall@5,0.5"]` or one of your own; for `qvhighlights`
            also of short, middle and long moments, as `miou (short)`. By name alone, K is 1 and theta 0.5.
        videos: the map `name -> [duration, index]` or its path, for runs that give videos by index.
        pools: a file that names the videos to search for each query (its pool), as in MVMR, or the result of
            `reelrank.read_pools`. Predictions in other videos are an error; `Pooling(outside="drop")` leaves them out.
        pooling: further choices about pools, such as `Pooling(one_per_video=True)`: only the best prediction of a video
            counts.
        first_step: a run whose scores rank the videos of a pool, for a two-step retrieval. Only the best five (or
            `pooling.top_videos`) videos count. Its times do not matter.
        by: groups of queries to report the means of: one or more of `duration`, `show`, `video`, `relevance` and
            `type`, or a mapping `{query: group}`, or `{property: {query: group}}`.
        order: rank predictions in the given order (`file`) or by falling score, with a stable sort (`score`).
        missing: a truth query without predictions scores 0 (`zero`; preset `paper`), is left out of the mean (`skip`)
            or is an error (`error`). It may be absent from the run, have an empty list, or have only predictions that
            `invalid` leaves out. `published` (preset `tvr-ranking`) leaves out absent queries; the others score 0.
        gain: gain of NDCG and DCG: `linear` (x) or `exp2` (2**x - 1). Or a function of x (the relevance in NDCG, the
            IoU in DCG), or a mapping from relevances to gains, for NDCG only. It must not fall as x rises. If you give
            a gain, the truth may have any relevance.
        iou_compare: whether NDCG needs an IoU of at least mu (`ge`) or above mu (`gt`).
        arithmetic: how IoUs are computed: `exact` (in whole numbers), `float64`, `float64_hull` (as in the evaluators
            of Charades-STA), `float32` (as in those of TVR, MMN and MVMR) or `hundredths` (rounded, as in VTimeLLM's).
        zero_relevance: truth moments of relevance 0 take predictions (`absorb`) or are removed (`drop`).
        unknown: queries of the run that the truth lacks are an error (`error`) or are ignored (`ignore`).
        no_relevant: queries without relevant moments score 0 (`zero`), are left out (`skip`), or score 1 if the run has
            no predictions for them and otherwise 0 (`correct_empty`).
        duplicates: equal truth moments: `keep` them, or merge them with the highest relevance (`merge_max`).
        dedupe_predictions: of equal predictions of a query, keep only the first.
        invalid: impossible moments, and mu outside (0, 1]: `error`, `skip` them, or `zero` (see `Conventions`).
        nms: threshold of non-maximum suppression, an IoU in (0, 1]. A prediction is dropped if it overlaps a kept one
            of higher score, of the same query and video, by more than this. The others are ranked by score.
        abandonment: where a person stops reading, for NCxIoU: `uniform` (default), `err`, or the probabilities of
            ranks 1, 2, ...
        persistence: how likely a person reads on after each rank, for RBP; default 0.8.
        map_depth: how many of a query's first predictions count for `map`; default 10.
        iou_epsilon: seconds added to the union in IoUs, as some published evaluators do; not with exact arithmetic.

    Returns:
        A dict of `mean` and `per_query`, which are also attributes, with methods `to_frame()` and `to_latex()`. Keys
        are `ndcg@K,mu`, `recall@K,theta` (IoU >= theta), `recall_gt@K,theta` (>), `axiou_ap@K,theta` (>), `axiou@K`,
        `dcg@K`, `map@theta` (>=), `map@avg`, `miou` and others, such as `ndcg@10,0.3`. Values are in 0..1, except
        for DCG, which is not normalised. `per_query` has the queries of the run in its order, then the missing ones if
        they count. `mean` is NumPy's mean in that order; it is `{}` if no query counts.

    Raises:
        InputError: lists all problems. Each names `truth`, `run`, `first_step` or `pools` and the row, or an option.

    >>> truth = {"q": [{"video": "v1", "start": 12, "end": 19, "relevance": 4},
    ...                {"video": "v1", "start": 20, "end": 28, "relevance": 2}]}
    >>> run = {"q": [["v1", 10, 30, 0.9], ["v1", 9, 29, 0.8]]}
    >>> evaluate(truth, run, k=2, mu=0.3, measures=["ndcg", "axiou"]).mean
    {'ndcg@2,0.3': 0.8597186998521972, 'axiou@2': 0.4}

    The two predictions take moments of relevance 2 and 4, so NDCG is (2 + 4/log2(3)) / (4 + 2/log2(3)).
    """
    asked = cast("Wanted", {name: value for name, value in locals().items() if name not in ("truth", "run")})
    given = held(run, "run")
    board = _scoreboard(truth, {run_name(given): given}, asked)
    return Evaluation(board, breakdowns(board, by))


def compare(
    truth: AnyTruth | None,
    runs: Mapping[str, AnyRun] | Sequence[str | os.PathLike[str]],
    *,
    baseline: str | None = None,
    pairs: Literal["all"] | None = None,
    upper_bounds: Collection[str] = (),
    intervals: bool = False,
    clusters: AnyGroups | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **asked: Unpack[Wanted],
) -> Evaluations:
    """Score several runs against one truth, and test whether their differences are significant.

    Args:
        truth: as for `evaluate`.
        runs: `{name: run}`, each run as for `evaluate`. It may also be a list of paths or of texts
            `NAME=FILE`; a run given by its path has the name of the file.
        baseline: name of the run that the others are compared with. Differences, p-values and intervals are in
            `differences`, and `to_latex` marks significant differences.
        pairs: `all` compares every run with every other. p is adjusted for all pairs (Holm). `differences` then has
            these pairs, not the comparisons with the baseline.
        upper_bounds: names of runs that use information that no competing system has, such as the captions of moments.
            Tables mark them and never call them best. Runs with a name such as `caption` are always upper bounds.
        intervals: add 95 % bootstrap intervals to `summary`, even without a baseline, and to the groups of `by`.
        clusters: queries that are not independent, as one property of `by`, such as `video` or `show`. Intervals and
            p-values then draw whole groups of queries; there is no t-test.
        resamples: number of bootstrap samples, and of random sign flips in the permutation test.
        seed: random seed of the samples and of the flips.
        **asked: as for `evaluate`.

    Returns:
        The `Evaluation` of each run by name, with `to_frame()` and `to_latex()` for all of them.

    Raises:
        InputError: lists all problems of the truth and the runs. Nothing is scored then.

    >>> truth = {"q": [{"video": "v1", "start": 12, "end": 19, "relevance": 4}]}
    >>> first, second = {"q": [["v1", 10, 30, 0.9]]}, {"q": [["v1", 12, 20, 0.9]]}
    >>> both = compare(truth, {"first": first, "second": second}, k=1, measures="axiou")
    >>> [(name, round(one.mean["axiou@1"], 3)) for name, one in both.items()]
    [('first', 0.35), ('second', 0.875)]
    """
    board = _scoreboard(truth, runs_by_name := _by_name(runs), asked).with_upper_bounds(upper_bounds)
    if unknown := next((name for name in upper_bounds if name not in runs_by_name), None):
        raise InputError.single("upper_bounds", f"{unknown!r} is not one of {', '.join(runs_by_name)}")
    groups = breakdowns(board, asked.get("by"))
    summary = board.summary(groups)
    if intervals or baseline is not None or pairs is not None:
        add_statistics(summary, board, Sureness(baseline, resamples, seed, pairs, clusters), by=groups)
    elif clusters is not None:
        raise InputError.single("clusters", "need statistics: add intervals=True, a baseline, or pairs='all'")
    return Evaluations(board, summary, groups)


def _by_name(runs: object) -> Mapping[str, Any]:
    """Return the runs by name, from a mapping or from paths."""
    advice = "give {name: run}, or a list of paths"
    if isinstance(runs, Mapping):
        if not runs:
            raise InputError.single("runs", f"are none; {advice}")
        if bad := next((name for name, run in runs.items() if _is_rows(run)), None):
            raise InputError.single("runs", f"{bad!r} holds the predictions of one query, not a run; {advice}")
        return {str(name): held(run, str(name)) for name, run in runs.items()}
    if isinstance(runs, (str, os.PathLike)) or not isinstance(runs, Sequence):
        raise InputError.single("runs", f"are of type {type(runs).__name__}; {advice}")
    if not runs or not all(isinstance(run, (str, os.PathLike)) for run in runs):
        raise InputError.single("runs", f"are not paths; {advice}" if runs else f"are none; {advice}")
    return {file.name: file.path for file in named_files(run if isinstance(run, str) else Path(run) for run in runs)}


def _is_rows(run: object) -> bool:
    """Return whether `run` is a list of predictions for one query, and not a whole run.

    A whole run may be a list too, but each of its entries names its query.
    """
    return isinstance(run, (list, tuple)) and bool(run) and isinstance(run[0], (list, tuple))


def _scoreboard(truth_given: AnyTruth | None, runs: Mapping[str, Any], asked: Wanted) -> Scoreboard:
    given = None if truth_given is None else held(truth_given, "truth")
    options: Options = {name: value for name, value in asked.items() if name not in _NO_OPTIONS}  # type: ignore[assignment]  # settle refuses other names
    chosen = {name: asked.get(name) for name in ("k", "mu", "theta", "measures", "preset")}
    benchmark = benchmark_named(name) if (name := asked.get("benchmark")) else None
    pools, pooling, first = asked.get("pools"), asked.get("pooling"), asked.get("first_step")
    also = listed(asked.get("also") or ())
    chooses_values = any(value is not None for value in chosen.values()) or asked.get("min_relevance", 1) != 1
    require_only(benchmark, asked=chooses_values, truth=given is not None, pools=pools is not None, also=also)
    settings = settle(
        asked.get("preset") or "paper",
        asked.get("k"),
        DEFAULT_MU if (mu := asked.get("mu")) is None else mu,
        benchmark.options_with(options) if benchmark else options,
        theta=DEFAULT_MU if (theta := asked.get("theta")) is None else theta,
        min_relevance=asked.get("min_relevance", 1),
        measures=asked.get("measures"),
    )
    if pools is None and (given is None or pooling is not None or first is not None):
        missing_one = "truth" if given is None else "pools"
        raise InputError.single(missing_one, "is missing: give a truth or pools; pooling and a first step need pools")
    problems: list[Problem] = []
    refusals: list[PartlyRead] = []
    video_map, note = asked.get("videos"), ""
    if _is_path(given) and runs:
        run_name, run = next(iter(runs.items()))
        release = choose_truth(Path(given), queries=lambda names: run_from(run, run_name, names).queries)
        given, note, video_map = release.path, release.note, release.videos if video_map is None else video_map
    videos = None if video_map is None else read_or_collect(problems, videos_from, video_map)
    read_truth = partial(truth_from, repair=benchmark.repair if benchmark else "leave out")
    truth = None if given is None else read_or_collect(problems, read_truth, given, refusals=refusals)
    truth = None if truth is None else add_video_facts(truth, videos)
    reader = tasks_from if benchmark and benchmark.tasks else run_from
    read = {
        name: read_or_collect(problems, reader, run, name, videos, truth, refusals=refusals)
        for name, run in runs.items()
    }
    beside: dict[str, Mapping[str, float]] = {}
    if benchmark and _is_path(given):
        for name, run in runs.items():
            if _is_path(run):
                beside[name] = benchmark.figures_beside(Path(given), Path(run), options, problems)
    step = None if first is None else read_or_collect(problems, run_from, first, "first_step", videos)
    if isinstance(pools, (str, os.PathLike)):
        pools = read_or_collect(problems, read_pools, Path(pools))
    columns = {name: run for name, run in read.items() if run is not None}
    if refusals and pools is None:
        rules = benchmark.planned(options)[0][1] if benchmark else settings
        files = dict.fromkeys(problem.file for problem in problems)
        raise InputError(
            sort_by_file(sort_by_row([*problems, *further_problems(truth, columns.values(), refusals, rules)]), files)
        )
    if problems:
        raise InputError(problems)
    if pools is not None:
        pooled = prepare_pools(pools, "pools", pooling or PoolConventions(), truth=truth, first=step)
        if benchmark:
            board = score_benchmark_in_pools(benchmark, pooled, columns, options, also, files={"pool": "pools"})
        else:
            board = score_in_pools(pooled, columns, settings)
    elif truth is None:
        raise InputError.single("truth", "is missing")
    elif benchmark:
        board = score_benchmark(benchmark, truth, columns, options, also, beside=beside)
    else:
        board = score_runs(truth, columns, settings)
    return board.noted(note)


def _is_path(given: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(given, (str, os.PathLike))
