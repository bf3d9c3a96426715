"""A pair that a lead decided early has no place to sit down at: its seats are closed while the decision stands."""

import pytest

from backend import api
from backend.campaign.judging import queue
from backend.campaign.judging.model import ReceiptStatus
from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Verdict
from backend.core.ids import PairKey
from backend.store.connection import writing
from postgres import SQLITE_FIRST
from support import NOW, Judging, sit

LEASE_S = 15 * 60


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def sits_down(judging: Judging, who: int, key: PairKey, *, at: float = NOW) -> bool:
    """Whether the statement that takes seats gives this person one, whatever a list of pairs would offer them."""
    with writing(judging.project.store) as db:
        pair_id = db.conn.execute("SELECT pair_id FROM pair WHERE pair_key = ?", [key]).fetchone()[0]
        return seats.claim(db, judging.annotators[who].annotator_id, pair_id, now=at, until=at + LEASE_S)


def decide(judging: Judging, key: PairKey, *, seen: int = 0) -> None:
    api.adjudicate(judging.project, judging.lead, key, 3, "Clear to see.", seen=seen, now=NOW)


def take_back(judging: Judging, key: PairKey, *, seen: int) -> None:
    api.take_back(judging.project, judging.lead, key, "Not so clear.", seen=seen, now=NOW)


@pytest.mark.parametrize("given", [(), (3,), (0, 4), (0, 4, 2)], ids=len)
def test_nobody_sits_down_at_a_pair_that_a_lead_decided(judging: Judging, given: tuple[int, ...]) -> None:
    key = judging.pairs()[0].pair
    for who, grade in enumerate(given):
        judging.grade(who, key, grade)
    decide(judging, key)
    assert not sits_down(judging, 3, key)
    take_back(judging, key, seen=1)
    assert sits_down(judging, 3, key)
    assert api.doctor(judging.project, now=NOW).findings == ()


def test_an_older_decision_that_stands_keeps_the_seats_closed(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    decide(judging, key)
    decide(judging, key, seen=1)
    take_back(judging, key, seen=2)
    assert judging.state(key).verdict is Verdict.ADJUDICATED
    assert not sits_down(judging, 0, key)
    take_back(judging, key, seen=3)
    assert sits_down(judging, 0, key)


def test_whoever_holds_a_seat_may_still_grade_and_nobody_gets_it_after_them(judging: Judging) -> None:
    anna, boris = (judging.pairs()[nth].pair for nth in (0, 1))
    sit(judging.project, judging.annotators[0], [anna], now=NOW)
    sit(judging.project, judging.annotators[1], [boris], now=NOW)
    decide(judging, anna)
    decide(judging, boris)
    assert judging.grade(0, anna, 2).status is ReceiptStatus.SAVED
    with writing(judging.project.store):
        queue.sign_off(judging.project.store, judging.annotators[1], now=NOW)
    assert not sits_down(judging, 2, boris)
    assert api.doctor(judging.project, now=NOW).findings == ()


def test_nobody_takes_a_lapsed_seat_of_such_a_pair(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    for who in (0, 1):
        sit(judging.project, judging.annotators[who], [key], now=NOW)
    decide(judging, key)
    later = NOW + LEASE_S + 1
    assert not sits_down(judging, 2, key, at=later)
    assert judging.grade(0, key, 2, at=later).status is ReceiptStatus.SAVED, "it stays their own"


def test_seats_that_open_after_the_decision_are_closed_as_well(judging: Judging) -> None:
    """Somebody who held a seat brings a grade that does not agree with the first one."""
    key = judging.pairs()[0].pair
    judging.grade(0, key, 0)
    sit(judging.project, judging.annotators[1], [key], now=NOW)
    decide(judging, key)
    assert judging.grade(1, key, 4).status is ReceiptStatus.SAVED
    assert not sits_down(judging, 2, key)
    take_back(judging, key, seen=1)
    assert judging.state(key).verdict is Verdict.ESCALATED
    assert sits_down(judging, 2, key)
    assert api.doctor(judging.project, now=NOW).findings == ()
