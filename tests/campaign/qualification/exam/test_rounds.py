"""An exam before anything is settled: its draw, its stages, its key, and what becomes of its pairs and answers."""

from collections import Counter
from hashlib import blake2b
from statistics import median

import pytest

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import report_clip
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import Desk, GradeEvent
from backend.campaign.monitoring.progress.progress import progress
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam import taking
from backend.campaign.qualification.exam.answer_key import preview_exam_key, use_exam
from backend.campaign.qualification.exam.model import ExamDesk, ExamKey, ExamPhase, ExamPurpose
from backend.campaign.qualification.exam.results import exempt_from_exam, grant_retake, in_order, my_exam
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.setting import (
    end_exam,
    end_trial,
    exam_although,
    preview_exam,
    set_exam,
    start_trial,
)
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people import permissions
from backend.core.errors import AlreadyDone, NotAllowed, ProjectError
from backend.core.ids import AnnotatorId, PairKey
from backend.store import connection
from exam_rounds import Round
from support import NOW, person_of

LATER = NOW + 100_000


def test_the_draw_takes_the_top_candidates_that_nobody_has_graded_or_holds(fresh: Round) -> None:
    by_query: dict[object, list[int]] = {}
    for query, pair in fresh.rows("SELECT query_id, pair_id FROM pair ORDER BY query_id, rank"):
        by_query.setdefault(query, []).append(int(str(pair)))
    graded, held = [pairs[0] for pairs in by_query.values()], [pairs[2] for pairs in by_query.values()]
    for pair in graded:
        fresh.rows(f"UPDATE seat SET annotator_id = 2 WHERE pair_id = {pair} AND seat_no = 1")
        fresh.rows(
            "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) "
            f"VALUES ({pair}, 1, 2, 1, 3, {NOW}, 'press {pair}')"
        )
    for pair in held:
        fresh.rows(f"UPDATE seat SET annotator_id = 3, lease_until = {NOW + 60} WHERE pair_id = {pair} AND seat_no = 1")
    report = fresh.hold(queries=2, pairs=4)
    assert (report.items, report.queries, report.short, report.grades) == (8, 2, "", ())
    expected = {
        query: [pair for pair in pairs if pair not in (*graded, *held)][:4] for query, pairs in by_query.items()
    }
    drawn = set(fresh.items())
    taken = [query for query, pairs in expected.items() if drawn & set(pairs)]
    assert drawn == {pair for query in taken for pair in expected[query]}
    assert len(taken) == 2


def test_what_was_asked_for_and_is_not_there_is_said(fresh: Round) -> None:
    report = fresh.hold(queries=5, pairs=30)
    assert (report.items, report.queries) == (60, 3)
    assert report.short == "Asked for 5 queries with 30 pairs each; only 60 pairs of 3 queries are available."
    with pytest.raises(ProjectError, match="at least one query"):
        fresh.hold(queries=0)


def test_while_it_is_held_nobody_is_handed_its_pairs_and_counts_say_so(fresh: Round) -> None:
    before = progress(fresh.project, OPERATOR, now=NOW).ahead.needed
    fresh.hold(queries=2, pairs=5)
    exempt_from_exam(fresh.project, fresh.lead, fresh.person(0).annotator_id, "wrote the guideline", now=NOW)
    counts = status_counts(fresh.project, OPERATOR)["pairs"]
    assert (counts["open"], counts["set_aside"], sum(counts.values())) == (50, 10, 60)
    assert progress(fresh.project, OPERATOR, now=NOW).ahead.needed == before - 20, "two seats of ten pairs"
    assert len(fresh.handed_out(0)) == 50
    assert fresh.handed_out(0).isdisjoint(fresh.items())
    findings = doctor(fresh.project, now=NOW).findings
    assert {finding.check for finding in findings} <= {"videos"}


