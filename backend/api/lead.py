"""The lead's pages: queries, disagreements, decisions. Next batches stand in `batches`."""

from backend.campaign.judging import skips
from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.campaign.review import deciding as review
from backend.campaign.review import replying
from backend.campaign.review.model import PairReview, QueryFilter, QueryPlace, QueryReview
from backend.campaign.review.rows import query_list, reviews
from backend.ground.ids import PairKey, QueryId


def list_queries(project: Project, by: Person | Operator) -> list[QueryReview]:
    """Every query with an open batch, in judging order."""
    gate.in_charge(project.store, by)
    return reviews.query_reviews(project.store.db)


def find_queries(
    project: Project, by: Person | Operator, wanted: QueryFilter, *, first: int = 0, most: int = 25
) -> list[QueryReview]:
    """A page of the queries that a lead looks for: at most so many from the given one on, counted from 0."""
    gate.in_charge(project.store, by)
    return query_list.page(project.store.db, wanted, first, most)


def count_queries(project: Project, by: Person | Operator, wanted: QueryFilter) -> int:
    """How many queries a lead looks for."""
    gate.in_charge(project.store, by)
    return query_list.count(project.store.db, wanted)


def query_review(project: Project, by: Person | Operator, query_id: QueryId) -> QueryReview | None:
    """One query; None where it has no open batch."""
    gate.in_charge(project.store, by)
    return next(iter(reviews.query_reviews(project.store.db, query_id)), None)


def query_place(project: Project, by: Person | Operator, wanted: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    """Where a query stands among those that a lead looks for; None where it has no open batch."""
    gate.in_charge(project.store, by)
    return query_list.place(project.store.db, wanted, query_id)


def query_pairs(project: Project, by: Person | Operator, query_id: QueryId) -> list[PairReview]:
    """All pairs of a query's open batches, in rank order."""
    gate.in_charge(project.store, by)
    return reviews.pairs_of_query(project.store.db, query_id)


def disagreements(project: Project, by: Person | Operator) -> list[PairReview]:
    """Escalated, discarded and adjudicated pairs, the newest grade first."""
    gate.in_charge(project.store, by)
    return reviews.disagreements(project.store.db)


def blocked(project: Project, by: Person | Operator) -> list[PairReview]:
    """Pairs whose clip cannot be shown, with the reason."""
    gate.in_charge(project.store, by)
    return reviews.blocked(project.store.db)


def skipped(project: Project, by: Person | Operator) -> list[PairReview]:
    """Pairs that somebody skipped or could not judge, with the reasons, the newest first."""
    gate.in_charge(project.store, by)
    return reviews.skipped(project.store.db)


def noted(project: Project, by: Person | Operator) -> list[PairReview]:
    """Pairs that somebody gave a note with, the newest note first."""
    gate.in_charge(project.store, by)
    return reviews.noted(project.store.db)


def notes_csv(project: Project, by: Person | Operator) -> str:
    """All notes with their grades and replies as CSV; no release holds them."""
    gate.in_charge(project.store, by)
    return replying.as_csv(project.store)


def reply_to_note(project: Project, lead: Person, note: int, text: str, *, seen: int = 0, now: float) -> None:
    """Reply to a note; its person reads it once the pair is settled for good.

    Raises:
        Overtaken: there is a reply that the lead had not `seen`.
    """
    replying.reply(project.store, gate.lead_of(project.store, lead), note, text, seen=seen, now=now)


def offer_again(project: Project, lead: Person, pair: PairKey, *, now: float) -> int:
    """Offer a pair again to everybody who skipped it; how many people that are."""
    return skips.offer_again(project.store, gate.lead_of(project.store, lead), pair, now=now)


def adjudicate(
    project: Project, lead: Person, pair: PairKey, relevance: int, reason: str, *, seen: int = 0, now: float
) -> None:
    """Record a lead's decision on a pair, with its reason. `seen` is how many decisions on it the lead had seen.

    Raises:
        Overtaken: another lead decided since.
    """
    review.adjudicate(project.store, gate.lead_of(project.store, lead), pair, relevance, reason, seen=seen, now=now)
