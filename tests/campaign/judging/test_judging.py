"""From a claim to a verdict: what annotators meet, and what becomes of their grades."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import report_clip
from backend.campaign.judging import filling, queue, verdicts
from backend.campaign.judging.grades import DECIDED, GONE, GONE_ON, QUOTA, TOO_LATE
from backend.campaign.judging.model import (
    CORRECTION_S,
    Assignment,
    DeskState,
    GradeEvent,
    Receipt,
    ReceiptStatus,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.queue import GRADED, offer_again, restore_clip
from backend.campaign.judging.rows import assignments, seats
from backend.campaign.judging.rows.pair_status import GoneOn
from backend.campaign.judging.staffing import assign, sign_out, suspend
from backend.campaign.nouns import OPERATOR, Verdict
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.model import ReviewList
from backend.campaign.review.status import status_counts
from backend.core.errors import NotAllowed, PairLocked
from backend.core.ids import AnnotatorId, PairKey
from backend.store.connection import fetch_one, writing
from postgres import SQLITE_FIRST
from support import NOW, Judging, cases, sit


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both: whoever may sit where depends on no engine."""
    return str(request.param)


LEASE_S = 15 * 60


def desk_keys(judging: Judging, who: int, at: float = NOW) -> list[PairKey]:
    return [item.pair for item in exchange.desk(judging.project, judging.annotators[who], now=at).items]


def grade_all(judging: Judging, who: int, grade: int = 3) -> int:
    """Grade whatever comes until the desk is empty."""
    count = 0
    while items := exchange.desk(judging.project, judging.annotators[who], now=NOW).items:
        judging.grade(who, items[0].pair, grade)
        count += 1
    return count


def test_a_desk_holds_seven_pairs_of_one_query_and_counts_them(judging: Judging) -> None:
    desk = exchange.desk(judging.project, judging.annotators[0], now=NOW)
    assert desk.state is DeskState.READY
    assert [(item.position, item.total) for item in desk.items] == [(n, 20) for n in range(1, 8)]
    assert len({item.query for item in desk.items}) == 1


def test_asking_again_gives_the_same_pairs(judging: Judging) -> None:
    assert desk_keys(judging, 0) == desk_keys(judging, 0, NOW + 60)


def test_two_annotators_meet_a_query_in_different_orders_neither_by_rank(judging: Judging) -> None:
    ranks = {pair.pair: pair.rank for pair in judging.pairs()}
    first, second = desk_keys(judging, 0), desk_keys(judging, 1)
    assert [ranks[key] for key in first] != sorted(ranks[key] for key in first)
    assert [ranks[key] for key in second] != sorted(ranks[key] for key in second)
    assert first != second


def test_a_query_is_finished_before_another_is_begun(judging: Judging) -> None:
    held = desk_keys(judging, 0)
    first = judging.state(held[0]).query
    judging.grade(1, next(pair.pair for pair in judging.pairs() if pair.query != first), 3)  # nearer to completion now
    for key in held:
        judging.grade(0, key, 3)
    assert {judging.state(key).query for key in desk_keys(judging, 0)} == {first}


def test_two_people_share_a_query_and_a_third_begins_another(judging: Judging) -> None:
    queries = [{judging.state(key).query for key in desk_keys(judging, who)} for who in range(3)]
    assert queries[0] == queries[1] != queries[2]


