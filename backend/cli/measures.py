"""Commands that study measures on runs: agreement, stability, noise, ties, model-selection; benchmarks listed."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.conventions import (
    CUTOFFS,
    THRESHOLDS,
    K,
    Mu,
    Option,
    Preset,
    PresetOption,
    Theta,
    Videos,
    measure_option,
)
from backend.cli.options import Cluster, Jobs, SeveralRuns, add_group, list_option, typed, where
from backend.cli.output import Json, progress_bar
from backend.cli.studies import (
    Measure,
    Out,
    as_text,
    axioms,
    benchmarks,
    finish,
    matrix,
    on_runs,
    study_inputs,
    theory,
    two_files,
)

if TYPE_CHECKING:
    from backend.scoring.studies.running import StudyInputs


class SubsetPairs(StrEnum):
    """How the two sets of a stability trial are drawn."""

    DISJOINT = "disjoint"
    INDEPENDENT = "independent"


class Over(StrEnum):
    """Whose mean and standard deviation make a z-score."""

    SELECTED = "selected"
    CANDIDATES = "candidates"


class Noise(StrEnum):
    """Models of label noise."""

    EXP_LENGTH = "exp_length"
    GAUSSIAN_ENDS = "gaussian_ends"


_SIGMAS_S = typed("1")
Seed = Annotated[int, typer.Option("--seed", help="Seed of all random numbers.", min=0)]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    example = "ties --truth val.json --run a.json --run b.json"
    measures = add_group(app, "measures", "Study the measures: agreement, stability, noise, ties.", example, {})
    for study in (agreement, stability, noise, ties):
        measures.command(cls=SeveralRuns)(study)
    for command in (model_selection, axioms, theory, benchmarks):
        measures.command()(command)


@on_runs
def agreement(
    inputs: "StudyInputs",
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare how measures order the systems, by Kendall's tau-b.

    Example: reelrank measures agreement --truth val.json --run a.json --run b.json --run c.json
    """
    from backend.scoring.studies.running import agreement_study

    study = agreement_study(inputs)
    finish(study, out, json, *matrix(study, ("first", "second", "tau_b"), "tau-b", ".3f"))


@on_runs
def stability(
    inputs: "StudyInputs",
    sizes: Annotated[
        list[int] | None, list_option("--sizes", "N,N", "Queries in a set.  [default: six, to half of all]", int)
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="Pairs of sets for each size.", min=1)] = 5000,
    subset_pairs: Annotated[
        SubsetPairs, typer.Option("--subset-pairs", help="disjoint: as long as both sets fit into the queries.")
    ] = SubsetPairs.DISJOINT,
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster: Cluster = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare how a measure orders systems on two sets of queries.

    The sets are drawn at random. Prints the mean Kendall's tau-b of the two orders.

    Example: reelrank measures stability --truth val.json --run a.json --run b.json --run c.json --seed 1
    """
    from backend.scoring.studies.running import stability_study

    with progress_bar() as progress:
        study = stability_study(
            inputs,
            sizes=sizes,
            trials=trials,
            subset_pairs=subset_pairs.value,
            seed=seed,
            where=where(jobs, cluster),
            progress=progress,
        )
    columns = list(dict.fromkeys(row["size"] for row in study.rows))
    cells = {(row["measure"], row["size"]): as_text(row["mean"], ".3f") for row in study.rows}
    names = list(dict.fromkeys(row["measure"] for row in study.rows))
    header = ("mean tau-b with n queries", *(str(size) for size in columns))
    finish(study, out, json, header, [(name, *(cells[name, size] for size in columns)) for name in names])


@on_runs
def noise(
    inputs: "StudyInputs",
    model: Annotated[
        Noise, typer.Option("--noise", help="exp_length: as in AxIoU; gaussian_ends: moves the two ends only.")
    ] = Noise.EXP_LENGTH,
    sigma: Annotated[
        list[float], list_option("--sigma", "S,S", "Standard deviation of a drawn boundary, in seconds.")
    ] = _SIGMAS_S,
    sets: Annotated[int, typer.Option("--sets", help="Number of noisy test sets.", min=1)] = 100,
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster: Cluster = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure how imprecise boundaries in the truth change scores.

    Prints the RMSE of the systems' means.

    Example: reelrank measures noise --truth val.json --run a.json --run b.json --videos videos.json --sigma 1,2
    """
    from backend.scoring.studies.running import noise_study

    with progress_bar() as progress:
        study = noise_study(
            inputs,
            kind=model.value,
            sigmas_s=sigma,
            sets=sets,
            seed=seed,
            where=where(jobs, cluster),
            progress=progress,
        )
    found: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for row in study.rows:
        place = (row["measure"], f"{row['sigma_s']:g} s", as_text(row["median_iou"], ".3f"))
        found.setdefault(place, []).append((row["rmse"], row["system"]))
    rows = []
    for place, (*systems, mean) in found.items():  # the mean of systems comes last
        least, most = min(systems), max(systems)
        rows.append((*place, f"{mean[0]:.4f}", f"{least[0]:.4f}", f"{most[0]:.4f}", most[1]))
    finish(study, out, json, ("RMSE of means", "sigma", "median IoU", "mean of systems", "least", "most", "by"), rows)


