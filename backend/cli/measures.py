"""Commands that study measures with the help of runs: `reelrank measures`.

Studies that need no runs are in `studies.py`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from backend.cli.commands import add_group
from backend.cli.conventions import Preset, Runs, Truth, measure_option
from backend.cli.options import Cluster, Jobs, Json, list_option, option, typed, where
from backend.cli.output import progress_bar
from backend.cli.studies import Out, StudyOptions, as_text, axioms, benchmarks, finish, matrix, theory, two_files

_SIGMAS_S = typed("1,2,3,4")
Seed = Annotated[int, option("--seed", "Seed of all random numbers.", min=0)]


def agreement(truth: Truth, run: Runs, *, scored: StudyOptions, out: Out = None, json: Json = False) -> None:
    """Compare how measures order the systems, by Kendall's tau-b.

    Example: reelrank measures agreement --truth val.json --run a.json --run b.json --run c.json
    """
    from backend.scoring.studies.running import agreement_study

    study = agreement_study(scored.inputs(truth, run))
    finish(study, out, json, *matrix(study, ("first", "second", "tau_b"), "tau-b", ".3f"))


def stability(
    truth: Truth,
    run: Runs,
    *,
    scored: StudyOptions,
    sizes: Annotated[
        list[int] | None,
        list_option("--sizes N,N", "Numbers of queries in a set.  [default: six sizes, up to half of all]", int),
    ] = None,
    trials: Annotated[int, option("--trials", "Number of pairs of sets for each size.", min=1)] = 5000,
    subset_pairs: Annotated[
        Literal["disjoint", "independent", "whole"],
        option(
            "--subset-pairs",
            "disjoint: no query is in both sets, as far as there are enough queries; whole: the second set is all "
            "queries, as in the code of AxIoU's authors.",
        ),
    ] = "disjoint",
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
            scored.inputs(truth, run),
            sizes=sizes,
            trials=trials,
            subset_pairs=subset_pairs,
            seed=seed,
            where=where(jobs, cluster),
            progress=progress,
        )
    columns = list(dict.fromkeys(row["size"] for row in study.rows))
    cells = {(row["measure"], row["size"]): as_text(row["mean"], ".3f") for row in study.rows}
    names = list(dict.fromkeys(row["measure"] for row in study.rows))
    header = ("mean tau-b with n queries", *(str(size) for size in columns))
    finish(study, out, json, header, [(name, *(cells[name, size] for size in columns)) for name in names])


def noise(
    truth: Truth,
    run: Runs,
    *,
    scored: StudyOptions,
    model: Annotated[
        Literal["exp_length", "shifted_length", "gaussian_ends"],
        option(
            "--noise",
            "exp_length: as the AxIoU paper describes it; shifted_length: as its authors' code has it; gaussian_ends: "
            "only the two ends move.",
        ),
    ] = "exp_length",
    sigma: Annotated[
        list[float], list_option("--sigma S,S", "Standard deviation of a boundary, in seconds.")
    ] = _SIGMAS_S,
    sets: Annotated[int, option("--sets", "Number of noisy test sets.", min=1)] = 100,
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster: Cluster = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure how imprecise boundaries in the truth change scores.

    Scores each run on many copies of the truth with randomly moved boundaries. For each measure, prints how far a run's
    mean score on these copies is from its mean score on the given truth (root mean square error). Moved boundaries stay
    within the video, as far as the truth or --videos gives its duration.

    Example: reelrank measures noise --truth val.json --run a.json --run b.json --sigma 1,2
    """
    from backend.scoring.studies.running import noise_study

    with progress_bar() as progress:
        study = noise_study(
            scored.inputs(truth, run),
            kind=model,
            sigmas_s=sigma,
            sets=sets,
            seed=seed,
            where=where(jobs, cluster),
            progress=progress,
        )
    errors: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for row in study.rows:
        place = (row["measure"], f"{row['sigma_s']:g} s", as_text(row["median_iou"], ".3f"))
        errors.setdefault(place, []).append((row["rmse"], row["system"]))
    rows = []
    for place, (*systems, mean) in errors.items():  # the mean of systems comes last
        least, most = min(systems), max(systems)
        rows.append((*place, f"{mean[0]:.4f}", f"{least[0]:.4f}", f"{most[0]:.4f}", most[1]))
    finish(study, out, json, ("RMSE of means", "sigma", "median IoU", "mean of systems", "least", "most", "by"), rows)


def ties(truth: Truth, run: Runs, *, scored: StudyOptions, out: Out = None, json: Json = False) -> None:
    """Count the queries on which all systems score the same.

    Example: reelrank measures ties --truth val.json --run a.json --run b.json
    """
    from backend.scoring.studies.running import ties_study

    study = ties_study(scored.inputs(truth, run))
    rows = [(row["measure"], row["all_tied"], as_text(row["ratio"], ".1%")) for row in study.rows]
    finish(study, out, json, ("measure", "queries all tied", "ratio"), rows)


def model_selection(
    truth_val: Annotated[
        Path, option("--truth-val FILE|DIR", "Truth on which models are selected, such as val.json of a release.")
    ],
    truth_test: Annotated[
        Path, option("--truth-test FILE|DIR", "Truth on which models are compared, such as test.json of a release.")
    ],
    run: Annotated[list[str], option("--run NAME=VAL,TEST", "A model and its runs on both truths; may be repeated.")],
    *,
    scored: StudyOptions,
    test_measure: Annotated[
        list[str] | None,
        measure_option(
            "--test-measure",
            "Measures on test, in the form of --measure. Default: those of --measure; with preset axiou, the eight of "
            "AxIoU's Figure 8.",
        ),
    ] = None,
    z_over: Annotated[
        Literal["selected", "candidates"],
        option(
            "--z-over", "Models that z-scores are relative to; selected: those that a measure selects, as in the paper."
        ),
    ] = "selected",
    out: Out = None,
    json: Json = False,
) -> None:
    """Test how well measures select models on validation data.

    Takes the model that each measure selects on validation, and prints its z-score on test under each measure.

    Example: reelrank measures model-selection --truth-val val.json --truth-test test.json
    --run a=a-val.json,a-test.json --run b=b-val.json,b-test.json
    """
    from backend.scoring.presets import AXIOU_TEST_MEASURES
    from backend.scoring.studies.running import model_selection_study

    files = dict(two_files(text) for text in run)
    if len(files) < len(run):
        raise typer.BadParameter("two models have the same name: rename one", param_hint="--run")
    val_runs, test_runs = ({name: both[n] for name, both in files.items()} for n in (0, 1))
    usual = list(AXIOU_TEST_MEASURES) if scored.preset == Preset.AXIOU else None
    on_test = replace(scored, measure=test_measure or scored.measure or usual)
    val = scored.inputs_of(truth_val, val_runs, "val")
    test = on_test.inputs_of(truth_test, test_runs, "test")
    study = model_selection_study(val, test, over=z_over)
    header, rows = matrix(study, ("validation_measure", "test_measure", "z"), "z on test", ".2f")
    chosen = {row["validation_measure"]: str(row["selected"]) for row in study.rows}
    rows = [(*row, model) for row, model in zip(rows, chosen.values(), strict=True)]
    finish(study, out, json, (*header, "model"), rows)


add_group(
    "measures",
    "Compare measures: agreement, stability, noise, ties.",
    "ties --truth val.json --run a.json --run b.json",
    {
        "agreement": agreement,
        "stability": stability,
        "noise": noise,
        "ties": ties,
        "model-selection": model_selection,
        "axioms": axioms,
        "theory": theory,
        "benchmarks": benchmarks,
    },
)
