"""Presets and options of an evaluation, as the commands that score take them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from backend import api


class Preset(StrEnum):
    """Conventions of scoring."""

    PAPER = "paper"
    OFFICIAL = "official"


Truth = Annotated[Path, typer.Option("--truth", metavar="FILE", help="Truth, such as val.json.", show_default=False)]
Runs = Annotated[list[Path], typer.Option("--run", metavar="FILE", help="A run; may be repeated.", show_default=False)]
Videos = Annotated[
    Path | None, typer.Option("--videos", metavar="MAP", help="name -> [duration, index], for runs with indices.")
]
PresetOption = Annotated[Preset, typer.Option("--preset", help="paper: the formula; official: the published code.")]
K = Annotated[str, typer.Option("--k", metavar="K,K", help="Rank cut-offs.")]
Mu = Annotated[str, typer.Option("--mu", metavar="M,M", help="IoU thresholds of NDCG.")]
Theta = Annotated[str, typer.Option("--theta", metavar="T,T", help="IoU thresholds of measures without grades.")]
Option = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Override one point of the preset, e.g. gain=exp2."),
]

CUTOFFS, THRESHOLDS = "10,20,40", "0.3,0.5,0.7"


def read_option(text: str) -> tuple[str, str | bool]:
    """`missing=skip` as name and value; an unknown one is wrong usage."""
    name, equals, value = text.partition("=")
    if not equals or name not in api.EVALUATION_OPTIONS:
        known = ", ".join(api.EVALUATION_OPTIONS)
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE with one of {known}", param_hint="--option")
    legal = {str(choice).lower(): choice for choice in api.EVALUATION_OPTIONS[name]}
    if value.lower() not in legal:
        raise typer.BadParameter(f"{name} is one of {', '.join(legal)}, not {value!r}", param_hint="--option")
    return name, legal[value.lower()]
