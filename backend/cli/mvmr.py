"""Commands for massive-video moment retrieval: `reelrank mvmr`.

`pools.py` has `build` and `calibrate`, and `mvmr_stats.py` has `stats`.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli import mvmr_stats, pools
from backend.cli.commands import add_group
from backend.cli.corpus import ColumnsOption, FormatOption, TypeOption, known_format, read_columns
from backend.cli.options import Cluster, Dir, EncoderOption, EncodingJobs, Json, KindOption, argument, option, where
from backend.cli.output import counted, end_with_json, fail, now, progress_bar, say, say_each, seconds, table
from backend.cli.pipeline import say_next
from backend.cli.pools import EmbeddingsOption

if TYPE_CHECKING:
    from backend.campaign.selection.pools.model import Share as PoolCheckShare


PoolFile = Annotated[Path, argument("FILE", "A file of pools, as MVMR publishes them.")]


def figures(
    file: PoolFile,
    out: Annotated[Path, argument("OUT", "Folder for the figures.")],
    videos: Annotated[Path | None, option("--videos FOLDER", "Folder of video files, for film strips.")] = None,
    query: Annotated[
        str | None, option("--query VIDEO#N", "The query to show.", show_default="that with the most positives")
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
) -> None:
    """Draw a query with its pool, a map of queries, and similarities.

    These are Figures 3, 4 and 7 of the MVMR paper: a query with frames of videos of its pool, all queries as points,
    how similar queries are to each other, and to positive and negative videos. Each is written as PNG and SVG. All but
    the first are also written as CSV. Existing files are replaced.

    Example: reelrank mvmr figures charades_test_mvmr.json figures --query 3MSZA#0 --encoder minilm
    """
    from backend.campaign.selection.pools.figures import write_pool_figures

    with progress_bar() as progress:
        report = write_pool_figures(
            file, out, videos=videos, query=query, encoder=encoder, kind=kind, embeddings=embeddings, progress=progress
        )
    say(f"Query {report.query}: {report.text}")
    pairs = f"{report.positive_pairs:,} positive and {report.negative_pairs:,} negative pairs"
    say(f"{pairs} of a query and another video.")
    say_each("Note: {}", report.notes)
    say("\n".join(map(str, report.files)))


def negatives(
    corpus: Annotated[Path, argument("FILE", "An annotation file; each of its sentences is a query.")],
    out: Annotated[Path, argument("OUT", "Folder for the files.")],
    threshold: Annotated[
        float, option("--t-tr S", "Videos and sentences of this similarity or more are never negatives.")
    ] = 0.9,
    temperature: Annotated[
        float, option("--temperature T", "The lower, the more often the most similar negatives are drawn.")
    ] = 0.1,
    from_run: Annotated[
        Path | None, option("--from-run RUN", "Draw by a trained system's scores instead of similarity.")
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
    format_: FormatOption = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write how likely each video is a training negative of a query.

    A training loop draws negatives with these probabilities, which are computed from similarities. Each sentence of
    FILE is a query. A second file has the probabilities of drawing each sentence as a negative of a video. Writes these
    two Parquet files and manifest.json.

    With --from-run, the probabilities come from the scores of a system's run instead, as in the MVMR paper: videos that
    score about as high as the query's own video are drawn most often. The run names each sentence VIDEO#N.

    Example: reelrank mvmr negatives charades_train.json negatives --encoder minilm --t-tr 0.8
    """
    from backend.campaign.selection.pools.negatives import write_negatives

    start = time.monotonic()
    known_format(format_)
    with progress_bar() as progress:
        report = write_negatives(
            corpus,
            out,
            threshold=threshold,
            temperature=temperature,
            from_run=from_run,
            encoder=encoder,
            kind=kind,
            embeddings=embeddings,
            format=format_,
            types=frozenset(types) if types else None,
            columns=read_columns(columns) if columns else {},
            where=where(jobs, cluster, usual=1),
            progress=progress,
        )
    queries, videos = counted(report.queries, "query", "queries"), counted(report.videos, "video")
    say(f"{queries} and {videos} ({seconds(start)}).")
    table(
        ("negatives, mean", "potential", "effective"),
        [
            ("videos of a query", f"{report.potential_videos:,.1f}", f"{report.effective_videos:,.1f}"),
            ("queries of a video", f"{report.potential_queries:,.1f}", f"{report.effective_queries:,.1f}"),
        ],
    )
    hint = "" if report.run else "; --temperature changes it"
    say(f"Effective: the number of equally likely negatives with the same uncertainty{hint}.")
    if report.run_share is not None:
        say(f"Run: {report.run} has a score for {report.run_share:.1%} of all pairs; others count as its lowest one.")
    say(f"Encoder: {report.encoder}")
    for noun, count in (("queries", report.queries_without), ("videos", report.videos_without)):
        if count:
            say(f"Note: {count:,} {noun} have no potential negative; their probabilities are all 0.")
    say_each("Note: {}", report.left_out)


