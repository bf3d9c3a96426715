"""What is said to be stuck, against letting everybody work until nobody can any more; what waits, row by row."""

import random
import secrets

import pytest

from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk, record_grades, record_skips
from backend.campaign.judging.model import Assignment, GradeEvent, ReceiptStatus, SkipEvent, SkipKind
from backend.campaign.judging.queue import reported_clips
from backend.campaign.judging.staffing import assign, pause_person, suspend
from backend.campaign.monitoring.hours.report import hours
from backend.campaign.monitoring.progress import inbox, progress
from backend.campaign.monitoring.progress.model import Barred, WaitKind
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.qualification.exam.results import exempt_from_exam
from backend.campaign.review.adjudicating import confirm_discard, re_open, reply_to_note
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.review.status import status_counts
from backend.campaign.selection.batches.model import RuleWord
from backend.campaign.selection.batches.next_batch import decline_batch
from backend.campaign.selection.batches.suggestions import batch_suggestions
from backend.campaign.setup.people.accounts import list_people
from support import NOW, Judging, sit

LATER = NOW + 3600


def grade_some(judging: Judging, chance: random.Random) -> None:
    """A beginning: grades that often disagree, skips, a broken clip, and everything off the desks again."""
    for _ in range(chance.randrange(30, 110)):
        who = chance.randrange(4)
        items = desk(judging.project, judging.annotators[who], now=NOW).items
        if not items:
            continue
        if chance.random() < 0.15:
            kind = chance.choice((SkipKind.SKIP, SkipKind.CANNOT_JUDGE))
            skip = SkipEvent(items[0].pair, kind, "too dark", secrets.token_hex(8))
            record_skips(judging.project, judging.annotators[who], [skip], now=NOW)
        else:
            judging.grade(who, items[0].pair, chance.choice((0, 1, 3, 4)))
    broken = desk(judging.project, judging.annotators[0], now=NOW).items
    if broken:
        report_clip(judging.project, judging.annotators[0], broken[0].pair, "black", now=NOW)


def keep_some_from_work(judging: Judging, chance: random.Random) -> None:
    for person in judging.annotators:
        if chance.random() < 0.3:
            pause_person(judging.project, judging.lead, person.annotator_id, "a holiday", now=LATER)
        if chance.random() < 0.3:
            work = chance.choice((Assignment(split=Split.VAL), Assignment(part=1, parts=3), Assignment(in_all=10_000)))
            assign(judging.project, judging.lead, [person.annotator_id], work, now=LATER)
    if chance.random() < 0.5:
        suspended = chance.choice(judging.annotators)
        suspend(judging.project, judging.lead, suspended.annotator_id, True, now=LATER)


def let_all_work(judging: Judging) -> None:
    """Everybody who may, until all desks are empty; nobody disputes anything, so no pair asks for more."""
    given = {pair.pair: [grade.grade for grade in pair.grades] for pair in judging.pairs()}
    working = [person.person for person in list_people(judging.project, OPERATOR) if not person.person.suspended]
    busy = True
    while busy:
        busy = False
        for person in working:
            if person.annotator_id == judging.lead.annotator_id:
                continue
            items = desk(judging.project, person, now=LATER).items
            for item in items:
                grade = given[item.pair][0] if given[item.pair] else 2
                event = GradeEvent(item.pair, grade, secrets.token_hex(8), 1000)
                receipt = record_grades(judging.project, person, [event], now=LATER)[0]
                assert receipt.status is ReceiptStatus.SAVED, receipt.message
                given[item.pair].append(grade)
                busy = True


