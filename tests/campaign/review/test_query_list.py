"""The lead's list of queries: what the database finds is what reading every query finds."""

import random
from collections.abc import Callable
from itertools import product

import pytest

from backend.campaign.nouns import OPERATOR, Role, Split
from backend.campaign.review.model import QueryFilter, QueryPlace, QueryReview, QueryShow
from backend.campaign.review.queries import count_queries, find_queries, list_queries, query_place, query_review
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.store.connection import writing
from support import NOW

SEARCHES = ("", "TEA", "room in", "walks sofa", "100%", "_", "9", "no such words")
SORTS: dict[str, Callable[[QueryReview], object]] = {
    "query": lambda one: one.query.lower(),
    "split": lambda one: one.split.value,
    "settled": lambda one: one.settled / one.pairs,
    "pairs": lambda one: one.pairs,
    "escalated": lambda one: one.escalated,
    "discarded": lambda one: one.discarded,
    "batches": lambda one: one.batches_open,
}
SHOWN: dict[QueryShow, Callable[[QueryReview], bool]] = {
    QueryShow.ALL: lambda one: True,
    QueryShow.IN_WORK: lambda one: one.settled < one.pairs,
    QueryShow.NEXT_BATCH: lambda one: one.more_candidates,
}


@pytest.fixture
def project(corpus_project: Project) -> Project:
    """Fourteen queries of five pairs, three of them probed: settled, disputed, discarded and broken pairs by chance."""
    draw_queries(corpus_project, OPERATOR, val=8, test=6, seed=5, now=NOW)
    choose_candidates(corpus_project, OPERATOR, batch_size=5, probe=3, now=NOW)
    chance = random.Random(3)
    with writing(corpus_project.store) as db:
        db.execute("UPDATE query SET text = 'A 100% sure_thing' WHERE query_id = (SELECT min(query_id) FROM batch)")
        for (pair,) in db.conn.execute("SELECT pair_id FROM pair JOIN query USING (query_id)").fetchall():
            verdict = chance.choices(("consensus", "discarded", "escalated", None), (12, 2, 1, 1))[0]
            relevance = chance.randrange(5) if verdict == "consensus" else None
            if verdict:
                db.execute("INSERT INTO consensus VALUES (?, ?, ?, ?, 'test')", [pair, verdict, relevance, relevance])
        db.execute(
            "INSERT INTO clip_fault (moment_id, reason, reported_at) "
            "SELECT moment_id, 'gone', 1 FROM moment WHERE moment_id % 7 = 0"
        )
    lead = accounts.add(corpus_project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    ready = [one for one in list_queries(corpus_project, OPERATOR) if one.more_candidates]
    open_batch(corpus_project, lead, ready[0].query_id, now=NOW)
    return corpus_project


def test_every_list_is_what_reading_all_queries_finds(project: Project) -> None:
    everything = list_queries(project, OPERATOR)
    seen = 0
    for show, split, search in product(SHOWN, (None, Split.VAL, Split.TEST), SEARCHES):
        expected = [
            one for one in everything if SHOWN[show](one) and split in (None, one.split) and _holds(one, search)
        ]
        seen += 0 < len(expected) < len(everything)
        for sort in ("", *SORTS, *(f"-{name}" for name in SORTS)):
            wanted = QueryFilter(show, split, search, sort)
            listed = _sorted(expected, sort)
            assert count_queries(project, OPERATOR, wanted) == len(listed)
            assert find_queries(project, OPERATOR, wanted, first=0, most=100) == listed
            assert find_queries(project, OPERATOR, wanted, first=2, most=3) == listed[2:5]
    assert seen > 10, "the filters tell queries apart"
    some = frozenset(one.query_id for one in everything[1::3])
    wanted = QueryFilter(split=Split.VAL, only=some)
    listed = find_queries(project, OPERATOR, wanted, most=100)
    assert listed == [one for one in everything if one.query_id in some and one.split is Split.VAL]


def test_a_query_has_its_neighbours_in_the_list_and_keeps_them_when_it_leaves(project: Project) -> None:
    everything = list_queries(project, OPERATOR)
    for sort in ("", "-query", "settled"):
        wanted = QueryFilter(QueryShow.IN_WORK, sort=sort)
        listed = [one.query_id for one in find_queries(project, OPERATOR, wanted, most=100)]
        assert 2 < len(listed) < len(everything)
        for query in everything:
            around = [one.query_id for one in _sorted(everything, sort) if one.query_id in (*listed, query.query_id)]
            at = around.index(query.query_id)
            assert query_place(project, OPERATOR, wanted, query.query_id) == QueryPlace(
                at + 1 if query.query_id in listed else None,
                len(listed),
                around[at - 1] if at else None,
                around[at + 1] if at + 1 < len(around) else None,
            )
    assert query_place(project, OPERATOR, QueryFilter(), QueryId(99_999)) is None
    assert query_review(project, OPERATOR, QueryId(99_999)) is None
    assert query_review(project, OPERATOR, everything[3].query_id) == everything[3]


def test_a_sort_that_there_is_not_is_refused(project: Project) -> None:
    with pytest.raises(ProjectError, match=r"cannot be sorted by 'text; DROP': choose one of query, split"):
        find_queries(project, OPERATOR, QueryFilter(sort="text; DROP"))


def _holds(query: QueryReview, search: str) -> bool:
    by_number = search == str(query.query_id)
    return by_number or all(word.lower() in query.query.lower() for word in search.split())


def _sorted(queries: list[QueryReview], sort: str) -> list[QueryReview]:
    """Python's sort keeps the order of equals, also from the largest down."""
    if not sort:
        return queries
    return sorted(queries, key=SORTS[sort.removeprefix("-")], reverse=sort.startswith("-"))  # type: ignore[arg-type]
