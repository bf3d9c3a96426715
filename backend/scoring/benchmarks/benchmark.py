"""Define a benchmark: the figures that its published evaluator prints, and how to compute them from truth and run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from backend.core.errors import InputError, Problem
from backend.scoring.files.annotations import Repair
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.measure import Measure
from backend.scoring.own_measures import AnyMeasure
from backend.scoring.presets import PRESETS, Options, Settings, settle


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One number in a benchmark's published table; `name` is its name in that table.

    `key` is the figure's name in ReelRank, such as `recall@1,0.5`. It is empty if no measure of ReelRank computes the
    figure; `about` then says what the figure is. Otherwise `about` says which moments it covers, such as `0-10 s`. An
    empty `about` means all moments.
    """

    name: str
    key: str = ""
    about: str = ""


def grounding_figures(cutoffs: Sequence[int], thetas: Sequence[float]) -> tuple[PublishedFigure, ...]:
    """Return the figures of benchmarks with one moment for each sentence: R@K at every IoU threshold theta, and mIoU.

    >>> [figure.name for figure in grounding_figures([1], [0.5])]
    ['R@1, IoU=0.5', 'mIoU']
    """
    recalls = (PublishedFigure(f"R@{k}, IoU={theta}", f"recall@{k},{theta}") for k in cutoffs for theta in thetas)
    return (*recalls, PublishedFigure("mIoU", "miou"))


@dataclass(frozen=True, slots=True)
class Beside:
    """The figures of a benchmark that do not score moments, such as those for highlights.

    `score(truth, run, missing)` reads a truth file and a run file, and returns the figures' values by name. It returns
    an empty mapping if the files lack the data. `missing` says how to count queries without predictions in the run,
    such as `zero` or `skip`.
    """

    figures: tuple[PublishedFigure, ...]
    score: Callable[[Path, Path, str], Mapping[str, float]]


OfRun = Callable[[Run, Truth], Run | None]
"""Selects from a run, given the selected truth; returns None if nothing of the run is about it."""


def answers_to(run: Run, truth: Truth) -> Run:
    """Return the run with only the queries that the truth contains, and their predictions."""
    known = {str(query) for query in truth.queries}
    return run.of_queries(np.array([str(query) in known for query in run.queries], dtype=bool))


def unchanged_truth(truth: Truth) -> Truth:
    """Return the truth unchanged, for figures that are computed from the whole truth."""
    return truth


def unchanged_run(run: Run, _truth: Truth) -> Run:
    """Return the run unchanged, for figures that are computed from the whole run."""
    return run


