"""The group `reelrank mvmr`, with `stats`, `figures` and `negatives`; its other commands come from the files beside."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli import pool_checking, pools
from backend.cli.corpus import ColumnsOption, FormatOption, TypeOption, known_format, read_columns
from backend.cli.groups import add_group
from backend.cli.output import EncoderOption, Json, KindOption, json_text, now, progress_bar, say, seconds, table
from backend.cli.pools import EmbeddingsOption
from backend.cli.where import Cluster, EncodingJobs, where

if TYPE_CHECKING:
    from backend.scoring.pools.files import PoolStatistics


PoolFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A file of pools, as MVMR publishes them.", show_default=False),
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
            "check": pool_checking.check,
            "check-report": pool_checking.check_report,
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
    say(
        f"{report.positive_pairs:,} positive and {report.negative_pairs:,} negative pairs of a query and another video."
    )
    for note in report.notes:
        say(f"Note: {note}")
    for path in report.files:
        say(str(path))


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
