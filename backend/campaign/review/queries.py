"""List the queries with an open batch for leads: searched, filtered, sorted, a page at a time.

*Reads* queries, batches, pairs, verdicts. *Writes* nothing.
"""

from backend.campaign.nouns import Lead, Operator
from backend.campaign.review.model import PairReview, QueryFilter, QueryPlace, QueryReview
from backend.campaign.review.rows import query_list, reviews
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId


@in_charge
def list_queries(project: Project, by: Lead | Operator) -> list[QueryReview]:
    """Return every query with an open batch, in judging order."""
    return reviews.query_reviews(project.store.db)


@in_charge
def find_queries(
    project: Project, by: Lead | Operator, wanted: QueryFilter, *, first: int = 0, most: int = 25
) -> list[QueryReview]:
    """Return a page of the queries that match a filter: at most `most` of them from `first` on, counted from 0."""
    return query_list.page(project.store.db, wanted, first, most)


@in_charge
def count_queries(project: Project, by: Lead | Operator, wanted: QueryFilter) -> int:
    """Return how many queries match a filter."""
    return query_list.count(project.store.db, wanted)


@in_charge
def query_review(project: Project, by: Lead | Operator, query_id: QueryId) -> QueryReview | None:
    """Return one query; None if it has no open batch."""
    return next(iter(reviews.query_reviews(project.store.db, query_id)), None)


@in_charge
def query_place(project: Project, by: Lead | Operator, wanted: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    """Return where a query stands among those that match a filter; None if it has no open batch."""
    return query_list.place(project.store.db, wanted, query_id)


@in_charge
def query_pairs(project: Project, by: Lead | Operator, query_id: QueryId) -> list[PairReview]:
    """Return all pairs of a query's open batches, in rank order."""
    return reviews.pairs_of_query(project.store.db, query_id)
