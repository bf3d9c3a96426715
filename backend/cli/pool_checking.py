"""Commands of the human check of pools: `reelrank mvmr check`, `reelrank mvmr check-report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.output import (
    Dir,
    EncoderOption,
    Json,
    KindOption,
    fail,
    json_text,
    now,
    progress_bar,
    say,
    seconds,
    table,
)
from backend.cli.pipeline import say_next

if TYPE_CHECKING:
    from backend.campaign.selection.pool_check.model import Share as PoolCheckShare


PoolFile = Annotated[Path, typer.Argument(metavar="POOL_FILE", help="A file of pools.", show_default=False)]


def check(
    file: PoolFile,
    folder: Dir,
    videos: Annotated[
        Path, typer.Option("--videos", metavar="FOLDER", help="Folder of the video files.", show_default=False)
    ],
    queries: Annotated[int, typer.Option("--queries", metavar="N", min=1, help="Number of queries to draw.")] = 100,
    negatives: Annotated[
        int, typer.Option("--negatives", metavar="N", min=0, help="Highest number of negatives to check per query.")
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the draw.")] = 0,
    encoder: EncoderOption = None,
    kind: KindOption = None,
) -> None:
    """Create a project in which people check a sample of pools.

    Annotators say whether a whole video matches a query. They do not see whether the pool has the video as positive
    or negative. All positives of a query other than its own video are checked. Similarities come from MiniLM unless
    --encoder names another encoder.

    Example: reelrank mvmr check pools.json my-check --videos videos --queries 100
    """
    from backend.campaign.selection.pool_check.making import make_pool_check

    start = now()
    with progress_bar() as progress:
        project, made = make_pool_check(
            file,
            folder,
            videos,
            queries=queries,
            negatives=negatives,
            seed=seed,
            encoder=encoder,
            kind=kind,
            now=start,
            progress=progress,
        )
    say(
        f"{folder} is a project now: {made.queries:,} of {made.checkable:,} queries, {made.positives:,} positives and "
        f"{made.negatives:,} negatives among {made.videos:,} videos ({seconds(start)})."
    )
    for note in made.notes:
        say(f"Note: {note}.")
    say_next(project)


def check_report(folder: Dir, json: Json = False) -> None:
    """Show the share of videos that are wrong in their pool.

    It rests on the settled videos, and has an interval.

    Example: reelrank mvmr check-report my-check --json
    """
    from backend.campaign.selection.pool_check.reporting import pool_check_report

    found = pool_check_report(open_project(folder), OPERATOR)
    if found is None:
        fail(f"{folder} checks no pools: `reelrank mvmr check` makes a project that does")
    if json:
        say(json_text(found))
        return
    say(f"{found.facts.file}: {found.facts.drawn:,} of {found.facts.queries:,} queries, seed {found.facts.seed}\n")
    shares = {"positives": found.positives, "negatives": found.negatives, "together": found.together}
    table(
        ("videos", "settled", "wrong", "share", "95 % interval", "waiting", "undecided"),
        [
            (name, f"{one.settled:,}", f"{one.wrong:,}", *_percents(one), f"{one.waiting:,}", f"{one.undecided:,}")
            for name, one in shares.items()
        ],
    )
    for one in found.wrong:
        what = "does not match" if one.put_in_as == "positive" else "matches"
        say(f"{one.put_in_as.value} that {what}: {one.video}, “{one.query}” ({one.source})")


def _percents(share: "PoolCheckShare") -> tuple[str, str]:
    if share.share is None or share.low is None or share.high is None:
        return "", ""
    return f"{share.share:.1%}", f"{share.low:.1%} to {share.high:.1%}"