def test_a_grade_that_still_arrives_for_a_pair_of_the_exam_is_refused_and_kept(fresh: Round) -> None:
    """A page that was left open: the lease of its pair had run out when the exam was set."""
    pair = PairKey(str(fresh.rows("SELECT pair_key FROM pair ORDER BY query_id, rank LIMIT 1")[0][0]))
    fresh.rows("UPDATE seat SET annotator_id = 2, lease_until = 5 WHERE pair_id = 1 AND seat_no = 1")
    fresh.hold(queries=3, pairs=20)
    exempt_from_exam(fresh.project, fresh.lead, fresh.person(0).annotator_id, "late", now=NOW)
    receipt = fresh.judging.grade(0, pair, 3)
    assert (receipt.status, "now part of an exam" in receipt.message) == ("refused", True)
    assert fresh.rows("SELECT kind FROM event ORDER BY event_id DESC LIMIT 1") == [("grade_refused",)]
    assert fresh.rows("SELECT count(*) FROM seat WHERE annotator_id IS NOT NULL") == [(0,)]


def test_people_wait_for_the_key_and_are_told_nothing_until_it_is_there(fresh: Round) -> None:
    fresh.hold()
    for who, grade in ((0, 1), (1, 4)):
        desk = fresh.finish(who, grade)
        assert (desk.state, desk.items, desk.previous) == ("exam", (), None)
        assert (desk.exam.phase, desk.exam.result, desk.exam.missed) == (ExamPhase.WAITING, None, ())
        assert fresh.act(who, "go_on") == desk, "there is nothing to go on to"
        (attempt,) = my_exam(fresh.project, fresh.person(who)).attempts
        assert (attempt.result, attempt.missed, attempt.by_grade) == (None, (), ())
    with pytest.raises(ProjectError, match="waits for the answer key"):
        grant_retake(fresh.project, fresh.lead, fresh.person(0).annotator_id, now=NOW)
    assert fresh.close() == 2
    assert {fresh.phase(who) for who in (0, 1)} == {ExamPhase.RESULT}
    assert set(fresh.key().values()) == {3}, "the mean of 1 and 4, half up"


def test_the_key_is_the_median_of_everybody_who_finished_half_up(fresh: Round) -> None:
    fresh.rows("UPDATE campaign SET rounding = 'half_down'")
    fresh.hold(queries=2, pairs=5)
    given = {who: {pair: (pair * (who + 2) + who) % 5 for pair in fresh.items()} for who in range(4)}
    for who in (0, 1, 2, 3):
        fresh.finish(who, given[who])
    fresh.close()
    for pair, right in fresh.key().items():
        middle = median(given[who][pair] for who in range(4))
        assert right == int(middle + 0.5), "half up, although the campaign rounds half down"
    assert len(set(fresh.key().values())) > 1


def test_a_round_is_not_closed_before_two_have_finished_nor_twice(fresh: Round) -> None:
    with pytest.raises(ProjectError, match="no exam is open"):
        fresh.close()
    fresh.hold()
    fresh.finish(0, 2)
    fresh.grade_all(1, 2)
    with pytest.raises(ProjectError, match="1 of at least 2 people have finished"):
        fresh.close()
    assert set(fresh.key().values()) == {None}
    fresh.act(1, "hand_in")
    fresh.close()
    with pytest.raises(ProjectError, match="This was done at"):
        fresh.close()


def test_who_had_not_handed_in_goes_on_against_the_key_and_who_comes_later_takes_it_as_any(fresh: Round) -> None:
    fresh.hold()
    fresh.finish(0, 2)
    fresh.finish(1, 2)
    fresh.act(2, "start")
    fresh.answer(2, fresh.desk(2).items[0].pair, 0)
    fresh.close()
    assert fresh.phase(2) is ExamPhase.ANSWERING
    fresh.grade_all(2, 2)
    handed_in = fresh.act(2, "hand_in").exam
    assert (handed_in.phase, handed_in.result.answers, handed_in.result.missed) == (ExamPhase.RESULT, 6, 1)
    newcomer = fresh.finish(3, 0).exam
    assert (newcomer.result.missed, newcomer.result.passed) == (6, False)
    assert fresh.look_again(3).exam is not None
    assert fresh.phase(3) is ExamPhase.FAILED
    grant_retake(fresh.project, fresh.lead, fresh.person(3).annotator_id, now=NOW)
    fresh.finish(3, 2)
    assert fresh.look_again(3).items, "passed, and handed pairs"


