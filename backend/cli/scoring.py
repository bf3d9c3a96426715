"""Commands that score: consensus over a raw annotation file, evaluate over runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from backend import api
from backend.cli.output import Json, numbers, say, table


class Preset(StrEnum):
    """Conventions of scoring."""

    PAPER = "paper"
    OFFICIAL = "official"


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("consensus")(consensus)
    app.command("evaluate")(evaluate)


def consensus(
    file: Annotated[Path, typer.Argument(metavar="RAW.csv", help="pair_id,worker,relevance rows.", show_default=False)],
    json: Json = False,
) -> None:
    """Apply the consensus rule to raw annotations, and say how far their annotators agree.

    Example: reelrank consensus raw_annotation.csv
    """
    summary = api.summarise_raw(file)
    if json:
        say(msgspec.json.encode(summary).decode())
        return
    say(f"{summary['rows']:,} rows by {summary['annotators']} annotators over {summary['pairs']:,} pairs")
    say(f"{summary['consensus']:,} in consensus, {summary['discarded']:,} discarded")
    counts = " / ".join(f"{count:,}" for count in summary["relevance"].values())
    say(f"relevances {' / '.join(summary['relevance'])}: {counts}")
    by_two, by_four = summary["settled_by_two"], summary["settled_by_four"]
    say(f"settled by two {by_two:,} ({by_two / summary['pairs']:.2%}), by four {by_four:,}")
    alpha = summary["alpha_ordinal"]
    say(f"Krippendorff's alpha (ordinal) {'undefined' if alpha is None else format(alpha, '.3f')}")


def evaluate(
    truth: Annotated[Path, typer.Option("--truth", metavar="FILE", help="val.json or test.json.", show_default=False)],
    run: Annotated[
        list[Path], typer.Option("--run", metavar="FILE", help="A run; may be repeated.", show_default=False)
    ],
    videos: Annotated[
        Path | None, typer.Option("--videos", metavar="MAP", help="name -> [duration, index], for runs with indices.")
    ] = None,
    preset: Annotated[Preset, typer.Option("--preset", help="paper: the formula; official: the published code.")] = (
        Preset.PAPER
    ),
    k: Annotated[str, typer.Option("--k", metavar="K,K", help="Rank cut-offs.")] = "10,20,40",
    mu: Annotated[str, typer.Option("--mu", metavar="M,M", help="IoU thresholds.")] = "0.3,0.5,0.7",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Override one point of the preset, e.g. missing=skip."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE|-", help="Write JSON to a file, or only JSON to - .")
    ] = None,
) -> None:
    """Score runs against graded truth: NDCG@K, IoU>=mu.

    Example: reelrank evaluate --truth val.json --run mine.json --videos video_corpus.json
    """
    cutoffs, thresholds = numbers(k, int, "--k"), numbers(mu, float, "--mu")
    options: dict[str, Any] = dict(_option(text) for text in option or ())
    result = api.evaluate_files(
        truth, run, videos=videos, preset=preset.value, k=[int(c) for c in cutoffs], mu=thresholds, **options
    )
    if json is not None:
        data = msgspec.json.format(msgspec.json.encode(result), indent=2).decode()
        if str(json) == "-":
            say(data)
            return
        json.write_text(data + "\n", encoding="utf-8")
    _print_scores(result)


def _option(text: str) -> tuple[str, str | bool]:
    name, equals, value = text.partition("=")
    if not equals or name not in api.EVALUATION_OPTIONS:
        known = ", ".join(api.EVALUATION_OPTIONS)
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE with one of {known}", param_hint="--option")
    legal = {str(choice).lower(): choice for choice in api.EVALUATION_OPTIONS[name]}
    if value.lower() not in legal:
        raise typer.BadParameter(f"{name} is one of {', '.join(legal)}, not {value!r}", param_hint="--option")
    return name, legal[value.lower()]


def _print_scores(result: dict[str, Any]) -> None:
    """The preset and every non-default option stand beside the numbers, always."""
    options = "".join(f", {name}={value}" for name, value in result["options"].items())
    truth = result["truth"]
    say(f"preset {result['preset']}{options}; {truth['queries']} queries, {truth['moments']} moments")
    runs = result["runs"]
    table(
        ("measure", *(run["name"] for run in runs)),
        [(key, *(f"{run['measures'][key]:.4f}" for run in runs)) for key in runs[0]["measures"]],
    )
    for run in runs:
        if run["missing"]:
            shown = ", ".join(str(query) for query in run["missing"][:10])
            more = " ..." if len(run["missing"]) > 10 else ""
            say(f"{run['name']}: {len(run['missing'])} queries without predictions: {shown}{more}")
    for warning in result["warnings"]:
        say(f"Warning: {warning}")
