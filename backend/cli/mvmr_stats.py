"""The command that counts the queries and videos of a dataset: `reelrank mvmr stats`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.campaign.selection.pools.model import PAPERS_ENCODER, T_POS
from backend.cli.corpus import ColumnsOption, FormatOption, TypeOption, known_format, read_columns
from backend.cli.options import EncoderOption, Json, KindOption, argument, option
from backend.cli.output import counted, end_with_json, first_of, progress_bar, say, say_each, table
from backend.cli.pools import EmbeddingsOption

if TYPE_CHECKING:
    from backend.campaign.selection.pools.statistics import CorpusStatistics, RandomPools
    from backend.scoring.pools.statistics import DatasetRow, PoolStatistics

_NAMED = 5
"""Number of query ids to print; --json has all."""


def stats(
    file: Annotated[Path, argument("FILE", "A file of pools, as MVMR publishes them, or an annotation file.")],
    keep_repeats: Annotated[
        bool,
        option("--keep-repeats", "For annotations: also count a sentence that repeats another's video and span."),
    ] = False,
    encoder: EncoderOption = None,
    t_pos: Annotated[
        float | None, option("--t-pos S", f"With --encoder: lowest similarity of a positive video. Default: {T_POS}.")
    ] = None,
    pool: Annotated[
        int | None,
        option("--pool N", "With --encoder: videos in a random pool. Default: as in the file of pools.", min=2),
    ] = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
    format_: FormatOption = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    json: Json = False,
) -> None:
    """Count the queries, videos and positives of a dataset.

    FILE is a file of pools or an annotation file. A pool is the set of videos in which a query is searched. Its
    positives are the videos that match the query. The figures are those of Table 1 of the MVMR paper. Queries whose
    pool has too few videos are left out, and listed below. With --encoder, also say how many queries would have a
    false negative if pools were drawn at random: a matching video that counts as a negative. Nothing is written.

    Example: reelrank mvmr stats charades_test_mvmr.json --encoder minilm --t-pos 0.8
    """
    from backend.campaign.selection.pools.statistics import random_pools, read_dataset
    from backend.scoring.pools.statistics import PoolStatistics

    known_format(format_)
    needing = {"--t-pos": t_pos, "--pool": pool, "--encoder-kind": kind, "--embeddings": embeddings}
    if encoder is None and (without := [name for name, value in needing.items() if value is not None]):
        raise typer.BadParameter("needs an encoder: add --encoder NAME", param_hint=without[0])
    dataset = read_dataset(
        file,
        format=format_,
        types=frozenset(types) if types else None,
        columns=read_columns(columns) if columns else None,
        keep_repeats=keep_repeats,
    )
    statistics, drawn = dataset.statistics, None
    if encoder is not None:
        with progress_bar() as progress:
            drawn = random_pools(
                dataset,
                pool=pool,
                t_pos=T_POS if t_pos is None else t_pos,
                encoder=encoder,
                kind=kind,
                embeddings=embeddings,
                progress=progress,
            )
    if json:
        end_with_json(asdict(statistics) | ({"random_pools": asdict(drawn)} if drawn else {}))
    if isinstance(statistics, PoolStatistics):
        table(("what", "figure"), [*_rows(statistics), *_pool_rows(statistics), *_random_rows(drawn)])
        _say_queries(statistics)
    else:
        table(("what", "figure"), [*_rows(statistics), *_random_rows(drawn)])
        _say_entries(statistics)
    if drawn:
        say(f"\nEncoder: {drawn.encoder}")
        if t_pos is None and PAPERS_ENCODER not in drawn.encoder:
            say(
                f"Note: threshold {T_POS} is the paper's, for {PAPERS_ENCODER}; `reelrank mvmr calibrate` finds that "
                "of this encoder."
            )


def _rows(row: "DatasetRow") -> list[tuple[str, str]]:
    return [
        ("queries", f"{row.queries:,}"),
        ("videos", f"{row.videos:,}"),
        ("length of a query's own moment, mean, s", f"{row.moment_s:.2f}"),
        ("length of a video, mean, s", f"{row.video_s:.2f}"),
        ("positive videos per query, mean, own included", f"{row.positives:.3f}"),
        ("words per query, mean", f"{row.words:.2f}"),
        ("positive videos of a query, at most", f"{row.most_positives:,}"),
        ("videos per pool", f"{row.pool:,}"),
    ]


def _pool_rows(statistics: "PoolStatistics") -> list[tuple[str, str]]:
    return [
        ("positive moments per query, mean", f"{statistics.positive_moments:.3f}"),
        ("queries with several moments in their own video", f"{statistics.several_in_own:,}"),
        ("queries without a distractor", f"{len(statistics.without_distractor):,}"),
        ("queries left out because of a short pool", f"{len(statistics.short):,}"),
        ("sentences without a pool", f"{statistics.without_pool:,}"),
        ("hours of videos", f"{statistics.hours:,.1f}"),
        (
            "queries with a false negative in a random pool, by the positives here",
            f"{statistics.random_false_negatives:.1%}",
        ),
    ]


def _random_rows(drawn: "RandomPools | None") -> list[tuple[str, str]]:
    if drawn is None:
        return []
    return [
        (f"other videos per query with a similarity of {drawn.t_pos:g} or more, mean", f"{drawn.matching:.3f}"),
        (f"queries with one in a random pool of {drawn.pool:,}", f"{drawn.false_negatives:.1%}"),
    ]


def _say_queries(statistics: "PoolStatistics") -> None:
    """Name the first queries without a distractor, and those with a short pool."""
    _name(
        statistics.without_distractor,
        "query has only positive videos in its pool",
        "queries have only positive videos in their pools",
    )
    _name(statistics.short, "query has a short pool and is left out", "queries have a short pool and are left out")


def _say_entries(statistics: "CorpusStatistics") -> None:
    """Say which entries of an annotation file do not count, and whether repeated ones do."""
    notes = list(statistics.left_out)
    if statistics.repeats:
        repeats = counted(statistics.repeats, "query repeats", "queries repeat")
        if statistics.keeps_repeats:
            notes.append(f"{repeats} another's video, span and text")
        else:
            notes.append(
                f"{statistics.repeats:,} left out: it repeats another's video, span and text; --keep-repeats counts it"
            )
    if notes:
        say("")
    say_each("Note: {}.", notes)


def _name(ids: tuple[str, ...], singular: str, plural: str) -> None:
    """Print a sentence about several queries: their number, the sentence, and the ids of the first ones.

    `singular` is the sentence for one query, and `plural` for several. Without ids, nothing is printed.
    """
    if ids:
        say(f"\n{len(ids):,} {singular if len(ids) == 1 else plural}:\n  {first_of(ids, _NAMED)}")
