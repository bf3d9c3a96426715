"""Count what is in a project, name the next command, and list the pairs that a lead may have to look at.

Every screen and `reelrank status` take their counts from here. *Reads* everything, *writes* nothing.
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
    """Return the counts of `reelrank status --json`, which equal those on the screens; see `counts`."""
    return counts(project.store)


def counts(store: Store, *, probes: bool = True) -> dict[str, Any]:
    """Return counts per stage and status, all read at one instant. The numbers under `pairs` add up to all pairs.

    Without `probes`, pairs and judgements are counted as a release has them, and `descriptions` are left out: accepted
    descriptions are captions already. The key `probes` always says how many pairs are judged only for a probe.

    `moments_from` counts moments by origin. `batches` counts the queries that have a first batch open, and those that
    have a second one. `queries_by_batches` counts the queries with exactly one batch, with two and so on, by split.
    `judgements` are the grades that count (a corrected grade counts once), and `simulated` those of them that the demo
    made up. `skipped` counts the pairs with a skip in force. `descriptions` are counted by their state.
    """
    with reading(store) as db:
        videos, moments, captions = corpus.counts(db)
        judgements, simulated = query_rows.judgement_counts(db, probes=probes)
        return {
            "videos": videos,
            "moments": moments,
            "moments_from": corpus.origin_counts(db),
            "captions": captions,
            **({} if not probes else {"descriptions": described.current_counts(db)}),
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
    """Return the next command on the way to the first grade; an empty text once somebody can give it.

    Captions have to be rewritten before queries are drawn. To keep the published words, draw without rewriting. Where
    moments have no captions, people bring the queries themselves.
    """
    totals = counts(store)
    if not any(totals["pairs"].values()):
        if any(totals["queries"].values()):
            return (steps.choosing if totals["captions"] else steps.pooling)(folder)
        if not totals["captions"]:
            return (steps.bringing if totals["moments"] else steps.importing)(folder)
        with reading(store) as db:
            rewritten = rows.counts(db).rewritten
        return steps.drawing(folder) if rewritten else steps.rewriting(folder)
    return "" if totals["annotators"] else steps.adding(folder)


@in_charge
def review_counts(project: Project, by: Lead | Operator) -> dict[ReviewList, int]:
    """Return how many pairs each review list holds; for the notes, how many notes wait for a reply."""
    with reading(project.store) as db:
        return pair_lists.counts(db)


@in_charge
def review_page(
    project: Project, by: Lead | Operator, which: ReviewList, search: str = "", *, start: int = 0, size: int = 10
) -> ReviewPage:
    """Return a page of a review list: the pairs whose query or video contains the words of `search`."""
    with reading(project.store) as db:
        return pair_lists.page(db, which, " ".join(search.split()), start=start, size=size)


@in_charge
def pair_review(project: Project, by: Lead | Operator, pair: PairKey) -> PairReview | None:
    """Return one pair with everything that led to its verdict, or None if there is no such pair."""
    with reading(project.store) as db:
        return reviews.by_key(db, pair)


@in_charge
def recent_reasons(project: Project, by: Lead | Operator, *, limit: int = 5) -> list[str]:
    """Return the reasons that leads gave most recently, each once, the newest first."""
    return pair_lists.reasons(project.store.db, limit)
