"""Draw Figures 3, 4 and 7 of the MVMR paper for a file of pools, with a sentence encoder and the videos.

*Reads* a file of pools, the files that its build wrote beside it, cached embeddings, and video files. *Writes* files in
a folder.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.campaign.selection.pools.charts import (
    NEGATIVE,
    OWN,
    POSITIVE,
    VISUAL_BIN,
    Card,
    PairScores,
    histogram_chart,
    map_chart,
    query_chart,
    query_pairs_chart,
    shares,
)
from backend.campaign.selection.pools.files import BuildOutput, read_build
from backend.campaign.selection.pools.similarity import PAIR_BINS, PoolVectors, count_pairs
from backend.core.atomic_output import new_files
from backend.core.errors import InputError, ProjectError, VideoUnreadable
from backend.core.progress import Progress, steps_of
from backend.core.text_files import csv_text
from backend.encoders import cache
from backend.encoders.sentence import Encoder, load_named
from backend.media.strip import film_strip
from backend.media.video_folder import VideoFolder
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import PoolQuery, Pools

if TYPE_CHECKING:
    import altair as alt

SEED = 1
"""Seed of the map's layout, so that every drawing is the same."""

_MOST_NEGATIVES = 3
"""The most negatives in the figure of a query."""
_PERPLEXITY = 30
_FEWEST_QUERIES = 5
"""The fewest distinct queries of a map; fewer have no neighbourhoods to keep."""


@dataclass(frozen=True, slots=True)
class FigureReport:
    """The figures that were drawn, with their query and encoder.

    `positive_pairs` and `negative_pairs` count the pairs of query and video in the figure of similarities. `notes` say
    which parts of a figure are missing, and why.
    """

    query: str
    text: str
    encoder: str
    positive_pairs: int
    negative_pairs: int
    files: tuple[Path, ...]
    notes: tuple[str, ...]


def write_pool_figures(
    file: Path,
    out: Path,
    *,
    videos: Path | None = None,
    query: str | None = None,
    encoder: str | Encoder | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    progress: Progress | None = None,
) -> FigureReport:
    """Draw a query with its pool, a map of all queries, how similar they are, and how similar positives and negatives.

    The figures `query`, `map`, `query_pairs` and `similarity` are written as PNG and SVG, the numbers of the last three
    as CSV. Files from an earlier call are replaced.

    Args:
        file: the file of pools.
        out: the folder for the figures, which is made.
        videos: folder of video files; without it the query is drawn without pictures.
        query: id of the query to draw. None draws the query with the most positive videos, or the first of several.
            Only queries with a full pool and a negative are considered; with `videos`, only positive videos that have a
            file are counted.
        encoder: an encoder or its name, as in a project's settings; None is SimCSE from the model hub.
        kind: kind of the encoder that `encoder` names.
        embeddings: the folder in which vectors are cached; None is the user's cache folder.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the file has problems, or has no query with this id.
        EncoderUnavailable: the encoder cannot be found or built.
        ProjectError: the folder cannot be written, or there is no such folder of videos.
    """
    if videos is not None and not videos.is_dir():
        raise ProjectError(f"{videos} is not a folder: name the folder of the videos")
    pools, built = read_pools(file), read_build(file)
    clips = VideoFolder(videos) if videos else None
    chosen = _choose_query(pools, query, clips, file)
    encoder = load_named(encoder, kind)
    vectors = PoolVectors(pools, encoder, embeddings or cache.shared_folder(), progress)
    cards, notes = _cards(chosen, pools, vectors, clips, progress)
    scores = [_text_scores(pools, vectors, built, encoder)]
    if built is not None and built.s_tv:
        scores.append(_visual_scores(pools, built))
    points = _map_rows(pools, chosen, vectors, progress)
    pictures = {
        "query": query_chart(chosen.text, cards, _about_query(chosen, cards)),
        "similarity": histogram_chart(scores, _about_pairs(scores[0], encoder)),
    }
    tables = {"similarity": [row for panel in scores for row in shares(panel)]}
    if points:
        about = (
            f"{len(points):,} distinct queries, t-SNE (perplexity {_perplexity(len(points))}, seed {SEED}) of encoder "
        )
        pictures["map"] = map_chart(points, chosen.text, f"{about}{encoder.identity.split()[0]}")
        tables["map"] = points
    else:
        notes.append(f"no map of queries: it needs at least {_FEWEST_QUERIES} different ones")
    if len(pools.full) > 1:
        tables["query_pairs"], about = _query_pairs(pools, vectors)
        pictures["query_pairs"] = query_pairs_chart(
            tables["query_pairs"], f"{about}, by encoder {encoder.identity.split()[0]}"
        )
    return FigureReport(
        query=chosen.query_id,
        text=chosen.text,
        encoder=encoder.identity,
        positive_pairs=len(scores[0].positives),
        negative_pairs=len(scores[0].negatives),
        files=_save(pictures, tables, out),
        notes=tuple(notes),
    )