@dataclass(frozen=True, slots=True)
class Part:
    """A group of a benchmark's figures that are computed from the same selection of truth moments and predictions.

    A benchmark that scores no moments has one part, without figures.

    Attributes:
        of_truth: selects from the truth, for example the short moments.
        of_run: selects from a run, given the selected truth. It returns None if the run has no predictions for these
            figures.
        options: scoring options for these figures only.
        own: those measures of the figures that the caller wrote, by name.
    """

    figures: tuple[PublishedFigure, ...]
    of_truth: Callable[[Truth], Truth] = unchanged_truth
    of_run: OfRun = unchanged_run
    options: Options = field(default_factory=Options)
    own: Mapping[str, Measure] = field(default_factory=dict)

    @property
    def measures(self) -> set[str]:
        """The names of the measures that compute the figures, such as `recall`."""
        return {_measure(figure.key) for figure in self.figures}

    def settings(self, preset: str, options: Options) -> Settings:
        """Return the settings of an evaluation that computes exactly the figures of this group.

        `preset` names a set of default options, such as `paper`; `options` override these.
        """
        keys = [figure.key for figure in self.figures]
        # By name alone, as all of a caller's own measures are asked for, a measure is computed at these values.
        measures = [self.own.get(_measure(key), key) for key in keys] or ["recall@1,0.5"]
        return settle(preset, (1,), (0.5,), options, measures=measures)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A published benchmark, with the figures and conventions of its own evaluator.

    Attributes:
        name: its name in options and files.
        title: its name in tables.
        about: a few words about what is scored.
        evaluator: the published code whose figures these reproduce.
        parts: its figures, grouped by the selection of truth and predictions that they are computed from. Breakdowns,
            statistics, report and JSON use the first group.
        options: the scoring options in which the evaluator differs from `preset`.
        preset: the preset that gives all other options.
        digits: how many decimal places tables show.
        percent: whether tables show the figures, which are shares, in percent.
        notes: what to know before comparing with published tables.
        beside: figures that do not score moments, such as those for highlights; None if there are none.
        groups: selections of the truth by name, such as the short moments. Measures that a caller adds are computed
            for each of them too.
        tasks: whether a run file may hold several tasks, as in TVR, that are scored separately; see `Run.tasks`.
        in_pools: whether each query is searched in its own pool of videos. The pools' own moments are then the truth.
        repair: what the evaluator does about annotated moments that are impossible, such as an end before the start.
    """

    name: str
    title: str
    about: str
    evaluator: str
    parts: tuple[Part, ...]
    options: Options = field(default_factory=Options)
    preset: str = "paper"
    digits: int = 2
    percent: bool = True
    notes: tuple[str, ...] = ()
    beside: Beside | None = None
    groups: Mapping[str, Callable[[Truth], Truth]] = field(default_factory=dict)
    tasks: bool = False
    in_pools: bool = False
    repair: Repair = "leave out"

    @property
    def figures(self) -> list[PublishedFigure]:
        """All figures in the order of `parts`, then those of `beside`, which do not score moments."""
        found = [figure for part in self.parts for figure in part.figures]
        return found + list(self.beside.figures if self.beside else ())

    def options_with(self, asked: Options) -> Options:
        """Return the benchmark's options, with those that the caller chose in `asked` in place of its own."""
        chosen = {name: value for name, value in asked.items() if value is not None}
        return cast("Options", {**self.options, **chosen})

    def missing(self, asked: Options) -> str:
        """Return how to count queries without predictions: `zero`, `skip`, `error` or `published`.

        `published` leaves out queries that are absent from the run; other queries without predictions score 0. The
        result is the caller's choice in `asked`, or the benchmark's own option if the caller chose none.
        """
        return asked.get("missing") or self.options.get("missing") or PRESETS[self.preset].missing

    def figures_beside(self, truth: Path, run: Path, asked: Options, problems: list[Problem]) -> Mapping[str, float]:
        """Return the values, by name, of the figures that do not score moments, such as those for highlights.

        The result is empty if there are none, or if the files have problems. New problems are appended to `problems`.
        """
        try:
            return self.beside.score(truth, run, self.missing(asked)) if self.beside else {}
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
            return {}

    def planned(self, asked: Options, also: Sequence[AnyMeasure] = ()) -> list[tuple[Part, Settings]]:
        """Return each group of figures with the settings that compute it.

        Options in `asked` override the benchmark's own. Impossible predictions keep their rank and have IoU 0
        (`invalid=zero`), as in the published evaluators. With the option `iou_compare=gt`, an IoU of exactly theta no
        longer counts for recall.

        Args:
            asked: the caller's options.
            also: further measures, as keys such as `recall@5,0.5` or names. A name means K = 1 and IoU 0.5.

        Raises:
            InputError: names every option and measure that cannot be used.
        """
        options = cast("Options", {name: value for name, value in asked.items() if value is not None})
        parts = (*self.parts, *self._further_parts(also))
        if options.get("iou_compare", self.options.get("iou_compare")) == "gt":
            parts = tuple(replace(part, figures=tuple(map(_strict, part.figures))) for part in parts)
        own: Options = {"invalid": "zero"}
        return [(part, part.settings(self.preset, own | self.options | part.options | options)) for part in parts]

    def _further_parts(self, also: Sequence[AnyMeasure]) -> Iterator[Part]:
        """Yield groups of figures for measures that a caller adds: for all moments, and for each selection in `groups`.

        An added measure uses the truth and predictions of the benchmark's group of figures that has the same measure.
        If no group has it, it uses those of the first group.
        """
        if not also:
            return
        try:
            settings = settle(self.preset, (1,), (0.5,), Options(), measures=also)
        except InputError as error:
            raise InputError([replace(problem, file="also") for problem in error.problems]) from error
        keys_of: dict[int, list[str]] = {}
        for key in settings.keys:
            same = (number for number, part in enumerate(self.parts) if _measure(key) in part.measures)
            keys_of.setdefault(next(same, 0), []).append(key)
        for number, part_keys in keys_of.items():
            part = replace(self.parts[number], own=settings.own)
            yield replace(part, figures=tuple(PublishedFigure(key, key) for key in part_keys))
            for group, of_truth in self.groups.items():
                figures = tuple(PublishedFigure(f"{key} ({group})", key, group) for key in part_keys)
                yield replace(part, figures=figures, of_truth=of_truth, of_run=_answers(part.of_run))


def _answers(of_run: OfRun) -> OfRun:
    return lambda run, truth: of_run(answers_to(run, truth), truth)


def _measure(key: str) -> str:
    return key.partition("@")[0]


def _strict(figure: PublishedFigure) -> PublishedFigure:
    name, _, at = figure.key.partition("@")
    return replace(figure, key=f"recall_gt@{at}") if name == "recall" else figure
