"""Make the documents of a release from pairs and moments. Pure."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from backend import __version__
from backend.campaign.judging.rules import RE_OPENED_RULE, RULE_VERSION
from backend.campaign.nouns import Split, Verdict
from backend.campaign.release.export.model import (
    PAIR_COLUMNS,
    Adjudicated,
    Contents,
    Document,
    QueryCounts,
    ReleaseOptions,
    ReleaseSelection,
)
from backend.campaign.release.export.rules.statistics import Documents, JudgedPair, ReleaseStatistics
from backend.campaign.review.model import PairReview
from backend.core.days import instant
from backend.core.ids import MomentId, QueryId


def select(counted: Iterable[QueryCounts], options: ReleaseOptions) -> ReleaseSelection:
    """Which queries are in a release.

    A query with 1 of 20 pairs settled would count 0 for every run that finds one of the other 19, so it waits, unless
    somebody asks for it.

    Args:
        counted: all validation and test queries, in judging order.
        options: what somebody said.
    """
    included = options.adjudicated is Adjudicated.INCLUDE
    within: list[QueryCounts] = []
    unfinished: list[QueryCounts] = []
    empty: list[QueryCounts] = []
    for query in counted:
        usable = query.settled if included else query.consensus
        if not query.finished and not (options.unfinished and usable):
            unfinished.append(query)
        elif not usable:
            empty.append(query)
        else:
            within.append(query)
    decided = sum(query.adjudicated for query in within)
    return ReleaseSelection(
        queries=tuple(within),
        unfinished=tuple(unfinished),
        without_relevance=tuple(empty),
        unfinished_within=tuple(query for query in within if not query.finished),
        moments=sum(query.settled if included else query.consensus for query in within),
        adjudicated=decided if included else 0,
        adjudicated_left_out=0 if included else decided,
    )


REPLACEMENTS = 100
"""Replacement words in the manifest; rules make few, a model may make thousands, most of them once."""
Moments = Mapping[tuple[str, float, float], dict[str, Any]]
"""Moments in the form of the release, by video, start and end."""


def by_span(moments: Mapping[MomentId, dict[str, Any]]) -> Moments:
    """Moments of `pseudo_train.moment_documents` by what a reader of the release knows them by."""
    return {(moment["video_name"], *moment["timestamp"]): moment for moment in moments.values()}


def in_truth(pair: PairReview, held: Container[QueryId], options: ReleaseOptions) -> bool:
    """Whether a pair is a graded moment of `val.json` or `test.json`."""
    return (
        pair.relevance is not None
        and pair.query_id in held
        and (options.adjudicated is Adjudicated.INCLUDE or pair.verdict is not Verdict.ADJUDICATED)
    )


def truth(
    selection: ReleaseSelection, pairs: Iterable[PairReview], moments: Moments, options: ReleaseOptions
) -> dict[Split, list[Document]]:
    """The documents of `val.json` and `test.json`.

    Args:
        selection: the queries, in judging order.
        pairs: all that were handed out; those that are in the truth come in order of their rank.
        moments: see `by_span`.
        options: what somebody said.
    """
    by_query: dict[QueryId, list[PairReview]] = {query.query_id: [] for query in selection.queries}
    for pair in sorted(pairs, key=lambda pair: (pair.rank, pair.pair_id)):
        if in_truth(pair, by_query, options):
            by_query[pair.query_id].append(pair)
    found: dict[Split, list[Document]] = {Split.VAL: [], Split.TEST: []}
    for query in selection.queries:
        found[query.split].append(
            {
                "query_id": query.query_id,
                "query": query.text,
                "relevant_moment": [
                    {
                        "pair_id": pair.pair_id,
                        **moments[pair.video, pair.start_s, pair.end_s],
                        "similarity": _six_digits(pair.similarity),
                        "relevance": pair.relevance,
                        "adjudicated": pair.verdict is Verdict.ADJUDICATED,
                    }
                    for pair in by_query[query.query_id]
                ],
            }
        )
    return found


def _six_digits(similarity: float | None) -> float | None:
    return None if similarity is None else round(similarity, 6)


def videos(durations: Mapping[str, float]) -> dict[str, tuple[float, int]]:
    """The document of `video_corpus.json`: name -> (duration in seconds, index), by name."""
    return {name: (duration_s, index) for index, (name, duration_s) in enumerate(sorted(durations.items()))}


def pair_columns(with_published: bool, pooled: bool) -> tuple[str, ...]:
    """The columns of `pair_rows`; `pooled` says whether anything but captions found candidates."""
    return (*PAIR_COLUMNS, *(("published_caption",) if with_published else ()), *(("sources",) if pooled else ()))


def pair_rows(
    pairs: Iterable[PairReview],
    splits: Mapping[QueryId, Split],
    selection: ReleaseSelection,
    moments: Moments,
    options: ReleaseOptions,
    *,
    pooled: bool,
) -> list[tuple[object, ...]]:
    """The rows of `raw_query_moment_pair.csv`, with `pair_columns`: every pair, in the truth or not."""
    held = {query.query_id for query in selection.queries}
    rows: list[tuple[object, ...]] = []
    for p in pairs:
        moment = moments[p.video, p.start_s, p.end_s]
        rows.append(
            (
                *(p.pair_id, p.query_id, splits[p.query_id].value, p.query, p.video, p.start_s, p.end_s),
                *(moment["duration"], moment["caption"], p.rank, _six_digits(p.similarity)),
                *(p.verdict.value, p.relevance, p.mean),
                *(int(p.verdict is Verdict.ADJUDICATED), int(in_truth(p, held, options))),
                *((moment["published_caption"],) if options.with_published else ()),
                *((_sources(p),) if pooled else ()),
            )
        )
    return rows


def _sources(pair: PairReview) -> str:
    """What found a pair, and at which rank; of a run that was pooled twice the best.

    Names may hold anything but what stands between them: the rank is the last word of each.
    """
    ranks = {one.source.label: one.rank for one in reversed(pair.found_by)}
    return "; ".join(f"{label} {rank}" for label, rank in reversed(ranks.items()))


def to_count(contents: Contents) -> Documents:
    """What the statistics of a release are counted from."""
    columns: dict[str, Any] = dict(
        zip(contents.pair_columns, zip(*contents.pairs, strict=True), strict=bool(contents.pairs))
    )
    given = Counter(grade[0] for grade in contents.raw)
    return Documents(
        truth={split.value: found for split, found in contents.truth.items()},
        corpus={name: duration_s for name, (duration_s, _) in contents.videos.items()},
        pairs=[
            JudgedPair(split, query_id, rank, verdict, given[pair_id])
            for split, query_id, rank, verdict, pair_id in zip(
                *(columns.get(name, ()) for name in ("split", "query_id", "rank", "verdict", "pair_id")), strict=True
            )
        ],
        highest=contents.grading.scale.highest,
        batch_size=contents.batch_size,
    )


def manifest(contents: Contents, statistics: ReleaseStatistics, files: Mapping[str, str]) -> dict[str, Any]:
    """The document of `manifest.json`.

    Args:
        contents: of the release.
        statistics: of the same.
        files: SHA-256 of every other file, by name.
    """
    grading, rewriting = contents.grading, contents.rewriting
    # Who was invited, and what somebody skipped, changes nothing of a release.
    counts = {
        what: found for what, found in contents.counts.items() if what not in ("annotators", "skipped", "sources")
    }
    selection = contents.selection
    changes = rewriting and {**asdict(rewriting), "replacements": dict(rewriting.replacements[:REPLACEMENTS])}
    return {
        "name": contents.name,
        "format": "tvr-ranking",
        "created_at": instant(contents.changed_at),
        "reelrank": __version__,
        "schema": counts["schema"],
        "licence": contents.terms.licence or None,
        "citation": contents.terms.citation or None,
        "rule_version": RULE_VERSION,
        **({"re_opened": {"pairs": more, "rule_version": RE_OPENED_RULE}} if (more := contents.re_opened) else {}),
        "scale": [{"grade": one.grade, "label": one.label} for one in grading.scale.meanings],
        "tolerance": grading.tolerance,
        "rounding": grading.rounding.value,
        "batch_size": contents.batch_size,
        "guideline": {"version": max(contents.guideline), "grades_by_version": contents.guideline},
        "encoder": counts["encoder"],
        **({"sources": [asdict(source) for source in contents.sources]} if contents.pooled else {}),
        "counts": counts,
        "captions": "imprecise" if rewriting else "published",
        "published_captions": contents.published_captions,
        "moments_without_caption": contents.without_caption,
        **({"rewriting": changes} if changes else {}),
        "simulated_judgements": counts["simulated"],
        "adjudicated": contents.options.adjudicated.value,
        "released": {
            "val_queries": selection.count(Split.VAL),
            "test_queries": selection.count(Split.TEST),
            "moments": selection.moments,
            "adjudicated": selection.adjudicated,
            "adjudicated_left_out": selection.adjudicated_left_out,
        },
        "unfinished_queries": [query.query_id for query in selection.unfinished_within],
        "queries_left_out": {
            "unfinished": [query.query_id for query in selection.unfinished],
            "without_relevance": [query.query_id for query in selection.without_relevance],
        },
        "statistics": asdict(statistics),
        "files": dict(files),
    }
