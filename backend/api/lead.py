"""The lead's pages: queries, disagreements, decisions. Next batches stand in `batches`."""

from backend.campaign.judging import skips
from backend.campaign.nouns import Operator, Person
from backend.campaign.review import adjudicating as review
from backend.campaign.review import notes as replying
from backend.campaign.review import ruling
from backend.campaign.review.model import CaseList, CasePage, PairReview, QueryFilter, QueryPlace, QueryReview
from backend.campaign.review.rows import cases, query_list, reviews
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey, QueryId
from backend.store.connection import reading


def list_queries(project: Project, by: Person | Operator) -> list[QueryReview]:
    """Every query with an open batch, in judging order."""
    permissions.require_in_charge(project.store, by)
    return reviews.query_reviews(project.store.db)


def find_queries(
    project: Project, by: Person | Operator, wanted: QueryFilter, *, first: int = 0, most: int = 25
) -> list[QueryReview]:
    """A page of the queries that a lead looks for: at most so many from the given one on, counted from 0."""
    permissions.require_in_charge(project.store, by)
    return query_list.page(project.store.db, wanted, first, most)


def count_queries(project: Project, by: Person | Operator, wanted: QueryFilter) -> int:
    """How many queries a lead looks for."""
    permissions.require_in_charge(project.store, by)
    return query_list.count(project.store.db, wanted)


def query_review(project: Project, by: Person | Operator, query_id: QueryId) -> QueryReview | None:
    """One query; None where it has no open batch."""
    permissions.require_in_charge(project.store, by)
    return next(iter(reviews.query_reviews(project.store.db, query_id)), None)


def query_place(project: Project, by: Person | Operator, wanted: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    """Where a query stands among those that a lead looks for; None where it has no open batch."""
    permissions.require_in_charge(project.store, by)
    return query_list.place(project.store.db, wanted, query_id)


def query_pairs(project: Project, by: Person | Operator, query_id: QueryId) -> list[PairReview]:
    """All pairs of a query's open batches, in rank order."""
    permissions.require_in_charge(project.store, by)
    return reviews.pairs_of_query(project.store.db, query_id)


def case_counts(project: Project, by: Person | Operator) -> dict[CaseList, int]:
    """How many pairs are in each list of cases; of notes how many wait for a reply."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        return cases.counts(db)


def case_page(
    project: Project, by: Person | Operator, which: CaseList, search: str = "", *, start: int = 0, size: int = 10
) -> CasePage:
    """A page of a list of cases whose query or video has the words searched for."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        return cases.page(db, which, " ".join(search.split()), start=start, size=size)


def case(project: Project, by: Person | Operator, pair: PairKey) -> PairReview | None:
    """One pair with everything that led to its verdict; None if there is no such pair."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        return reviews.by_key(db, pair)


def recent_reasons(project: Project, by: Person | Operator, *, limit: int = 5) -> list[str]:
    """The reasons that leads gave last, each once, the newest first."""
    permissions.require_in_charge(project.store, by)
    return cases.reasons(project.store.db, limit)


def notes_csv(project: Project, by: Person | Operator) -> str:
    """All notes with their grades and replies as CSV; no release holds them."""
    permissions.require_in_charge(project.store, by)
    return replying.as_csv(project.store)


def reply_to_note(project: Project, lead: Person, note: int, text: str, *, seen: int = 0, now: float) -> None:
    """Reply to a note; its person reads it once the pair is settled for good.

    Raises:
        Overtaken: there is a reply that the lead had not `seen`.
    """
    replying.reply(project.store, permissions.require_lead(project.store, lead), note, text, seen=seen, now=now)


def offer_again(project: Project, lead: Person, pair: PairKey, *, now: float) -> int:
    """Offer a pair again to everybody who skipped it; how many people that are."""
    return skips.offer_again(project.store, permissions.require_lead(project.store, lead), pair, now=now)


def adjudicate(
    project: Project, lead: Person, pair: PairKey, relevance: int, reason: str, *, seen: int = 0, now: float
) -> None:
    """Record a lead's decision on a pair, with its reason.

    `seen` is how many acts of leads about the pair this lead had seen.

    Raises:
        Overtaken: another lead decided since.
    """
    review.adjudicate(
        project.store, permissions.require_lead(project.store, lead), pair, relevance, reason, seen=seen, now=now
    )


def confirm_discard(
    project: Project, lead: Person, pair: PairKey, reason: str = "", *, seen: int = 0, now: float
) -> None:
    """The discard of a pair is right: it leaves what is to decide. `seen` is how many acts of leads the lead had seen.

    Raises:
        Overtaken: another lead did something about the pair since.
        ProjectError: it is not discarded.
    """
    ruling.confirm_discard(
        project.store, permissions.require_lead(project.store, lead), pair, reason, seen=seen, now=now
    )


def re_open(project: Project, lead: Person, pair: PairKey, reason: str, *, seen: int = 0, now: float) -> None:
    """Ask two more people about a discarded pair.

    Raises:
        Overtaken: another lead did something about the pair since.
        ProjectError: no reason, not discarded, or nobody could grade it blind.
    """
    ruling.re_open(project.store, permissions.require_lead(project.store, lead), pair, reason, seen=seen, now=now)


def take_back(project: Project, lead: Person, pair: PairKey, reason: str, *, seen: int, now: float) -> None:
    """Take back what a lead did last about a pair: a decision, a confirmed discard, a re-opening.

    Raises:
        Overtaken: another lead did something about the pair since.
        ProjectError: no reason, nothing to take back, or somebody has gone on from it.
    """
    ruling.take_back(project.store, permissions.require_lead(project.store, lead), pair, reason, seen=seen, now=now)