@on_runs
def ties(
    inputs: "StudyInputs",
    out: Out = None,
    json: Json = False,
) -> None:
    """Count the queries on which all systems score the same.

    Example: reelrank measures ties --truth val.json --run a.json --run b.json
    """
    from backend.scoring.studies.running import ties_study

    study = ties_study(inputs)
    rows = [(row["measure"], row["all_tied"], as_text(row["ratio"], ".1%")) for row in study.rows]
    finish(study, out, json, ("measure", "queries all tied", "ratio"), rows)


def model_selection(
    truth_val: Annotated[
        Path,
        typer.Option(
            "--truth-val", metavar="FILE|DIR", help="Models are selected on it; of a release val.", show_default=False
        ),
    ],
    truth_test: Annotated[
        Path,
        typer.Option(
            "--truth-test", metavar="FILE|DIR", help="They are judged on it; of a release test.", show_default=False
        ),
    ],
    run: Annotated[
        list[str],
        typer.Option(
            "--run",
            metavar="NAME=VAL,TEST",
            help="A model and its runs on both truths; may be repeated.",
            show_default=False,
        ),
    ],
    videos: Videos = None,
    preset: PresetOption = Preset.PAPER,
    k: K = CUTOFFS,
    mu: Mu = THRESHOLDS,
    theta: Theta = THRESHOLDS,
    option: Option = None,
    measure: Measure = None,
    test_measure: Annotated[
        list[str] | None,
        measure_option("--test-measure", "Measures on test, in the form of --measure. Default: those of --measure."),
    ] = None,
    z_over: Annotated[
        Over,
        typer.Option(
            "--z-over",
            help="Models that z-scores are relative to; selected: those that measures select, as in the paper.",
        ),
    ] = Over.SELECTED,
    out: Out = None,
    json: Json = False,
) -> None:
    """Test how well measures select models on validation data.

    Takes the model that each measure selects on validation, and prints its z-score on test under each measure.

    Example: reelrank measures model-selection --truth-val val.json --truth-test test.json
    --run a=a-val.json,a-test.json --run b=b-val.json,b-test.json
    """
    from backend.scoring.studies.running import model_selection_study

    files = dict(two_files(text) for text in run)
    if len(files) < len(run):
        raise typer.BadParameter("two models have one name", param_hint="--run")
    val, test = (
        study_inputs(
            path, {name: both[n] for name, both in files.items()}, videos, preset, k, mu, theta, option, named, split
        )
        for n, (split, path, named) in enumerate(
            (("val", truth_val, measure), ("test", truth_test, test_measure or measure))
        )
    )
    study = model_selection_study(val, test, over=z_over.value)
    header, rows = matrix(study, ("validation_measure", "test_measure", "z"), "z on test", ".2f")
    chosen = {row["validation_measure"]: str(row["selected"]) for row in study.rows}
    rows = [(*row, model) for row, model in zip(rows, chosen.values(), strict=True)]
    finish(study, out, json, (*header, "model"), rows)