def test_a_leads_own_grades_are_the_key_once_they_hand_them_in(fresh: Round) -> None:
    with pytest.raises(NotAllowed, match="leads do not grade"):
        fresh.desk(-1)
    fresh.hold("own", most_missed=0)  # else guessing would pass an exam of six pairs
    with pytest.raises(ProjectError, match="a lead's own grades"):
        fresh.close()
    fresh.finish(0, 4)
    first = fresh.desk(-1)
    assert (first.exam.phase, first.items) == (ExamPhase.FIRST, ())
    wanted = {pair: nth % 5 for nth, pair in enumerate(fresh.items())}
    fresh.grade_all(-1, wanted)
    assert set(fresh.key().values()) == {None}, "not before it is handed in"
    assert fresh.phase(0) is ExamPhase.WAITING
    done = fresh.act(-1, "hand_in")
    assert (done.exam.phase, done.items) == (ExamPhase.KEY, ())
    assert fresh.key() == wanted
    result = fresh.desk(0).exam
    assert result.result.missed == sum(abs(4 - right) > 1 for right in wanted.values())
    assert fresh.rows("SELECT count(*) FROM judgement") == [(0,)]


def test_a_round_whose_key_a_constant_passes_is_closed_for_a_reason_only(fresh: Round) -> None:
    fresh.hold()
    assert preview_exam_key(fresh.project, fresh.lead) is None, "nobody has finished"
    for who in (0, 1):
        fresh.finish(who, 0)
    seen = preview_exam_key(fresh.project, fresh.lead)
    assert seen.grades == (6, 0, 0, 0, 0)
    assert [(one.missed, one.passed) for one in seen.guesses.constants][:3] == [(0, True), (0, True), (6, False)]
    with pytest.raises(ProjectError, match="grade 0 throughout misses 0 of 6 and would pass"):
        fresh.close("")
    assert set(fresh.key().values()) == {None}
    assert fresh.phase(0) is ExamPhase.WAITING
    assert exam_although(fresh.project, fresh.lead) is None
    fresh.close("  they are  all unrelated")
    reserve = exam_although(fresh.project, fresh.lead)
    assert "grade 0 throughout misses 0 of 6 and would pass" in reserve[0]
    assert reserve[1] == "they are all unrelated"
    assert preview_exam_key(fresh.project, fresh.lead) is None, "the key is there"


def test_a_leads_own_key_that_a_constant_passes_waits_for_a_reason(fresh: Round) -> None:
    fresh.hold("own")
    fresh.finish(0, 4)
    fresh.grade_all(-1, 4)
    assert preview_exam_key(fresh.project, fresh.lead) is None, "not handed in"
    handed_in = fresh.act(-1, "hand_in").exam
    assert handed_in.phase is ExamPhase.WAITING
    assert set(fresh.key().values()) == {None}
    seen = preview_exam_key(fresh.project, fresh.lead)
    assert seen.grades == (0, 0, 0, 0, 6)
    with pytest.raises(ProjectError, match="grade 4 throughout misses 0 of 6 and would pass"):
        fresh.close("")
    fresh.close("we have no others")
    assert set(fresh.key().values()) == {4}
    assert fresh.phase(0) is ExamPhase.RESULT


