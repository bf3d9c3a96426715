"""From counts to what is shown of them. Pure."""

from collections import Counter
from collections.abc import Iterable

from backend.campaign.explore.model import Funnel
from backend.campaign.nouns import Verdict

FIRST_SEATS = 2
"""People who are asked about every pair."""


def funnel(counts: Iterable[tuple[str, int, int]]) -> Funnel:
    """The funnel of a campaign.

    Args:
        counts: (verdict, how many people were asked, pairs); several rows may be of one kind.

    >>> found = funnel([("open", 2, 5), ("consensus", 2, 60), ("consensus", 4, 20), ("discarded", 4, 9)])
    >>> found.pairs, found.graded_by_two, found.settled_by_two, found.escalated, found.settled_by
    (94, 89, 60, 29, {4: 20})
    """
    at_once: Counter[str] = Counter()
    further: Counter[str] = Counter()
    settled_by: Counter[int] = Counter()
    for verdict, asked, pairs in counts:
        (further if asked > FIRST_SEATS else at_once)[verdict] += pairs
        if verdict == Verdict.CONSENSUS and asked > FIRST_SEATS:
            settled_by[asked] += pairs
    # A pair whose first two grades disagree has its further seats in the same transaction.
    return Funnel(
        pairs=at_once.total() + further.total(),
        waiting_first=at_once[Verdict.OPEN],
        settled_by_two=at_once[Verdict.CONSENSUS],
        decided_at_once=at_once[Verdict.ADJUDICATED],
        escalated=further.total(),
        waiting_further=further[Verdict.ESCALATED],
        settled_by=dict(sorted(settled_by.items())),
        discarded=further[Verdict.DISCARDED],
        decided=further[Verdict.ADJUDICATED],
    )
