"""List the pairs that a lead may have to look at: disputes, discards, skips, notes, blocked clips.

*Reads* pairs, grades, verdicts, acts of leads. *Writes* nothing.
"""

from backend.campaign.nouns import Lead, Operator
from backend.campaign.review.model import PairReview, ReviewList, ReviewPage
from backend.campaign.review.rows import pair_lists, reviews
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey
from backend.store.connection import reading


@in_charge
def case_counts(project: Project, by: Lead | Operator) -> dict[ReviewList, int]:
    """Return how many pairs each list holds; of notes, how many wait for a reply."""
    with reading(project.store) as db:
        return pair_lists.counts(db)


@in_charge
def case_page(
    project: Project, by: Lead | Operator, which: ReviewList, search: str = "", *, start: int = 0, size: int = 10
) -> ReviewPage:
    """Return a page of a list: pairs whose query or video contains the words of `search`."""
    with reading(project.store) as db:
        return pair_lists.page(db, which, " ".join(search.split()), start=start, size=size)


@in_charge
def case(project: Project, by: Lead | Operator, pair: PairKey) -> PairReview | None:
    """Return one pair with everything that led to its verdict; None if there is no such pair."""
    with reading(project.store) as db:
        return reviews.by_key(db, pair)


@in_charge
def recent_reasons(project: Project, by: Lead | Operator, *, limit: int = 5) -> list[str]:
    """Return the reasons that leads gave last, each once, the newest first."""
    return pair_lists.reasons(project.store.db, limit)
