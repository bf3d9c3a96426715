"""The documents of a release, from pairs and moments. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from backend import __version__
from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.nouns import Split
from backend.campaign.queries.model import QueryRow
from backend.campaign.release.model import PAIR_COLUMNS, Contents, Document
from backend.campaign.review.model import PairReview
from backend.ground.ids import MomentId, QueryId

REPLACEMENTS = 100
"""Replacement words in the manifest; rules make few, a model may make thousands, most of them once."""
Moments = Mapping[tuple[str, float, float], dict[str, Any]]
"""Moments in the form of the release, by video, start and end."""


def by_span(moments: Mapping[MomentId, dict[str, Any]]) -> Moments:
    """Moments of `pseudo_train.moment_documents` by what a reader of the release knows them by."""
    return {(moment["video_name"], *moment["timestamp"]): moment for moment in moments.values()}


def truth(asked: Iterable[QueryRow], settled: Iterable[PairReview], moments: Moments) -> dict[Split, list[Document]]:
    """The documents of `val.json` and `test.json`: of every query that has a settled pair.

    Args:
        asked: validation and test queries, in judging order.
        settled: pairs with a relevance, of each query by rank.
        moments: see `by_span`.
    """
    by_query: dict[QueryId, list[PairReview]] = {}
    for pair in settled:
        by_query.setdefault(pair.query_id, []).append(pair)
    found: dict[Split, list[Document]] = {Split.VAL: [], Split.TEST: []}
    for query in asked:
        if query.query_id in by_query:
            found[query.split].append(
                {
                    "query_id": query.query_id,
                    "query": query.text,
                    "relevant_moment": [
                        {
                            "pair_id": pair.pair_id,
                            **moments[pair.video, pair.start_s, pair.end_s],
                            "similarity": round(pair.similarity, 6),
                            "relevance": pair.relevance,
                        }
                        for pair in by_query[query.query_id]
                    ],
                }
            )
    return found


def videos(durations: Mapping[str, float]) -> dict[str, tuple[float, int]]:
    """The document of `video_corpus.json`: name -> (duration in seconds, index), by name."""
    return {name: (duration_s, index) for index, (name, duration_s) in enumerate(sorted(durations.items()))}


def pair_columns(with_published: bool) -> tuple[str, ...]:
    """The columns of `pair_rows`."""
    return (*PAIR_COLUMNS, *(("published_caption",) if with_published else ()))


def pair_rows(
    pairs: Iterable[PairReview], asked: Sequence[QueryRow], moments: Moments, *, with_published: bool
) -> list[tuple[object, ...]]:
    """The rows of `raw_query_moment_pair.csv`, with `pair_columns`."""
    splits = {query.query_id: query.split for query in asked}
    rows: list[tuple[object, ...]] = []
    for p in pairs:
        moment = moments[p.video, p.start_s, p.end_s]
        rows.append(
            (
                *(p.pair_id, p.query_id, splits[p.query_id].value, p.query, p.video, p.start_s, p.end_s),
                *(moment["duration"], moment["caption"], p.rank, round(p.similarity, 6)),
                *(p.verdict.value, p.relevance, p.mean),
                *((moment["published_caption"],) if with_published else ()),
            )
        )
    return rows


def manifest(contents: Contents, created_at: str, files: Mapping[str, str]) -> dict[str, Any]:
    """The document of `manifest.json`.

    Args:
        contents: of the release.
        created_at: UTC, to the second.
        files: SHA-256 of every other file, by name.
    """
    grading, counts, rewriting = contents.grading, contents.counts, contents.rewriting
    changes = rewriting and {**asdict(rewriting), "replacements": dict(rewriting.replacements[:REPLACEMENTS])}
    return {
        "name": contents.name,
        "format": "tvr-ranking",
        "created_at": created_at,
        "reelrank": __version__,
        "schema": counts["schema"],
        "rule_version": RULE_VERSION,
        "scale": [{"grade": one.grade, "label": one.label} for one in grading.scale.meanings],
        "tolerance": grading.tolerance,
        "rounding": grading.rounding.value,
        "guideline": {"version": max(contents.guideline), "grades_by_version": contents.guideline},
        "encoder": counts["encoder"],
        "counts": counts,
        "captions": "imprecise" if rewriting else "published",
        "published_captions": contents.published_captions,
        "moments_without_caption": contents.without_caption,
        **({"rewriting": changes} if changes else {}),
        "simulated_judgements": counts["simulated"],
        "queries_without_settled_pair": list(contents.left_out),
        "files": dict(files),
    }
