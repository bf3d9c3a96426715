"""Commands that study measures without runs, and the options and output that all studies share."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from backend.cli.conventions import (
    THRESHOLDS,
    K,
    Mu,
    Option,
    Preset,
    PresetOption,
    Theta,
    Videos,
    measure_option,
    read_options,
)
from backend.cli.options import Json, argument, list_option, option, typed
from backend.cli.output import fail, json_text, progress_bar, say, say_each, table, tell_written
from backend.core.errors import InputError

if TYPE_CHECKING:
    from backend.scoring.drawing import Specification
    from backend.scoring.studies.running import StudyInputs
    from backend.scoring.studies.study import Study


Measure = Annotated[
    list[str] | None, measure_option("--measure", "Study only these, such as ndcg, ndcg@10 or map@avg.")
]
Out = Annotated[Path | None, option("--out DIR", "Output folder.  [default: studies/NAME]")]
_COLUMNS = 9
"""Columns of a table of measures that fit in 80 characters."""


@dataclass(frozen=True)
class StudyOptions:
    """Options on how runs are scored, which all studies of measures share.

    `k` are the rank cut-offs of measures. `mu` are the IoU thresholds of NDCG, and `theta` those of measures without
    grades.
    """

    videos: Videos = None
    preset: PresetOption = Preset.PAPER
    k: K = None
    mu: Mu = THRESHOLDS
    theta: Theta = THRESHOLDS
    option: Option = None
    measure: Measure = None

    def inputs(self, truth: Path, run: list[str]) -> "StudyInputs":
        """Return the input of a study of measures: the truth, the runs given by `--run`, and these options."""
        from backend.scoring.run_files import named_files

        try:
            return self.inputs_of(truth, {run_file.name: run_file.path for run_file in named_files(run)})
        except InputError as error:
            raise typer.BadParameter(str(error), param_hint="--run") from None

    def inputs_of(self, truth: Path, runs: dict[str, Path], split: str | None = None) -> "StudyInputs":
        """Return the input of a study of measures: the truth, the runs by name, and these options.

        `split` is the split to score if the truth is a release.
        """
        from backend.scoring.studies.running import StudyInputs

        return StudyInputs(
            *(truth, runs, self.videos, self.preset.value, self.k, self.mu, self.theta),
            measures=self.measure or [],
            options=read_options(self.option),
            split=split,
        )


def two_files(text: str) -> tuple[str, tuple[Path, Path]]:
    """Return (model name, (validation run, test run)) from a text `NAME=VAL,TEST`; another form is wrong usage."""
    name, _, files = text.partition("=")
    parts = files.split(",")
    if not name or len(parts) != 2 or not all(parts):
        raise typer.BadParameter(f"{text!r} is not NAME=VAL,TEST with two files", param_hint="--run")
    return name, (Path(parts[0]), Path(parts[1]))


def as_text(value: Any, form: str) -> str:
    """Format a number by a format specification such as `.4f`; `-` if it is None, which means undefined."""
    return "-" if value is None else format(value, form)


def matrix(
    study: "Study", fields: tuple[str, str, str], title: str, form: str
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return (header, rows) of a table of numbers in which each row is a measure, and each column is a measure.

    Only the first few columns are kept, to save room. If rows and columns are the same measures, rows are numbered, and
    columns are headed by these numbers. Otherwise columns are headed by names.

    Args:
        study: the study; each of its rows compares two measures.
        fields: the names of three fields of the study's rows: the measure of the table's row, that of its column, and
            the number in the cell.
        title: the head of the first column.
        form: the format of the numbers, such as `.3f`.
    """
    first, second, value = fields
    names = list(dict.fromkeys(str(row[first]) for row in study.rows))
    columns = list(dict.fromkeys(str(row[second]) for row in study.rows))
    cells = {(row[first], row[second]): as_text(row[value], form) for row in study.rows}
    first_columns = columns[:_COLUMNS]
    more = f" ({len(first_columns)} of {len(columns)})" if len(columns) > len(first_columns) else ""
    if names != columns:
        return (title + more, *first_columns), [(a, *(cells[a, b] for b in first_columns)) for a in names]
    rows = [(f"{n} {a}", *(cells[a, b] for b in first_columns)) for n, a in enumerate(names, start=1)]
    return (title + more, *map(str, range(1, len(first_columns) + 1))), rows


def finish(
    study: "Study",
    out: Path | None,
    json: bool,
    columns: tuple[Any, ...],
    rows: list[tuple[Any, ...]],
    left: tuple[bool, ...] = (),
    chart: "Specification | None" = None,
) -> None:
    """Write the study's files, then print the study: as JSON, or as a table.

    With the table it prints the study's description, why values are undefined, warnings, and the files written. `left`
    says for each column whether it is left-aligned; without it, only the first column is. `chart` is the figure; None
    draws that of the studies of measures.
    """
    from backend.scoring.studies.writing import write_study

    paths = write_study(study, out or Path("studies") / study.name, chart)
    if json:
        say(json_text(study))
        tell_written(paths, data=True)
        return
    say(study.description)
    table(columns, rows, left)
    say_each("undefined: {}", dict.fromkeys(row["reason"] for row in study.rows if row.get("reason")))
    say_each("Warning: {}", study.warnings)
    say(f"Written: {', '.join(map(str, paths))}")


