"""Count what is in a project, name the next command, and list the pairs that a lead may have to look at.

One place for every screen and `reelrank status`. *Reads* everything, *writes* nothing.
"""

from pathlib import Path
from typing import Any

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.describing.rows import reviewed as described
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import pair_status
from backend.campaign.nouns import Lead, Operator
from backend.campaign.review.model import InUse, PairReview, ReviewList, ReviewPage
from backend.campaign.review.rows import pair_lists, reviews
from backend.campaign.review.rows import queries as query_rows
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey
from backend.store.connection import Store, reading


@in_charge
def status_counts(project: Project, by: Lead | Operator) -> dict[str, Any]:
    """Return the counts of `reelrank status --json`, equal to what the screens show; see `counts`."""
    return counts(project.store)


def counts(store: Store, *, probes: bool = True) -> dict[str, Any]:
    """Return counts per stage and status, all of one instant; `pairs` adds up to all pairs.

    Without `probes`, pairs and judgements are those of a release. How many pairs are judged for a probe alone says
    `probes` in either case. `descriptions`, by how they stand, are no part of a release: accepted ones are captions.

    `moments_from` are the moments by where they come from, `batches` are queries with a first, a second batch open;
    `queries_by_batches` those with exactly one, two, by split.
    `judgements` are the grades that count (a corrected grade counts once), `simulated` those of them that the
    demo made up, `skipped` the pairs at which somebody's skip stands.
    """
    with reading(store) as db:
        videos, moments, captions = corpus.counts(db)
        judgements, simulated = query_rows.judgement_counts(db, probes=probes)
        return {
            "videos": videos,
            "moments": moments,
            "moments_from": corpus.origin_counts(db),
            "captions": captions,
            **({} if not probes else {"descriptions": described.standing_counts(db)}),
            "queries": queries.split_counts(db),
            "batches": candidates_rows.batch_counts(db),
            "queries_by_batches": batches_rows.shares(db),
            "pairs": query_rows.pair_counts(db, probes=probes),
            "probes": candidates_rows.probe_counts(db),
            "judgements": judgements,
            "simulated": simulated,
            "skipped": pair_status.skipped_pair_count(db),
            "annotators": query_rows.annotator_count(db),
            "encoder": candidates_rows.encoder_of_candidates(db),
            "sources": list(dict.fromkeys(source.name for source in candidates_rows.all_sources(db))),
            "schema": store.schema_level,
        }


@in_charge
def in_use(project: Project, by: Lead | Operator) -> InUse:
    """Return the parts of the campaign that are in use."""
    return query_rows.in_use(project.store.db)


@in_charge
def next_step(project: Project, by: Lead | Operator) -> str:
    """Return the command that brings a project nearer to its first grade; an empty text once none is needed."""
    return next_command(project.folder, project.store)


def next_command(folder: Path, store: Store) -> str:
    """Return the command that comes next on the way to the first grade; an empty text once somebody can give it.

    Captions are rewritten before queries are drawn: once they are drawn, it is too late. To keep the published words,
    draw without rewriting. Where moments have no captions, queries are people's own.
    """
    found = counts(store)
    if not any(found["pairs"].values()):
        if any(found["queries"].values()):
            return (steps.choosing if found["captions"] else steps.pooling)(folder)
        if not found["captions"]:
            return (steps.bringing if found["moments"] else steps.importing)(folder)
        with reading(store) as db:
            rewritten = rows.counts(db).rewritten
        return steps.drawing(folder) if rewritten else steps.rewriting(folder)
    return "" if found["annotators"] else steps.adding(folder)


@in_charge
def review_counts(project: Project, by: Lead | Operator) -> dict[ReviewList, int]:
    """Return how many pairs each list holds; of notes, how many wait for a reply."""
    with reading(project.store) as db:
        return pair_lists.counts(db)


@in_charge
def review_page(
    project: Project, by: Lead | Operator, which: ReviewList, search: str = "", *, start: int = 0, size: int = 10
) -> ReviewPage:
    """Return a page of a list: pairs whose query or video contains the words of `search`."""
    with reading(project.store) as db:
        return pair_lists.page(db, which, " ".join(search.split()), start=start, size=size)


@in_charge
def pair_review(project: Project, by: Lead | Operator, pair: PairKey) -> PairReview | None:
    """Return one pair with everything that led to its verdict; None if there is no such pair."""
    with reading(project.store) as db:
        return reviews.by_key(db, pair)


@in_charge
def recent_reasons(project: Project, by: Lead | Operator, *, limit: int = 5) -> list[str]:
    """Return the reasons that leads gave last, each once, the newest first."""
    return pair_lists.reasons(project.store.db, limit)
