"""Commands that study measures without any run: axioms, theory."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from backend.cli.conventions import THRESHOLDS, Mu, Option, Preset, PresetOption, Theta, read_option
from backend.cli.lists import list_option, typed
from backend.cli.output import Json, progress_bar
from backend.cli.studying import Measure, Out, finish

_THRESHOLD, _GAMMAS = typed("0.5"), typed("0.05,0.1,0.2")


class Axis(StrEnum):
    """What curves of the closed forms run over."""

    R = "r"
    THETA = "theta"


def axioms(
    measure: Measure = None,
    preset: PresetOption = Preset.PAPER,
    mu: Mu = _THRESHOLD,
    theta: Theta = _THRESHOLD,
    option: Option = None,
    length: Annotated[int, typer.Option("--length", help="Highest number of predictions in a list.", min=1, max=4)] = 3,
    out: Out = None,
    json: Json = False,
) -> None:
    """Test measures against AxIoU's axioms INV-k and MON-k.

    Prints the shortest counterexample to each.

    Example: reelrank measures axioms --measure ndcg --mu 0.3,0.5
    """
    from backend.scoring.studies.running import axioms_study

    with progress_bar() as progress:
        study = axioms_study(
            measure or [],
            preset=preset.value,
            mu=mu,
            theta=theta,
            options=dict(read_option(text) for text in option or ()),  # type: ignore[arg-type]
            longest=length,
            progress=progress,
        )
    rows = []
    for row in study.rows:
        if row["verdict"] == "broken":
            told = f"({row['before']}) -> ({row['after']}): {row['value_before']:.4f} -> {row['value_after']:.4f}"
        else:
            told = f"not broken by {row['changes']:,} changes"
        rows.append((row["measure"], row["axiom"], told))
    finish(study, out, json, ("measure", "axiom", "IoU of the predictions: value"), rows, (True, True, True))


def theory(
    over: Annotated[
        Axis, typer.Option("--over", help="Plot curves over the true IoU r for each theta, or over theta for each r.")
    ] = Axis.R,
    theta: Annotated[list[float], list_option("--theta", "T,T", "With --over r: thresholds of R@1.")] = THRESHOLDS,
    r: Annotated[list[float], list_option("--r", "R,R", "With --over theta: true IoUs.")] = THRESHOLDS,
    gamma: Annotated[list[float], list_option("--gamma", "G,G", "Standard deviations of IoU.")] = _GAMMAS,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compute bias, variance and MSE of R@1 and AxIoU@1.

    R@1 is with IoU>=theta. All are closed forms under Gaussian noise; the bias is squared.

    Example: reelrank measures theory --over theta --r 0.5 --gamma 0.1
    """
    from backend.scoring.studies.running import theory_study

    study = theory_study(theta, gamma, over=over.value, rs=r)
    errors: dict[tuple[str, str], list[Any]] = {}
    for row in study.rows:
        at = "" if over is Axis.R or row["r"] is None else f", r = {row['r']:g}"
        errors.setdefault((f"{row['measure']}{at}", f"{row['gamma']:g}"), []).append(row["mse"])
    rows = [(*place, f"{max(mse):.4f}", f"{sum(mse) / len(mse):.4f}") for place, mse in errors.items()]
    finish(study, out, json, ("measure", "gamma", "worst MSE", f"mean MSE over {over.value}"), rows)
