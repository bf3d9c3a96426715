"""What a benchmark is: the figures that its published evaluator prints, and how they are got from truth and run."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import Options, Settings, settle


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One number of the published table: `name` is what it is called there, `key` the value that it is here."""

    name: str
    key: str


def whole(truth: Truth) -> Truth:
    """The truth as its file has it."""
    return truth


def uncut(run: Run, _truth: Truth) -> Run:
    """The run as its file has it."""
    return run


@dataclass(frozen=True, slots=True)
class Part:
    """Figures of one look at truth and runs.

    `name` stands before the figures' names in a benchmark of several parts. `of_truth` leaves what this part looks at,
    such as the short moments, and `of_run` what it looks at of a run, given the truth that was left.
    """

    figures: tuple[PublishedFigure, ...]
    name: str = ""
    of_truth: Callable[[Truth], Truth] = whole
    of_run: Callable[[Run, Truth], Run] = uncut

    def settings(self, preset: str, options: Options) -> Settings:
        """What has to be computed for the figures."""
        return settle(preset, (1,), (0.5,), options, measures=[figure.key for figure in self.figures])


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark of the field: its figures by its own evaluator's conventions, printed as they are printed there.

    `evaluator` names the published code that its figures are held to. `options` are the conventions of that code
    where they are not those of `preset`. The first part is the one that groups, statistics, report and JSON are of.
    Figures are shares; tables show them in percent with `digits`, unless `percent` is false.
    `about` says in a sentence what is scored, `notes` what people should know who compare with published tables.
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

    def planned(self, asked: Options) -> list[tuple[Part, Settings]]:
        """The parts, each with what has to be computed for it; an option asked for overrides the benchmark's own.

        With `iou_compare=gt` recall asks for more than theta, too.

        Raises:
            InputError: naming every option that cannot be.
        """
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        options: Options = {**self.options, **given}  # type: ignore[typeddict-item]  # settle checks names and values
        parts = self.parts
        if options.get("iou_compare") == "gt":
            parts = tuple(replace(part, figures=tuple(map(_strict, part.figures))) for part in parts)
        return [(part, part.settings(self.preset, options)) for part in parts]


def _strict(figure: PublishedFigure) -> PublishedFigure:
    name, _, at = figure.key.partition("@")
    return PublishedFigure(figure.name, f"recall_gt@{at}") if name == "recall" else figure