_THRESHOLD, _GAMMAS = typed("0.5"), typed("0.05,0.1,0.2")


def axioms(
    measure: Measure = None,
    preset: PresetOption = Preset.PAPER,
    mu: Mu = _THRESHOLD,
    theta: Theta = _THRESHOLD,
    option: Option = None,
    length: Annotated[int, option("--length", "Longest list of predictions to try.", min=1, max=4)] = 3,
    out: Out = None,
    json: Json = False,
) -> None:
    """Test measures against AxIoU's axioms INV-k and MON-k.

    Both are about replacing one prediction of a ranked list by a better one. INV-k: if an earlier one is as good, the
    score stays. MON-k: if the new one is better than all earlier ones, the score rises. Prints the shortest
    counterexample to each axiom.

    Example: reelrank measures axioms --measure ndcg --mu 0.3,0.5
    """
    from backend.scoring.studies.running import axioms_study

    with progress_bar() as progress:
        study = axioms_study(
            measure or [],
            preset=preset.value,
            mu=mu,
            theta=theta,
            options=read_options(option),
            longest=length,
            progress=progress,
        )
    rows = []
    for row in study.rows:
        if row["verdict"] == "broken":
            verdict = f"({row['before']}) -> ({row['after']}): {row['value_before']:.4f} -> {row['value_after']:.4f}"
        else:
            verdict = f"not broken by {row['changes']:,} changes"
        rows.append((row["measure"], row["axiom"], verdict))
    finish(study, out, json, ("measure", "axiom", "IoU of the predictions: value"), rows, (True, True, True))


def theory(
    over: Annotated[
        Literal["r", "theta"],
        option("--over", "Plot curves over the true IoU r for each theta, or over theta for each r."),
    ] = "theta",
    theta: Annotated[
        list[float] | None, list_option("--theta T,T", "With --over r: thresholds of R@1.  [default: 0.3,0.5,0.7]")
    ] = None,
    r: Annotated[list[float] | None, list_option("--r R,R", "With --over theta: true IoUs.  [default: 0.5]")] = None,
    gamma: Annotated[list[float], list_option("--gamma G,G", "Standard deviations of IoU.")] = _GAMMAS,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compute bias, variance and MSE of R@1 and AxIoU@1.

    Assumes that the measured IoU is the true IoU r plus Gaussian noise, and uses the closed formulas for this case. R@1
    counts a prediction as right if its IoU is at least theta. The column for the bias has its square. Without options
    it draws Figure 2 of AxIoU's supplement: errors over theta at r = 0.5.

    Example: reelrank measures theory --over r --theta 0.3,0.5 --gamma 0.1
    """
    from backend.scoring.presets import DEFAULT_MU
    from backend.scoring.studies.running import theory_study

    if over == "r" and r is not None:
        raise typer.BadParameter("is for curves over theta: leave out --over r, or give --theta", param_hint="--r")
    if over == "theta" and theta is not None:
        raise typer.BadParameter("is for curves over the true IoU: add --over r", param_hint="--theta")
    study = theory_study(theta or DEFAULT_MU, gamma, over=over, rs=(0.5,) if r is None else r)
    errors: dict[tuple[str, str], list[Any]] = {}
    for row in study.rows:
        at = "" if over == "r" or row["r"] is None else f", r = {row['r']:g}"
        errors.setdefault((f"{row['measure']}{at}", f"{row['gamma']:g}"), []).append(row["mse"])
    rows = [(*place, f"{max(mse):.4f}", f"{sum(mse) / len(mse):.4f}") for place, mse in errors.items()]
    finish(study, out, json, ("measure", "gamma", "worst MSE", f"mean MSE over {over}"), rows)


def benchmarks(
    name: Annotated[str | None, argument("[NAME]", "The benchmark to describe. Default: list all.")] = None,
) -> None:
    """List the benchmarks that `evaluate` knows, or describe one.

    Example: reelrank measures benchmarks charades-sta
    """
    from backend.scoring.benchmarks import BENCHMARKS, benchmark_named

    if name is None:
        rows = [(benchmark.name, benchmark.about) for benchmark in BENCHMARKS.values()]
        table(("benchmark", "what is scored"), rows, [True, True])
        return
    try:
        benchmark = benchmark_named(name)
    except InputError as error:
        fail(str(error))
    say(f"{benchmark.title}: {benchmark.about}.")
    say(f"Evaluator: {benchmark.evaluator}.")
    table(
        ("figure", "computed as"),
        [(f.name, ", ".join(filter(None, (f.key, f.about)))) for f in benchmark.figures],
        [True, True],
    )
    changed = [f"{option}={value}" for option, value in benchmark.options.items()]
    say(f"Preset {', '.join([benchmark.preset, *changed])}.")
    for note in benchmark.notes:
        say(note)
