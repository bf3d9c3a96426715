"""Run the studies of measures on truth and run files: agreement, stability, noise, ties, selection, axioms, theory.

Reads: truth, run and video map files. Writes: nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.progress import Progress, steps_of
from backend.core.where import HERE, Where
from backend.scoring.collected_problems import further_problems, read_or_collect, sort_by_file, sort_by_row
from backend.scoring.files.formats import read_run, read_truth, read_videos
from backend.scoring.files.release_folder import choose_truth, queries_of
from backend.scoring.files.text import PartlyRead
from backend.scoring.matching.columns import Run
from backend.scoring.plausibility import add_video_facts
from backend.scoring.presets import DEFAULT_MU, Options, Preset, Settings, settle
from backend.scoring.scores import AnswerKey, prepare_run, prepare_truth, score
from backend.scoring.studies import axioms, noise
from backend.scoring.studies import stability as studies_stability
from backend.scoring.studies.stability import TRIALS, SubsetPairs, default_sizes, stability
from backend.scoring.studies.study import Study, SystemValues


@dataclass(frozen=True, slots=True)
class StudyInputs:
    """The files to score and how to score them, as for `evaluate_files`; `runs` maps each run's name to its file.

    `measures` are names, or keys such as `ndcg@10` and `map@avg`; if empty, the usual measures. Systems are compared on
    the same queries, so the option `missing` is `zero` by default and otherwise must be `error`.
    """

    truth: Path
    """A truth file, or the folder of a release."""
    runs: Mapping[str, Path]
    videos: Path | None = None
    preset: Preset = "paper"
    k: Iterable[SupportsIndex] | None = None
    """None: the cut-offs of the preset."""
    mu: Iterable[float] = DEFAULT_MU
    theta: Iterable[float] = DEFAULT_MU
    measures: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    split: str | None = None
    """The split to use where `truth` is the folder of a release; None: the split of the runs' queries."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The truth and runs of a study after reading, checking and scoring.

    `table` has the values of every query, by measure (in the order of `settings.keys`) and system. `videos` is the path
    of the video map, None if there is none.
    """

    key: AnswerKey
    runs: tuple[Run, ...]
    settings: Settings
    table: SystemValues
    warnings: list[str]
    videos: Path | None

    def choices(self, **more: object) -> dict[str, object]:
        """Return what a study's results depend on: preset, options, number of queries, systems, and all of `more`."""
        return {
            "preset": self.settings.preset,
            "options": self.settings.changed,
            "queries": self.table.values.shape[2],
            "systems": list(self.table.systems),
            **more,
        }


def read_and_score(inputs: StudyInputs) -> Scored:
    """Read the truth and run files of a study, and score every run at every query.

    Raises:
        InputError: lists the problems of all files.
    """
    if inputs.options.get("missing") in ("skip", "published"):
        raise InputError.single("missing", "systems are compared on the same queries: zero or error")
    options = inputs.options.copy()
    if options.get("missing") is None:
        options["missing"] = "zero"
    settings = settle(inputs.preset, inputs.k, inputs.mu, options, theta=inputs.theta, measures=inputs.measures or None)
    chosen = choose_truth(
        inputs.truth, videos=inputs.videos, split=inputs.split, queries=queries_of(inputs.runs.values())
    )
    inputs = replace(inputs, truth=chosen.path, videos=chosen.videos)
    names = None if inputs.videos is None else read_videos(inputs.videos)
    problems: list[Problem] = []
    refusals: list[PartlyRead] = []
    if len(inputs.runs) < 2:
        problems.append(Problem("runs", None, "a study compares systems: give at least two runs"))
    truth = read_or_collect(problems, read_truth, inputs.truth, refusals=refusals)
    key = None if truth is None else read_or_collect(problems, prepare_truth, add_video_facts(truth, names), settings)
    runs, ranked = [], []
    for path in inputs.runs.values():
        run = read_or_collect(problems, read_run, path, names, key.truth if key else None, refusals=refusals)
        runs += [] if run is None else [run]
        prepared = None if run is None or key is None else read_or_collect(problems, prepare_run, run, key, settings)
        ranked += [] if prepared is None else [prepared]
    if refusals:
        problems += further_problems(key.truth if key else None, runs, refusals, settings)
        problems = sort_by_file(sort_by_row(dict.fromkeys(problems)), (inputs.truth, *inputs.runs.values()))
    if problems or key is None:
        raise InputError(problems)
    scores = [score(key, run, settings) for run in ranked]
    order = [{query: n for n, query in enumerate(run_scores.query.tolist())} for run_scores in scores]
    queries = sorted(order[0])
    if not queries:
        raise InputError.single(inputs.truth, "no query counts, so there is nothing to compare")
    values = np.array(
        [
            run_scores.values[:, [column[query] for query in queries]]
            for run_scores, column in zip(scores, order, strict=True)
        ]
    ).transpose(1, 0, 2)
    table = SystemValues(settings.keys, tuple(inputs.runs), np.ascontiguousarray(values))
    warnings = [
        *filter(None, (chosen.note,)),
        *settings.notes,
        *key.warnings,
        *(warning for run in ranked for warning in run.warnings),
    ]
    return Scored(key, tuple(runs), settings, table, warnings, inputs.videos)


