"""What the commands that study measures share: their inputs from options, their tables, their output."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.conventions import Preset, read_option
from backend.cli.lists import list_option
from backend.cli.output import json_text, say, table, tell_written
from backend.core.errors import InputError

if TYPE_CHECKING:
    from backend.scoring.studies.inputs import StudyInputs
    from backend.scoring.studies.study import Study


def measure_option(name: str, help_text: str) -> Any:
    """Return an option that takes measures by name or by key; keys have commas too, such as `ndcg@20,0.5`."""
    from backend.scoring.requested_values import split as split_measures

    return list_option(name, "NAME|KEY,...", help_text, str, split=lambda text: split_measures(text))


Measure = Annotated[list[str] | None, measure_option("--measure", "Only these, such as ndcg, ndcg@10 or map@avg.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Output folder.  [default: studies/NAME]")]
_COLUMNS = 9
"""Of a table of all pairs of measures: what a terminal of 80 characters holds."""


def study_inputs(
    truth: Path,
    runs: dict[str, Path],
    videos: Path | None,
    preset: Preset,
    k: list[int],
    mu: list[float],
    theta: list[float],
    option: list[str] | None,
    measure: list[str] | None,
    split: str | None = None,
) -> "StudyInputs":
    """What is scored and how, from the options that all studies share."""
    from backend.scoring.studies.inputs import StudyInputs

    return StudyInputs(
        truth,
        runs,
        videos,
        preset.value,
        k,
        mu,
        theta,
        measure or [],
        dict(read_option(text) for text in option or ()),  # type: ignore[arg-type]
        split,
    )


def by_name(given: list[str]) -> dict[str, Path]:
    """Runs by the names that they are given, or have by their files."""
    from backend.scoring.run_files import named_files

    try:
        return {run.name: run.path for run in named_files(given)}
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--run") from None


def two_files(text: str) -> tuple[str, tuple[Path, Path]]:
    """A model from `NAME=VAL,TEST`."""
    name, _, files = text.partition("=")
    parts = files.split(",")
    if not name or len(parts) != 2 or not all(parts):
        raise typer.BadParameter(f"{text!r} is not NAME=VAL,TEST with two files", param_hint="--run")
    return name, (Path(parts[0]), Path(parts[1]))


def as_text(value: Any, form: str) -> str:
    """A number as text, `-` where it is undefined."""
    return "-" if value is None else format(value, form)


def matrix(
    study: "Study", fields: tuple[str, str, str], title: str, form: str
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A table of all pairs of measures, its columns numbered, as names would not fit: of the first few measures.

    Where the columns are of other measures than the rows, they carry names all the same.
    """
    first, second, value = fields
    names = list(dict.fromkeys(str(row[first]) for row in study.rows))
    others = list(dict.fromkeys(str(row[second]) for row in study.rows))
    cells = {(row[first], row[second]): as_text(row[value], form) for row in study.rows}
    shown = others[:_COLUMNS]
    more = f" ({len(shown)} of {len(others)})" if len(others) > len(shown) else ""
    if names != others:
        return (title + more, *shown), [(a, *(cells[a, b] for b in shown)) for a in names]
    rows = [(f"{n} {a}", *(cells[a, b] for b in shown)) for n, a in enumerate(names, start=1)]
    return (title + more, *map(str, range(1, len(shown) + 1))), rows


def finish(
    study: "Study",
    out: Path | None,
    json: bool,
    columns: tuple[Any, ...],
    rows: list[tuple[Any, ...]],
    left: tuple[bool, ...] = (),
) -> None:
    """Write the folder, then print the study: as JSON, or as a table with its choices, reasons and files.

    Columns are flush right but the first, or those that are `left`.
    """
    from backend.scoring.studies.writing import write_study

    paths = write_study(study, out or Path("studies") / study.name)
    if json:
        say(json_text(study))
        tell_written(paths, data=True)
        return
    say(study.description)
    table(columns, rows, left)
    for reason in dict.fromkeys(row["reason"] for row in study.rows if row.get("reason")):
        say(f"undefined: {reason}")
    for warning in study.warnings:
        say(f"Warning: {warning}")
    say(f"Written: {', '.join(map(str, paths))}")
