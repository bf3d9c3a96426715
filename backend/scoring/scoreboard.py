"""Score many runs against one graded truth, and answer questions about the scores, such as why moments were missed.

Reads and writes nothing; `scored_files` reads files.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.parallel import run_units
from backend.core.progress import Progress, steps_of
from backend.core.timespan import Floats
from backend.core.where import HERE, Where
from backend.scoring.breakdown import AnyGroups, Breakdown, bpref_warnings, break_down, judged_key
from backend.scoring.cases import Case, build_case
from backend.scoring.fates import FATES, NEVER_FOUND, FateCounts, Meeting, count_fates, meet
from backend.scoring.matching.columns import Indices, QueryKey, Run, Truth, grade_text
from backend.scoring.measures import MEASURES
from backend.scoring.own_measures import describe
from backend.scoring.presets import Settings
from backend.scoring.scores import AnswerKey, Narrowing, RankedRun, Scores, prepare_run, prepare_truth, score
from backend.scoring.upper_bound import is_upper_bound, run_label


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One scored run.

    Attributes:
        name: its name in tables.
        file: the name of its file.
        ranked: its predictions in rank order.
        query: the index in the truth of each query that counts, shape (N,).
        values: its values, a row for each key such as `ndcg@20,0.5`, shape (len(settings.keys), N).
        means: the mean of each value, by key.
        judged: the share of its first K predictions that show a graded moment, as `{"judged@K,mu": share}`. Empty if it
            was not computed.
        upper_bound: whether it uses information that no competing system has, so that it is never ranked.
    """

    name: str
    file: str
    ranked: RankedRun
    query: Indices
    values: Floats
    means: dict[str, float]
    judged: Mapping[str, float] = field(default_factory=dict)
    upper_bound: bool = False

    @property
    def label(self) -> str:
        """The name as tables show it, such as `caption (upper bound)`."""
        return run_label(self.name, upper_bound=self.upper_bound)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the summary of scores holds in addition if runs are scored by a benchmark or in pools of videos.

    `options` are shown with the options of the preset, and `notes` with its notes. `facts` are entries of the summary
    itself. `of_run` has the entries to add to each run, by the run's name.
    """

    options: Mapping[str, str | bool | float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    of_run: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """The scores of all runs of one evaluation, and the truth that they were scored against (`key`).

    Upper bounds, which know more than competing systems can, come last in `runs`. `setting` holds what an evaluation by
    a benchmark or in pools adds to the summary.
    """

    settings: Settings
    key: AnswerKey
    runs: tuple[ScoredRun, ...]
    warnings: tuple[str, ...]
    setting: Setting = Setting()

    @property
    def options(self) -> dict[str, str | bool | float]:
        """Every option that differs from the preset, and those that a benchmark or scoring in pools of videos adds."""
        return self.settings.changed | dict(self.setting.options)

    @property
    def queries(self) -> tuple[QueryKey, ...]:
        """The truth's query ids. Other methods give a query as its index in this tuple."""
        return self.key.truth.queries

    @property
    def focus(self) -> str:
        """The key of the evaluation's main measure, such as `ndcg@20,0.5`; pages sort runs by it.

        It is NDCG at the middle cut-off and threshold if this is computed, otherwise the first key.
        """
        keys = self.settings.keys
        k, mu = self.middle
        middle = MEASURES["ndcg"].key(k, mu)
        return middle if middle in keys else keys[0]

    @property
    def middle(self) -> tuple[int, float]:
        """The middle one of the cut-offs K in use, and the middle one of the IoU thresholds mu in use."""
        return self.settings.middle

    def noted(self, note: str) -> "Scoreboard":
        """Return the scoreboard with a note in front of the others, or unchanged if the note is empty."""
        return replace(self, setting=replace(self.setting, notes=(note, *self.setting.notes))) if note else self

    def with_upper_bounds(self, names: Collection[str] = ()) -> "Scoreboard":
        """Return the scoreboard with the named runs marked as upper bounds, which tables never rank.

        Runs whose name says that they are upper bounds, such as `caption`, are always marked.
        """
        runs = [
            replace(run, upper_bound=run.upper_bound or run.name in names or is_upper_bound(run.name))
            for run in self.runs
        ]
        return replace(self, runs=tuple(sorted(runs, key=lambda run: run.upper_bound)))

    def falling(self, values: Floats) -> list[int]:
        """Return the indices of the runs, the highest mean of `values` first and upper bounds last.

        `values` has shape (runs, Q).
        """
        order: list[int] = np.argsort(-values.mean(axis=1), kind="stable").tolist()
        return sorted(order, key=lambda number: self.runs[number].upper_bound)

    def missing(self, run: ScoredRun) -> list[QueryKey]:
        """Return the ids of the truth's queries that a run lacks."""
        return [self.queries[i] for i in run.ranked.missing]

    def shared(self, key: str) -> tuple[Indices, Floats]:
        """Return the queries that count for every run, and the values of all runs at these queries.

        `key` is the kind of value, such as `ndcg@20,0.5`. The queries are indices in the truth, shape (Q,), and the
        values have shape (runs, Q).
        """
        shared, (values,) = self.shared_of([key])
        return shared, values

    def shared_of(self, keys: Sequence[str]) -> tuple[Indices, Floats]:
        """Return the queries that count for every run, and the values of all runs at these queries.

        `keys` are the kinds of value, such as `ndcg@20,0.5`. The queries are indices in the truth, shape (Q,), and the
        values have shape (keys, runs, Q).
        """
        rows = np.array([self.settings.keys.index(key) for key in keys])
        shared = np.sort(self.runs[0].query)
        for run in self.runs[1:]:
            shared = np.intersect1d(shared, run.query, assume_unique=True)
        values = np.empty((len(rows), len(self.runs), len(shared)))
        for number, run in enumerate(self.runs):
            order = np.argsort(run.query)
            values[:, number] = run.values[np.ix_(rows, order[np.searchsorted(run.query[order], shared)])]
        return shared, values

    def meeting(self, run: ScoredRun, k: int | None = None, mu: float | None = None) -> Meeting:
        """Return how a run's first `k` predictions are matched with truth moments, at the IoU threshold `mu`.

        By default `k` is the highest cut-off, and `mu` the middle threshold.
        """
        cutoff = max(self.settings.k) if k is None else k
        return meet(self.key, run.ranked, self.settings, cutoff, self.middle[1] if mu is None else mu)

    def fates(self, run: ScoredRun, k: int | None = None, mu: float | None = None) -> FateCounts:
        """Return the error analysis of a run: how many relevant moments it found and missed, and why.

        It looks at the first `k` predictions of each query, matched at the IoU threshold `mu`. By default `k` is the
        highest cut-off, and `mu` the middle threshold.
        """
        return count_fates(self.key, self.meeting(run, k, mu), self.settings.min_relevance)

    def cases(self, queries: Iterable[int], k: int | None = None, mu: float | None = None) -> list[Case]:
        """Return all results of some queries: truth moments, and the predictions of all runs matched with them.

        `queries` are indices in the truth. By default `k` is the highest cut-off, and `mu` the middle IoU threshold.
        """
        meetings = {run.name: (run.ranked, self.meeting(run, k, mu)) for run in self.runs}
        return [build_case(query, self.key, meetings, self.settings.min_relevance) for query in queries]

    def breakdown(self, by: AnyGroups, *, option: str = "by") -> Breakdown:
        """Return the truth's queries in groups by one property, such as `duration`, or by the caller's own mapping.

        `option` is the name of the argument that the caller gave, for messages.

        Raises:
            InputError: there is no such property, or a query has no group.
        """
        return break_down(by, self.key.truth, self.settings.min_relevance, option=option)

    def summary(self, by: Sequence[AnyGroups | Breakdown] = (), *, errors: bool = False) -> dict[str, Any]:
        """Return the object that `reelrank evaluate --json` prints; `evaluate_files` describes it.

        Each run also gets the means of the groups in each breakdown of `by` (such as `duration`), and an error analysis
        if `errors` is true.
        """
        breakdowns = [part if isinstance(part, Breakdown) else self.breakdown(part) for part in by]
        runs = []
        for run in self.runs:
            missing = self.missing(run)
            entry: dict[str, Any] = {
                "name": run.name,
                "queries": len(self.queries) - len(missing),
                "counted": len(run.query),
                "missing": missing,
                "measures": run.means,
                **({"upper_bound": True} if run.upper_bound else {}),
                **({"judged": dict(run.judged)} if run.judged else {}),
                **({"answers": counts.summary()} if (counts := run.ranked.run.answers) else {}),
                **self.setting.of_run.get(run.name, {}),
            }
            if breakdowns:
                entry["by"] = {part.by: self._groups(part, run) for part in breakdowns}
            if errors:
                entry["errors"] = self._errors(self.fates(run))
            runs.append(entry)
        summary = {
            "preset": self.settings.preset,
            "options": self.options,
            "focus": self.focus,
            "truth": {"queries": len(self.queries), "moments": len(self.key.truth.video)},
            **self.setting.facts,
            "runs": runs,
            "warnings": list(self.warnings),
        }
        notes = [*self.setting.notes, *self.settings.notes]
        own = {name: describe(measure) for name, measure in self.settings.own.items()}
        return summary | ({"own_measures": own} if own else {}) | ({"notes": notes} if notes else {})

    def per_query(self) -> Iterable[tuple[str, QueryKey, bool, dict[str, float]]]:
        """Return (run, query, whether the run lacks it, values by key) for every query that counts."""
        keys = self.settings.keys
        for run in self.runs:
            lacking = set(run.ranked.missing.tolist())
            for number, values in zip(run.query.tolist(), run.values.T.tolist(), strict=True):
                value_of = dict(zip(keys, values, strict=True))
                yield run.name, self.queries[number], number in lacking, value_of

    def _groups(self, part: Breakdown, run: ScoredRun) -> dict[str, Any]:
        means, counts = part.means(run.query, run.values)
        groups = {}
        for number, name in enumerate(part.names):
            value_of = zip(self.settings.keys, means[:, number].tolist(), strict=True) if counts[number] else ()
            groups[name] = {"queries": int(counts[number]), "measures": dict(value_of)}
        return {"note": part.note, "groups": groups}

    def _errors(self, fate_counts: FateCounts) -> dict[str, Any]:
        truth = self.key.truth
        return {
            "k": fate_counts.k,
            "mu": fate_counts.mu,
            "moments": fate_counts.moments,
            "counts": {fate.value: fate_counts.total(fate) for fate in FATES},
            "never_found": fate_counts.total(*NEVER_FOUND),
            "by_relevance": {
                fate.value: {
                    grade_text(grade): int(n)
                    for grade, n in zip(fate_counts.grades.tolist(), row, strict=True)
                    if grade >= self.settings.min_relevance
                }
                for fate, row in zip(FATES, fate_counts.counts, strict=True)
            },
            "examples": [
                {
                    "class": missed.fate.value,
                    "query": truth.queries[int(truth.query[missed.moment])],
                    "video": truth.videos[truth.video[missed.moment]],
                    "start": float(truth.start_s[missed.moment]),
                    "end": float(truth.end_s[missed.moment]),
                    "relevance": truth.grades[missed.moment].item(),
                    "rank": missed.rank or None,
                    "iou": None if np.isnan(missed.iou) else missed.iou,
                }
                for missed in fate_counts.examples
            ],
        }


