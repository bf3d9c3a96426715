"""Commands about captions: `cast`, who is in them, and `rewrite`."""

import csv
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.options import list_option, typed
from backend.cli.output import (
    Dir,
    EncoderOption,
    KindOption,
    fail,
    machine_output,
    now,
    progress_bar,
    say,
    seconds,
    table,
)

if TYPE_CHECKING:
    from backend.campaign.corpus.captions.model import RewriteSummary
    from backend.campaign.corpus.captions.rewriting import RewriteReport
    from backend.language.endpoint import Endpoint


class RewriterName(StrEnum):
    """Who rewrites."""

    RULES = "rules"
    OPENAI = "openai"


ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The language model.", show_default=False)
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url", metavar="URL", help="Address of the endpoint; it often ends in /v1.", show_default="OpenAI's own"
    ),
]
_TEMPERATURES = typed("0,0.2")
TemperaturesOption = Annotated[
    list[float], list_option("--temperatures", "T,T", "Temperature of each attempt.", unique=False)
]
BatchOption = Annotated[int, typer.Option("--batch", metavar="N", help="Captions per request.", min=1, max=100)]
AtOnceOption = Annotated[int, typer.Option("--at-once", metavar="N", help="Parallel requests.", min=1, max=256)]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", metavar="S", help="Seconds to wait for an answer.", min=0.001)
]
RetriesOption = Annotated[
    int, typer.Option("--retries", metavar="N", help="How often to repeat a failed request.", min=0)
]
PriceIn = Annotated[
    float | None,
    typer.Option("--price-in", metavar="P", help="Price of a million input tokens.", min=0, show_default=False),
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-out", metavar="P", help="Price of a million output tokens.", min=0, show_default=False),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("rewrite")(rewrite)
    app.command("cast")(cast)


def rewrite(
    folder: Dir,
    rewriter: Annotated[
        RewriterName,
        typer.Option("--rewriter", help="rules, or openai: a language model at an OpenAI-compatible endpoint."),
    ] = RewriterName.RULES,
    model: ModelOption = None,
    base_url: UrlOption = None,
    temperatures: TemperaturesOption = _TEMPERATURES,
    batch: BatchOption = 10,
    at_once: AtOnceOption = 8,
    timeout: TimeoutOption = 60,
    retries: RetriesOption = 6,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only print the rewrites that wait for a person, as CSV.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Only print what rewriting changed: replacement words, words per caption.")
    ] = False,
    by_hand: Annotated[
        Path | None,
        typer.Option("--by-hand", metavar="FILE.csv", help="Accept a person's rewrites: the CSV of --waiting, edited."),
    ] = None,
) -> None:
    """Replace names in captions with generic phrases.

    The rewriter is a set of rules with the name mapping, or a language model. A rewrite is accepted if its
    similarity to the caption is 0.4 or more and no name is left in it. A model tries rejected rewrites again; then
    they wait for a person. Decide them on the page Rewrites, or print them with --waiting, edit the file and hand
    it back with --by-hand. The model's key is read from the environment variable OPENAI_API_KEY. Answers are kept
    as they arrive: you can stop the command, and run it again to continue.

    Example: reelrank rewrite my-project --encoder minilm

    Example: reelrank rewrite my-project --rewriter openai --model llama3 --base-url http://localhost:11434/v1
    """
    from backend.campaign.corpus.captions.decisions import accept_rewrites, rewrite_summary, waiting_rewrites
    from backend.campaign.corpus.captions.rewriting import rewrite_captions
    from backend.campaign.selection.candidates.choosing import choose_encoder
    from backend.language.endpoint import Endpoint

    start = now()
    if rewriter is RewriterName.RULES and (model or base_url):
        raise typer.BadParameter("--model and --base-url are for --rewriter openai", param_hint="--rewriter")
    if rewriter is RewriterName.OPENAI and not model:
        raise typer.BadParameter("name the language model", param_hint="--model")
    if (price_in is None) != (price_out is None):
        raise typer.BadParameter("give both prices, or none", param_hint="--price-in and --price-out")
    prices = None if price_in is None or price_out is None else (price_in, price_out)
    project = open_project(folder)
    if waiting:
        writer = csv.writer(machine_output(), lineterminator="\n")
        writer.writerows([("caption", "rewrite", "why it waits"), *waiting_rewrites(project)])
        return
    if summary:
        _print_summary(rewrite_summary(project, OPERATOR))
        return
    if by_hand:
        say(f"{accept_rewrites(project, by_hand, now=start)} waiting rewrites were decided.")
        return
    endpoint = None
    if model:
        endpoint = Endpoint(
            model=model,
            temperatures=tuple(temperatures),
            batch=batch,
            at_once=at_once,
            timeout_s=timeout,
            retries=retries,
            **({"base_url": base_url} if base_url else {}),
        )
    if encoder:
        project = choose_encoder(project, OPERATOR, encoder, kind)
    try:
        with progress_bar() as progress:
            report = rewrite_captions(project, OPERATOR, endpoint=endpoint, now=start, progress=progress)
    except KeyboardInterrupt:
        if endpoint is None:
            fail("stopped; nothing was changed")
        fail("stopped; every answer so far is kept: run the same command again, and only the rest is asked")
    _say(report, seconds(start), endpoint, prices)
    quoted = shlex.quote(str(folder))
    if report.unknown and endpoint is None:  # a model needs no cast; what it left waits below
        names = ", ".join(f"{name} ({count})" for name, count in report.unknown[:12])
        say(f"Names that are not in the cast list: {names}{' ...' if len(report.unknown) > 12 else ''}")
        say(f"Say what they become in {folder / 'cast.csv'} (reelrank cast {folder}), and run this command again.")
    if report.waiting:
        say(
            "Decide on the page Rewrites, or see what waits, edit it, hand it back: "
            f"reelrank rewrite {quoted} --waiting > waiting.csv, then reelrank rewrite {quoted} --by-hand waiting.csv"
        )