@pytest.mark.parametrize("seed", range(5))
def test_what_is_stuck_is_what_is_left_when_everybody_has_done_all_they_can(judging: Judging, seed: int) -> None:
    chance = random.Random(seed)
    grade_some(judging, chance)
    keep_some_from_work(judging, chance)
    told = progress.stuck(judging.project, judging.lead)
    ahead = progress.progress(judging.project, judging.lead, now=LATER).ahead
    assert ahead.stuck == told
    queries = {pair.query_id for pair in judging.pairs()}
    of_query = {query: progress.query_stuck(judging.project, judging.lead, query) for query in queries}
    stuck_queries = progress.stuck_queries(judging.project, judging.lead)
    let_all_work(judging)
    db = judging.project.store.db.conn
    left = db.execute(
        "SELECT p.pair_id, count(*) AS lacking FROM pair p JOIN seat s USING (pair_id) "
        "LEFT JOIN consensus c USING (pair_id) WHERE s.annotator_id IS NULL AND (c.verdict IS NULL OR "
        "c.verdict = 'escalated') AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault) GROUP BY p.pair_id"
    ).fetchall()
    assert sum(one.pairs for one in told) == len(left)
    assert sum(one.grades for one in told) == sum(row["lacking"] for row in left) == ahead.forecast.stuck
    assert max((one.lacking for one in told), default=0) == max((row["lacking"] for row in left), default=0)
    places = {row[0]: (row[1], row[2]) for row in db.execute("SELECT pair_id, query_id, rank FROM pair")}
    for query, found in of_query.items():
        here = sorted(rank for row in left for of, rank in [places[row["pair_id"]]] if of == query)
        assert sorted(rank for _, ranks in found.stuck for rank in ranks) == here
        assert [len(ranks) for _, ranks in found.stuck] == [one.pairs for one, _ in found.stuck]
        faults = db.execute(
            "SELECT p.rank FROM pair p JOIN clip_fault USING (moment_id) LEFT JOIN consensus c USING (pair_id) "
            "WHERE p.query_id = ? AND (c.verdict IS NULL OR c.verdict = 'escalated') ORDER BY p.rank",
            [query],
        )
        assert found.blocked == tuple(row[0] for row in faults)
    assert stuck_queries == {places[row["pair_id"]][0] for row in left}
    after = progress.progress(judging.project, judging.lead, now=LATER).ahead
    assert after.needed == after.forecast.stuck == ahead.forecast.stuck


def test_the_sentence_of_the_issue(judging: Judging) -> None:
    for person in judging.annotators[2:]:
        suspend(judging.project, judging.lead, person.annotator_id, True, now=NOW)
    for pair in judging.pairs()[:7]:
        judging.grade(0, pair.pair, 0)
        judging.grade(1, pair.pair, 4)
    (only,) = progress.stuck(judging.project, judging.lead)
    assert (only.places, only.pairs, only.lacking) == ((3, 4), 7, 2)
    assert only.ways_out == ((Barred.SUSPENDED, ("Carla", "Dev"), 7),)


def test_hours_and_progress_tell_of_the_same_grades(judging: Judging) -> None:
    grade_some(judging, random.Random(3))
    pause_person(judging.project, judging.lead, judging.annotators[0].annotator_id, "away", now=NOW)
    pause_person(judging.project, judging.lead, judging.annotators[1].annotator_id, "away", now=NOW)
    ahead = progress.progress(judging.project, judging.lead, now=LATER).ahead
    outlook = hours(judging.project, judging.lead).outlook
    assert (outlook.needed, outlook.further, outlook.disputed) == (ahead.needed, ahead.further, ahead.disputed)
    assert outlook.stuck == ahead.forecast.stuck > 0


