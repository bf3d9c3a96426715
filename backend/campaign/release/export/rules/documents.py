"""Build the contents of the JSON and CSV files of a release from pairs and moments. Pure functions."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from backend import __version__
from backend.campaign.judging.rules import RE_OPENED_RULE, RULE_VERSION
from backend.campaign.monitoring.model_judge.model import Judge
from backend.campaign.nouns import Split, Verdict
from backend.campaign.release.export.model import (
    MODEL_GRADES,
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


def select(query_counts: Iterable[QueryCounts], options: ReleaseOptions) -> ReleaseSelection:
    """Select the queries of a release.

    Queries with pairs that still need grades are left out unless the options include them. Otherwise, if only 1 of 20
    pairs had a relevance, a run would score 0 for finding one of the other 19.

    Args:
        query_counts: all validation and test queries, in the order in which they are handed out.
        options: what the release includes.
    """
    included = options.adjudicated is Adjudicated.INCLUDE
    included_queries: list[QueryCounts] = []
    unfinished: list[QueryCounts] = []
    empty: list[QueryCounts] = []
    for query in query_counts:
        usable = query.settled if included else query.consensus
        if not query.finished and not (options.unfinished and usable):
            unfinished.append(query)
        elif not usable:
            empty.append(query)
        else:
            included_queries.append(query)
    decided = sum(query.adjudicated for query in included_queries)
    return ReleaseSelection(
        queries=tuple(included_queries),
        unfinished=tuple(unfinished),
        without_relevance=tuple(empty),
        unfinished_within=tuple(query for query in included_queries if not query.finished),
        moments=sum(query.settled if included else query.consensus for query in included_queries),
        adjudicated=decided if included else 0,
        adjudicated_left_out=0 if included else decided,
    )


REPLACEMENTS = 100
"""The largest number of replacement words in the manifest: a model may make thousands, most of them once."""
Moments = Mapping[tuple[str, float, float], dict[str, Any]]
"""Documents of moments, by (video, start, end), in seconds."""


def by_span(moments: Mapping[MomentId, dict[str, Any]]) -> Moments:
    """Return the moments of a release by (video, start, end).

    `moments` maps moment ids to the moments as the files of the release describe them.
    """
    return {(moment["video_name"], *moment["timestamp"]): moment for moment in moments.values()}


def in_truth(pair: PairReview, query_ids: Container[QueryId], options: ReleaseOptions) -> bool:
    """Return whether a pair is released as a graded moment of `val.json` or `test.json`.

    `query_ids` are the queries of the release.
    """
    return (
        pair.relevance is not None
        and pair.query_id in query_ids
        and (options.adjudicated is Adjudicated.INCLUDE or pair.verdict is not Verdict.ADJUDICATED)
    )


def truth(
    selection: ReleaseSelection, pairs: Iterable[PairReview], moments: Moments, options: ReleaseOptions
) -> dict[Split, list[Document]]:
    """Return the contents of `val.json` and `test.json` by split; the moments of a query are ordered by rank.

    Args:
        selection: the queries, in the order in which they are handed out.
        pairs: all pairs that annotators were given.
        moments: the result of `by_span`.
        options: what the release includes.
    """
    by_query: dict[QueryId, list[PairReview]] = {query.query_id: [] for query in selection.queries}
    for pair in sorted(pairs, key=lambda pair: (pair.rank, pair.pair_id)):
        if in_truth(pair, by_query, options):
            by_query[pair.query_id].append(pair)
    documents: dict[Split, list[Document]] = {Split.VAL: [], Split.TEST: []}
    for query in selection.queries:
        documents[query.split].append(
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
    return documents


def _six_digits(similarity: float | None) -> float | None:
    return None if similarity is None else round(similarity, 6)


def videos(durations: Mapping[str, float]) -> dict[str, tuple[float, int]]:
    """Return the content of `video_corpus.json`: (duration in seconds, index) of each video by name.

    The videos are sorted by name, and the index is a video's place in this order, from 0.
    """
    return {name: (duration_s, index) for index, (name, duration_s) in enumerate(sorted(durations.items()))}


def pair_columns(with_published: bool, pooled: bool) -> tuple[str, ...]:
    """Return the names of the columns of `raw_query_moment_pair.csv`.

    `with_published` adds a column for the published caption, which the corpus had before captions were rewritten.
    `pooled` adds a column for the sources that found the candidates, such as the runs of systems.
    """
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
    """Return the rows of `raw_query_moment_pair.csv`: one for each pair, even if it is not in the truth.

    `splits` has the split of each query, and `moments` is the result of `by_span`. `pair_columns` returns the names of
    the columns.
    """
    query_ids = {query.query_id for query in selection.queries}
    rows: list[tuple[object, ...]] = []
    for p in pairs:
        moment = moments[p.video, p.start_s, p.end_s]
        rows.append(
            (
                *(p.pair_id, p.query_id, splits[p.query_id].value, p.query, p.video, p.start_s, p.end_s),
                *(moment["duration"], moment["caption"], p.rank, _six_digits(p.similarity)),
                *(p.verdict.value, p.relevance, p.mean),
                *(int(p.verdict is Verdict.ADJUDICATED), int(in_truth(p, query_ids, options))),
                *((moment["published_caption"],) if options.with_published else ()),
                *((_sources(p),) if pooled else ()),
            )
        )
    return rows


def _sources(pair: PairReview) -> str:
    """Return the sources that found a pair, with its rank in each, like `run-a 3; run-b 1`.

    If a run was added as a source twice, it is listed once, with the best rank. Readers split at `; `, which names
    cannot contain, and take the last word as the rank.
    """
    ranks = {source_rank.source.label: source_rank.rank for source_rank in reversed(pair.found_by)}
    return "; ".join(f"{label} {rank}" for label, rank in reversed(ranks.items()))


def model_grades_document(contents: Contents) -> dict[str, Any]:
    """Return the content of `model-grades.json`: for each judge (a model with its prompt), its grades of pairs.

    Only pairs of the release's file of pairs are in it. The grades are no part of the truth.
    """
    pair_ids = {row[contents.pair_columns.index("pair_id")] for row in contents.pairs}
    judges: dict[Judge, list[dict[str, Any]]] = {}
    for one in contents.model_grades:
        if one.pair_id in pair_ids:
            grade = {"pair_id": one.pair_id, "grade": one.grade, "reason": one.reason}
            judges.setdefault(one.judge, []).append(grade)
    return {
        "about": "Grades that models gave, not people. They are not part of the truth.",
        "judges": [
            {"model": judge.model, "prompt_version": judge.prompt_version, "grades": grades}
            for judge, grades in judges.items()
        ],
    }


def statistics_documents(contents: Contents) -> Documents:
    """Return the part of a release's content from which its statistics are computed."""
    columns: dict[str, Any] = dict(
        zip(contents.pair_columns, zip(*contents.pairs, strict=True), strict=bool(contents.pairs))
    )
    grade_counts = Counter(grade[0] for grade in contents.raw)
    return Documents(
        truth={split.value: queries for split, queries in contents.truth.items()},
        corpus={name: duration_s for name, (duration_s, _) in contents.videos.items()},
        pairs=[
            JudgedPair(split, query_id, rank, verdict, grade_counts[pair_id])
            for split, query_id, rank, verdict, pair_id in zip(
                *(columns.get(name, ()) for name in ("split", "query_id", "rank", "verdict", "pair_id")), strict=True
            )
        ],
        highest=contents.grading.scale.highest,
        batch_size=contents.batch_size,
    )


