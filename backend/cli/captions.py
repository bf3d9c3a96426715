"""Commands for captions and queries: `reelrank cast`, `rewrite` and `queries`."""

import csv
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.selection.queries.model import Repeats, Stratum
from backend.campaign.setup.project import steps
from backend.cli.commands import add_command
from backend.cli.options import Dir, EncoderOption, KindOption, list_option, option, typed
from backend.cli.output import counted, fail, machine_output, now, progress_bar, save, say, say_done, seconds, table
from backend.cli.pipeline import say_next

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.campaign.corpus.captions.model import CheckCounts, RewriteReport, RewriteSummary
    from backend.language.endpoint import Endpoint


_TEMPERATURES = typed("0,0.2")


@add_command("rewrite")
def rewrite(
    folder: Dir,
    rewriter: Annotated[
        Literal["rules", "openai"],
        option("--rewriter", "rules, or openai: a language model at an OpenAI-compatible endpoint."),
    ] = "rules",
    model: Annotated[str | None, option("--model NAME", "The language model.")] = None,
    base_url: Annotated[
        str | None,
        option("--base-url URL", "Address of the endpoint; it often ends in /v1.", show_default="OpenAI's own"),
    ] = None,
    prompt: Annotated[
        str,
        option("--prompt NAME|FILE", "prompt-1, tvr-ranking (as that paper asked), or a text file of your own."),
    ] = "prompt-1",
    temperatures: Annotated[
        list[float], list_option("--temperatures T,T", "Temperature of each attempt.", unique=False)
    ] = _TEMPERATURES,
    batch: Annotated[int, option("--batch N", "Captions per request.", min=1, max=100)] = 10,
    at_once: Annotated[int, option("--at-once N", "Parallel requests.", min=1, max=256)] = 8,
    timeout: Annotated[float, option("--timeout S", "Seconds to wait for an answer.", min=0.001)] = 60,
    retries: Annotated[int, option("--retries N", "How often to repeat a failed request.", min=0)] = 6,
    price_in: Annotated[float | None, option("--price-in P", "Price of a million input tokens.", min=0)] = None,
    price_out: Annotated[float | None, option("--price-out P", "Price of a million output tokens.", min=0)] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    waiting: Annotated[bool, option("--waiting", "Only print the rewrites that need a decision, as CSV.")] = False,
    summary: Annotated[
        bool, option("--summary", "Only print what rewriting changed: replacement words, as the paper's Table 3.")
    ] = False,
    by_hand: Annotated[
        Path | None,
        option("--by-hand FILE.csv", "Only read your decisions from a file: the CSV of --waiting, edited."),
    ] = None,
) -> None:
    """Replace names in captions with generic phrases.

    The rewriter uses rules and the name mapping, or a language model. A rewrite is accepted if its similarity to
    the caption is 0.4 or more and it contains no name. A model retries rejected rewrites. Rewrites that still fail
    need your decision: on the page Captions, or in a file with --waiting and --by-hand. The model's key is read
    from the environment variable OPENAI_API_KEY. Answers are kept as they arrive: you can stop the command, and run
    it again to continue.

    Example: reelrank rewrite my-project --encoder minilm

    Example: reelrank rewrite my-project --rewriter openai --model llama3 --base-url http://localhost:11434/v1

    Example: reelrank rewrite my-project --rewriter openai --model gpt-3.5-turbo --prompt tvr-ranking
    """
    from backend.campaign.corpus.captions.decisions import accept_rewrites, rewrite_summary, waiting_rewrites
    from backend.campaign.corpus.captions.rewriting import rewrite_captions
    from backend.campaign.selection.candidates.choosing import choose_encoder
    from backend.language.endpoint import Endpoint
    from backend.language.prompts import DEFAULT_PROMPT, prompt_of

    start = time.monotonic()
    if rewriter == "rules" and (model or base_url or prompt != DEFAULT_PROMPT.version):
        raise typer.BadParameter("--model, --base-url and --prompt are for --rewriter openai", param_hint="--rewriter")
    if rewriter == "openai" and not model:
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
        say(f"Decided {counted(accept_rewrites(project, by_hand, now=now()), 'rewrite')}.")
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
            prompt=prompt_of(prompt),
            **({"base_url": base_url} if base_url else {}),
        )
    if encoder:
        project = choose_encoder(project, OPERATOR, encoder, kind)
    try:
        with progress_bar() as progress:
            report = rewrite_captions(project, OPERATOR, endpoint=endpoint, now=now(), progress=progress)
    except KeyboardInterrupt:
        if endpoint is None:
            fail("stopped; nothing was changed")
        fail("stopped; the answers so far are kept: run the same command again to continue")
    say_done(report.done)
    _say(report, seconds(start), endpoint, prices)
    quoted = shlex.quote(str(folder))
    if report.unknown and endpoint is None:  # a model needs no name mapping
        names = ", ".join(f"{name} ({count})" for name, count in report.unknown[:12])
        say(f"Names without a replacement: {names}{' ...' if len(report.unknown) > 12 else ''}")
        say(f"Run `reelrank cast {quoted}`, fill in {folder / 'cast.csv'}, and run this command again.")
    if report.waiting:
        say(
            f"Decide on the page Captions, or in a file: run `reelrank rewrite {quoted} --waiting > waiting.csv`, "
            f"edit it, and run `reelrank rewrite {quoted} --by-hand waiting.csv`."
        )


