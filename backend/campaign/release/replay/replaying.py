"""Replay a finished campaign under policies that save grades, and score the runs by the truths that they give.

Reads: the files of `reading`. Writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from backend.campaign.nouns import Rounding
from backend.campaign.release.earlier.model import PUBLISHED_HIGHEST, PUBLISHED_TOLERANCE
from backend.campaign.release.replay.model import Codes, Evidence, GivenGrades, Policy
from backend.campaign.release.replay.policies import POLICIES
from backend.campaign.release.replay.reading import ReplayFiles, read_files
from backend.campaign.release.replay.rules.outcome import outcome
from backend.campaign.release.replay.rules.truth import relevance_of
from backend.campaign.setup.project import scale_file
from backend.core.errors import InputError, Problem
from backend.core.progress import Progress
from backend.core.timespan import Flags, Floats
from backend.scoring.fates import meet
from backend.scoring.matching.columns import Truth
from backend.scoring.presets import Options, Preset, Settings, settle
from backend.scoring.scores import RankedRun, prepare_run, prepare_truth, score
from backend.scoring.statistics.bootstrap import RESAMPLES
from backend.scoring.studies.study import Cell, Study, generator_of

ALL = "all grades"
"""The first row of a replay: the release's own truth."""


@dataclass(frozen=True, slots=True)
class ReplayInputs:
    """The files of a replay, and how runs are scored: by NDCG at one cut-off and one IoU threshold."""

    raw: Path
    pairs: Path
    runs: Mapping[str, Path]
    videos: Path | None = None
    scale: str | None = None
    """The name of a scale or the path of a scale file; None: the scale of TVR-Ranking."""
    batch_size: int = 20
    preset: Preset = "paper"
    k: int = 20
    mu: float = 0.5
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class Replay:
    """A campaign that is ready to be replayed: its grades, and the runs prepared for scoring."""

    given: GivenGrades
    truth: Truth
    ranked: tuple[RankedRun, ...]
    settings: Settings

    def values(self, relevance: Codes) -> Floats:
        """Return the score of each run at each query, by the pairs with this relevance; shape [systems, queries].

        Pairs with relevance -1 are not in the truth. A query without relevant moment scores 0.
        """
        graded = replace(self.truth, relevance=relevance.astype(np.float64)).take(np.flatnonzero(relevance >= 0))
        key = prepare_truth(graded, self.settings)
        values = np.zeros((len(self.ranked), len(self.truth.queries)))
        for row, run in zip(values, self.ranked, strict=True):
            scores = score(key, run, self.settings)
            row[scores.query] = scores.values[0]
        return values

    def ranks(self) -> Codes:
        """Return the rank, from 1, at which each run finds each pair, 0 where it does not; shape [systems, pairs]."""
        key, (k,), (mu,) = prepare_truth(self.truth, self.settings), self.settings.k, self.settings.mu
        return np.array([meet(key, run, self.settings, k, mu).taken_at for run in self.ranked])