def test_whoever_has_not_passed_the_exam_grades_nothing_yet(judging: Judging) -> None:
    settled = judging.pairs()[:4]
    for pair in settled:
        for who in (0, 1):
            judging.grade(who, pair.pair, 3)
    db = judging.project.store.db.conn
    db.execute(
        "INSERT INTO exam (set_at, source, most_missed, closed_at) VALUES (?, 'settled pairs', 20, ?)", [NOW] * 2
    )
    db.execute("INSERT INTO exam_item (exam_id, pair_id, right_grade) VALUES (1, ?, 3)", [settled[0].pair_id])
    assert progress.stuck(judging.project, judging.lead) == (), "everybody may still pass"
    left = progress.progress(judging.project, judging.lead, now=NOW).ahead.forecast
    assert (left.stuck, left.exam, left.ends) == (0, 112, False)
    for person in judging.annotators[:2]:
        exempt_from_exam(judging.project, judging.lead, person.annotator_id, "helped to write it", now=NOW)
    assert progress.progress(judging.project, judging.lead, now=NOW).ahead.forecast.exam == 0
    for person in judging.annotators[2:]:
        fail_exam(judging, person.annotator_id)
    assert counts(judging) == {WaitKind.EXAM_FAILED: 2}
    pause_person(judging.project, judging.lead, judging.annotators[0].annotator_id, "away", now=NOW)
    (first,) = progress.stuck(judging.project, judging.lead)
    assert first.ways_out == ((Barred.PAUSED, ("Anna",), 56), (Barred.EXAM, ("Carla", "Dev"), 56))
    suspend(judging.project, judging.lead, judging.annotators[3].annotator_id, True, now=NOW)
    assert counts(judging)[WaitKind.EXAM_FAILED] == 1, "suspended people do not count"


def fail_exam(judging: Judging, who: int) -> None:
    """Somebody took the exam, gave 0 instead of 3 and looked at the pair again."""
    db = judging.project.store.db.conn
    attempt = db.execute(
        "INSERT INTO exam_attempt (exam_id, annotator_id, number, attempt_key, order_key, started_at, handed_in_at, "
        "read_at) VALUES (1, ?, 1, ?, '0', ?, ?, ?) RETURNING attempt_id",
        [who, f"attempt {who}", NOW, NOW, NOW],
    ).fetchone()[0]
    for revision, again, grade in ((1, 0, 0), (2, 1, 3)):
        db.execute(
            "INSERT INTO exam_answer (attempt_id, item_id, revision, again, grade, answered_at, active_ms, event_key) "
            "VALUES (?, 1, ?, ?, ?, ?, 1000, ?)",
            [attempt, revision, again, grade, NOW, secrets.token_hex(8)],
        )


def test_nothing_is_stuck_before_anybody_is_invited_or_once_everybody_is_suspended(judging: Judging) -> None:
    for person in judging.annotators:
        suspend(judging.project, judging.lead, person.annotator_id, True, now=NOW)
    assert progress.stuck(judging.project, judging.lead) == ()
    assert progress.stuck_queries(judging.project, judging.lead) == frozenset()
    assert counts(judging) == {WaitKind.TEAM: 60}
    left = progress.progress(judging.project, judging.lead, now=NOW).ahead
    assert (left.needed, left.forecast.days, left.forecast.stuck) == (120, None, 0)


def open_exam(judging: Judging, key: str, *, closed_at: float | None = None) -> list[str]:
    """An exam of three open pairs is held; their keys."""
    pairs = judging.pairs()[:3]
    db = judging.project.store.db.conn
    db.execute(
        "INSERT INTO exam (set_at, source, most_missed, key_from, closed_at) VALUES (?, 'open pairs', 20, ?, ?)",
        [NOW, key, closed_at],
    )
    for pair in pairs:
        db.execute("INSERT INTO exam_item (exam_id, pair_id, right_grade) VALUES (1, ?, 3)", [pair.pair_id])
    return [pair.pair for pair in pairs]


def test_an_exam_of_open_pairs_says_what_it_wants_of_the_lead_until_its_pairs_are_settled(judging: Judging) -> None:
    db = judging.project.store.db.conn
    open_exam(judging, "own")
    assert counts(judging) == {WaitKind.EXAM_KEY: 3}
    db.execute("UPDATE exam SET closed_at = ?", [NOW])
    assert counts(judging) == {WaitKind.EXAM_ANSWERS: 3}
    db.execute("UPDATE exam SET used_at = ?", [NOW])
    assert counts(judging) == {WaitKind.RESERVED: 3}
    db.execute("UPDATE exam SET ended_at = ?", [NOW])
    assert counts(judging) == {}, "they are work like any others"
    db.execute("UPDATE exam SET used_at = NULL")
    assert counts(judging) == {}, "nobody answered, so no answer can count"
    fail_exam(judging, judging.annotators[0].annotator_id)
    assert counts(judging) == {WaitKind.EXAM_ANSWERS: 3}


