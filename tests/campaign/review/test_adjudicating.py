"""Two leads at one thing: the second is told what the first did, and acts again knowingly or not at all."""

import json

import pytest

from backend.campaign.desk.exchange import desk, record_skips
from backend.campaign.judging.queue import offer_again
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import query_pairs
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.setup.people import accounts as people
from backend.core.days import ago
from backend.core.errors import Overtaken, ReelRankError
from backend.core.ids import PairKey
from support import NOW, Judging


@pytest.fixture
def max_(judging: Judging) -> Person:
    """Another lead."""
    return people.add(judging.project.store, OPERATOR, "Max", Role.LEAD, now=NOW)


def disputed(judging: Judging) -> PairKey:
    """A pair on the list To decide."""
    pair = judging.pairs()[0].pair
    for who, grade in ((0, 0), (1, 4)):
        judging.grade(who, pair, grade)
    return pair


def test_who_saw_the_first_decision_may_replace_it_and_both_stand_with_their_names(
    judging: Judging, max_: Person
) -> None:
    pair = disputed(judging)
    adjudicate(judging.project, judging.lead, pair, 3, "She does sit down.", now=NOW)
    seen = len(judging.state(pair).decisions)
    adjudicate(judging.project, max_, pair, 1, "Only her coat is seen.", seen=seen, now=NOW + 250)
    stands = judging.state(pair)
    assert (stands.relevance, stands.reason) == (1, "Only her coat is seen.")
    assert [(made.lead, made.relevance, made.reason, made.at) for made in stands.decisions] == [
        ("Lea", 3, "She does sit down.", NOW),
        ("Max", 1, "Only her coat is seen.", NOW + 250),
    ]
    with pytest.raises(Overtaken, match="Max decided this pair 1 minute ago: relevance 1"):
        adjudicate(judging.project, judging.lead, pair, 4, "I still say so.", seen=seen, now=NOW + 310)


def test_a_decision_sent_twice_stands_once(judging: Judging) -> None:
    """A double click, or a browser that repeats a request: it is no other lead who was first."""
    pair = disputed(judging)
    for at in (NOW, NOW + 1):
        adjudicate(judging.project, judging.lead, pair, 3, "She does sit down. ", now=at)
    assert [made.at for made in judging.state(pair).decisions] == [NOW]
    with pytest.raises(Overtaken, match="You decided this pair just now: relevance 3"):
        adjudicate(judging.project, judging.lead, pair, 2, "Or does she?", now=NOW + 2)


def test_a_page_that_saw_decisions_which_are_not_there_is_old(judging: Judging) -> None:
    """A backup was put back since."""
    with pytest.raises(ReelRankError, match="reload the page"):
        adjudicate(judging.project, judging.lead, disputed(judging), 3, "Yes.", seen=1, now=NOW)


def test_the_second_to_open_a_batch_is_told_who_did(judging: Judging, max_: Person) -> None:
    project, query = judging.project, judging.pairs()[0].query_id
    for pair in query_pairs(project, OPERATOR, query):
        adjudicate(project, judging.lead, pair.pair, 2, "for the test", now=NOW)
    assert open_batch(project, judging.lead, query, number=2, now=NOW) > 0
    with pytest.raises(Overtaken, match=r"^Lea opened batch 2 of this query 2 hours ago: its pairs are with"):
        open_batch(project, max_, query, number=2, now=NOW + 7200)
    told = project.store.db.execute("SELECT payload FROM event WHERE kind = 'batch_opened' AND actor IS NOT NULL")
    assert [json.loads(row[0])["number"] for row in told] == [2]


def test_the_second_to_offer_a_pair_again_is_told_who_did(judging: Judging, max_: Person) -> None:
    from backend.campaign.judging.model import SkipEvent, SkipKind

    project, anna = judging.project, judging.annotators[0]
    pair = desk(project, anna, now=NOW).items[0].pair
    record_skips(project, anna, [SkipEvent(pair, SkipKind.SKIP, "no", "key-1")], now=NOW)
    assert offer_again(project, judging.lead, pair, now=NOW) == 1
    with pytest.raises(Overtaken, match=r"^Lea offered this pair again 1 minute ago, and nobody has skipped it since$"):
        offer_again(project, max_, pair, now=NOW + 61)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "just now"),  # two machines' clocks
        (59, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (3600, "1 hour ago"),
        (2 * 86_400 - 1, "47 hours ago"),
        (2 * 86_400, "2 days ago"),
    ],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(seconds) == words