def score_runs(
    truth: Truth,
    runs: Mapping[str, Run],
    settings: Settings,
    *,
    narrowing: Narrowing | None = None,
    part: bool = False,
    where: Where = HERE,
    progress: Progress | None = None,
) -> Scoreboard:
    """Score runs, given by name, against one truth.

    Args:
        truth: the graded moments of each query.
        runs: the predictions of each run, by its name.
        settings: the settings of the evaluation.
        narrowing: selects the predictions that count, for example those in a query's pool of videos. None keeps all.
        part: whether each run is only a part of a run, from which the caller has removed predictions. A query without
            predictions then scores 0, instead of being treated as missing.
        where: where the runs are scored, for example in several processes.
        progress: called with the name of the step, how much of it is done, and its total.

    Raises:
        InputError: lists the problems of the truth and of all runs. Nothing is scored then.
    """
    key = prepare_truth(truth, settings)
    judged = None if narrowing else judged_key(key.truth, settings)
    of_runs = run_units(
        _score,
        (key, settings, narrowing, part, judged),
        list(runs.values()),
        where,
        progress=steps_of(progress, "scoring"),
    )
    if problems := [problem for result in of_runs if isinstance(result, list) for problem in result]:
        raise InputError(problems)
    prepared = {name: result[0] for name, result in zip(runs, of_runs, strict=True) if not isinstance(result, list)}
    warnings = [*key.warnings, *(warning for ranked in prepared.values() for warning in ranked.warnings)]
    scored = []
    for name, result in zip(runs, of_runs, strict=True):
        if isinstance(result, list):
            continue
        ranked, scores = result
        query = scores.query
        if not len(query):
            warnings.append(said("{file}: no query counts, so there is no mean", file=ranked.run.file))
        shares_of = (
            {judged: float(np.mean(scores.beside))} if judged and scores.beside is not None and len(query) else {}
        )
        scored.append(ScoredRun(name, ranked.run.file, ranked, query, scores.values, scores.mean(settings), shares_of))
    if judged and all(run.judged for run in scored):
        shares = {run.name: run.judged[judged] for run in scored}
        warnings += bpref_warnings(key, prepared, {run.name: run.means for run in scored}, shares, settings)
    return Scoreboard(settings, key, tuple(scored), tuple(warnings)).with_upper_bounds()


def _score(
    shared: tuple[AnswerKey, Settings, Narrowing | None, bool, str | None], run: Run
) -> tuple[RankedRun, Scores] | list[Problem]:
    """Score one run; return its ranked predictions and scores, or its problems. Worker processes call this.

    `shared` holds the arguments that are the same for all runs.
    """
    key, settings, narrowing, part, judged = shared
    try:
        ranked = prepare_run(run, key, settings, narrowing, part=part)
    except InputError as error:
        return list(error.problems)
    return ranked, score(key, ranked, settings, judged)