def test_a_round_can_be_closed_once_two_have_finished(judging: Judging) -> None:
    open_exam(judging, "median")
    fail_exam(judging, judging.annotators[0].annotator_id)
    assert counts(judging) == {}
    fail_exam(judging, judging.annotators[1].annotator_id)
    (wait,) = inbox.waits(judging.project, judging.lead)
    assert (wait.kind, wait.count, wait.who) == (WaitKind.EXAM_ROUND, 2, ("Anna", "Boris"))
    suspend(judging.project, judging.lead, judging.annotators[1].annotator_id, True, now=NOW)
    assert counts(judging) == {}, "suspended people do not count"


def test_a_calibration_round_that_everybody_finished_waits_for_its_end(judging: Judging) -> None:
    open_exam(judging, "own")
    judging.project.store.db.conn.execute("UPDATE exam SET purpose = 'trial', key_from = 'none'")
    for person in judging.annotators:
        fail_exam(judging, person.annotator_id)
    last = judging.annotators[3].annotator_id
    judging.project.store.db.conn.execute(
        "UPDATE exam_attempt SET handed_in_at = NULL, read_at = NULL WHERE annotator_id = ?", [last]
    )
    assert counts(judging) == {}
    suspend(judging.project, judging.lead, last, True, now=NOW)
    assert counts(judging) == {WaitKind.CALIBRATION: 3}


def test_the_newest_comes_first_and_a_note_is_quoted(judging: Judging) -> None:
    noted, disputed = judging.pairs()[:2]
    for who, grade in enumerate((0, 4, 0, 4)):
        judging.grade(who, disputed.pair, grade)
    sit(judging.project, judging.annotators[0], [noted.pair], now=LATER)
    event = GradeEvent(noted.pair, 3, secrets.token_hex(8), 1000, note="Is a mug a cup?")
    record_grades(judging.project, judging.annotators[0], [event], now=LATER)
    first, second = inbox.waits(judging.project, judging.lead)
    assert (first.kind, first.newest, first.who, first.quote) == (WaitKind.NOTES, LATER, ("Anna",), "Is a mug a cup?")
    assert (second.kind, second.count) == (WaitKind.DISCARDED, 1)


def test_whoever_has_quality_flags_is_listed_unless_suspended(judging: Judging) -> None:
    for pair in judging.pairs()[:55]:
        sit(judging.project, judging.annotators[0], [pair.pair], now=NOW)
        fast = GradeEvent(pair.pair, 0, secrets.token_hex(8), 100, 100)
        record_grades(judging.project, judging.annotators[0], [fast], now=NOW)
    (one,) = inbox.flagged(judging.project, judging.lead)
    assert (one.flags.name, one.newest) == ("Anna", NOW)
    suspend(judging.project, judging.lead, judging.annotators[0].annotator_id, True, now=LATER)
    assert inbox.flagged(judging.project, judging.lead) == []


def counts(judging: Judging) -> dict[WaitKind, int]:
    return {wait.kind: wait.count for wait in inbox.waits(judging.project, judging.lead)}


