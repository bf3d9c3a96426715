"""List the queries with an open batch, and take queries back as long as nobody has worked on them.

*Reads* queries, batches, pairs, verdicts, grades, skips, the exam, examples, assignments, seats. *Removes* query,
candidate, batch, pair, seat; *writes* one event.
"""

import math
from dataclasses import dataclass

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.review.model import QUERIES_TAKEN_BACK, PairReview, QueryFilter, QueryPlace, QueryReview
from backend.campaign.review.rows import queries as query_rows
from backend.campaign.review.rows import reviews
from backend.campaign.selection.pools import rows as pool_check
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import joined, said
from backend.store import events
from backend.store.connection import writing


@in_charge
def list_queries(project: Project, by: Lead | Operator) -> list[QueryReview]:
    """Return every query with an open batch, in judging order."""
    return reviews.query_reviews(project.store.db)


@in_charge
def find_queries(
    project: Project, by: Lead | Operator, wanted: QueryFilter, *, first: int = 0, most: int = 25
) -> list[QueryReview]:
    """Return a page of the queries that match a filter: at most `most` of them from `first` on, counted from 0."""
    return query_rows.page(project.store.db, wanted, first, most)


@in_charge
def count_queries(project: Project, by: Lead | Operator, wanted: QueryFilter) -> int:
    """Return how many queries match a filter."""
    return query_rows.count(project.store.db, wanted)


@in_charge
def query_review(project: Project, by: Lead | Operator, query_id: QueryId) -> QueryReview | None:
    """Return one query; None if it has no open batch."""
    return next(iter(reviews.query_reviews(project.store.db, query_id)), None)


@in_charge
def query_place(project: Project, by: Lead | Operator, wanted: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    """Return where a query stands among those that match a filter; None if it has no open batch."""
    return query_rows.place(project.store.db, wanted, query_id)


@in_charge
def query_pairs(project: Project, by: Lead | Operator, query_id: QueryId) -> list[PairReview]:
    """Return all pairs of a query's open batches, in rank order."""
    return reviews.pairs_of_query(project.store.db, query_id)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What went."""

    queries: int
    candidates: int
    pairs: int


@in_charge
def take_back_queries(project: Project, by: Lead | Operator, *, now: float) -> TakenBack:
    """Remove all queries, candidate lists, batches, pairs and seats; captions and videos stay.

    Raises:
        ProjectError: there are no queries, somebody has worked on a pair, or has one on the desk just now.
    """
    with writing(project.store) as db:
        splits = queries.split_counts(db)
        if not sum(splits.values()):
            raise ProjectError(said("there are no queries to take back"))
        if pool_check.facts(db):
            raise ProjectError(said("this project checks a file of pools, from which its queries come: they stay"))
        if work := query_rows.work(db):
            there = joined(", ", [said("{n:,} {what}", n=count, what=what) for what, count in work.items()])
            raise ProjectError(
                said(
                    "the queries cannot be taken back any more, because people have worked on them: {there}. Make a "
                    "new project for other queries",
                    there=there,
                )
            )
        if holding := query_rows.holding(db, now=now):
            names = ", ".join(name for name, _ in holding)
            minutes = math.ceil((max(until for _, until in holding) - now) / 60)
            raise ProjectError(
                said(
                    "pairs are on the desk of {names} just now: ask for signing out, or try again in {minutes} minutes",
                    names=names,
                    minutes=minutes,
                )
            )
        candidates, pairs = query_rows.remove(db)
        events.record(
            db,
            QUERIES_TAKEN_BACK,
            at=now,
            actor=by.annotator_id,
            subject="queries",
            payload={**{split.value: splits[split.value] for split in Split}, "candidates": candidates, "pairs": pairs},
        )
    return TakenBack(sum(splits.values()), candidates, pairs)
