"""What a benchmark is: the figures that its published evaluator prints, and how they are got from truth and run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from backend.core.errors import InputError, Problem
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import PRESETS, Options, Settings, settle


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One number of the published table: `name` is what it is called there, `key` the value that it is here.

    `about` says what of: which moments; or all, where it is none of our values but computed beside them.
    """

    name: str
    key: str = ""
    about: str = ""


def grounding_figures(cutoffs: Sequence[int], thetas: Sequence[float]) -> tuple[PublishedFigure, ...]:
    """What benchmarks of one moment for each sentence print: R@K at every theta, and mIoU.

    >>> [figure.name for figure in grounding_figures([1], [0.5])]
    ['R@1, IoU=0.5', 'mIoU']
    """
    recalls = (PublishedFigure(f"R@{k}, IoU={theta}", f"recall@{k},{theta}") for k in cutoffs for theta in thetas)
    return (*recalls, PublishedFigure("mIoU", "miou"))


@dataclass(frozen=True, slots=True)
class Beside:
    """Figures of something else than moments, which the same files hold.

    `score(truth, run, missing)` reads the two files and returns the figures' values by name, none where the files do
    not hold it; `missing` is the convention for queries that the run lacks.
    """

    figures: tuple[PublishedFigure, ...]
    score: Callable[[Path, Path, str], Mapping[str, float]]


def whole(truth: Truth) -> Truth:
    """The truth as its file has it."""
    return truth


def uncut(run: Run, _truth: Truth) -> Run:
    """The run as its file has it."""
    return run


@dataclass(frozen=True, slots=True)
class Part:
    """Figures of one look at truth and runs.

    `of_truth` leaves what this part looks at, such as the short moments, and `of_run` what it looks at of a run, given
    the truth that was left; None where a run has nothing for this part. `options` are conventions of this part alone.
    """

    figures: tuple[PublishedFigure, ...]
    of_truth: Callable[[Truth], Truth] = whole
    of_run: Callable[[Run, Truth], Run | None] = uncut
    options: Options = field(default_factory=Options)

    def settings(self, preset: str, options: Options) -> Settings:
        """What has to be computed for the figures."""
        return settle(preset, (1,), (0.5,), options, measures=[figure.key for figure in self.figures])


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark of the field: its figures by its own evaluator's conventions, printed as they are printed there.

    `evaluator` names the published code that its figures are held to. `options` are the conventions of that code
    where they are not those of `preset`; `beside` are figures of something else than moments. The first part is the
    one that groups, statistics, report and JSON are of. Figures are shares; tables show them in percent with `digits`,
    unless `percent` is false. `about` says in a few words what is scored, `notes` what people should know who compare
    with published tables.
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
    """Runs are read with all their tasks, see `Run.tasks`."""
    in_pools: bool = False
    """Runs are scored in pools of videos, whose own moments are the truth."""

    @property
    def figures(self) -> list[PublishedFigure]:
        """All its figures, part by part."""
        found = [figure for part in self.parts for figure in part.figures]
        return found + list(self.beside.figures if self.beside else ())

    def missing(self, asked: Options) -> str:
        """What is done about a query that a run lacks: as `asked` for, or the benchmark's own convention."""
        return asked.get("missing") or self.options.get("missing") or PRESETS[self.preset].missing

    def figures_beside(self, truth: Path, run: Path, asked: Options, problems: list[Problem]) -> Mapping[str, float]:
        """The figures of something else than moments; what is wrong with the files is added to `problems`, once."""
        try:
            return self.beside.score(truth, run, self.missing(asked)) if self.beside else {}
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
            return {}

    def planned(self, asked: Options) -> list[tuple[Part, Settings]]:
        """The parts, each with what has to be computed for it; an option asked for overrides the benchmark's own.

        With `iou_compare=gt` recall asks for more than theta, too.

        Raises:
            InputError: naming every option that cannot be.
        """
        given = cast("Options", {name: value for name, value in asked.items() if value is not None})
        parts = self.parts
        if given.get("iou_compare", self.options.get("iou_compare")) == "gt":
            parts = tuple(replace(part, figures=tuple(map(_strict, part.figures))) for part in parts)
        return [(part, part.settings(self.preset, self.options | part.options | given)) for part in parts]


def _strict(figure: PublishedFigure) -> PublishedFigure:
    name, _, at = figure.key.partition("@")
    return PublishedFigure(figure.name, f"recall_gt@{at}") if name == "recall" else figure
