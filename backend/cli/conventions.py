"""Presets and options of an evaluation, as the commands that score take them."""

from enum import StrEnum

import typer

from backend import api


class Preset(StrEnum):
    """Conventions of scoring."""

    PAPER = "paper"
    OFFICIAL = "official"


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