def replay_study(
    inputs: ReplayInputs,
    policies: Mapping[str, Sequence[float]] | None = None,
    *,
    draws: int = 5,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Study:
    """Replay a finished campaign under every policy and setting, and return one row for each.

    The first row is the release's own truth, by all grades. `saved` is the number of grades that the policy does not
    collect. `change` is the change of the systems' mean NDCG, averaged over the systems. `largest_change` is that of
    the system which moves most. `tau_b` compares the orders of systems. Bounds `..._low` and `..._high` are 95 %
    intervals.

    Args:
        inputs: the files, and how runs are scored.
        policies: the settings of each policy by its name in `POLICIES`; without settings its usual ones are tried, and
            without policies all of them.
        draws: how many orders of grades, or random choices, are drawn for policies that depend on them.
        resamples: the number of samples of the queries for intervals.
        seed: the seed of the random generator.
        progress: called with the name of the step, the settings done, and all settings.

    Raises:
        InputError: lists the problems of the files, or names a policy or setting that does not exist.
    """
    tried = _tried(policies)
    problems = [
        Problem(name, None, f"{n} is not at least 1")
        for name, n in (("draws", draws), ("resamples", resamples))
        if n < 1
    ]
    if problems:
        raise InputError(problems)
    replay, warnings = prepare(inputs)
    given, names = replay.given, tuple(inputs.runs)
    relevance = relevance_of(given, np.ones(len(given.pair), dtype=bool))
    full, ranks, gain = replay.values(relevance), replay.ranks(), replay.settings.conventions.gain

    def row(name: str, setting: float | None, used: Sequence[Flags], truths: Sequence[Codes]) -> dict[str, Cell]:
        fewer = np.stack([replay.values(truth) for truth in truths])
        found = outcome(full, fewer, resamples=resamples, seed=seed)
        grades = float(np.mean([flags.sum() for flags in used]))
        tau, low, high = found.tau or (None, None, None)
        return {
            **{"policy": name, "setting": setting, "grades": grades, "saved": len(given.pair) - grades},
            "saved_share": 1 - grades / len(given.pair),
            "pairs": float(np.mean([(truth >= 0).sum() for truth in truths])),
            **dict(zip(("change", "change_low", "change_high"), found.change, strict=True)),
            **{"largest_change": found.largest[0], "largest_system": names[found.largest[1]]},
            **{"tau_b": tau, "tau_low": low, "tau_high": high, "swapped": found.swapped},
            "reason": "" if found.tau else "a truth ties all systems",
        }

    rows = [row(ALL, None, [np.ones(len(given.pair), dtype=bool)], [relevance])]
    steps = [(policy, setting) for policy, settings in tried.items() for setting in settings]
    for done, (policy, setting) in enumerate(steps):
        if progress:
            progress(policy.name, done, len(steps))
        used, truths = [], []
        for draw in range(draws if policy.draws else 1):
            generator = generator_of(seed, draw)
            ordered = given.drawn_order(generator)
            flags = policy.used(Evidence(ordered, relevance, ranks, inputs.k, gain, generator), setting)
            used.append(flags)
            truths.append(relevance_of(ordered, flags))
        rows.append(row(policy.name, setting, used, truths))
    choices: dict[str, object] = {
        "preset": replay.settings.preset,
        "options": replay.settings.changed,
        "queries": len(replay.truth.queries),
        "systems": list(names),
        "measure": replay.settings.keys[0],
        "drawn_orders": draws,
        "resamples": resamples,
        "seed": seed,
    }
    return Study("replay", choices, rows, warnings)


def prepare(inputs: ReplayInputs) -> tuple[Replay, list[str]]:
    """Read the files of a replay and prepare the runs for scoring; also return the warnings.

    Raises:
        InputError: lists the problems of the files.
    """
    options = Options(**{"missing": "zero", "unknown": "ignore", **inputs.options})
    settings = settle(inputs.preset, [inputs.k], [inputs.mu], options, measures=["ndcg"])
    highest, tolerance, rounding = PUBLISHED_HIGHEST, PUBLISHED_TOLERANCE, Rounding.HALF_UP
    if inputs.scale is not None:
        grading = scale_file.load_scale(inputs.scale)
        highest, tolerance, rounding = grading.scale.highest, grading.tolerance, grading.rounding
    files: ReplayFiles = read_files(
        *(inputs.raw, inputs.pairs, inputs.runs, inputs.videos),
        highest=highest,
        tolerance=tolerance,
        rounding=rounding,
        batch_size=inputs.batch_size,
    )
    key = prepare_truth(files.truth, settings)
    ranked = tuple(prepare_run(run, key, settings) for run in files.runs)
    warnings = [*files.warnings, *(warning for run in ranked for warning in run.warnings)]
    return Replay(files.given, files.truth, ranked, settings), warnings


@dataclass(frozen=True, slots=True)
class Fewest:
    """The setting of a policy that keeps the order of systems with the fewest grades; None where none does.

    `enough` is the row whose tau-b reaches the target, and `sure` that whose whole interval of tau-b does.
    """

    policy: str
    enough: dict[str, Cell] | None
    sure: dict[str, Cell] | None


def fewest(study: Study, target: float) -> list[Fewest]:
    """Return for each policy of a replay which setting keeps tau-b at `target` or more with the fewest grades."""

    def least(policy: str, field_name: str) -> dict[str, Cell] | None:
        reaching = [
            row
            for row in study.rows[1:]
            if row["policy"] == policy and (value := row[field_name]) is not None and float(value) >= target
        ]
        return min(reaching, key=lambda row: float(row["grades"] or 0), default=None)

    policies = dict.fromkeys(str(row["policy"]) for row in study.rows[1:])
    return [Fewest(policy, least(policy, "tau_b"), least(policy, "tau_low")) for policy in policies]


def _tried(policies: Mapping[str, Sequence[float]] | None) -> dict[Policy, tuple[float, ...]]:
    """Return the settings to try of each policy.

    Raises:
        InputError: names every policy that does not exist and every setting out of range.
    """
    problems, tried = [], {}
    for name, settings in (policies or {}).items():
        policy = POLICIES.get(name)
        if policy is None:
            problems.append(Problem("policy", None, f"{name!r} is not one of {', '.join(POLICIES)}"))
            continue
        chosen = tuple(dict.fromkeys(settings)) or policy.settings
        problems += [
            Problem("policy", None, f"{name}={setting:g} is not from {policy.lowest:g} to {policy.highest:g}")
            for setting in chosen
            if not policy.lowest <= setting <= policy.highest
        ]
        tried[policy] = chosen
    if problems:
        raise InputError(problems)
    return tried or {policy: policy.settings for policy in POLICIES.values()}