def test_an_exam_of_open_pairs_is_held_as_it_was_looked_at(fresh: Round) -> None:
    ask = {"queries": 3, "pairs": 9, "seed": 2, "key": ExamKey.MEDIAN, "now": NOW}
    seen = preview_exam(fresh.project, fresh.lead, **ask)
    assert (seen.grades, seen.guesses) == ((), None)
    assert {item.right for item in seen.items} == {None}
    report = set_exam(fresh.project, fresh.lead, previewed=seen.digest, **ask)
    assert (report.items, report.queries, report.short) == (len(seen.items), seen.queries, seen.short)
    assert sorted(fresh.pair_named(item.pair) for item in seen.items) == sorted(fresh.items())
    # What it asks may be asked again by the one that takes its place.
    again = preview_exam(fresh.project, fresh.lead, **ask)
    assert again.digest == seen.digest
    with pytest.raises(AlreadyDone, match="This was done at"):
        set_exam(fresh.project, fresh.lead, previewed=again.digest, **ask)
    fresh.finish(0, 2)
    with pytest.raises(ProjectError, match="the open pairs have changed since you looked"):
        set_exam(fresh.project, fresh.lead, previewed=seen.digest, **(ask | {"queries": 1}))


def test_a_lead_grades_nothing_but_the_key_and_gives_it_once(fresh: Round) -> None:
    fresh.hold("own")
    fresh.act(-1, "start")
    name = fresh.desk(-1).items[0].pair
    theirs = fresh.act(0, "start").items[0].pair
    pair = PairKey(str(fresh.rows("SELECT pair_key FROM pair ORDER BY rank DESC LIMIT 1")[0][0]))
    assert fresh.answer(-1, pair, 3).status == "refused", "work"
    assert fresh.answer(-1, theirs, 3).status == "refused", "somebody else's exam"
    fresh.grade_all(-1, 2)
    fresh.act(-1, "hand_in")
    assert fresh.answer(-1, name, 4, "late").status == "refused"
    fresh.close()
    assert fresh.desk(-1).exam is not None
    assert set(fresh.key().values()) == {2}
    assert fresh.rows("SELECT count(*) FROM seat WHERE annotator_id IS NOT NULL") == [(0,)]
    fresh.hold("median")
    with pytest.raises(NotAllowed, match="leads do not grade"):
        fresh.desk(-1)


def test_another_leads_half_given_key_ends_with_the_first_one_handed_in(fresh: Round) -> None:
    fresh.hold("own")
    fresh.rows("INSERT INTO annotator (name, role, created_at) VALUES ('Lou', 'lead', 1)")
    lou = person_of(fresh.project, "Lou")
    begun = exchange.exam_act(fresh.project, lou, ExamAct.START, now=NOW)
    fresh.grade_all(-1, 1)
    fresh.act(-1, "hand_in")
    fresh.close()
    ended = exchange.desk(fresh.project, lou, now=NOW)
    assert (ended.exam.phase, begun.items != ()) == (ExamPhase.KEY, True)


def test_a_clip_that_breaks_leaves_the_round_and_the_key(fresh: Round) -> None:
    fresh.hold()
    broken = fresh.act(0, "start").items[0].pair
    pair = fresh.pair_of(0, broken)
    report_clip(fresh.project, fresh.person(0), broken, "no picture", now=NOW)
    fresh.finish(0, 2)
    fresh.finish(1, 3)
    fresh.close()
    assert [found for found, right in fresh.key().items() if right is None] == [pair]
    fresh.rows("DELETE FROM clip_fault")
    assert fresh.finish(2, 3).exam is not None
    (attempt,) = my_exam(fresh.project, fresh.person(2)).attempts
    assert attempt.result.answers == 5, "an item without a key is not asked, although its clip is back"