def _durations_of(path: Path) -> Mapping[str, float]:
    """Return the duration of each video, in seconds, from a video map; each video must have one.

    Raises:
        InputError: names each video without a duration. Its row counts the videos of the whole file from 1.
    """
    videos = read_videos(path)
    problems = [
        Problem(str(path), row, f"video {name!r} has no duration in seconds")
        for row, name in enumerate(videos.values(), 1)
        if name not in videos.durations
    ]
    if problems:
        raise InputError(problems)
    return videos.durations


def agreement_study(inputs: StudyInputs) -> Study:
    """Compute Kendall's tau-b between the orders of systems under every two measures.

    Raises:
        InputError: lists the problems of all files. All other studies of files raise it too.
    """
    scored = read_and_score(inputs)
    return Study("agreement", scored.choices(), studies_stability.agreement(scored.table), scored.warnings)


def stability_study(
    inputs: StudyInputs,
    *,
    sizes: Sequence[int] | None = None,
    trials: int = TRIALS,
    subset_pairs: SubsetPairs = "disjoint",
    seed: int = 0,
    where: Where = HERE,
    progress: Progress | None = None,
) -> Study:
    """Compute how well each measure's order of the systems agrees between two random sets of queries.

    `sizes` are the numbers of queries in a set; None means `default_sizes`. `trials` is how many times two sets are
    drawn for each size.
    """
    scored = read_and_score(inputs)
    queries = scored.table.values.shape[2]
    chosen = list(dict.fromkeys(sizes)) if sizes is not None else default_sizes(queries)
    wrong = [Problem("sizes", None, f"{size} is not from 1 to the {queries} queries") for size in chosen]
    wrong = [problem for problem, size in zip(wrong, chosen, strict=True) if not 1 <= size <= queries]
    if wrong or not chosen:
        raise InputError(wrong or [Problem("sizes", None, "give at least one size, such as 100")])
    _at_least_one(trials=trials, jobs=where.jobs)
    _not_negative(seed=seed)
    rows = stability(
        scored.table,
        chosen,
        trials=trials,
        subset_pairs=subset_pairs,
        seed=seed,
        where=where,
        progress=steps_of(progress, "trials"),
    )
    choices = scored.choices(trials=trials, subset_pairs=subset_pairs, seed=seed)
    return Study("stability", choices, rows, scored.warnings)


def noise_study(
    inputs: StudyInputs,
    *,
    kind: noise.Noise = "exp_length",
    sigmas_s: Sequence[float] = noise.SIGMAS_S,
    sets: int = noise.SETS,
    seed: int = 0,
    where: Where = HERE,
    progress: Progress | None = None,
) -> Study:
    """Compute how far imprecise boundaries in the truth move the systems' means, as a root mean square error (RMSE).

    Args:
        inputs: the truth, the runs of the systems, and how to score them. The truth or the video map has the durations
            of videos, in which noisy moments stay; where both have one, the map's counts.
        kind: the noise model, `exp_length`, `shifted_length` or `gaussian_ends`; see `NoiseModel`.
        sigmas_s: standard deviations of the noise, in seconds.
        sets: the number of noisy copies of the truth for each of these.
        seed: the seed of the random generator.
        where: where the copies are scored, for example in several processes.
        progress: called with the name of the step, how much of it is done, and its total.
    """
    _at_least_one(sets=sets, jobs=where.jobs)
    _not_negative(seed=seed, **{f"sigma {sigma}": sigma for sigma in sigmas_s})
    if not sigmas_s:
        raise InputError.single("sigma", "give at least one, such as 1")
    scored = read_and_score(inputs)
    truth, warnings = scored.key.truth, list(scored.warnings)
    known_s = truth.durations if scored.videos is None else {**truth.durations, **_durations_of(scored.videos)}
    unknown = sum(video not in known_s for video in truth.videos)
    if unknown and kind != "shifted_length":
        warnings.append(
            f"the durations of {unknown} of the truth's {len(truth.videos)} videos are unknown (--videos gives them), "
            "so noisy moments may end after them"
        )
    rows = noise.label_noise(
        noise.NoiseInputs(truth, scored.runs, scored.settings, noise.durations(truth, known_s)),
        scored.table,
        [noise.NoiseModel(kind, float(sigma)) for sigma in dict.fromkeys(sigmas_s)],
        sets=sets,
        seed=seed,
        where=where,
        progress=steps_of(progress, "noisy sets"),
    )
    choices = scored.choices(
        noise=noise.NOISE_NAMES[kind],
        sigma=[f"{sigma:g} s" for sigma in sigmas_s],
        draws=noise.DRAWS,
        sets=sets,
        seed=seed,
    )
    return Study("noise", choices, rows, warnings)


