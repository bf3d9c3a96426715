"""What one annotator can reach with keys of pairs: nothing beyond the seats they hold, and nobody else's work."""

from dataclasses import replace

import pytest

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import clip_for, desk_clips, report_clip, storyboard_for
from backend.campaign.judging import queue
from backend.campaign.judging.grades import GONE, NOT_ASSIGNED, PAUSED, QUOTA, RECENT
from backend.campaign.judging.model import (
    Assignment,
    DeskState,
    GradeEvent,
    Receipt,
    ReceiptStatus,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.queue import block_clip, lift_skips, offer_again, reported_clips
from backend.campaign.judging.staffing import assign, pause_person, unpause_person
from backend.campaign.monitoring.quality.flags import flags
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.review.model import ReviewList
from backend.core.errors import NotAllowed
from backend.core.ids import PairKey
from postgres import SQLITE_FIRST
from support import NOW, Judging, cases, grade_by_key, sit

SAVED, REFUSED = ReceiptStatus.SAVED, ReceiptStatus.REFUSED
LEASE_S = 15 * 60


@pytest.fixture
def filmed(judging: Judging) -> Judging:
    """Every video has a file, as far as the database knows."""
    return judging.give_videos_files()


def desk(judging: Judging, who: int = 0, at: float = NOW) -> list[PairKey]:
    return [item.pair for item in exchange.desk(judging.project, judging.annotators[who], now=at).items]


def skip(judging: Judging, who: int, pair: PairKey, kind: SkipKind = SkipKind.SKIP, *, at: float = NOW) -> Receipt:
    event = SkipEvent(pair, kind, "why", f"{who} {pair} {at}")
    return exchange.record_skips(judging.project, judging.annotators[who], [event], now=at)[0]


def moment_of(judging: Judging, pair: PairKey) -> int:
    found: int = judging.project.store.db.conn.execute(
        "SELECT moment_id FROM pair WHERE pair_key = ?", [pair]
    ).fetchone()[0]
    return found


def clip_opens(judging: Judging, who: int, pair: PairKey) -> bool:
    """Whether the clip can be had; what is cut ahead must be the same."""
    ahead = desk_clips(judging.project, judging.annotators[who], [pair])
    try:
        clip = clip_for(judging.project, judging.annotators[who], pair)
        storyboard_for(judging.project, judging.annotators[who], pair)
    except NotAllowed:
        assert ahead == []
        return False
    assert ahead == [(pair, clip)]
    return True


def collected_by_skipping(judging: Judging, who: int = 0) -> list[PairKey]:
    """The keys of all pairs, as somebody gets them who skips whatever comes, no faster than is allowed."""
    keys: list[PairKey] = []
    at = NOW
    while pairs := desk(judging, who, at):
        for pair in pairs:
            at += 61 / queue.MOST_A_MINUTE
            assert skip(judging, who, pair, at=at).status is SAVED
            keys.append(pair)
    return keys


def grades_of(judging: Judging, who: int) -> int:
    count: int = judging.project.store.db.conn.execute(
        "SELECT count(*) FROM judgement WHERE annotator_id = ?", [judging.annotators[who].annotator_id]
    ).fetchone()[0]
    return count


def try_all(judging: Judging, who: int, keys: list[PairKey], *, at: float = NOW) -> set[tuple[ReceiptStatus, str]]:
    """Many grades in one body."""
    events = [GradeEvent(pair, 2, f"try {pair} {at}", 1000) for pair in keys]
    receipts = exchange.record_grades(judging.project, judging.annotators[who], events, now=at)
    return {(receipt.status, receipt.message) for receipt in receipts}


class TestKeys:
    def test_of_skipped_pairs_take_no_grade_and_open_no_clip(self, filmed: Judging) -> None:
        keys = collected_by_skipping(filmed)
        assert len(keys) == 60
        assert try_all(filmed, 0, keys) == {(REFUSED, GONE)}
        assert not any(clip_opens(filmed, 0, key) for key in keys)
        assert grades_of(filmed, 0) == 0
        kept = "SELECT count(*) FROM event WHERE kind = 'grade_refused'"
        assert filmed.project.store.db.conn.execute(kept).fetchone()[0] == 60

    def test_told_by_a_colleague_take_no_grade_no_skip_no_report_and_open_no_clip(self, filmed: Judging) -> None:
        keys = desk(filmed, 0)
        assert all(clip_opens(filmed, 0, key) for key in keys)
        mine = set(desk(filmed, 1))
        told = [key for key in keys if key not in mine]
        assert told
        assert try_all(filmed, 1, told) == {(REFUSED, GONE)}
        assert {skip(filmed, 1, key).message for key in told} == {queue.GONE}
        assert {skip(filmed, 1, key, SkipKind.BROKEN_CLIP, at=NOW + 1).message for key in told} == {queue.GONE}
        assert not any(clip_opens(filmed, 1, key) for key in told)
        assert filmed.project.store.db.conn.execute("SELECT count(*) FROM skip").fetchone()[0] == 0

    def test_of_a_pair_that_a_lead_offers_again_work_once_it_is_on_the_desk(self, filmed: Judging) -> None:
        key = desk(filmed)[0]
        skip(filmed, 0, key)
        offer_again(filmed.project, filmed.lead, key, now=NOW)
        assert try_all(filmed, 0, [key]) == {(REFUSED, GONE)}
        while key not in desk(filmed):
            filmed.grade(0, desk(filmed)[0], 3)
        assert clip_opens(filmed, 0, key)
        assert try_all(filmed, 0, [key], at=NOW + 1) == {(SAVED, "")}

    @pytest.mark.parametrize("engine", SQLITE_FIRST)
    def test_of_graded_pairs_open_the_clips_of_the_last_ones_only(self, filmed: Judging) -> None:
        given = []
        for _ in range(RECENT + 2):
            given.append(desk(filmed)[0])
            assert clip_opens(filmed, 0, given[-1]), "to grade"
            filmed.grade(0, given[-1], 3)
            assert clip_opens(filmed, 0, given[-1]), "to undo"
        assert [clip_opens(filmed, 0, pair) for pair in given] == [False] * 2 + [True] * RECENT
        assert not any(clip_opens(filmed, 1, pair) for pair in given), "nobody else's"

    @pytest.mark.parametrize("how", ["signed out", "blocked", "skipped"])
    def test_of_pairs_that_were_given_back_take_no_grade(self, filmed: Judging, how: str) -> None:
        key = desk(filmed)[0]
        if how == "signed out":
            queue.sign_off(filmed.project.store, filmed.annotators[0], now=NOW)
        elif how == "blocked":
            report_clip(filmed.project, filmed.lead, key, "damaged", now=NOW)
        else:
            skip(filmed, 0, key)
        assert try_all(filmed, 0, [key]) == {(REFUSED, GONE)}
        assert not clip_opens(filmed, 0, key)

    def test_of_a_seat_that_lapsed_work_while_nobody_else_needs_it(self, judging: Judging) -> None:
        """Others take the places of nobody first, so that a laptop that was closed loses nothing."""
        key = desk(judging)[0]
        late = NOW + LEASE_S + 1
        sit(judging.project, judging.annotators[1], [key], now=late)
        assert try_all(judging, 0, [key], at=late) == {(SAVED, "")}
        other = desk(judging, at=late)[0]
        later = late + LEASE_S + 1
        for who in (1, 2):
            sit(judging.project, judging.annotators[who], [other], now=later)
        assert try_all(judging, 0, [other], at=later) == {(REFUSED, GONE)}


class TestPaused:
    def test_nobody_grades_corrects_skips_reports_or_sees_a_clip(self, filmed: Judging) -> None:
        keys = desk(filmed)
        filmed.grade(0, keys[0], 3)
        pause_person(filmed.project, filmed.lead, filmed.annotators[0].annotator_id, "why", now=NOW)
        # A seat that a paused person should not hold: the rule does not stand on the seats having gone back.
        sit(filmed.project, filmed.annotators[0], keys[1:3], now=NOW)
        assert try_all(filmed, 0, keys[:3]) == {(REFUSED, PAUSED)}
        assert {skip(filmed, 0, key).message for key in keys[1:3]} == {queue.PAUSED}
        assert skip(filmed, 0, keys[1], SkipKind.BROKEN_CLIP, at=NOW + 1).message == queue.PAUSED
        assert not any(clip_opens(filmed, 0, key) for key in keys)
        assert grades_of(filmed, 0) == 1

    def test_keys_from_before_the_pause_do_not_work_after_it_either(self, judging: Judging) -> None:
        keys = desk(judging)
        me = judging.annotators[0].annotator_id
        pause_person(judging.project, judging.lead, me, "why", now=NOW)
        assert try_all(judging, 0, keys) == {(REFUSED, PAUSED)}
        unpause_person(judging.project, judging.lead, me, now=NOW + 1)
        assert try_all(judging, 0, keys, at=NOW + 2) == {(REFUSED, GONE)}


class TestQuotaAndAssignment:
    def test_a_quota_holds_within_one_body_and_for_seats_that_are_held(self, judging: Judging) -> None:
        keys = desk(judging)
        me = judging.annotators[0].annotator_id
        assign(judging.project, judging.lead, [me], Assignment(a_day=3, in_all=4), now=NOW)
        assert try_all(judging, 0, keys) == {(SAVED, ""), (REFUSED, QUOTA)}
        assert grades_of(judging, 0) == 3
        assert judging.grade(0, keys[0], 1).status is SAVED, "a correction is no further grade"
        assert try_all(judging, 0, keys[3:], at=NOW + 86_400) == {(SAVED, ""), (REFUSED, QUOTA)}
        assert exchange.desk(judging.project, judging.annotators[0], now=NOW + 86_400).in_all == 4

    def test_a_seat_outside_the_assignment_takes_no_grade(self, judging: Judging) -> None:
        me = judging.annotators[0]
        split = {row[0]: row[1] for row in judging.project.store.db.conn.execute("SELECT text, split FROM query")}
        assign(judging.project, judging.lead, [me.annotator_id], Assignment(split=Split.TEST), now=NOW)
        inside = [pair.pair for pair in judging.pairs() if split[pair.query] == "test"]
        outside = [pair.pair for pair in judging.pairs() if split[pair.query] != "test"]
        sit(judging.project, me, [inside[0], outside[0]], now=NOW)
        assert try_all(judging, 0, outside[:1]) == {(REFUSED, NOT_ASSIGNED)}
        assert try_all(judging, 0, inside[:1]) == {(SAVED, "")}


class TestBrokenClips:
    @pytest.fixture(params=SQLITE_FIRST)
    def engine(self, request: pytest.FixtureRequest) -> str:
        """Both: what leads read of reports is asked in SQL of its own."""
        return str(request.param)

    def test_one_person_blocks_nothing_for_others(self, judging: Judging) -> None:
        others = desk(judging, 1)
        at = NOW
        while pairs := desk(judging, 0, at):
            at += 61 / queue.MOST_A_MINUTE
            assert skip(judging, 0, pairs[0], SkipKind.BROKEN_CLIP, at=at).status is SAVED
        assert cases(judging.project, OPERATOR, ReviewList.BLOCKED) == []
        assert desk(judging, 1) == others
        assert len(reported_clips(judging.project, judging.lead)) == len(
            {moment_of(judging, pair.pair) for pair in judging.pairs()}
        )

    def test_two_people_block_a_moment_whichever_pair_of_it_they_met(self, judging: Judging) -> None:
        key = desk(judging, 0)[0]
        moment = moment_of(judging, key)
        same = [pair.pair for pair in judging.pairs() if moment_of(judging, pair.pair) == moment]
        skip(judging, 0, key, SkipKind.BROKEN_CLIP)
        assert [(one.pair, one.by) for one in reported_clips(judging.project, judging.lead)] == [(key, "Anna")]
        sit(judging.project, judging.annotators[1], same[-1:], now=NOW)
        assert skip(judging, 1, same[-1], SkipKind.BROKEN_CLIP).status is SAVED
        blocked = {pair.pair for pair in cases(judging.project, OPERATOR, ReviewList.BLOCKED)}
        assert blocked == set(same)
        assert reported_clips(judging.project, judging.lead) == []

    def test_the_same_person_twice_is_one_person(self, judging: Judging) -> None:
        key = desk(judging, 0)[0]
        moment = moment_of(judging, key)
        for pair in [pair.pair for pair in judging.pairs() if moment_of(judging, pair.pair) == moment]:
            sit(judging.project, judging.annotators[0], [pair], now=NOW)
            assert skip(judging, 0, pair, SkipKind.BROKEN_CLIP).status is SAVED
        assert cases(judging.project, OPERATOR, ReviewList.BLOCKED) == []

    def test_a_lead_lifts_all_reports_of_a_person_at_once(self, judging: Judging) -> None:
        me = judging.annotators[0].annotator_id
        first, second, third = desk(judging, 0)[:3]
        for who in (0, 1):
            sit(judging.project, judging.annotators[who], [first, second, third], now=NOW)
            skip(judging, who, first, SkipKind.BROKEN_CLIP)
        skip(judging, 0, second, SkipKind.BROKEN_CLIP)
        skip(judging, 0, third)
        block_clip(judging.project, judging.lead, second, "seen it: black", now=NOW)
        lifted = lift_skips(judging.project, judging.lead, me, reports_only=True, now=NOW + 1)
        assert (lifted.skips, lifted.clips) == (2, 1)
        blocked = {pair.pair for pair in cases(judging.project, OPERATOR, ReviewList.BLOCKED)}
        assert second in blocked, "a lead's own word stays"
        assert first not in blocked
        told = judging.project.store.db.conn.execute("SELECT payload FROM event WHERE kind = 'skips_lifted'").fetchall()
        assert [row[0] for row in told] == ['{"skips":2,"reports_only":true,"clips":1}']
        skips_of = {one.name: one.flags[-2:] for one in flags(judging.project, judging.lead)}
        assert [(flag.value, flag.n) for flag in skips_of["Anna"]] == [(1.0, 1), (0.0, 1)]
        assert [(flag.value, flag.n) for flag in skips_of["Boris"]] == [(1.0, 1), (1.0, 1)]
        rest = lift_skips(judging.project, judging.lead, me, reports_only=False, now=NOW + 2)
        assert (rest.skips, rest.clips) == (1, 0)


class TestRate:
    def test_skips_are_so_many_a_minute_and_the_pair_stays_on_the_desk(self, judging: Judging) -> None:
        taken = 0
        while (receipt := skip(judging, 0, desk(judging)[0])).status is SAVED:
            taken += 1
        assert (taken, receipt.message) == (queue.MOST_A_MINUTE, queue.TOO_MANY)
        refused = desk(judging)[0]
        assert skip(judging, 0, refused, at=NOW + 59).message == queue.TOO_MANY
        assert judging.grade(0, refused, 3).status is SAVED, "grades are no skips"
        assert skip(judging, 0, desk(judging)[0], at=NOW + 61).status is SAVED
        assert skip(judging, 1, desk(judging, 1)[0]).status is SAVED, "of each person"


def test_a_key_that_a_helper_of_tests_uses_needs_its_seat(judging: Judging) -> None:
    """What other tests do with `Judging.grade` no annotator can."""
    key = judging.pairs()[0].pair
    assert replace(grade_by_key(judging, 0, key), key="") == Receipt("", REFUSED, GONE)
    assert exchange.desk(judging.project, judging.annotators[0], now=NOW).state is DeskState.READY
