"""Commands about massive-video moment retrieval: `reelrank mvmr stats`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend import api
from backend.cli.output import Json, say, table

PoolFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A file of pools, as MVMR publishes them.", show_default=False),
]
_NAMED = 5
"""So many queries are named where something is told of them; --json names all."""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    mvmr = typer.Typer(
        help="Massive-video moment retrieval: each query searched in a pool of videos.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    mvmr.callback()(_group)
    mvmr.command("stats")(stats)
    app.add_typer(mvmr, name="mvmr")


def _group() -> None:
    """A group of commands, even while it has but one."""


def stats(file: PoolFile, json: Json = False) -> None:
    """Count queries, videos, positives and the pool, as Table 1 of the MVMR paper does.

    Queries with a short pool are left out, and counted. Nothing is written.

    Example: reelrank mvmr stats charades_test_mvmr.json
    """
    found = api.pool_statistics(file)
    if json:
        say(msgspec.json.encode(found).decode())
        return
    table(("what", "figure"), _rows(found))
    _name(
        found.without_distractor,
        "query has a positive in every video of its pool, so that no video is wrong there",
        "queries have a positive in every video of their pool, so that no video is wrong there",
    )
    _name(found.short, "query has a short pool and is left out", "queries have a short pool and are left out")


def _name(ids: tuple[str, ...], one: str, several: str) -> None:
    """Say of which queries something is so."""
    if ids:
        more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
        say(f"\n{len(ids):,} {one if len(ids) == 1 else several}:\n  {', '.join(ids[:_NAMED])}{more}")


def _rows(found: "api.PoolStatistics") -> list[tuple[str, str]]:
    return [
        ("queries", f"{found.queries:,}"),
        ("videos", f"{found.videos:,}"),
        ("positive videos per query, mean, own included", f"{found.positives:.3f}"),
        ("videos per pool", f"{found.pool:,}"),
        ("positive moments per query, mean", f"{found.positive_moments:.3f}"),
        ("queries with several moments in their own video", f"{found.several_in_own:,}"),
        ("queries without a distractor", f"{len(found.without_distractor):,}"),
        ("queries left out, their pool being short", f"{len(found.short):,}"),
        ("sentences without a pool", f"{found.without_pool:,}"),
        ("hours of videos", f"{found.hours:,.1f}"),
    ]