def ties_study(inputs: StudyInputs) -> Study:
    """Compute the share of queries for which a measure gives all systems the same value."""
    scored = read_and_score(inputs)
    return Study("ties", scored.choices(), studies_stability.tied_queries(scored.table), scored.warnings)


def model_selection_study(
    validation: StudyInputs, test: StudyInputs, *, over: studies_stability.Over = "selected"
) -> Study:
    """Compute how good the models are that each measure selects: selection on validation, z-scores on test queries.

    `validation` and `test` name the same runs. A z-score is a score minus a mean, divided by a standard deviation.
    `over` says over which models these two are taken: the `selected` ones or all `candidates`.
    """
    problems: list[Problem] = []
    both = []
    for inputs in (validation, test):
        try:
            both.append(read_and_score(inputs))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    chosen, judged = both
    choices = chosen.choices(test_queries=judged.table.values.shape[2], z_over=over)
    rows = studies_stability.model_selection(chosen.table, judged.table, over)
    warnings = [*chosen.warnings, *judged.warnings]
    if over == "selected" and len({row["selected"] for row in rows}) == 1:
        warnings.append(
            f"every measure selects {rows[0]['selected']}, so all z-scores over the selected models are 0; those over "
            "the candidates say how good it is"
        )
    return Study("model-selection", choices, rows, warnings)


def axioms_study(
    measures: Sequence[str] = (),
    *,
    preset: Preset = "paper",
    mu: Sequence[float] = (0.5,),
    theta: Sequence[float] = (0.5,),
    options: Options | None = None,
    longest: int = 3,
    progress: Progress | None = None,
) -> Study:
    """Test measures against the axioms INV-k and MON-k of the AxIoU paper, on all short lists of predictions.

    INV-k: replacing a prediction by a better one does not change the value if the best before it is as good. MON-k: the
    value rises if the new one is better than the old one and all before it.

    For each broken axiom there is a shortest counterexample. `measures` defaults to all of the preset. `longest` is the
    largest number of predictions in a list.
    """
    if not 1 <= longest <= axioms.LONGEST:
        raise InputError.single("length", f"{longest} is not from 1 to {axioms.LONGEST} predictions")

    def settings_of(length: int) -> Settings:
        return settle(preset, [length], mu, options or {}, theta=theta, measures=measures or None)

    settings = settings_of(longest)
    tried = ", ".join(f"{level:g}" for level in (0, *axioms.levels((*settings.mu, *settings.theta))))
    choices: dict[str, object] = {
        "preset": settings.preset,
        "options": settings.changed,
        "lists": f"of K predictions, K up to {longest}",
        "IoU": tried,
        "relevant moments": "1 or 2",
    }
    return Study(
        "axioms", choices, axioms.try_axioms(settings_of, longest, steps_of(progress, "lists")), list(settings.notes)
    )


def theory_study(
    thetas: Sequence[float] = DEFAULT_MU,
    gammas: Sequence[float] = (0.05, 0.1, 0.2),
    *,
    over: noise.Over = "theta",
    rs: Sequence[float] = (0.5,),
) -> Study:
    """Compute squared bias, variance and MSE of R@1,theta and AxIoU@1 under Gaussian noise in IoU, in closed form.

    R@1,theta is 1 if the first prediction's IoU is at least theta, otherwise 0. AxIoU@1 is this IoU itself.

    `gammas` are the standard deviations of the noise. There is a curve over theta for each true IoU in `rs`; by default
    this is Figure 2 of AxIoU's supplement. With `over="r"` there is a curve over the true IoU r for each of `thetas`.
    """
    name, levels = ("theta", thetas) if over == "r" else ("r", rs)
    lowest = "(0" if name == "theta" else "[0"
    problems = [
        Problem(name, None, f"{value!r} is not in {lowest}, 1]")
        for value in levels
        if not (0 <= value <= 1 and (value > 0 or name == "r"))
    ]
    problems += [Problem("gamma", None, f"{gamma!r} is not in (0, 1]") for gamma in gammas if not 0 < gamma <= 1]
    problems += [
        Problem(field_name, None, "give at least one")
        for field_name, values in ((name, levels), ("gamma", gammas))
        if not values
    ]
    if problems:
        raise InputError(problems)
    chosen, noises = list(dict.fromkeys(levels)), list(dict.fromkeys(gammas))
    curves = noise.closed_forms if over == "r" else noise.closed_forms_over_theta
    return Study("theory", {"over": over, name: chosen, "gamma": noises}, curves(chosen, noises), [])


def _at_least_one(**values: int) -> None:
    problems = [Problem(name, None, f"{value} is not at least 1") for name, value in values.items() if value < 1]
    if problems:
        raise InputError(problems)


def _not_negative(**values: float) -> None:
    wrong = [name for name, value in values.items() if not (np.isfinite(value) and value >= 0)]
    if wrong:
        raise InputError([Problem(name, None, "is not a number from 0") for name in wrong])
