"""Studies of measures on truth and run files: agreement, stability, noise, ties, model selection, theory.

Reads: truth, run and video map files. Writes: a folder of a study's figures (PNG, SVG) and data (CSV).
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import SupportsIndex

import msgspec
import numpy as np

from backend.ground.errors import InputError, Problem
from backend.scoring.files.reading import read_run, read_truth, read_videos
from backend.scoring.matching.columns import Run
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, Settings, settle
from backend.scoring.scores import AnswerKey, prepare_run, prepare_truth, score
from backend.scoring.studies import kendall, noise, selection, theory
from backend.scoring.studies.stability import TRIALS, SubsetPairs, default_sizes, stability
from backend.scoring.studies.study import Study, Table

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StudyInputs:
    """What is scored and how: as for `evaluate_files`, but of each run its name and file.

    `measures` keeps only the measures whose names begin with one of these texts, such as `ndcg@10`. Systems are
    compared on the same queries, so `missing` is `zero` in both presets and may not be `skip`.
    """

    truth: Path
    runs: Mapping[str, Path]
    videos: Path | None = None
    preset: Preset = "paper"
    k: Iterable[SupportsIndex] = DEFAULT_K
    mu: Iterable[float] = DEFAULT_MU
    theta: Iterable[float] = DEFAULT_MU
    measures: Sequence[str] = ()
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class _Scored:
    """Everything read, checked and scored; `kept` numbers the measures of the table among `settings.keys`."""

    key: AnswerKey
    runs: tuple[Run, ...]
    settings: Settings
    kept: tuple[int, ...]
    table: Table
    warnings: list[str]

    def choices(self, **more: object) -> dict[str, object]:
        """What the numbers depend on, the preset first."""
        return {
            "preset": self.settings.preset,
            "options": self.settings.changed,
            "queries": self.table.values.shape[2],
            "systems": list(self.table.systems),
            **more,
        }


def agreement_study(inputs: StudyInputs) -> Study:
    """Kendall's tau-b between the orders of systems under every two measures.

    Raises:
        InputError: with the problems of all files; so do all studies.
    """
    scored = _scored(inputs)
    return Study("agreement", scored.choices(), kendall.agreement(scored.table), scored.warnings)


def stability_study(
    inputs: StudyInputs,
    *,
    sizes: Sequence[int] | None = None,
    trials: int = TRIALS,
    subset_pairs: SubsetPairs = "disjoint",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Study:
    """Self-agreement of measures on pairs of random sets of queries; `sizes` None means `default_sizes`."""
    scored = _scored(inputs)
    queries = scored.table.values.shape[2]
    chosen = list(dict.fromkeys(sizes)) if sizes is not None else default_sizes(queries)
    wrong = [Problem("sizes", None, f"{size} is not from 1 to the {queries} queries") for size in chosen]
    wrong = [problem for problem, size in zip(wrong, chosen, strict=True) if not 1 <= size <= queries]
    if wrong or not chosen:
        raise InputError(wrong or [Problem("sizes", None, "give at least one size, such as 100")])
    _at_least_one(trials=trials, jobs=jobs)
    _not_negative(seed=seed)
    rows = stability(
        scored.table,
        chosen,
        trials=trials,
        subset_pairs=subset_pairs,
        seed=seed,
        jobs=jobs,
        progress=_named(progress, "trials"),
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
    jobs: int = 1,
    progress: Progress | None = None,
) -> Study:
    """RMSE of systems' means when the truth's boundaries are noisy; durations come from the video map."""
    _at_least_one(sets=sets, jobs=jobs)
    _not_negative(seed=seed, **{f"sigma {sigma}": sigma for sigma in sigmas_s})
    if not sigmas_s:
        raise InputError.single("sigma", "give at least one, such as 1")
    scored = _scored(inputs)
    truth, warnings = scored.key.truth, list(scored.warnings)
    known_s = {} if inputs.videos is None else _durations(inputs.videos)
    unknown = sum(video not in known_s for video in truth.videos)
    if unknown:
        warnings.append(f"the durations of {unknown} of the truth's {len(truth.videos)} videos are not known "
                        "(--videos gives them); noisy moments may end after them")  # fmt: skip
    rows = noise.label_noise(
        noise.NoiseInputs(truth, scored.runs, scored.settings, scored.kept, noise.durations(truth, known_s)),
        scored.table,
        [noise.NoiseModel(kind, float(sigma)) for sigma in dict.fromkeys(sigmas_s)],
        sets=sets,
        seed=seed,
        jobs=jobs,
        progress=_named(progress, "noisy sets"),
    )
    choices = scored.choices(
        noise=noise.NAMED[kind], sigma=[f"{sigma:g} s" for sigma in sigmas_s], draws=noise.DRAWS, sets=sets, seed=seed
    )
    return Study("noise", choices, rows, warnings)


def ties_study(inputs: StudyInputs) -> Study:
    """The share of queries that a measure gives one value for all systems."""
    scored = _scored(inputs)
    return Study("ties", scored.choices(), selection.tied_queries(scored.table), scored.warnings)


def model_selection_study(validation: StudyInputs, test: StudyInputs) -> Study:
    """z-scores on test of the models that each measure selects on validation; both name the same runs."""
    problems: list[Problem] = []
    found = []
    for inputs in (validation, test):
        try:
            found.append(_scored(inputs))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    chosen, judged = found
    choices = chosen.choices(test_queries=judged.table.values.shape[2])
    rows = selection.model_selection(chosen.table, judged.table)
    return Study("model-selection", choices, rows, [*chosen.warnings, *judged.warnings])


def theory_study(thetas: Sequence[float] = DEFAULT_MU, gammas: Sequence[float] = (0.05, 0.1, 0.2)) -> Study:
    """Closed forms of squared bias, variance and MSE of R@1,theta and AxIoU@1 under Gaussian noise gamma."""
    problems = [Problem("theta", None, f"{theta!r} is not in (0, 1]") for theta in thetas if not 0 < theta <= 1]
    problems += [Problem("gamma", None, f"{gamma!r} is not in (0, 1]") for gamma in gammas if not 0 < gamma <= 1]
    problems += [
        Problem(name, None, "give at least one") for name, given in (("theta", thetas), ("gamma", gammas)) if not given
    ]
    if problems:
        raise InputError(problems)
    thetas, gammas = list(dict.fromkeys(thetas)), list(dict.fromkeys(gammas))
    rows = theory.closed_forms(thetas, gammas)
    return Study("theory", {"theta": thetas, "gamma": gammas}, rows, [])


def write_study(study: Study, folder: Path) -> list[Path]:
    """Write `NAME.csv`, `NAME.png` and `NAME.svg` into a folder, which is made; earlier ones are replaced.

    Every row of the CSV repeats the study's choices, so that no number is without them.

    Raises:
        InputError: the folder cannot be written.
    """
    # Charts take as long to load as everything else together; the desk and most commands need none.
    from backend.scoring.drawing import save
    from backend.scoring.studies import figures as charts

    chart = charts.draw(study)
    paths = [folder / f"{study.name}{ending}" for ending in (".csv", ".png", ".svg")]
    waiting = [path.with_name(f".{path.stem}.part{path.suffix}") for path in paths]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            waiting[0].write_text(_csv(study), encoding="utf-8", newline="")
            save(chart, waiting[1])
            save(chart, waiting[2])
            for part, path in zip(waiting, paths, strict=True):
                part.replace(path)
        finally:
            for part in waiting:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError.single(folder, f"cannot be written: {error.strerror}") from None
    return paths


def _scored(inputs: StudyInputs) -> _Scored:
    """Read everything, tell all problems at once, and score: values by measure, system and query of the truth."""
    if inputs.options.get("missing") == "skip":
        raise InputError.single("missing", "systems are compared on the same queries: zero or error, not skip")
    options = inputs.options.copy()
    if options.get("missing") is None:
        options["missing"] = "zero"
    settings = settle(inputs.preset, inputs.k, inputs.mu, options, theta=inputs.theta)
    kept = _kept(settings.keys, inputs.measures)
    names = None if inputs.videos is None else read_videos(inputs.videos)
    problems: list[Problem] = []
    if len(inputs.runs) < 2:
        problems.append(Problem("runs", None, "a study compares systems: give at least two runs"))
    key = None
    try:
        key = prepare_truth(read_truth(inputs.truth), settings)
    except InputError as error:
        problems += error.problems
    runs = []
    ranked = []
    for path in inputs.runs.values():
        try:
            runs.append(read_run(path, names))
            if key is not None:
                ranked.append(prepare_run(runs[-1], key, settings))
        except InputError as error:
            problems += error.problems
    if problems or key is None:
        raise InputError(problems)
    scores = [score(key, run, settings) for run in ranked]
    order = [{query: n for n, query in enumerate(found.queries)} for found in scores]
    queries = [query for query in key.truth.queries if query in order[0]]
    if not queries:
        raise InputError.single(inputs.truth, "no query counts, so there is nothing to compare")
    values = np.array(
        [found.values[:, [at[query] for query in queries]] for found, at in zip(scores, order, strict=True)]
    ).transpose(1, 0, 2)[list(kept)]
    table = Table(tuple(settings.keys[n] for n in kept), tuple(inputs.runs), np.ascontiguousarray(values))
    warnings = [*key.warnings, *(warning for run in ranked for warning in run.warnings)]
    return _Scored(key, tuple(runs), settings, kept, table, warnings)


def _kept(keys: Sequence[str], beginnings: Sequence[str]) -> tuple[int, ...]:
    unused = [text for text in beginnings if not any(key.startswith(text) for key in keys)]
    if unused:
        known = ", ".join(keys)
        raise InputError([Problem("measure", None, f"none begins with {text!r}; there are {known}") for text in unused])
    return tuple(n for n, key in enumerate(keys) if not beginnings or key.startswith(tuple(beginnings)))


def _durations(path: Path) -> dict[str, float]:
    """Seconds of each video of a map file that `read_videos` has accepted."""
    problems = []
    known_s = {}
    for row, (name, (seconds, _)) in enumerate(
        msgspec.json.decode(path.read_bytes().lstrip(b"\xef\xbb\xbf")).items(), 1
    ):
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
            known_s[name] = float(seconds)
        else:
            problems.append(Problem(str(path), row, f"video {name!r}: {seconds!r} is not a duration in seconds"))
    if problems:
        raise InputError(problems)
    return known_s


def _csv(study: Study) -> str:
    flat = {name: _text(value) for name, value in study.choices.items() if name != "systems"}
    text = io.StringIO()
    writer = csv.DictWriter(text, [*study.rows[0], *(name for name in flat if name not in study.rows[0])])
    writer.writeheader()
    writer.writerows(flat | row for row in study.rows)
    return text.getvalue()


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={choice}" for name, choice in value.items())
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return str(value)


def _named(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(what, done, total)


def _at_least_one(**values: int) -> None:
    problems = [Problem(name, None, f"{value} is not at least 1") for name, value in values.items() if value < 1]
    if problems:
        raise InputError(problems)


def _not_negative(**values: float) -> None:
    wrong = [name for name, value in values.items() if not (np.isfinite(value) and value >= 0)]
    if wrong:
        raise InputError([Problem(name, None, "is not a number from 0") for name in wrong])
