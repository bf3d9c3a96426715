"""Run the studies of measures on truth and run files: agreement, stability, noise, ties, selection, axioms, theory.

Reads: truth, run and video map files. Writes: nothing.
"""

from collections.abc import Sequence

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.progress import Progress, named
from backend.core.where import HERE, Where
from backend.scoring.presets import DEFAULT_MU, Options, Preset, Settings, settle
from backend.scoring.studies import axioms, kendall, noise, theory
from backend.scoring.studies import stability as studies_stability
from backend.scoring.studies.inputs import StudyInputs, durations_of, read_and_score
from backend.scoring.studies.stability import TRIALS, SubsetPairs, default_sizes, stability
from backend.scoring.studies.study import Study


def agreement_study(inputs: StudyInputs) -> Study:
    """Kendall's tau-b between the orders of systems under every two measures.

    Raises:
        InputError: with the problems of all files; so do all studies.
    """
    scored = read_and_score(inputs)
    return Study("agreement", scored.choices(), kendall.agreement(scored.table), scored.warnings)


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
    """Self-agreement of measures on pairs of random sets of queries; `sizes` None means `default_sizes`."""
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
        progress=named(progress, "trials"),
    )
    choices = scored.choices(trials=trials, subset_pairs=subset_pairs, seed=seed)
    return Study("stability", choices, rows, scored.warnings)


def noise_study(
    inputs: StudyInputs,
    *,
    kind: noise.Noise = "exp_length",
    sigmas_s: Sequence[float] = (1.0,),
    sets: int = noise.SETS,
    seed: int = 0,
    where: Where = HERE,
    progress: Progress | None = None,
) -> Study:
    """RMSE of systems' means when the truth's boundaries are noisy; durations come from the video map."""
    _at_least_one(sets=sets, jobs=where.jobs)
    _not_negative(seed=seed, **{f"sigma {sigma}": sigma for sigma in sigmas_s})
    if not sigmas_s:
        raise InputError.single("sigma", "give at least one, such as 1")
    scored = read_and_score(inputs)
    truth, warnings = scored.key.truth, list(scored.warnings)
    known_s = {} if scored.videos is None else durations_of(scored.videos)
    unknown = sum(video not in known_s for video in truth.videos)
    if unknown:
        warnings.append(f"the durations of {unknown} of the truth's {len(truth.videos)} videos are not known "
                        "(--videos gives them); noisy moments may end after them")  # fmt: skip
    rows = noise.label_noise(
        noise.NoiseInputs(truth, scored.runs, scored.settings, noise.durations(truth, known_s)),
        scored.table,
        [noise.NoiseModel(kind, float(sigma)) for sigma in dict.fromkeys(sigmas_s)],
        sets=sets,
        seed=seed,
        where=where,
        progress=named(progress, "noisy sets"),
    )
    choices = scored.choices(
        noise=noise.NAMED[kind], sigma=[f"{sigma:g} s" for sigma in sigmas_s], draws=noise.DRAWS, sets=sets, seed=seed
    )
    return Study("noise", choices, rows, warnings)


def ties_study(inputs: StudyInputs) -> Study:
    """The share of queries that a measure gives one value for all systems."""
    scored = read_and_score(inputs)
    return Study("ties", scored.choices(), studies_stability.tied_queries(scored.table), scored.warnings)


def model_selection_study(
    validation: StudyInputs, test: StudyInputs, *, over: studies_stability.Over = "selected"
) -> Study:
    """z-scores on test of the models that each measure selects on validation; both name the same runs."""
    problems: list[Problem] = []
    found = []
    for inputs in (validation, test):
        try:
            found.append(read_and_score(inputs))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    chosen, judged = found
    choices = chosen.choices(test_queries=judged.table.values.shape[2], z_over=over)
    rows = studies_stability.model_selection(chosen.table, judged.table, over)
    warnings = [*chosen.warnings, *judged.warnings]
    if over == "selected" and len({row["selected"] for row in rows}) == 1:
        warnings.append(f"every measure selects {rows[0]['selected']}, so all z-scores are 0 (over the selected "
                        "models); over the candidates they say how good it is")  # fmt: skip
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
    """Measures (all of the preset, if none is named) against INV-k and MON-k, each with a shortest counterexample."""
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
        "axioms", choices, axioms.try_axioms(settings_of, longest, named(progress, "lists")), list(settings.notes)
    )


def theory_study(
    thetas: Sequence[float] = DEFAULT_MU,
    gammas: Sequence[float] = (0.05, 0.1, 0.2),
    *,
    over: theory.Over = "r",
    rs: Sequence[float] = DEFAULT_MU,
) -> Study:
    """Closed forms of squared bias, variance and MSE of R@1,theta and AxIoU@1 under Gaussian noise gamma.

    Over the true IoU r at each of `thetas`, or over theta at each of `rs`.
    """
    name, given = ("theta", thetas) if over == "r" else ("r", rs)
    lowest = "(0" if name == "theta" else "[0"
    problems = [
        Problem(name, None, f"{value!r} is not in {lowest}, 1]")
        for value in given
        if not (0 <= value <= 1 and (value > 0 or name == "r"))
    ]
    problems += [Problem("gamma", None, f"{gamma!r} is not in (0, 1]") for gamma in gammas if not 0 < gamma <= 1]
    problems += [
        Problem(what, None, "give at least one") for what, some in ((name, given), ("gamma", gammas)) if not some
    ]
    if problems:
        raise InputError(problems)
    chosen, noises = list(dict.fromkeys(given)), list(dict.fromkeys(gammas))
    curves = theory.closed_forms if over == "r" else theory.closed_forms_over_theta
    return Study("theory", {"over": over, name: chosen, "gamma": noises}, curves(chosen, noises), [])


def _at_least_one(**values: int) -> None:
    problems = [Problem(name, None, f"{value} is not at least 1") for name, value in values.items() if value < 1]
    if problems:
        raise InputError(problems)


def _not_negative(**values: float) -> None:
    wrong = [name for name, value in values.items() if not (np.isfinite(value) and value >= 0)]
    if wrong:
        raise InputError([Problem(name, None, "is not a number from 0") for name in wrong])