def _save(
    pictures: dict[str, "alt.TopLevelMixin"], tables: dict[str, list[dict[str, Any]]], out: Path
) -> tuple[Path, ...]:
    # Charts take as long to load as everything else together; most commands need none.
    from backend.scoring.drawing import save

    with new_files(out) as part:
        for name, rows in tables.items():
            text = csv_text(list(rows[0]), [row.values() for row in rows]) if rows else ""
            (part / f"{name}.csv").write_text(text, "utf-8", newline="")
        for name, chart in pictures.items():
            for ending in ("png", "svg"):
                save(chart.to_dict(), part / f"{name}.{ending}")
        names = sorted(path.name for path in part.iterdir())
    return tuple(out / name for name in names)


def _choose_query(pools: Pools, query_id: str | None, clips: VideoFolder | None, file: Path) -> PoolQuery:
    if query_id is not None:
        match = next((query for query in pools.queries if query.query_id == query_id), None)
        if match is None:
            message = f"has no query {query_id}: a query is called VIDEO#N, N counting the video's sentences from 0"
            raise InputError.single(file, message)
        return match
    if not pools.full:
        raise InputError.single(file, "has no query: every pool is empty")

    def positives_with_file(query: PoolQuery) -> int:
        return sum(clips is None or _find(clips, video) is not None for video in query.positive_videos)

    return max((query for query in pools.full if query.negatives), key=positives_with_file, default=pools.full[0])


def _find(clips: VideoFolder, video: str) -> Path | None:
    try:
        return clips.find(video)
    except VideoUnreadable:
        return None


def _cards(
    query: PoolQuery, pools: Pools, vectors: PoolVectors, clips: VideoFolder | None, progress: Progress | None
) -> tuple[list[Card], list[str]]:
    """Return a card (one video as the figure shows it) for each positive video of a query and for some negatives.

    The negatives are those most similar to the query. The second result is a list of remarks: it names the videos whose
    picture is missing; it is empty if none is.
    """
    [negative] = vectors.scores([query], [query.negatives])
    order = np.argsort(-np.nan_to_num(negative, nan=-1.0), kind="stable")[:_MOST_NEGATIVES]
    positives = [(moment.video, moment.sentence, (moment.start_s, moment.end_s)) for moment in query.positives]
    negatives = [(query.negatives[n], vectors.nearest(query, query.negatives[n]), None) for n in order]
    [scores] = vectors.scores([query], [[video for video, _, _ in [*positives, *negatives]]])
    cards, missing = [], []
    steps = steps_of(progress, "drawing pictures of moments")
    for number, (video, sentence, span) in enumerate([*positives, *negatives]):
        kind = NEGATIVE if span is None else OWN if video == query.own.video else POSITIVE
        strip = _strip(clips, video, span or (0.0, pools.durations[video])) if clips else None
        if clips and strip is None:
            missing.append(video)
        cards.append(Card(kind, video, sentence, pools.durations[video], float(scores[number]), span, strip))
        if steps:
            steps(number + 1, len(positives) + len(negatives))
    names = ", ".join(dict.fromkeys(missing))
    return cards, [f"no picture of {names}: no video file there shows it"] if missing else []


def _strip(clips: VideoFolder, video: str, span: tuple[float, float]) -> bytes | None:
    path = _find(clips, video)
    try:
        return film_strip(path, *span) if path else None
    except (InputError, VideoUnreadable):
        return None


def _videos_of_kind(pools: Pools, kind: str) -> list[tuple[str, ...]]:
    """Return for each query its negative videos, or its positive videos, as `kind` says.

    A query's own video is left out of the positives, because the query is one of its sentences. So their similarity is
    always 1.
    """
    return [query.negatives if kind == NEGATIVE else query.positive_videos[1:] for query in pools.full]