def _say(report: "RewriteReport", took: str, endpoint: "Endpoint | None", prices: tuple[float, float] | None) -> None:
    """Print how many captions were accepted, changed or need a decision, and the language model's requests and tokens.

    `took` is the time that rewriting took, as text. `endpoint` is None if no language model was used. With `prices`,
    per million input and output tokens, the cost is printed too.
    """
    retried = f"{report.after_retry:,} accepted after another attempt, " if endpoint else ""
    say(
        f"{counted(report.captions, 'caption')}: {report.at_once:,} accepted at once, {retried}{report.waiting:,} in "
        f"need of a decision, {report.decided:,} decided earlier; {report.changed:,} changed ({took})."
    )
    _print_checks(report.checks)
    if endpoint is None:
        return
    spent = {"This time": report.usage}
    if report.usage_ever != report.usage:
        spent["In total"] = report.usage_ever
    for when, usage in spent.items():
        tokens = f"{usage.tokens_in:,} input and {usage.tokens_out:,} output tokens"
        line = f"{when}: {counted(usage.requests, 'request')}, {tokens}"
        if prices:
            line += f", cost {usage.cost(*prices):,.4f} at your prices"
        if usage.untold:
            line += f"; the endpoint did not report the tokens of {counted(usage.untold, 'request')}"
        say(f"{line}.")


def _print_checks(checks: "Sequence[CheckCounts]") -> None:
    """Print for each attempt how many distinct texts it rewrote, and how many of them failed which part of the check.

    Texts without an answer, and a tagger, have a column only if there are any.
    """
    columns: dict[str, list[str]] = {
        "attempt": [str(number) for number in range(1, len(checks) + 1)],
        "rewritten by": [counts.version for counts in checks],
        "texts": [f"{counts.texts:,}" for counts in checks],
        "passed": [f"{counts.passed:,}" for counts in checks],
        "similarity below 0.4": [_share(counts.dissimilar, counts.texts) for counts in checks],
        "name left": [_share(counts.named, counts.texts) for counts in checks],
    }
    if any(counts.tagged is not None for counts in checks):
        columns["found by the tagger"] = [_share(counts.tagged or 0, counts.texts) for counts in checks]
    if any(counts.unanswered for counts in checks):
        columns["no answer"] = [_share(counts.unanswered, counts.texts) for counts in checks]
    rows = list(zip(*columns.values(), strict=True))
    table(tuple(columns), rows, left=[name in ("attempt", "rewritten by") for name in columns])


def _share(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.2%})" if total else f"{count:,}"


def _print_summary(summary: "RewriteSummary") -> None:
    say(
        f"{summary.captions:,} imprecise captions, {summary.changed:,} of them changed; "
        f"words per caption: {summary.words_before:.2f} before, {summary.words_after:.2f} after."
    )
    if summary.replacements:
        say(f"Rewritten by: {', '.join(f'{version} ({count:,})' for version, count in summary.versions)}.")
        say(f"Replacement words: {summary.replaced:,}, {summary.replaced_per_caption:.2f} per caption.")
        rows = [(word.word, word.gender, word.count, f"{word.count / summary.replaced:.2%}") for word in summary.words]
        table(("word", "gender", "count", "share"), rows, left=(True, True, False, False))
        table(("replacement", "count"), summary.replacements)


SHOWN = 12
"""Number of new names to print; the file has all."""
EXAMPLE = 48
"""Longest example to print, in characters."""


@add_command("cast")
def cast(folder: Dir) -> None:
    """Propose a generic phrase for each name in captions.

    Writes DIR/cast.csv: each name with its replacement, its number of captions and an example. Correct the
    replacements: write another phrase, or the name itself to keep it. If you leave one empty, captions with that name
    need a decision. Running the command again keeps all lines and adds new names. Entries under [cast] in reelrank.toml
    take precedence.

    Example: reelrank cast my-project
    """
    from backend.campaign.corpus.captions.name_mapping import propose_cast

    start = time.monotonic()
    project = open_project(folder)
    with progress_bar() as progress:
        report = propose_cast(project, OPERATOR, progress=progress)
    if report.new:
        rows = [(line.name, line.becomes or "?", line.count, _short(line.example)) for line in report.new[:SHOWN]]
        table(("name", "becomes", "captions", "example"), rows, left=(True, True, False, True))
        if len(report.new) > SHOWN:
            say(f"... and {len(report.new) - SHOWN:,} more.")
    say(
        f"{report.file}: {counted(report.names, 'name')}, {len(report.new):,} of them new ({seconds(start)}): "
        f"{report.men:,} men, {report.women:,} women, {report.persons:,} persons, {report.others:,} others, "
        f"{report.undecided:,} undecided."
    )
    say(f"Correct the column `becomes`, then run: reelrank rewrite {shlex.quote(str(folder))}")


