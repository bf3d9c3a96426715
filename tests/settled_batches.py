"""Queries whose first batches are settled, so that leads decide about the next ones."""

from backend.campaign.desk.exchange import record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from support import NOW, Judging, sit

LAST = ((4, 4, 4, 0, 0), (3, 3, 2, 2, 2), (0, 1, 1, 0, 2))
"""Of each query, the last five relevances. By hand: three of 3 or more; a mean of 12 : 5; neither."""


def settle(judging: Judging) -> None:
    """Two people grade all pairs of three queries alike: 1, and the last five as `LAST` says."""
    for nth, query in enumerate(list_queries(judging.project, OPERATOR)):
        pairs = query_pairs(judging.project, OPERATOR, query.query_id)
        grades = [1] * 15 + list(LAST[nth])
        for who in (0, 1):
            given = [
                GradeEvent(pair.pair, grade, f"{pair.pair}-{who}", 4000)
                for pair, grade in zip(pairs, grades, strict=True)
            ]
            sit(judging.project, judging.annotators[who], [pair.pair for pair in pairs], now=NOW)
            receipts = record_grades(judging.project, judging.annotators[who], given, now=NOW)
            assert {one.status for one in receipts} == {"saved"}