def test_when_it_ends_the_pairs_go_back_to_people_who_have_not_answered_them(fresh: Round) -> None:
    fresh.hold(queries=2, pairs=3)
    fresh.act(0, "start")
    fresh.answer(0, fresh.desk(0).items[0].pair, 2)
    fresh.finish(1, 2)
    answered = {int(str(row[0])) for row in fresh.rows("SELECT pair_id FROM known_pair WHERE annotator_id = 2")}
    asked = set(fresh.items())
    end_exam(fresh.project, fresh.lead, now=NOW)
    assert len(answered) == 1
    assert fresh.handed_out(2) >= asked
    assert asked - fresh.handed_out(0) == answered, "what they had not come to is work like any other"
    assert fresh.handed_out(1).isdisjoint(asked)
    assert status_counts(fresh.project, OPERATOR)["pairs"]["set_aside"] == 0


def test_who_answered_a_pair_cannot_bring_a_grade_of_it_either(fresh: Round) -> None:
    fresh.hold(queries=1, pairs=1)
    fresh.finish(0, 2)
    fresh.finish(1, 4)
    (pair,) = fresh.items()
    fresh.close()
    end_exam(fresh.project, fresh.lead, now=NOW)
    (key,) = fresh.rows(f"SELECT pair_key FROM pair WHERE pair_id = {pair}")[0]
    receipt = fresh.judging.grade(0, str(key), 3)
    assert (receipt.status, "in an exam" in receipt.message) == ("refused", True)
    assert fresh.judging.grade(2, str(key), 3).status == "saved"


def test_an_exam_that_ends_without_a_key_is_begun_anew_where_another_is_set(fresh: Round) -> None:
    fresh.hold(queries=1)
    fresh.finish(0, 2)
    fresh.hold(queries=1, seed=2)
    assert fresh.phase(0) is ExamPhase.FIRST
    found = fresh.act(0, "start").exam
    assert found.attempt == 2


def test_another_draw_asks_nothing_that_somebody_has_answered(fresh: Round) -> None:
    fresh.hold(queries=3, pairs=4)
    asked = set(fresh.items())
    with pytest.raises(AlreadyDone):  # nobody had begun it
        fresh.hold(queries=3, pairs=4)
    fresh.finish(0, 2)
    fresh.hold(queries=3, pairs=4)
    assert asked.isdisjoint(fresh.items())


@pytest.mark.parametrize("key", ["median", "own"])
def test_until_the_key_is_there_every_desk_is_the_same_whatever_others_gave(fresh: Round, key: str) -> None:
    """Neither others' grades nor a lead's half-given key can be told from what anybody is sent."""
    fresh.hold(key, queries=2, pairs=2)
    for action in ("update", "delete"):
        fresh.rows(f"DROP TRIGGER exam_answer_no_{action}")
    fresh.finish(1, 0)
    fresh.grade_all(2, 4)
    if key == "own":
        fresh.grade_all(-1, 1)
    everybody = (*range(4), *([-1] if key == "own" else []))

    def same_when_others_are_turned() -> None:
        for who in everybody:
            me = fresh.person(who).annotator_id
            before = fresh.desk(who), my_exam(fresh.project, fresh.person(who)) if who >= 0 else None
            fresh.rows(
                "UPDATE exam_answer SET grade = 4 - grade, active_ms = 1 WHERE attempt_id IN "
                f"(SELECT attempt_id FROM exam_attempt WHERE annotator_id <> {me})"
            )
            assert (fresh.desk(who), my_exam(fresh.project, fresh.person(who)) if who >= 0 else None) == before

    same_when_others_are_turned()
    fresh.act(0, "start")
    for grade in (0, 4, 2, 1):
        fresh.answer(0, fresh.desk(0).items[0].pair, grade)
        same_when_others_are_turned()
    assert fresh.phase(0) is ExamPhase.ANSWERED
    fresh.act(0, "hand_in")
    assert fresh.phase(0) is ExamPhase.WAITING
    same_when_others_are_turned()