def _short(example: str) -> str:
    return example if len(example) <= EXAMPLE else example[: EXAMPLE - 1].rstrip() + "…"


@add_command("queries")
def queries(
    folder: Dir,
    val: Annotated[int | None, option("--val N", "Validation queries to draw.", min=0)] = None,
    test: Annotated[int | None, option("--test N", "Test queries to draw.", min=0)] = None,
    seed: Annotated[int, option("--seed S", "Seed of the random draw.")] = 0,
    own: Annotated[
        Path | None,
        option(
            "--from FILE",
            "File of your own queries: text with one query per line, or CSV with the columns text and split, and "
            "optionally source.",
        ),
    ] = None,
    split: Annotated[Split, option("--split", "Split of the queries in a text file given with --from.")] = Split.TEST,
    stratify: Annotated[
        Stratum | None, option("--stratify", "Draw from videos or shows in proportion to their number of texts.")
    ] = None,
    show_of: Annotated[
        str | None,
        option("--show-of REGEX", "The first group is the show in a video's name. Default: the part before s01e02."),
    ] = None,
    repeats: Annotated[
        Repeats,
        option("--train-repeats", "Keep training captions of the same text as separate queries, or merge them."),
    ] = Repeats.KEEP,
    undo: Annotated[
        bool, option("--undo", "Remove all queries, candidates and pairs, if nobody has worked on them.")
    ] = False,
    dry_run: Annotated[
        bool, option("--dry-run", "Check everything, show the first queries, and write nothing.")
    ] = False,
    write: Annotated[
        Path | None,
        option("--write FILE.csv", "Only write the validation and test queries, with the ids that runs use."),
    ] = None,
) -> None:
    """Draw validation and test queries, or add your own.

    Queries are drawn from the imprecise captions, in which generic phrases replace names. The captions that are not
    drawn become training queries.

    Example: reelrank queries my-project --val 500 --test 2781 --seed 7
    """
    from backend.campaign.review.queries import take_back_queries
    from backend.campaign.review.status import next_step
    from backend.campaign.selection.queries.drawing import draw_queries, queries_csv

    start = time.monotonic()
    drawing = val is not None or test is not None
    if write is not None:
        if drawing or own or dry_run or undo:
            raise typer.BadParameter("draw the queries first, in a command of its own", param_hint="--write")
        save(write, queries_csv(open_project(folder), OPERATOR))
        say(f"Written: {write}. Runs of these queries can be pooled: reelrank candidates {folder} --pool RUN.json")
        return
    if undo:
        if drawing or own or dry_run:
            raise typer.BadParameter("undo first, then draw in another command", param_hint="--undo")
        gone = take_back_queries(open_project(folder), OPERATOR, now=now())
        queries_removed = counted(gone.queries, "query", "queries")
        say(f"Removed {queries_removed}, {counted(gone.candidates, 'candidate')} and {counted(gone.pairs, 'pair')}.")
        return
    if not drawing and own is None:
        raise typer.BadParameter("give the numbers to draw, --val N and --test N, or your own queries, --from FILE")
    project = open_project(folder)
    if drawing and next_step(project, OPERATOR).startswith("reelrank rewrite "):
        first = steps.rewriting(folder) if dry_run else f"{steps.taking_back(folder)}, then {steps.rewriting(folder)}"
        say(f"Note: the captions are not rewritten, so queries may contain names. To rewrite them first: {first}")
        sys.stdout.flush()  # before a draw that may take a while
    report = draw_queries(
        project,
        OPERATOR,
        val=val or 0,
        test=test or 0,
        seed=seed,
        own=own,
        own_split=split,
        stratum=stratify,
        show_of=show_of,
        repeats=repeats,
        dry_run=dry_run,
        now=now(),
    )
    if dry_run:
        say("Nothing was written. The first queries would be:")
        for text, part in report.first:
            say(f"  {part.value}: {text}")
    of_file = f", {report.own:,} of them from {own.name}" if own else ""
    say(
        f"{report.val:,} validation, {report.test:,} test and {report.train:,} training queries{of_file}, "
        f"seed {seed} ({seconds(start)})."
    )
    if report.long:
        long = counted(len(report.long), "query is", "queries are")
        say(f"Note: {long} very long (up to {max(report.long):,} characters). Annotators read them beside every clip.")
    if report.removed:
        removed = counted(report.removed, "caption")
        say(f"Removed from training: {removed} with the text of a validation or test query.")
    if report.repeats:
        repeating = counted(report.repeats, "training query repeats", "training queries repeat")
        say(f"{repeating} the text of another. To merge them, draw with --train-repeats merge.")
    if report.merged:
        say(f"Merged with another of the same text: {counted(report.merged, 'training caption')}.")
    if not dry_run:
        say_next(project)