def test_a_third_takes_only_the_disagreements_of_a_query_at_which_two_others_sit(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    desk_keys(judging, 1)
    judging.grade(0, key, 0)
    judging.grade(1, key, 4)
    third = desk_keys(judging, 2)
    assert third[0] == key
    assert judging.state(key).query not in {judging.state(other).query for other in third[1:]}


def test_when_nothing_else_is_left_a_third_joins_two_others(judging: Judging) -> None:
    for who in (0, 1):
        while len(keys := desk_keys(judging, who)) == 7 and status_counts(judging.project, OPERATOR)["judgements"] < 95:
            judging.grade(who, keys[0], 3)
    held = {judging.state(key).query for who in (0, 1) for key in desk_keys(judging, who)}
    third = {judging.state(key).query for key in desk_keys(judging, 2)}
    assert third
    assert third <= held


def test_two_people_grade_every_pair_and_the_third_finds_nothing(judging: Judging) -> None:
    assert grade_all(judging, 0) == 60
    assert grade_all(judging, 1) == 60
    desk = exchange.desk(judging.project, judging.annotators[2], now=NOW)
    assert (desk.state, desk.items) == (DeskState.FINISHED, ())
    assert {pair.verdict for pair in judging.pairs()} == {Verdict.CONSENSUS}


def test_what_others_hold_is_waited_for_and_comes_back_when_their_lease_ends(judging: Judging) -> None:
    grade_all(judging, 0)
    while exchange.desk(judging.project, judging.annotators[1], now=NOW).in_all < 54:
        judging.grade(1, desk_keys(judging, 1)[0], 3)
    assert len(desk_keys(judging, 1)) == 6
    desk = exchange.desk(judging.project, judging.annotators[2], now=NOW)
    assert (desk.state, desk.waiting) == (DeskState.WAITING, 6)
    assert len(desk_keys(judging, 2, NOW + LEASE_S + 1)) == 6


def test_a_disagreement_goes_to_two_others_first_and_is_settled_by_four(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    judging.grade(0, key, 0)
    judging.grade(1, key, 4)
    assert judging.state(key).verdict is Verdict.ESCALATED
    assert key not in desk_keys(judging, 0)
    assert key not in desk_keys(judging, 1)
    assert key in desk_keys(judging, 2)
    judging.grade(2, key, 2)
    assert judging.state(key).verdict is Verdict.ESCALATED
    judging.grade(3, key, 3)
    settled = judging.state(key)
    assert (settled.verdict, settled.mean, settled.relevance) == (Verdict.CONSENSUS, 2.5, 3)
    assert [grade.round for grade in settled.grades] == [1, 1, 2, 2]


def test_a_key_press_of_somebody_else_or_for_another_pair_is_not_taken_for_this_one(judging: Judging) -> None:
    first, second = (pair.pair for pair in judging.pairs()[:2])
    judging.grade(0, first, 3, key="press-1")
    for who, pair in ((1, first), (0, second)):
        assert judging.grade(who, pair, 2, key="press-1").status is ReceiptStatus.REFUSED
    assert status_counts(judging.project, OPERATOR)["judgements"] == 1


def test_a_late_repetition_of_an_unchanged_grade_does_not_overrule_the_grade_after_it(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    for grade, press in ((4, "a"), (4, "b"), (2, "c"), (4, "b")):
        assert judging.grade(0, key, grade, key=press).status is ReceiptStatus.SAVED
    assert [grade.grade for grade in judging.state(key).grades] == [2]


def test_undo_keeps_both_grades_and_the_new_one_counts(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    judging.grade(0, key, 1)
    previous = exchange.desk(judging.project, judging.annotators[0], now=NOW).previous
    assert (previous.pair, previous.grade, previous.position) == (key, 1, 1)
    judging.grade(0, key, 4)
    assert [grade.grade for grade in judging.state(key).grades] == [4]
    rows = judging.project.store.db.conn.execute("SELECT revision, grade FROM judgement ORDER BY revision").fetchall()
    assert [tuple(row) for row in rows] == [(1, 1), (2, 4)]


def recent(judging: Judging, at: float, who: int = 0) -> list[tuple[PairKey, int | None]]:
    found = exchange.recent_grades(judging.project, judging.annotators[who], now=at)
    return [(item.pair, item.grade) for item in found]


def test_the_last_twenty_grades_are_listed_for_a_while_whatever_others_do(judging: Judging) -> None:
    given = []
    for nth in range(24):
        pair = desk_keys(judging, 0, NOW + nth)[0]
        judging.grade(0, pair, nth % 5, at=NOW + nth)
        given.insert(0, (pair, nth % 5))
    assert recent(judging, NOW + 30) == given[:20]
    judging.grade(1, given[0][0], given[0][1], at=NOW + 31)  # agrees: the pair is settled
    assert recent(judging, NOW + 32) == given[:20], "nothing tells that somebody else graded it"
    judging.grade(0, given[5][0], 3, at=NOW + 33)
    assert recent(judging, NOW + 34)[:2] == [(given[5][0], 3), given[0]]
    assert recent(judging, NOW + 34 + CORRECTION_S) == []
    assert recent(judging, NOW + 34, who=2) == []


def test_a_quota_travels_with_the_desk(judging: Judging) -> None:
    anna = judging.annotators[0]
    assert exchange.desk(judging.project, anna, now=NOW).quota_in_all is None
    assign(judging.project, judging.lead, [anna.annotator_id], Assignment(a_day=5, in_all=40), now=NOW)
    found = exchange.desk(judging.project, anna, now=NOW)
    assert (found.quota_today, found.quota_in_all) == (5, 40)
    assert exchange.assigned_pairs(judging.project, anna) is None, "of any query"
    assign(judging.project, judging.lead, [anna.annotator_id], Assignment(part=1, parts=3), now=NOW)
    before = exchange.assigned_pairs(judging.project, anna)
    assert before == 20
    judging.grade(1, desk_keys(judging, 0)[0], 3)
    assert exchange.assigned_pairs(judging.project, anna) == before, "it tells nothing of others"


def test_the_deciding_grade_may_be_taken_back_until_somebody_goes_on_from_it(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    judging.grade(0, key, 0)
    judging.grade(1, key, 4)
    assert judging.grade(1, key, 1).status is ReceiptStatus.SAVED  # a slip of the finger
    state = judging.state(key)
    assert (state.verdict, state.relevance) == (Verdict.CONSENSUS, 1)
    assert judging.project.store.db.conn.execute("SELECT count(*) FROM seat WHERE seat_no > 2").fetchone()[0] == 0


def test_a_settled_pair_is_locked_for_everybody_else(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    judging.grade(0, key, 3)
    judging.grade(1, key, 3)
    refused = judging.grade(0, key, 1)
    assert (refused.status, refused.message) == (ReceiptStatus.REFUSED, GONE_ON[GoneOn.GRADED])
    assert judging.grade(1, key, 1, at=NOW + CORRECTION_S + 1).message == TOO_LATE
    kept = judging.project.store.db.conn.execute("SELECT payload FROM event WHERE kind = 'grade_refused'").fetchall()
    assert len(kept) == 2
    assert judging.state(key).relevance == 3


def test_undo_lives_on_while_the_pair_only_lies_ahead_on_another_desk(judging: Judging) -> None:
    """As it died within seconds: the third person's browser had loaded the pair ahead, and nobody had seen it."""
    key = disputed(judging)
    assert key in desk_keys(judging, 2)
    assert judging.grade(1, key, 0).status is ReceiptStatus.SAVED
    assert judging.state(key).verdict is Verdict.CONSENSUS
    assert seats_at(judging, key) == 2
    assert key not in desk_keys(judging, 2)


def test_only_sitting_there_already_means_no_seat_and_damage_is_told(judging: Judging) -> None:
    """As a broken reference to a person was taken for "you sit here already", and the desk stayed empty."""
    key = desk_keys(judging, 0)[0]
    with writing(judging.project.store) as db:
        pair = db.conn.execute("SELECT pair_id FROM pair WHERE pair_key = ?", [key]).fetchone()[0]
        mine = judging.annotators[0].annotator_id
        assert not seats.claim(db, mine, pair, now=NOW, until=NOW + LEASE_S)
        with pytest.raises(sqlite3.IntegrityError, match=r"(?i)foreign key"):
            seats.claim(db, AnnotatorId(999), pair, now=NOW, until=NOW + LEASE_S)


def test_a_gold_place_goes_before_a_free_seat_of_the_same_pair_and_is_handled_like_one(judging: Judging) -> None:
    me, now, until = judging.annotators[0].annotator_id, NOW, NOW + LEASE_S
    held = desk_keys(judging, 0)
    key = next(
        pair.pair for pair in judging.pairs() if pair.query == judging.state(held[0]).query and pair.pair not in held
    )
    with writing(judging.project.store) as db:
        pair, batch = db.conn.execute("SELECT pair_id, batch_id FROM pair WHERE pair_key = ?", [key]).fetchone()
        gold.offer(db, pair, me)
        assert (pair, 4) in assignments.claimable(db, me, batch, now=now), "as at the last seat of a pair"
        assert seats.claim(db, me, pair, now=now, until=until)
        assert seats.seat_of(db, pair, me) == seats.Seat(pair, 4, judged=False, gold=True, claimed_at=now)
        assert not seats.is_held(db, me, pair)
        assert [one.pair_key for one in seats.held_pairs(db, me)] == [*held, key], "the last claim"
        seats.mark_shown(db, me, key, now=now)
        shown = db.conn.execute("SELECT shown_at FROM gold_seat WHERE pair_id = ?", [pair]).fetchone()[0]
        assert shown == now
        seats.renew(db, me, now=now + 120, until=until + 120, slack_s=60)
        leases = db.conn.execute(
            "SELECT lease_until FROM seat WHERE annotator_id = ? UNION SELECT lease_until FROM gold_seat", [me]
        )
        assert [row[0] for row in leases] == [until + 120]
        seats.mark_judged(db, seats.Seat(pair, 4, judged=False, gold=True), me)
        assert seats.graded(db, me) == 1
        assert fetch_one(db, assignments.progress_select(me, [batch], now=now)).get(batch, (0, 0))[0] == 1


def disputed(judging: Judging) -> PairKey:
    """A pair that two people graded 0 and 4."""
    key = desk_keys(judging, 0)[0]
    judging.grade(0, key, 0)
    judging.grade(1, key, 4)
    return key


def seats_at(judging: Judging, key: PairKey) -> int:
    """How many places the pair has."""
    counted = "SELECT count(*) FROM seat JOIN pair USING (pair_id) WHERE pair_key = ?"
    return int(judging.project.store.db.conn.execute(counted, [key]).fetchone()[0])


def test_undo_ends_in_words_once_the_clip_was_on_another_screen(judging: Judging) -> None:
    key = disputed(judging)
    carla = judging.annotators[2]
    exchange.shown(judging.project, carla, key, now=NOW)
    assert judging.state(key).verdict is Verdict.ESCALATED, "she does not hold it: nothing happens"
    assert key in desk_keys(judging, 2)
    exchange.shown(judging.project, carla, key, now=NOW + 1)
    exchange.shown(judging.project, carla, key, now=NOW + 50)  # the same clip after a reload
    refused = judging.grade(1, key, 0, at=NOW + 60)
    assert (refused.status, refused.message) == (ReceiptStatus.REFUSED, GONE_ON[GoneOn.ON_SCREEN])
    assert "another annotator has this pair on screen" in refused.message
    assert exchange.desk(judging.project, judging.annotators[1], now=NOW + 60).previous is None
    at = judging.project.store.db.conn.execute("SELECT shown_at FROM seat WHERE shown_at IS NOT NULL").fetchall()
    assert [row[0] for row in at] == [NOW + 1]
    assert judging.grade(2, key, 4, at=NOW + 61).status is ReceiptStatus.SAVED


@pytest.mark.parametrize("how", ["signed out", "skipped", "lapsed", "came back", "taken by another"])
def test_a_clip_that_left_the_screen_with_its_seat_stands_in_nobodys_way(judging: Judging, how: str) -> None:
    key = disputed(judging)
    assert key in desk_keys(judging, 2)
    exchange.shown(judging.project, judging.annotators[2], key, now=NOW)
    at = NOW + 30
    if how == "signed out":
        queue.sign_off(judging.project.store, judging.annotators[2], now=at)
    elif how == "skipped":
        skip(judging, 2, key)
    else:
        at = NOW + CORRECTION_S - 1  # the last instant of the undo, and a lease that was a little shorter
        judging.project.store.db.conn.execute("UPDATE seat SET lease_until = ? WHERE lease_until > 0", [at - 5])
    if how == "came back":
        assert key in desk_keys(judging, 2, at)
    if how == "taken by another":
        judging.project.store.db.conn.execute("DELETE FROM seat WHERE seat_no = 4")
        assert key in desk_keys(judging, 3, at)
    assert judging.grade(1, key, 0, at=at).status is ReceiptStatus.SAVED
    assert seats_at(judging, key) == 2


def test_whoever_comes_back_to_a_lapsed_seat_tells_again_what_is_on_screen(judging: Judging) -> None:
    key = disputed(judging)
    assert key in desk_keys(judging, 2)
    at = NOW + CORRECTION_S - 1
    judging.project.store.db.conn.execute("UPDATE seat SET lease_until = ? WHERE lease_until > 0", [at - 5])
    exchange.exchange(judging.project, judging.annotators[2], [], [], now=at, shown=key)
    assert judging.grade(1, key, 0, at=at).message == GONE_ON[GoneOn.ON_SCREEN]


def test_a_decided_pair_says_who_decided(judging: Judging) -> None:
    key = disputed(judging)
    adjudicate(judging.project, judging.lead, key, 1, "seen it", now=NOW)
    assert judging.grade(1, key, 0).message == DECIDED


def test_the_third_and_the_fourth_person_may_take_back_a_slip_too(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    for who, grade in enumerate((0, 4, 0, 0)):
        judging.grade(who, key, grade)
    assert judging.grade(2, key, 4).message == GONE_ON[GoneOn.GRADED]  # the fourth has gone on from the third
    assert judging.grade(3, key, 4).status is ReceiptStatus.SAVED
    assert judging.state(key).verdict is Verdict.DISCARDED
    another = judging.pairs()[1].pair
    for who, grade in enumerate((0, 4, 0)):
        judging.grade(who, another, grade)
    assert judging.grade(2, another, 4).status is ReceiptStatus.SAVED


def test_a_late_save_counts_while_the_seat_is_theirs_and_is_refused_in_words_when_it_is_gone(judging: Judging) -> None:
    held = desk_keys(judging, 0)
    late = NOW + LEASE_S + 1
    assert judging.grade(0, held[0], 2, at=late).status is ReceiptStatus.SAVED
    sign_out(judging.project, "no session", now=late)
    # Both places at held[1] are taken and judged by others in the meantime.
    judging.project.store.db.conn.execute("UPDATE seat SET annotator_id=NULL, lease_until=NULL WHERE lease_until > 0")
    judging.grade(1, held[1], 3)
    judging.grade(2, held[1], 3)
    refused = judging.grade(0, held[1], 0, key="late", at=late)
    assert (refused.status, refused.message) == (ReceiptStatus.REFUSED, GONE)
    assert judging.grade(0, held[1], 0, key="late", at=late).message == GONE
    kept = judging.project.store.db.conn.execute("SELECT count(*) FROM event WHERE kind='grade_refused'").fetchone()
    assert kept[0] == 1


@pytest.mark.parametrize("grade", [-1, 5])
def test_what_is_not_a_grade_is_refused(judging: Judging, grade: int) -> None:
    assert "is not a grade" in judging.grade(0, judging.pairs()[0].pair, grade).message


def test_an_unknown_pair_is_refused(judging: Judging) -> None:
    assert "not in the project" in judging.grade(0, "nonsense", 3).message


def test_leads_neither_grade_nor_have_a_desk(judging: Judging) -> None:
    with pytest.raises(NotAllowed):
        exchange.desk(judging.project, judging.lead, now=NOW)
    with pytest.raises(NotAllowed):
        exchange.record_grades(judging.project, judging.lead, [], now=NOW)


def test_a_broken_clip_leaves_every_desk_and_is_listed_for_the_lead(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    report_clip(judging.project, judging.annotators[0], key, "damaged index", now=NOW)
    assert key not in desk_keys(judging, 0)
    assert key not in desk_keys(judging, 1)
    assert {pair.pair for pair in cases(judging.project, OPERATOR, ReviewList.BLOCKED)} >= {key}
    assert cases(judging.project, OPERATOR, ReviewList.BLOCKED)[0].fault == "damaged index"
    counts = status_counts(judging.project, OPERATOR)["pairs"]
    assert counts["blocked"] >= 1
    assert sum(counts.values()) == 60
    restore_clip(judging.project, judging.lead, key, now=NOW)
    assert cases(judging.project, OPERATOR, ReviewList.BLOCKED) == []
    assert status_counts(judging.project, OPERATOR)["pairs"]["blocked"] == 0


def skip(judging: Judging, who: int, pair: PairKey, kind: SkipKind = SkipKind.SKIP, key: str = "skip-1") -> Receipt:
    event = SkipEvent(pair, kind, "I know these people", key)
    return exchange.record_skips(judging.project, judging.annotators[who], [event], now=NOW)[0]


def test_a_skipped_pair_goes_back_counts_as_no_grade_and_stands_on_the_leads_list(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    assert skip(judging, 0, key).status is ReceiptStatus.SAVED
    assert key not in desk_keys(judging, 0)
    assert key in grade_what_is_offered(judging, 1)
    assert (judging.state(key).verdict, [grade.grade for grade in judging.state(key).grades]) == (Verdict.OPEN, [3])
    [listed] = cases(judging.project, OPERATOR, ReviewList.SKIPPED)
    assert [(s.annotator, s.kind, s.reason) for s in listed.skips] == [("Anna", SkipKind.SKIP, "I know these people")]


def grade_what_is_offered(judging: Judging, who: int) -> set[PairKey]:
    """Every pair a person is offered, all graded 3."""
    offered: set[PairKey] = set()
    while keys := desk_keys(judging, who):
        assert keys[0] not in offered
        offered.add(keys[0])
        judging.grade(who, keys[0], 3)
    return offered


def test_a_skip_that_arrives_again_after_a_lead_offered_the_pair_again_changes_nothing(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    skip(judging, 0, key)
    offer_again(judging.project, judging.lead, key, now=NOW)
    assert skip(judging, 0, key).status is ReceiptStatus.SAVED
    assert cases(judging.project, OPERATOR, ReviewList.SKIPPED) == []


def test_a_skip_with_the_key_of_another_is_refused(judging: Judging) -> None:
    first, second = desk_keys(judging, 0)[:2]
    skip(judging, 0, first)
    assert skip(judging, 0, second).status is ReceiptStatus.REFUSED
    assert second in desk_keys(judging, 0)


def test_nobody_is_offered_a_pair_they_skipped_until_the_lead_offers_it_again(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    skip(judging, 0, key, SkipKind.CANNOT_JUDGE)
    assert key not in grade_what_is_offered(judging, 0)
    desk = exchange.desk(judging.project, judging.annotators[0], now=NOW)
    assert (desk.state, desk.skipped) == (DeskState.FINISHED, 1)
    assert status_counts(judging.project, OPERATOR)["skipped"] == 1
    assert offer_again(judging.project, judging.lead, key, now=NOW) == 1
    assert desk_keys(judging, 0) == [key]
    assert cases(judging.project, OPERATOR, ReviewList.SKIPPED) == []


def test_a_settled_pair_is_not_offered_again_because_nobody_could_get_it(judging: Judging) -> None:
    """As the lead was told "Offered again to 1", of a pair that two others had settled meanwhile."""
    key = desk_keys(judging, 0)[0]
    skip(judging, 0, key)
    judging.grade(1, key, 3)
    judging.grade(2, key, 3)
    with pytest.raises(PairLocked, match="settled"):
        offer_again(judging.project, judging.lead, key, now=NOW)
    [pair] = cases(judging.project, judging.lead, ReviewList.SKIPPED)
    assert (pair.pair, len(pair.skips)) == (key, 1)


def test_nobody_works_longer_at_a_clip_than_it_was_on_screen(judging: Judging) -> None:
    """As pages of an older player tell it, which counted the loading of a clip as work."""
    first, second, third = desk_keys(judging, 0)[:3]
    given = [
        GradeEvent(first, 3, "1", active_ms=9000, elapsed_ms=4000),
        GradeEvent(second, 3, "2", active_ms=9000, elapsed_ms=None),
        GradeEvent(third, 3, "3", active_ms=-5, elapsed_ms=-7),
    ]
    exchange.record_grades(judging.project, judging.annotators[0], given, now=NOW + 60)
    rows = judging.project.store.db.conn.execute("SELECT active_ms, elapsed_ms FROM judgement ORDER BY event_key")
    assert [tuple(row) for row in rows] == [(4000, 4000), (9000, None), (0, 0)]


def test_a_graded_pair_cannot_be_skipped(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    judging.grade(0, key, 2)
    refused = skip(judging, 0, key)
    assert (refused.status, refused.message) == (ReceiptStatus.REFUSED, GRADED)


def test_the_newest_reason_of_a_person_stands(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    skip(judging, 0, key)
    offer_again(judging.project, judging.lead, key, now=NOW)
    sit(judging.project, judging.annotators[0], [key], now=NOW)
    skip(judging, 0, key, SkipKind.CANNOT_JUDGE, key="skip-2")
    assert [given.kind for given in cases(judging.project, OPERATOR, ReviewList.SKIPPED)[0].skips] == [
        SkipKind.CANNOT_JUDGE
    ]


def test_a_clip_that_two_people_report_as_broken_by_a_skip_is_blocked_for_everybody(judging: Judging) -> None:
    key = desk_keys(judging, 0)[0]
    skip(judging, 0, key, SkipKind.BROKEN_CLIP)
    assert cases(judging.project, OPERATOR, ReviewList.BLOCKED) == []
    sit(judging.project, judging.annotators[1], [key], now=NOW)
    skip(judging, 1, key, SkipKind.BROKEN_CLIP, key="skip-2")
    [blocked] = [pair for pair in cases(judging.project, OPERATOR, ReviewList.BLOCKED) if pair.pair == key]
    assert blocked.fault == "Reported from the desk: I know these people"
    assert key not in grade_what_is_offered(judging, 2)


def test_a_suspended_person_holds_no_seat(judging: Judging) -> None:
    desk_keys(judging, 0)
    suspend(judging.project, judging.lead, judging.annotators[0].annotator_id, True, now=NOW)
    assert judging.project.store.db.conn.execute("SELECT count(*) FROM seat WHERE lease_until > 0").fetchone()[0] == 0


def test_an_exchange_commits_each_grade_before_it_fills_the_desk(
    judging: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = desk_keys(judging, 0)[0]

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(filling.DeskView, "desk", broken)
    with pytest.raises(RuntimeError):
        exchange.exchange(judging.project, judging.annotators[0], [GradeEvent(key, 3, "k")], [], now=NOW)
    assert [grade.grade for grade in judging.state(key).grades] == [3]


def test_a_desk_is_filled_when_few_pairs_are_left_and_is_otherwise_as_a_filled_one_begins(judging: Judging) -> None:
    person, other = judging.annotators[:2]
    key, sizes = desk_keys(judging, 0)[0], []
    for n in range(6):
        _, desk = exchange.exchange(judging.project, person, [GradeEvent(key, n % 5, f"press {n}")], [], now=NOW + n)
        sizes.append(len(desk.items))
        key = desk.items[0].pair
    assert sizes == [6, 5, 7, 6, 5, 7]
    key = desk_keys(judging, 1)[0]
    for n in range(25):  # over the end of a batch, and with pairs that others graded
        event = GradeEvent(key, n % 5, f"another press {n}", note="why" if n % 3 else None)
        _, desk = exchange.exchange(judging.project, other, [event], [], now=NOW + n)
        filled = exchange.desk(judging.project, other, now=NOW + n)
        assert replace(filled, items=filled.items[: len(desk.items)]) == desk
        assert desk.previous is not None
        assert (desk.previous.pair, desk.previous.note) == (key, event.note or "")
        key = desk.items[0].pair


def test_a_grade_of_a_pair_that_a_lead_has_decided_meanwhile_cannot_be_taken_back(judging: Judging) -> None:
    key, person = disputed(judging), judging.annotators[2]
    assert key in desk_keys(judging, 2)
    adjudicate(judging.project, judging.lead, key, 2, "seen it", now=NOW)
    receipts, desk = exchange.exchange(judging.project, person, [GradeEvent(key, 3, "late")], [], now=NOW)
    assert (receipts[0].status, len(desk.items), desk.previous) == (ReceiptStatus.SAVED, 6, None)


def test_a_gold_question_that_a_lead_has_decided_can_be_taken_back_like_any_pair(judging: Judging) -> None:
    key, person = disputed(judging), judging.annotators[3]
    adjudicate(judging.project, judging.lead, key, 2, "seen it", now=NOW)
    first = GradeEvent(desk_keys(judging, 3)[0], 3, "an ordinary pair")
    exchange.exchange(judging.project, person, [first], [], now=NOW)
    with writing(judging.project.store) as db:
        pair = db.conn.execute("SELECT pair_id FROM pair WHERE pair_key = ?", [key]).fetchone()[0]
        gold.offer(db, pair, person.annotator_id)
        assert seats.claim(db, person.annotator_id, pair, now=NOW, until=NOW + LEASE_S)
    receipts, desk = exchange.exchange(judging.project, person, [GradeEvent(key, 3, "gold")], [], now=NOW)
    assert (receipts[0].status, len(desk.items)) == (ReceiptStatus.SAVED, 6), "not filled"
    assert desk.previous is not None
    assert desk.previous.pair == key


def test_a_clip_on_screen_is_noted_where_its_pair_has_to_be_taken_again(judging: Judging) -> None:
    key, person = desk_keys(judging, 0)[0], judging.annotators[0]
    queue.sign_off(judging.project.store, person, now=NOW)  # in another window
    _, desk = exchange.exchange(judging.project, person, [], [], now=NOW, shown=key)
    assert key in [item.pair for item in desk.items]
    found = "SELECT s.shown_at FROM seat s JOIN pair p USING (pair_id) WHERE p.pair_key = ? AND s.annotator_id = ?"
    assert judging.project.store.db.conn.execute(found, [key, person.annotator_id]).fetchone()[0] == NOW


def test_a_quota_holds_however_many_requests_come_at_once(judging: Judging) -> None:
    keys, person = desk_keys(judging, 0), judging.annotators[0]
    assign(judging.project, judging.lead, [person.annotator_id], Assignment(a_day=2), now=NOW)

    def hand_in(key: PairKey) -> list[Receipt]:
        return exchange.record_grades(judging.project, person, [GradeEvent(key, 3, f"press {key}", 1000)], now=NOW)

    with ThreadPoolExecutor(len(keys)) as threads:
        receipts = [receipt for taken in threads.map(hand_in, keys) for receipt in taken]
    assert sorted(receipt.message for receipt in receipts) == ["", "", *[QUOTA] * (len(keys) - 2)]
    assert exchange.desk(judging.project, person, now=NOW).in_all == 2


def test_consensus_can_be_dropped_and_rebuilt_to_the_same_rows(judging: Judging) -> None:
    pairs = judging.pairs()
    for n, pair in enumerate(pairs[:25]):
        judging.grade(0, pair.pair, n % 5)
        judging.grade(1, pair.pair, (n * 2) % 5)
    adjudicate(judging.project, judging.lead, pairs[1].pair, 0, "seen it", now=NOW)
    connection = judging.project.store.db.conn
    before = [tuple(row) for row in connection.execute("SELECT * FROM consensus ORDER BY pair_id")]
    connection.execute("DELETE FROM consensus")
    verdicts.rebuild_verdicts(judging.project.store)
    assert [tuple(row) for row in connection.execute("SELECT * FROM consensus ORDER BY pair_id")] == before
    assert len(before) == 25