def test_claiming_looks_up_what_is_set_aside_and_known_by_an_index(fresh: Round) -> None:
    """However many pairs and exams there are: a search in an index for each pair, never a walk through a table."""
    for view, where in (("set_aside", "pair_id = 1"), ("known_pair", "pair_id = 1 AND annotator_id = 2")):
        plan = [str(row[3]) for row in fresh.rows(f"EXPLAIN QUERY PLAN SELECT 1 FROM {view} WHERE {where}")]
        assert plan
        assert not [step for step in plan if "SCAN" in step], plan
        assert [step for step in plan if "SEARCH" in step]


# What becomes of the answers


def used(fresh: Round) -> list[tuple[object, ...]]:
    return fresh.rows(
        "SELECT j.pair_id, j.seat_no, j.annotator_id, j.grade, j.active_ms, j.graded_at, j.event_key "
        "FROM judgement j ORDER BY j.pair_id, j.seat_no"
    )


def test_answers_claim_no_more_time_than_passed_since_the_exam_began(fresh: Round) -> None:
    fresh.hold(queries=2, pairs=4)
    items = fresh.act(0, ExamAct.START).items
    answers = [GradeEvent(item.pair, 2, item.pair, 2**31, 2**31) for item in items]
    exchange.record_grades(fresh.project, fresh.person(0), answers, now=NOW + 5)
    stored = fresh.project.store.db.conn.execute("SELECT count(*), sum(active_ms) FROM exam_answer").fetchone()
    assert tuple(stored) == (len(items), 5_000)


def test_answers_become_two_judgements_a_pair_once_a_lead_says_so(fresh: Round) -> None:
    fresh.hold(queries=2, pairs=4)
    given = {who: {pair: (pair + who) % 5 for pair in fresh.items()} for who in range(4)}
    for who in range(4):
        fresh.finish(who, given[who])
    with pytest.raises(ProjectError, match="still open"):
        use_exam(fresh.project, fresh.lead, now=LATER)
    fresh.close()
    for who in range(4):
        fresh.look_again(who)
    assert used(fresh) == []
    report = use_exam(fresh.project, fresh.lead, now=LATER)
    assert (report.pairs, report.judgements, report.people, report.fewest, report.most) == (8, 16, 4, 4, 4)
    people = {person.annotator_id: nth for nth, person in enumerate(fresh.judging.annotators)}
    for pair, seat, person, grade, active, at, key in used(fresh):
        who = people[AnnotatorId(int(str(person)))]
        assert grade == given[who][int(str(pair))], "the blind grade, whatever was given when they looked again"
        assert (active, at, str(key).startswith("exam:")) == (100 + who, NOW + 5, True)
        assert seat in (1, 2)
    assert Counter(pair for pair, *_ in used(fresh)) == dict.fromkeys(fresh.items(), 2)
    for pair in fresh.items():
        first, second = (int(str(row[3])) for row in used(fresh) if row[0] == pair)
        (verdict,) = fresh.rows(f"SELECT verdict FROM consensus WHERE pair_id = {pair}")[0]
        seats = fresh.rows(f"SELECT count(*) FROM seat WHERE pair_id = {pair}")[0][0]
        assert (verdict, seats) == (("consensus", 2) if abs(first - second) <= 1 else ("escalated", 4))
    with pytest.raises(ProjectError, match="This was done at"):
        use_exam(fresh.project, fresh.lead, now=LATER)
    assert {finding.check for finding in doctor(fresh.project, now=LATER).findings} <= {"videos"}


def test_what_was_answered_in_the_exam_cannot_be_taken_back_at_the_desk(fresh: Round) -> None:
    fresh.hold(queries=1, pairs=2)
    for who in (0, 1):
        fresh.finish(who, 2)
    fresh.close()
    for who in (0, 1):
        fresh.look_again(who)
    use_exam(fresh.project, fresh.lead, now=NOW + 20)
    assert fresh.desk(0).previous is None
    (key,) = fresh.rows(f"SELECT pair_key FROM pair WHERE pair_id = {fresh.items()[0]}")[0]
    receipt = fresh.judging.grade(0, str(key), 4)
    assert (receipt.status, "answers there are final" in receipt.message) == ("refused", True)