@pytest.mark.parametrize("seed", range(2))
def test_what_waits_is_counted_pair_by_pair(judging: Judging, seed: int) -> None:
    assert counts(judging) == {}
    chance = random.Random(seed)
    grade_some(judging, chance)
    for query in list_queries(judging.project, judging.lead)[:1]:  # one query is through
        for pair in query_pairs(judging.project, judging.lead, query.query_id):
            for who in range(4):
                noted = GradeEvent(pair.pair, (0, 4, 1, 3)[who], secrets.token_hex(8), 1000, note="odd")
                sit(judging.project, judging.annotators[who], [pair.pair], now=NOW)
                record_grades(judging.project, judging.annotators[who], [noted], now=NOW)
    for person in judging.annotators[:2]:
        pause_person(judging.project, judging.lead, person.annotator_id, "away", now=NOW)
    noted = [grade.note for pair in judging.pairs() for grade in pair.grades if grade.note]
    for note in noted[:3]:
        reply_to_note(judging.project, judging.lead, note.note, "I see", now=NOW)
    suspend(judging.project, judging.lead, judging.annotators[1].annotator_id, True, now=NOW)
    confirmed, re_opened, *_ = [pair for pair in judging.pairs() if pair.verdict.value == "discarded"]
    confirm_discard(judging.project, judging.lead, confirmed.pair, "no way to tell", now=NOW)
    re_open(judging.project, judging.lead, re_opened.pair, "two more eyes", now=NOW)
    pairs = judging.pairs()
    expected = {
        WaitKind.DISCARDED: sum(pair.verdict.value == "discarded" for pair in pairs) - 1,
        WaitKind.NOTES: len(noted) - 3,
        WaitKind.SKIPPED: sum(
            any(skip.kind is not SkipKind.BROKEN_CLIP for skip in pair.skips)
            and not (pair.verdict.is_settled or pair.fault)
            for pair in pairs
        ),
        WaitKind.REPORTED: len(reported_clips(judging.project, judging.lead)),
        WaitKind.BLOCKED: sum(bool(pair.fault) and not pair.verdict.is_settled for pair in pairs),
        WaitKind.BATCHES: len(batch_suggestions(judging.project, judging.lead).saying(RuleWord.OPEN)),
        WaitKind.PAUSED: 1,
    }
    assert counts(judging) == {kind: count for kind, count in expected.items() if count}
    assert expected[WaitKind.NOTES] > 0
    anybody = [one for one in progress.stuck(judging.project, judging.lead) if one.places == (5, 6)]
    assert [(one.pairs, one.lacking, one.ways_out) for one in anybody] == [(1, 2, ())], "all four have graded it"


def test_a_batch_that_the_rule_does_not_recommend_is_no_work_for_the_lead(judging: Judging) -> None:
    for pair in query_pairs(judging.project, judging.lead, list_queries(judging.project, judging.lead)[0].query_id):
        for who in (0, 1):
            judging.grade(who, pair.pair, 0)
    assert counts(judging) == {}


def test_a_query_whose_next_batch_was_declined_waits_no_more(judging: Judging) -> None:
    query = list_queries(judging.project, judging.lead)[0].query_id
    for pair in query_pairs(judging.project, judging.lead, query):
        for who in (0, 1):
            judging.grade(who, pair.pair, 3)
    assert counts(judging) == {WaitKind.BATCHES: 1}
    decline_batch(judging.project, judging.lead, query, "nothing there", number=2, now=NOW)
    assert counts(judging) == {}


def test_what_is_set_aside_and_blocked_adds_up_with_the_bar(judging: Judging) -> None:
    grade_some(judging, random.Random(1))
    pairs = [pair for pair in judging.pairs() if not pair.verdict.is_settled][:6]
    db = judging.project.store.db.conn
    db.execute(
        "INSERT INTO exam (set_at, source, most_missed, purpose, key_from) VALUES (?, '', 0, 'trial', 'none')", [NOW]
    )
    db.executemany("INSERT INTO exam_item (exam_id, pair_id) VALUES (1, ?)", [(pair.pair_id,) for pair in pairs])
    bar = status_counts(judging.project, judging.lead)["pairs"]
    ahead = progress.progress(judging.project, judging.lead, now=NOW).ahead
    assert (ahead.blocked, ahead.set_aside) == (bar["blocked"], bar["set_aside"])
    assert ahead.set_aside


def test_the_version_moves_with_every_act_and_not_by_itself(judging: Judging) -> None:
    def version() -> tuple[int, ...]:
        return progress.work_version(judging.project, judging.lead)

    before = version()
    inbox.waits(judging.project, judging.lead)
    assert version() == before
    pair = judging.pairs()[0].pair
    judging.grade(0, pair, 3)
    graded = version()
    assert graded != before
    pause_person(judging.project, judging.lead, judging.annotators[0].annotator_id, "away", now=NOW)
    assert version() not in (before, graded)
