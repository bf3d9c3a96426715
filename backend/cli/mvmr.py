"""The group `reelrank mvmr`; `build` and `calibrate` come from the file beside."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli import pools
from backend.cli.corpus import ColumnsOption, FormatOption, TypeOption, known_format, read_columns
from backend.cli.options import Cluster, EncodingJobs, add_group, where
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
from backend.cli.pools import EmbeddingsOption

if TYPE_CHECKING:
    from backend.campaign.selection.pools.model import Share as PoolCheckShare
    from backend.scoring.pools.files import PoolStatistics


PoolFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file of pools, as MVMR publishes them.", show_default=False)
]
_NAMED = 5
"""So many queries are named where something is told of them; --json names all."""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "mvmr",
        "Build and check pools for massive-video moment retrieval.",
        "build my-project pools",
        {
            "stats": stats,
            "figures": figures,
            "build": pools.build,
            "calibrate": pools.calibrate,
            "negatives": negatives,
            "check": check,
            "check-report": check_report,
        },
    )


def stats(file: PoolFile, json: Json = False) -> None:
    """Count queries, videos, positives and the pool.

    These are the figures of Table 1 of the MVMR paper. Queries with a short pool are left out, and counted. Nothing
    is written.

    Example: reelrank mvmr stats charades_test_mvmr.json
    """
    from backend.scoring.pools.files import pool_statistics

    found = pool_statistics(file)
    if json:
        say(json_text(found))
        return
    table(("what", "figure"), _rows(found))
    _name(
        found.without_distractor,
        "query has a positive in every video of its pool, so that no video is wrong there",
        "queries have a positive in every video of their pool, so that no video is wrong there",
    )
    _name(found.short, "query has a short pool and is left out", "queries have a short pool and are left out")


def figures(
    file: PoolFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the figures.", show_default=False)],
    videos: Annotated[
        Path | None,
        typer.Option("--videos", metavar="FOLDER", help="Folder of video files, for film strips.", show_default=False),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query", metavar="VIDEO#N", help="The query to show.", show_default="that with the most positives"
        ),
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
) -> None:
    """Draw a query with its pool, the map of queries, similarities.

    These are Figures 3, 4 and 7 of the MVMR paper. Writes query, map and similarity as PNG and SVG, and the last
    two also as CSV. Existing files are replaced.

    Example: reelrank mvmr figures charades_test_mvmr.json figures --query 3MSZA#0 --encoder minilm
    """
    from backend.campaign.selection.pools.figures import write_pool_figures

    with progress_bar() as progress:
        report = write_pool_figures(
            file,
            out,
            videos=videos,
            query=query,
            encoder=encoder,
            kind=kind,
            embeddings=embeddings,
            progress=progress,
        )
    say(f"Query {report.query}: {report.text}")
    pairs = f"{report.positive_pairs:,} positive and {report.negative_pairs:,} negative pairs"
    say(f"{pairs} of a query and another video.")
    for note in report.notes:
        say(f"Note: {note}")
    say("\n".join(map(str, report.files)))


def _name(ids: tuple[str, ...], one: str, several: str) -> None:
    """Say of which queries something is so."""
    if ids:
        more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
        say(f"\n{len(ids):,} {one if len(ids) == 1 else several}:\n  {', '.join(ids[:_NAMED])}{more}")


def _rows(found: "PoolStatistics") -> list[tuple[str, str]]:
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


def negatives(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="An annotation file; each of its sentences is a query.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the files.", show_default=False)],
    threshold: Annotated[
        float,
        typer.Option("--t-tr", metavar="S", help="Similarity from which a video or sentence is no negative."),
    ] = 0.9,
    temperature: Annotated[
        float,
        typer.Option(
            "--temperature", metavar="T", help="The lower, the more often the most similar negatives are drawn."
        ),
    ] = 0.1,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
    format_: FormatOption = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write how likely each video is a negative of each sentence.

    For training, by similarity; and the other way round, sentences as negatives of videos. Writes two Parquet files
    and manifest.json.

    Example: reelrank mvmr negatives charades_train.json negatives --encoder minilm --t-tr 0.8
    """
    from backend.campaign.selection.pools.negatives import write_negatives

    start = now()
    known_format(format_)
    with progress_bar() as progress:
        report = write_negatives(
            corpus,
            out,
            threshold=threshold,
            temperature=temperature,
            encoder=encoder,
            kind=kind,
            embeddings=embeddings,
            format=format_,
            types=frozenset(types) if types else None,
            columns=read_columns(columns) if columns else {},
            where=where(jobs, cluster, usual=1),
            progress=progress,
        )
    say(f"{report.queries:,} queries and {report.videos:,} videos ({seconds(start)}).")
    table(
        ("negatives, mean", "potential", "effective"),
        [
            ("videos of a query", f"{report.potential_videos:,.1f}", f"{report.effective_videos:,.1f}"),
            ("queries of a video", f"{report.potential_queries:,.1f}", f"{report.effective_queries:,.1f}"),
        ],
    )
    say("Effective: so many equally likely ones would be as uncertain; --temperature changes it.")
    say(f"Encoder: {report.encoder}")
    for what, count in (("queries", report.queries_without), ("videos", report.videos_without)):
        if count:
            say(f"Note: {count:,} {what} have no potential negative; their probabilities are all 0.")
    for left in report.left_out:
        say(f"Note: {left}")


CheckedPools = Annotated[Path, typer.Argument(metavar="POOL_FILE", help="A file of pools.", show_default=False)]


def check(
    file: CheckedPools,
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
    from backend.campaign.selection.pools.checking import make_pool_check

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
    from backend.campaign.selection.pools.checking import pool_check_report

    found = pool_check_report(open_project(folder), OPERATOR)
    if found is None:
        fail(f"{folder} checks no pools: `reelrank mvmr check` makes a project that does")
    if json:
        say(json_text(found))
        return
    say(f"{found.facts.file}: {found.facts.drawn:,} of {found.facts.queries:,} queries, seed {found.facts.seed}\n")
    shares = {"positives": found.positives, "negatives": found.negatives, "together": found.together}
    rows = [
        (name, f"{one.settled:,}", f"{one.wrong:,}", *_percents(one), f"{one.waiting:,}", f"{one.undecided:,}")
        for name, one in shares.items()
    ]
    table(("videos", "settled", "wrong", "share", "95 % interval", "waiting", "undecided"), rows)
    for one in found.wrong:
        what = "does not match" if one.put_in_as == "positive" else "matches"
        say(f"{one.put_in_as.value} that {what}: {one.video}, “{one.query}” ({one.source})")


def _percents(share: "PoolCheckShare") -> tuple[str, str]:
    if share.share is None or share.low is None or share.high is None:
        return "", ""
    return f"{share.share:.1%}", f"{share.low:.1%} to {share.high:.1%}"