def check(
    file: Annotated[Path, argument("POOL_FILE", "A file of pools.")],
    folder: Dir,
    videos: Annotated[Path, option("--videos FOLDER", "Folder of the video files.")],
    queries: Annotated[int, option("--queries N", "Number of queries to draw.", min=1)] = 100,
    negatives: Annotated[
        str, option("--negatives N|all", "Highest number of negatives to check per query, or all.")
    ] = "5",
    seed: Annotated[int, option("--seed N", "Seed of the draw.")] = 0,
    encoder: EncoderOption = None,
    kind: KindOption = None,
) -> None:
    """Create a project in which annotators check a sample of pools.

    A pool holds the videos in which a query is searched: positives, which match it, and negatives. Annotators say
    whether a whole video matches a query. They do not see whether the pool has the video as positive or negative. All
    positives of a drawn query are checked, except the query's own video. With --negatives all, whole pools are checked,
    as in the MVMR paper. Similarities come from MiniLM unless --encoder names another encoder.

    Example: reelrank mvmr check pools.json my-check --videos videos --queries 100 --negatives all
    """
    from backend.campaign.selection.pools.checking import make_pool_check

    start = time.monotonic()
    if negatives != "all" and not (negatives.isascii() and negatives.isdecimal()):
        raise typer.BadParameter(f"{negatives!r} is not a number from 0 on, or all", param_hint="--negatives")
    with progress_bar() as progress:
        project, made = make_pool_check(
            file,
            folder,
            videos,
            queries=queries,
            negatives=None if negatives == "all" else int(negatives),
            seed=seed,
            encoder=encoder,
            kind=kind,
            now=now(),
            progress=progress,
        )
    say(
        f"Created the project {folder}: {made.queries:,} of {made.checkable:,} queries, {made.positives:,} positives "
        f"and {made.negatives:,} negatives among {made.videos:,} videos ({seconds(start)})."
    )
    say_each("Note: {}.", made.notes)
    say_next(project)


def check_report(folder: Dir, json: Json = False) -> None:
    """Show how many positives and negatives of pools are wrong.

    A positive is wrong if annotators say that it does not match its query, a negative if they say that it does. The
    shares have 95 % intervals. Only videos on which the annotators have settled count.

    Example: reelrank mvmr check-report my-check --json
    """
    from backend.campaign.selection.pools.checking import pool_check_report

    report = pool_check_report(open_project(folder), OPERATOR)
    if report is None:
        fail(f"{folder} is no pool check: create one with `reelrank mvmr check`")
    if json:
        end_with_json(report)
    say(f"{report.facts.file}: {report.facts.drawn:,} of {report.facts.queries:,} queries, seed {report.facts.seed}\n")
    shares = {"positives": report.positives, "negatives": report.negatives, "together": report.together}
    rows = [
        (name, f"{row.settled:,}", f"{row.wrong:,}", *_percents(row), f"{row.waiting:,}", f"{row.undecided:,}")
        for name, row in shares.items()
    ]
    table(("videos", "settled", "wrong", "share", "95 % interval", "waiting", "undecided"), rows)
    for video in report.wrong:
        verdict = "does not match" if video.put_in_as == "positive" else "matches"
        say(f"{video.put_in_as.value} that {verdict}: {video.video}, “{video.query}” ({video.source})")


def _percents(share: "PoolCheckShare") -> tuple[str, str]:
    if share.share is None or share.low is None or share.high is None:
        return "", ""
    return f"{share.share:.1%}", f"{share.low:.1%} to {share.high:.1%}"


add_group(
    "mvmr",
    "Build and check pools for massive-video moment retrieval.",
    "build my-project pools",
    {
        "stats": mvmr_stats.stats,
        "figures": figures,
        "build": pools.build,
        "calibrate": pools.calibrate,
        "negatives": negatives,
        "check": check,
        "check-report": check_report,
    },
)