def manifest(contents: Contents, statistics: ReleaseStatistics, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of `manifest.json`.

    Args:
        contents: content of the release.
        statistics: statistics of the release.
        files: maps the name of every other file to its SHA-256.
    """
    grading, rewriting = contents.grading, contents.rewriting
    # Invitations and skips do not change a release, so their counts must not change its manifest.
    counts = {
        name: count for name, count in contents.counts.items() if name not in ("annotators", "skipped", "sources")
    }
    selection = contents.selection
    changes = rewriting and {
        **asdict(rewriting),
        "replacements": dict(rewriting.replacements[:REPLACEMENTS]),
        "replaced": rewriting.replaced,
        "words": [asdict(word) for word in rewriting.words[:REPLACEMENTS]],
        "versions": dict(rewriting.versions),
    }
    return {
        "name": contents.name,
        "format": "tvr-ranking",
        "created_at": instant(contents.changed_at),
        "reelrank": __version__,
        "schema": counts["schema"],
        "licence": contents.terms.licence or None,
        "citation": contents.terms.citation or None,
        "rule_version": RULE_VERSION,
        **(
            {"re_opened": {"pairs": re_opened, "rule_version": RE_OPENED_RULE}}
            if (re_opened := contents.re_opened)
            else {}
        ),
        "scale": [{"grade": meaning.grade, "label": meaning.label} for meaning in grading.scale.meanings],
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
        **({"model_grades": _model_counts(contents)} if contents.options.with_model_grades else {}),
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


def _model_counts(contents: Contents) -> dict[str, Any]:
    """Return what the manifest says of the grades of models: their file, and how many each judge gave."""
    judges = model_grades_document(contents)["judges"]
    return {
        "file": MODEL_GRADES,
        "part_of_the_truth": False,
        "judges": [{**judge, "grades": len(judge["grades"])} for judge in judges],
    }