def test_only_first_attempts_that_are_handed_in_count_and_never_the_leads_key(fresh: Round) -> None:
    fresh.hold("own", queries=1, pairs=3)
    fresh.finish(0, 0)
    fresh.grade_all(1, 1)
    fresh.grade_all(-1, 4)
    fresh.act(-1, "hand_in")
    fresh.close()
    fresh.look_again(0)
    grant_retake(fresh.project, fresh.lead, fresh.person(0).annotator_id, now=NOW)
    fresh.act(0, "start")
    while items := fresh.desk(0).items:
        assert fresh.answer(0, items[0].pair, 4, f"once more {items[0].pair}").status == "saved"
    fresh.act(0, "hand_in")
    report = use_exam(fresh.project, fresh.lead, now=LATER)
    assert (report.pairs, report.judgements, report.people) == (3, 3, 1)
    assert [(row[1], row[3]) for row in used(fresh)] == [(1, 0)] * 3
    end_exam(fresh.project, fresh.lead, now=LATER)
    assert fresh.handed_out(2) >= set(fresh.items()), "the second seat is work"
    assert fresh.rows("SELECT max(n) FROM (SELECT count(*) AS n FROM judgement GROUP BY pair_id)") == [(2,)]


def test_used_after_the_end_the_answers_take_only_the_seats_that_are_left(fresh: Round) -> None:
    fresh.hold(queries=1, pairs=2)
    for who in (0, 1, 2):
        fresh.finish(who, 3)
    end_exam(fresh.project, fresh.lead, now=NOW)
    first, second = fresh.items()
    (key,) = fresh.rows(f"SELECT pair_key FROM pair WHERE pair_id = {first}")[0]
    assert fresh.judging.grade(3, str(key), 3).status == "saved"
    report = use_exam(fresh.project, fresh.lead, now=LATER)
    assert report.judgements == 3
    assert Counter(pair for pair, *_ in used(fresh)) == {first: 2, second: 2}


def test_answers_about_settled_pairs_are_never_used(fresh: Round) -> None:
    with pytest.raises(ProjectError, match="no exam of open pairs"):
        use_exam(fresh.project, fresh.lead, now=NOW)


def test_a_pair_that_a_lead_decided_meanwhile_takes_no_answers(fresh: Round) -> None:
    fresh.hold(queries=1, pairs=2)
    for who in (0, 1):
        fresh.finish(who, 3)
    fresh.close()
    first, second = fresh.items()
    (key,) = fresh.rows(f"SELECT pair_key FROM pair WHERE pair_id = {first}")[0]
    adjudicate(fresh.project, fresh.lead, PairKey(str(key)), 1, "as I see it", now=NOW)
    use_exam(fresh.project, fresh.lead, now=NOW)
    assert {pair for pair, *_ in used(fresh)} == {second}


@pytest.mark.parametrize(
    ("damage", "check", "told"),
    [
        ("UPDATE exam_item SET right_grade = 2 WHERE item_id = 1", "exam keys", "exam 1"),
        ("UPDATE exam SET used_at = NULL", "exam judgements", "seat 1"),
        ("UPDATE exam_attempt SET handed_in_at = NULL, read_at = NULL", "exam judgements", "seat 1"),
        ("UPDATE exam_attempt SET annotator_id = annotator_id + 10", "exam judgements", "seat 1"),
        ("UPDATE exam SET closed_at = NULL, used_at = NULL", "exam answers", "attempt 1"),
    ],
    ids=["a key before its time", "nobody said so", "not handed in", "somebody else's", "told before the key"],
)
def test_the_doctor_finds_what_cannot_be(fresh: Round, damage: str, check: str, told: str) -> None:
    fresh.hold(queries=1, pairs=3)
    if check != "exam keys":
        fresh.finish(0, 0)
        fresh.finish(1, 4)
        fresh.finish(2, 4)
        fresh.close()
        fresh.look_again(0)
        use_exam(fresh.project, fresh.lead, now=LATER)
    assert {finding.check for finding in doctor(fresh.project, now=LATER).findings} <= {"videos"}
    fresh.rows(damage)
    found = {finding.check: finding for finding in doctor(fresh.project, now=LATER).findings}
    assert told in found[check].examples[0]


