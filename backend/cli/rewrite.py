"""The command `rewrite`: from captions to imprecise captions."""

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, EncoderOption, KindOption, now, progress_bar, say, seconds, table


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("rewrite")(rewrite)


def rewrite(
    folder: Dir,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only print the rewrites that wait for a person, as CSV.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Only print what rewriting changed: replacement words, words a caption.")
    ] = False,
    by_hand: Annotated[
        Path | None,
        typer.Option("--by-hand", metavar="FILE.csv", help="Take a person's rewrites: that CSV, edited."),
    ] = None,
) -> None:
    """Turn captions into imprecise ones by rules: names become the words of the cast (see reelrank cast).

    A rewrite is accepted if it stays similar to its caption (0.4 or more) and no name is left in it. The others
    wait for a person: on the page Rewrites, or print them with --waiting, edit the file, hand it back with --by-hand.

    Example: reelrank rewrite my-project --encoder minilm
    """
    start = now()
    project = api.open_project(folder)
    if waiting:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([("caption", "rewrite", "why it waits"), *api.waiting_rewrites(project)])
        return
    if summary:
        _print_summary(api.rewrite_summary(project, api.OPERATOR))
        return
    if by_hand:
        say(f"{api.accept_rewrites(project, by_hand, now=start)} waiting rewrites were decided by hand.")
        return
    if encoder:
        project = api.choose_encoder(project, encoder, kind)
    with progress_bar() as progress:
        report = api.rewrite_captions(project, now=start, progress=progress)
    say(
        f"{report.captions:,} captions: {report.accepted:,} accepted ({report.changed:,} changed), "
        f"{report.waiting:,} wait for a person ({seconds(start)})."
    )
    if report.by_hand:
        say(f"{report.by_hand:,} more were decided by hand and stay as they are.")
    if report.unknown:
        names = ", ".join(f"{name} ({count})" for name, count in report.unknown[:12])
        say(f"Names that are not in the cast list: {names}{' ...' if len(report.unknown) > 12 else ''}")
        say(f"Say what they become in {folder / 'cast.csv'} (reelrank cast {folder}), and run this command again.")
    if report.waiting:
        say(
            "Decide on the page Rewrites, or see what waits, edit it, hand it back: "
            f"reelrank rewrite {folder} --waiting > waiting.csv, then reelrank rewrite {folder} --by-hand waiting.csv"
        )


def _print_summary(found: api.RewriteSummary) -> None:
    say(
        f"{found.captions:,} imprecise captions, {found.changed:,} of them changed; "
        f"words a caption {found.words_before:.2f} before, {found.words_after:.2f} after."
    )
    if found.replacements:
        table(("replacement words", "count"), found.replacements)
