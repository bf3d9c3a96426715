"""The lead's pages: queries, disagreements, decisions."""

from backend.campaign.judging import skips
from backend.campaign.nouns import Person
from backend.campaign.project.folder import Project
from backend.campaign.review import deciding as review
from backend.campaign.review.model import PairReview, QueryReview
from backend.campaign.review.rows import reviews
from backend.ground.ids import PairKey, QueryId


def list_queries(project: Project) -> list[QueryReview]:
    """Every query with an open batch, in judging order."""
    return reviews.query_reviews(project.store.db)


def query_pairs(project: Project, query_id: QueryId) -> list[PairReview]:
    """All pairs of a query's open batches, in rank order."""
    return reviews.pairs_of_query(project.store.db, query_id)


def disagreements(project: Project) -> list[PairReview]:
    """Escalated, discarded and adjudicated pairs, the newest grade first."""
    return reviews.disagreements(project.store.db)


def blocked(project: Project) -> list[PairReview]:
    """Pairs whose clip cannot be shown, with the reason."""
    return reviews.blocked(project.store.db)


def skipped(project: Project) -> list[PairReview]:
    """Pairs that somebody skipped or could not judge, with the reasons, the newest first."""
    return reviews.skipped(project.store.db)


def offer_again(project: Project, lead: Person, pair: PairKey, *, now: float) -> int:
    """Offer a pair again to everybody who skipped it; how many people that are."""
    return skips.offer_again(project.store, lead, pair, now=now)


def open_batch(project: Project, person: Person, query_id: QueryId, *, now: float) -> int:
    """Open the next batch of a query; the number of new pairs."""
    return review.open_next_batch(project.store, person, query_id, now=now)


def adjudicate(project: Project, person: Person, pair: PairKey, relevance: int, reason: str, *, now: float) -> None:
    """Record a lead's decision on a pair, with its reason."""
    review.adjudicate(project.store, person, pair, relevance, reason, now=now)