def test_a_key_press_cannot_be_named_like_an_answer(fresh: Round) -> None:
    """Somebody who did so with the name of an answer of theirs would keep the lead from using the exam."""
    (item,) = fresh.desk(0).items[:1]
    receipt = fresh.judging.grade(0, item.pair, 3, key="exam:press")
    assert (receipt.status, "under the name of an exam answer" in receipt.message) == ("refused", True)


# Trials


def test_a_trial_is_answered_by_everybody_has_no_key_and_stands_beside_an_exam(fresh: Round) -> None:
    store = fresh.project.store
    start_trial(fresh.project, fresh.lead, queries=1, pairs=2, now=NOW)
    tried = set(fresh.items())
    fresh.hold(queries=2, pairs=2)
    assert tried.isdisjoint(fresh.items()), "what a trial asks no exam asks"
    assert status_counts(fresh.project, OPERATOR)["pairs"]["set_aside"] == 6
    person = permissions.require_annotator(store, fresh.person(0))

    def desk() -> Desk[ExamDesk] | None:
        return taking.desk(store, person, now=NOW)

    def act(what: taking.ExamStep) -> None:
        taking.take_step(store, person, what, now=NOW, purpose=ExamPurpose.CALIBRATION)

    begun = desk()
    assert (begun.exam.phase, begun.exam.purpose, begun.exam.items) == (ExamPhase.FIRST, ExamPurpose.CALIBRATION, 2)
    act(taking.ExamStep.START)
    while (there := desk()) is not None and there.items:
        assert fresh.answer(0, there.items[0].pair, 3).status == "saved"
    act(taking.ExamStep.HAND_IN)
    after = desk()
    assert after.exam.purpose is ExamPurpose.EXAM, "done: it stands before nothing any more"
    exam = fresh.desk(0).exam
    assert (exam.phase, exam.attempt) == (ExamPhase.FIRST, 1), "a trial is no attempt at the exam"
    assert my_exam(fresh.project, fresh.person(0)).attempts == ()
    assert end_trial(fresh.project, fresh.lead, now=NOW)
    end_exam(fresh.project, fresh.lead, now=NOW)
    assert fresh.handed_out(0).isdisjoint(tried)
    assert fresh.handed_out(1) >= tried


def test_the_names_of_an_exams_items_do_not_give_away_its_order(fresh: Round) -> None:
    """A calibration round asks the top candidates, whose items have numbers in rank order: few guesses find them."""
    project, person = fresh.project, person_of(fresh.project, "Anna")
    start_trial(project, fresh.lead, queries=3, pairs=8, now=NOW)
    exchange.exam_act(project, person, ExamAct.START, now=NOW)
    named = exchange.desk(project, person, now=NOW).items[0].pair.rsplit("-", 1)[0]
    with connection.reading(project.store) as db:
        attempt = attempts.by_key(db, named)
        there = exams.items(db, attempt.exam_id)
        real = [place.item_id for place in in_order(there, attempt)]

    def by_name(of: str) -> bytes:
        return blake2b(f"{attempt.key}:{of}".encode(), digest_size=8).digest()

    foreseen = sorted(there, key=lambda item: (by_name(f"query {item.query_id}"), by_name(f"item {item.item_id}")))
    assert sorted(real) == sorted(item.item_id for item in foreseen)
    assert real != [item.item_id for item in foreseen]  # equal by chance once in 24! runs
