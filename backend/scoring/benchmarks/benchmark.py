"""Define a benchmark: the figures that its published evaluator prints, and how to compute them from truth and run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from backend.core.errors import InputError, Problem
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import PRESETS, Options, Settings, settle


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One number of the benchmark's published table; `name` is its name there.

    `key` is the name of the same figure in ReelRank, or empty if the figure is computed in another way. `about` says
    which moments the figure is about, or describes it fully if it has no key.
    """

    name: str
    key: str = ""
    about: str = ""


def grounding_figures(cutoffs: Sequence[int], thetas: Sequence[float]) -> tuple[PublishedFigure, ...]:
    """Return the figures of benchmarks with one moment for each sentence: R@K at every theta, and mIoU.

    >>> [figure.name for figure in grounding_figures([1], [0.5])]
    ['R@1, IoU=0.5', 'mIoU']
    """
    recalls = (PublishedFigure(f"R@{k}, IoU={theta}", f"recall@{k},{theta}") for k in cutoffs for theta in thetas)
    return (*recalls, PublishedFigure("mIoU", "miou"))


@dataclass(frozen=True, slots=True)
class Beside:
    """Figures that are not about moments, computed from the same files.

    `score(truth, run, missing)` reads the two files and returns the figures' values by name, or none if the files lack
    the data. `missing` is the convention for queries that the run lacks.
    """

    figures: tuple[PublishedFigure, ...]
    score: Callable[[Path, Path, str], Mapping[str, float]]


def unchanged_truth(truth: Truth) -> Truth:
    """Return the truth unchanged."""
    return truth


def unchanged_run(run: Run, _truth: Truth) -> Run:
    """Return the run unchanged."""
    return run


@dataclass(frozen=True, slots=True)
class Part:
    """The figures that are computed from one selection of truth and runs.

    `of_truth` selects from the truth, for example the short moments. `of_run` selects from a run, given the selected
    truth; it returns None if the run has nothing for this part. `options` are conventions of this part only.
    """

    figures: tuple[PublishedFigure, ...]
    of_truth: Callable[[Truth], Truth] = unchanged_truth
    of_run: Callable[[Run, Truth], Run | None] = unchanged_run
    options: Options = field(default_factory=Options)

    def settings(self, preset: str, options: Options) -> Settings:
        """Return the settings that compute the figures."""
        return settle(preset, (1,), (0.5,), options, measures=[figure.key for figure in self.figures])


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark of the field, with the figures and conventions of its own evaluator.

    Attributes:
        name: its name in options and files.
        title: its name in tables.
        about: a few words about what is scored.
        evaluator: the published code whose figures these reproduce.
        parts: its figures, a part for each selection of truth and runs. Groups, statistics, report and JSON are about
            the first part.
        options: the conventions of that code that differ from `preset`.
        preset: the preset of the other conventions.
        digits: how many decimal places tables show.
        percent: whether tables show the figures, which are shares, in percent.
        notes: what to know before comparing with published tables.
        beside: figures that are not about moments.
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
    tasks: bool = False
    """Whether runs are read with all their tasks, see `Run.tasks`."""
    in_pools: bool = False
    """Whether runs are scored in pools of videos, whose own moments are the truth."""

    @property
    def figures(self) -> list[PublishedFigure]:
        """All figures, part by part, then those that are not about moments."""
        found = [figure for part in self.parts for figure in part.figures]
        return found + list(self.beside.figures if self.beside else ())

    def missing(self, asked: Options) -> str:
        """Return the convention for queries that a run lacks: the caller's, or else the benchmark's."""
        return asked.get("missing") or self.options.get("missing") or PRESETS[self.preset].missing

    def figures_beside(self, truth: Path, run: Path, asked: Options, problems: list[Problem]) -> Mapping[str, float]:
        """Return the figures that are not about moments; problems of the files are added to `problems`, each once."""
        try:
            return self.beside.score(truth, run, self.missing(asked)) if self.beside else {}
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
            return {}

    def planned(self, asked: Options) -> list[tuple[Part, Settings]]:
        """Return the parts, each with its settings; the caller's options override the benchmark's own.

        Impossible predictions keep their rank and have IoU 0 (`invalid=zero`), as in the published evaluators. With
        `iou_compare=gt`, recall also requires an IoU above theta, not just equal to it.

        Raises:
            InputError: names every option that cannot be used.
        """
        options = cast("Options", {name: value for name, value in asked.items() if value is not None})
        parts = self.parts
        if options.get("iou_compare", self.options.get("iou_compare")) == "gt":
            parts = tuple(replace(part, figures=tuple(map(_strict, part.figures))) for part in parts)
        own: Options = {"invalid": "zero"}
        return [(part, part.settings(self.preset, own | self.options | part.options | options)) for part in parts]


def _strict(figure: PublishedFigure) -> PublishedFigure:
    name, _, at = figure.key.partition("@")
    return PublishedFigure(figure.name, f"recall_gt@{at}") if name == "recall" else figure
