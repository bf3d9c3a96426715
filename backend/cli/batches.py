"""Commands about next batches: `reelrank batches DIR`, `reelrank batches accept|rule|depth DIR`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.batches.model import RuleWord, Suggestions
from backend.cli.options import ShowByDefault, add_group
from backend.cli.output import Dir, Json, json_text, now, progress_bar, say, seconds, table


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "batches",
        "Show and open the next batches worth judging.",
        "my-project",
        {"show": show, "accept": accept, "rule": rule, "depth": depth},
        ShowByDefault,
    )


def show(
    folder: Dir,
    each: Annotated[bool, typer.Option("--list", help="Print a row for each query that waits for a decision.")] = False,
    json: Json = False,
) -> None:
    """Show what the rule says about each query's next batch.

    Only queries whose open batches are settled have one.

    Example: reelrank batches show my-project, or for short: reelrank batches my-project
    """
    from backend.campaign.selection.batches.suggestions import batch_shares, batch_suggestions

    project = open_project(folder)
    found, shares = batch_suggestions(project, OPERATOR), batch_shares(project, OPERATOR)
    if json:
        say(json_text(_document(found) | {"queries_by_batches": shares}))
        return
    say(f"The rule, version {found.rule.version}: a next batch is worth opening if {found.rule.rule.words}.\n")
    rows: list[tuple[object, ...]] = [
        (word.value, len(said), sum(one.pairs for one in said)) for word in RuleWord for said in [found.saying(word)]
    ]
    rows += [("declined by a lead", found.declined, ""), ("not settled yet", found.unsettled, "")]
    table(("the rule says", "queries", "pairs"), rows)
    if each:
        say("")
        for one in found.queries:
            say(f"query {one.query_id} ({one.split.value}), batch {one.number}: {one.reading.words}; {one.query}")
    if found.saying(RuleWord.OPEN):
        say(f"\nNext: reelrank batches accept {folder}")


def accept(
    folder: Dir,
    decline: Annotated[
        bool, typer.Option("--decline", help="Also decline the batches that the rule calls not worth it.")
    ] = False,
) -> None:
    """Open every next batch that the rule calls worth it.

    Annotators can grade meanwhile. If you stop the command, run it again to open the rest.

    Example: reelrank batches accept my-project
    """
    from backend.campaign.selection.batches.suggestions import accept_suggestions, batch_suggestions

    start = now()
    project = open_project(folder)
    seen = batch_suggestions(project, OPERATOR)
    with progress_bar() as progress:
        done = accept_suggestions(project, OPERATOR, seen, decline=decline, now=start, progress=progress)
    say(f"{done.opened:,} batches are open: {done.pairs:,} pairs went to the annotators. {seconds(start)}.")
    if decline:
        say(f"{done.declined:,} were declined; leads can take that back on the page Queries.")
    if done.overtaken:
        say(f"{done.overtaken:,} were left as they are: somebody else decided about them meanwhile.")


def rule(
    folder: Dir,
    mean: Annotated[
        float | None,
        typer.Option("--mean", help="Lowest mean relevance of the last candidates; 0 turns this condition off."),
    ] = None,
    finds: Annotated[
        int | None,
        typer.Option("--finds", min=0, help="How many of them need at least --grade; 0 turns this condition off."),
    ] = None,
    grade: Annotated[
        int | None, typer.Option("--grade", min=1, help="Lowest relevance that counts for --finds.")
    ] = None,
    last: Annotated[
        int | None,
        typer.Option("--last", min=1, max=40, help="How many of the lowest-ranked open candidates the rule looks at."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why the rule changes; a sentence.")] = "",
) -> None:
    """Show the rule and its versions, or change it.

    Options that you leave out keep their value. Either condition is enough.

    Example: reelrank batches rule my-project --mean 2.5 --reason "too many second batches found nothing"
    """
    from backend.campaign.selection.batches.suggestions import batch_rule_versions, set_batch_rule

    project = open_project(folder)
    standing = batch_rule_versions(project, OPERATOR)[-1].rule
    wanted = standing
    if mean is not None:
        wanted = replace(wanted, mean=mean or None)
    if finds is not None:
        wanted = replace(wanted, finds=finds or None)
    wanted = replace(wanted, grade=wanted.grade if grade is None else grade, last=wanted.last if last is None else last)
    if wanted != standing or reason:
        set_batch_rule(project, OPERATOR, wanted, reason, now=now())
    for one in batch_rule_versions(project, OPERATOR):
        who = f" (set by {one.by or 'the command line'}: {one.reason})" if one.since is not None else ""
        say(f"{one.version}  {one.rule.words}{who}")


def depth(
    folder: Dir,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the files.", show_default=False)],
) -> None:
    """Plot relevance by rank and similarity, to see how deep to judge.

    Shows the pairs that `reelrank candidates --probe N` chose, with the mean of each bin.

    Example: reelrank batches depth my-project probe
    """
    from backend.campaign.review.queries import write_probe_figures

    report = write_probe_figures(open_project(folder), OPERATOR, out)
    say(f"{report.settled} of {report.pairs} pairs of {report.queries} probed queries have a relevance.")
    table(
        ("rank", "pairs", "mean relevance"),
        [(part.name, part.pairs, f"{part.mean:.2f}") for part in report.by_rank],
    )
    say(f"Written: {', '.join(map(str, report.files))}")


def _document(found: Suggestions) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "queries": [
            {
                "query_id": one.query_id,
                "query": one.query,
                "split": one.split.value,
                "number": one.number,
                "pairs": one.pairs,
                "word": one.reading.word.value,
                "says": one.reading.words,
            }
            for one in found.queries
        ],
        "declined": found.declined,
        "unsettled": found.unsettled,
    }