def _text_scores(pools: Pools, vectors: PoolVectors, built: BuildOutput | None, encoder: Encoder) -> PairScores:
    values = {}
    for kind in (POSITIVE, NEGATIVE):
        scores = np.concatenate([*vectors.scores(pools.full, _videos_of_kind(pools, kind)), np.zeros(0)])
        values[kind] = scores[~np.isnan(scores)]
    # Thresholds mean nothing under another encoder.
    same_encoder = built is not None and built.encoder == encoder.identity
    thresholds = {"t_neg": built.t_neg, "t_pos": built.t_pos} if built and same_encoder else {}
    return PairScores("s_te", values[POSITIVE], values[NEGATIVE], thresholds)


def _visual_scores(pools: Pools, built: BuildOutput) -> PairScores:
    values = {
        kind: np.array(
            [
                built.s_tv[query.query_id, video]
                for query, videos in zip(pools.full, _videos_of_kind(pools, kind), strict=True)
                for video in videos
                if (query.query_id, video) in built.s_tv
            ],
            dtype=np.float64,
        )
        for kind in (POSITIVE, NEGATIVE)
    }
    bounds = built.bounds
    thresholds = {"negative": bounds.negative, "positive": bounds.positive} if bounds else {}
    return PairScores("s_tv", values[POSITIVE], values[NEGATIVE], thresholds, VISUAL_BIN)


def _map_rows(pools: Pools, chosen: PoolQuery, vectors: PoolVectors, progress: Progress | None) -> list[dict[str, Any]]:
    """Return each query with its position on the map, its similarity to the chosen query, and its role.

    Queries with the same text appear once. The list is empty if there are too few queries for a map.
    """
    ids = {chosen.text: chosen.query_id}
    for query in pools.full:
        ids.setdefault(query.text, query.query_id)
    if len(ids) < _FEWEST_QUERIES:
        return []
    from sklearn.manifold import TSNE

    steps = steps_of(progress, "mapping queries")
    if steps:
        steps(0, 1)
    query_vectors = vectors.unit_vectors(list(ids))
    layout = TSNE(perplexity=_perplexity(len(ids)), init="pca", random_state=SEED).fit_transform(query_vectors)
    if steps:
        steps(1, 1)
    positive = {moment.sentence for moment in chosen.positives}
    return [
        {
            "query_id": query_id,
            "text": text,
            "x": round(float(x), 3),
            "y": round(float(y), 3),
            "similarity": round(float(similarity), 4),
            "role": "this query" if text == chosen.text else "positive" if text in positive else "other",
        }
        for (text, query_id), (x, y), similarity in zip(
            ids.items(), layout, query_vectors @ query_vectors[0], strict=True
        )
    ]


def _query_pairs(pools: Pools, vectors: PoolVectors) -> tuple[list[dict[str, Any]], str]:
    """Return the bars of a histogram of all queries against each other, and what they count in words.

    A pair is two queries with a full pool; queries with the same text are pairs too.
    """
    repeats = Counter(query.text for query in pools.full)
    counts = count_pairs(vectors.unit_vectors(list(repeats)), list(repeats.values()))
    pairs = int(counts.sum())
    bars = [
        {
            "low": round(int(place) / PAIR_BINS - 1, 2),
            "high": round((int(place) + 1) / PAIR_BINS - 1, 2),
            "pairs": int(counts[place]),
            "share": int(counts[place]) / pairs,
        }
        for place in np.flatnonzero(counts)
    ]
    same = sum(times * (times - 1) // 2 for times in repeats.values())
    return bars, f"{pairs:,} pairs of {len(pools.full):,} queries, {same:,} of them with the same text"


def _perplexity(queries: int) -> int:
    """Return the usual perplexity of t-SNE, or about a third of the number of queries if that is less."""
    return min(_PERPLEXITY, (queries - 1) // 3)


def _about_query(query: PoolQuery, cards: Sequence[Card]) -> list[str]:
    count = sum(card.kind == NEGATIVE for card in cards)
    return [
        f"{query.query_id}: {len(query.positive_videos)} of {len(query.videos)} videos in its pool have a positive.",
        f"Of its {len(query.negatives)} negatives the {count} most similar are shown. Bars: where in the video.",
    ]


def _about_pairs(scores: PairScores, encoder: Encoder) -> str:
    return (
        f"{len(scores.positives):,} pairs of a query and another video that is positive, {len(scores.negatives):,} with"
        f" a negative, by encoder {encoder.identity.split()[0]}"
    )