def _say(
    report: "RewriteReport",
    took: str,
    endpoint: "Endpoint | None",
    prices: tuple[float, float] | None,
) -> None:
    """What became of the captions, and what it took."""
    retried = f"{report.after_retry:,} after another attempt, " if endpoint else ""
    say(
        f"{report.captions:,} captions: {report.at_once:,} accepted at once, {retried}{report.waiting:,} wait for a "
        f"person, {report.decided:,} had been decided by people; {report.changed:,} changed ({took})."
    )
    if endpoint is None:
        return
    spent = {"This time": report.usage}
    if report.usage_ever != report.usage:
        spent["With earlier runs"] = report.usage_ever
    for when, usage in spent.items():
        line = f"{when}: {usage.requests:,} requests, {usage.tokens_in:,} tokens asked, {usage.tokens_out:,} answered"
        if prices:
            line += f", cost {usage.cost(*prices):,.4f} at the prices given"
        if usage.untold:
            line += f"; of {usage.untold:,} requests the endpoint did not tell the tokens"
        say(f"{line}.")


def _print_summary(found: "RewriteSummary") -> None:
    say(
        f"{found.captions:,} imprecise captions, {found.changed:,} of them changed; "
        f"words a caption {found.words_before:.2f} before, {found.words_after:.2f} after."
    )
    if found.replacements:
        table(("replacement words", "count"), found.replacements)


SHOWN = 12
"""So many new names are printed; the file has all."""
EXAMPLE = 48
"""Characters of an example on the screen."""


def cast(folder: Dir) -> None:
    """Propose a name mapping: what each name in captions becomes.

    Writes DIR/cast.csv: each name with its number of captions, its replacement and an example. Correct the
    replacements: write another phrase, or the name itself if it is no person and stays. Write nothing if you cannot
    say, and its captions wait. Running the command again keeps all lines and adds new names. Entries under [cast]
    in reelrank.toml take precedence.

    Example: reelrank cast my-project
    """
    from backend.campaign.corpus.captions.name_mapping import propose_cast

    start = now()
    project = open_project(folder)
    with progress_bar() as progress:
        report = propose_cast(project, OPERATOR, progress=progress)
    if report.new:
        rows = [(line.name, line.becomes or "?", line.count, _short(line.example)) for line in report.new[:SHOWN]]
        table(("name", "becomes", "captions", "example"), rows, left=(True, True, False, True))
        if len(report.new) > SHOWN:
            say(f"... and {len(report.new) - SHOWN:,} more.")
    say(
        f"{report.file}: {report.names:,} names, {len(report.new):,} of them new ({seconds(start)}): "
        f"{report.men:,} men, {report.women:,} women, {report.persons:,} persons, {report.others:,} others, "
        f"{report.undecided:,} undecided."
    )
    say(f"Correct the column becomes, then run: reelrank rewrite {folder}")


def _short(example: str) -> str:
    return example if len(example) <= EXAMPLE else example[: EXAMPLE - 1].rstrip() + "…"
