"""The qualification exam: what is asked, who has to pass it, what an attempt comes to, what leads decide."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import clip_for, report_broken, report_clip
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import Desk, DeskItem, GradeEvent, Receipt, SkipEvent, SkipKind
from backend.campaign.judging.queue import reported_clips
from backend.campaign.judging.staffing import pause_person
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.exam.answer_key import exam_items, explain_exam_item
from backend.campaign.qualification.exam.model import PASS_RULE, ExamPhase
from backend.campaign.qualification.exam.results import (
    exam_outcomes,
    exam_results,
    exempt_from_exam,
    grant_retake,
    my_exam,
)
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.qualification.exam.rules import marking
from backend.campaign.qualification.exam.rules.drawing import draw
from backend.campaign.qualification.exam.rules.marking import mark
from backend.campaign.qualification.exam.setting import (
    end_exam,
    exam_although,
    exam_held,
    preview_exam,
    set_exam,
    set_exam_from_file,
)
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.qualification.guideline.versions import choose_example
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.model import ReviewList
from backend.core.errors import InputError, NotAllowed, ProjectError
from backend.core.ids import PairId, PairKey, QueryId
from support import NOW, Judging, cases, grade_by_key

pytestmark = pytest.mark.usefixtures("videos")
QUARTER_HOUR = 15 * 60.0
LATER = NOW + QUARTER_HOUR + 1
EXAMINEE = 3
"""The fourth annotator; the first three settle the pairs of the first query."""
KEY = [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]


@pytest.fixture
def held(judging: Judging) -> Judging:
    """An exam of ten pairs of one query, whose right grades are `KEY` in the order of the pairs; 20 % may miss."""
    for nth, grade in enumerate(KEY):
        pair = judging.pairs()[nth].pair
        judging.grade(0, pair, grade)
        judging.grade(1, pair, grade)
    set_exam(
        judging.project, judging.lead, queries=1, pairs=10, seed=3, most_missed=20, although="few pairs", now=LATER
    )
    return judging


def desk(judging: Judging, who: int = EXAMINEE, *, at: float = LATER) -> Desk:
    return exchange.desk(judging.project, judging.annotators[who], now=at)


def phase(judging: Judging, who: int = EXAMINEE) -> ExamPhase | None:
    found = desk(judging, who).exam
    return found.phase if found else None


def act(judging: Judging, what: str, who: int = EXAMINEE, *, at: float = LATER) -> Desk:
    return exchange.exam_act(judging.project, judging.annotators[who], ExamAct(what), now=at)


def answer(judging: Judging, name: PairKey, grade: int, key: str = "", who: int = EXAMINEE) -> Receipt:
    event = GradeEvent(name, grade, key or f"{who} {name} {grade}", 900)
    return exchange.record_grades(judging.project, judging.annotators[who], [event], now=LATER)[0]


def right(judging: Judging, name: PairKey) -> int:
    """The right grade of an item, found by its clip: the moment that is cut for it."""
    job = clip_for(judging.project, judging.annotators[EXAMINEE], name)
    sql = (
        "SELECT i.right_grade FROM exam_item i JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) "
        f"JOIN video v USING (video_id) WHERE m.start_s = {job.start_s} AND v.name = '{job.identity}' "
        "AND i.exam_id = (SELECT max(exam_id) FROM exam)"
    )
    return int(str(judging.rows(sql)[0][0]))


def take(judging: Judging, misses: int, who: int = EXAMINEE) -> Desk:
    """Begin, answer everything, the first `misses` items two away from the key, and hand in."""
    found = act(judging, "start", who)
    while found.items:
        name = found.items[0].pair
        key = right(judging, name)
        wrong = key + 2 if key < 3 else key - 2
        assert answer(judging, name, wrong if misses > 0 else key, who=who).status == "saved"
        misses -= 1
        found = desk(judging, who)
    return act(judging, "hand_in", who)


def look_again(judging: Judging) -> Desk:
    found = act(judging, "go_on")
    while found.exam is not None and found.exam.phase is ExamPhase.AGAIN:
        first = found.exam.missed[0]
        assert answer(judging, first.pair, first.right).status == "saved"
        found = desk(judging)
    return found


def test_a_project_has_no_exam_until_a_lead_sets_one(judging: Judging) -> None:
    assert exam_held(judging.project, OPERATOR) is None
    assert desk(judging).exam is None
    assert len(desk(judging).items) == 7


def test_the_exam_asks_settled_pairs_and_keeps_the_relevance_they_had(held: Judging) -> None:
    found = exam_held(held.project, OPERATOR)
    assert (found.items, found.queries, found.seed, found.most_missed, found.set_by) == (10, 1, 3, 20, "Lea")
    relevances = {pair.pair: pair.relevance for pair in held.pairs()}
    assert {item.pair_key: item.right for item in exam_items(held.project, OPERATOR)} == {
        pair: relevance for pair, relevance in relevances.items() if relevance is not None
    }
    assert Counter(item.right for item in exam_items(held.project, OPERATOR)) == Counter(KEY)
    item = exam_items(held.project, OPERATOR)[0]
    adjudicate(held.project, held.lead, item.pair_key, 4 - item.right, "looked again", now=LATER)
    assert exam_items(held.project, OPERATOR)[0] == item, "the key is what it was when the exam was set"


def test_the_exam_comes_before_any_pair_and_no_seat_is_claimed(held: Judging) -> None:
    before = held.rows("SELECT count(*) FROM seat WHERE annotator_id = 4")
    found = desk(held)
    assert (found.state, found.items, found.exam and found.exam.phase) == ("exam", (), ExamPhase.FIRST)
    assert (found.exam.items, found.exam.queries, found.exam.attempt) == (10, 1, 1)
    take(held, 0)
    me = held.annotators[EXAMINEE].annotator_id
    assert held.rows(f"SELECT count(*) FROM seat WHERE annotator_id = {me}") == before == [(0,)]
    assert held.rows(f"SELECT count(*) FROM judgement WHERE annotator_id = {me}") == [(0,)]


def test_the_grade_of_a_pair_is_refused_until_the_exam_is_passed_and_kept_in_the_log(held: Judging) -> None:
    pair = held.pairs()[30].pair
    receipt = grade_by_key(held, EXAMINEE, pair, at=LATER)
    assert (receipt.status, "take the exam first" in receipt.message) == ("refused", True)
    assert held.rows("SELECT kind, payload ->> 'grade' FROM event ORDER BY event_id DESC LIMIT 1") == [
        ("grade_refused", 3)
    ]
    assert held.state(pair).grades == ()
    take(held, 0)
    act(held, "go_on")
    assert held.grade(EXAMINEE, pair, 3, at=LATER).status == "saved"


def test_who_sat_at_a_pair_before_the_exam_was_set_may_still_bring_its_grade(judging: Judging) -> None:
    for nth in range(3):
        judging.grade(0, judging.pairs()[nth].pair, 4)
        judging.grade(1, judging.pairs()[nth].pair, 4)
    there = desk(judging, at=NOW).items[0].pair
    set_exam(judging.project, judging.lead, although="few pairs", now=LATER)
    assert phase(judging) is ExamPhase.FIRST
    assert judging.grade(EXAMINEE, there, 2, at=LATER).status == "saved"


def test_items_come_by_query_in_an_order_of_each_person_and_attempt_and_again_after_a_reload(judging: Judging) -> None:
    for pair in judging.pairs():
        judging.grade(0, pair.pair, 2)
        judging.grade(1, pair.pair, 2)
    set_exam(judging.project, judging.lead, queries=3, pairs=4, although="few pairs", now=LATER)

    def order(who: int) -> list[tuple[str, float]]:
        found, person, met = act(judging, "start", who), judging.annotators[who], []
        assert found.items == desk(judging, who).items
        while found.items:
            assert [item.position for item in found.items] == list(range(len(met) + 1, len(met) + 1 + len(found.items)))
            assert {item.total for item in found.items} == {12}
            item = found.items[0]
            job = clip_for(judging.project, person, item.pair)
            met.append((item.query, job.start_s))
            answer(judging, item.pair, 2, who=who)
            found = desk(judging, who)
        return met

    mine, other = order(3), order(2)
    assert sorted(mine) == sorted(other)
    assert mine != other
    for met in (mine, other):
        queries = [query for query, _ in met]
        assert [queries[0], queries[4], queries[8]] == list(dict.fromkeys(queries)), "the pairs of a query together"


def test_nothing_of_the_key_is_told_before_the_exam_is_handed_in(held: Judging) -> None:
    for item in exam_items(held.project, OPERATOR):
        explain_exam_item(held.project, held.lead, item.item_id, "qqwhy it is so", now=LATER)
    seen = [desk(held), act(held, "start")]
    while seen[-1].items:
        answer(held, seen[-1].items[0].pair, 0)
        seen.append(desk(held))
    for found in seen:
        assert "qqwhy" not in repr(asdict(found))
        assert (found.exam.result, found.exam.missed) == (None, ())
        own = {item.grade for item in found.items} | {found.previous.grade if found.previous else None}
        assert own <= {None, 0}, "no grade but the person's own"
    assert my_exam(held.project, held.annotators[EXAMINEE]).attempts[0].missed == ()
    found = act(held, "go_on")
    assert found.exam.phase is ExamPhase.ANSWERED, "reading a result needs one"
    act(held, "hand_in")
    told = act(held, "go_on").exam
    assert {miss.explanation for miss in told.missed} == {"qqwhy it is so"}


def test_until_it_is_handed_in_the_desk_is_the_same_whatever_the_key(held: Judging) -> None:
    found = act(held, "start")
    for grade in (0, 4, 2, 2, 1):
        answer(held, found.items[0].pair, grade)
        found = desk(held)
        held.rows("UPDATE exam_item SET right_grade = 4 - right_grade, explanation = 'other' || right_grade")
        assert desk(held) == found
        assert my_exam(held.project, held.annotators[EXAMINEE]).attempts[0].result is None


def test_an_answer_sent_twice_is_one_and_a_later_one_takes_its_place(held: Judging) -> None:
    name = act(held, "start").items[0].pair
    assert [answer(held, name, 4, "once").status for _ in range(2)] == ["saved", "saved"]
    assert held.rows("SELECT count(*) FROM exam_answer") == [(1,)]
    previous = desk(held).previous
    assert (previous.pair, previous.grade, previous.position) == (name, 4, 1)
    assert answer(held, name, 1, "twice").status == "saved"
    assert answer(held, name, 4, "once").status == "saved", "a late repetition"
    assert held.rows("SELECT revision, grade, again FROM exam_answer ORDER BY revision") == [(1, 4, 0), (2, 1, 0)]
    other = desk(held).items[0].pair
    assert "another item" in answer(held, other, 4, "once").message


def test_the_items_are_this_persons_alone(held: Judging) -> None:
    name = act(held, "start").items[0].pair
    act(held, "start", 2)
    assert answer(held, name, 4, who=2).status == "refused"
    with pytest.raises(NotAllowed):
        clip_for(held.project, held.annotators[2], name)
    assert answer(held, PairKey(name.replace("-1", "-999")), 4).status == "refused"
    assert answer(held, PairKey(name + "r"), 4).status == "refused", "not to be looked at again yet"
    assert held.rows("SELECT count(*) FROM exam_answer") == [(0,)]


def clip_opens(judging: Judging, name: PairKey) -> bool:
    try:
        clip_for(judging.project, judging.annotators[EXAMINEE], name)
    except NotAllowed:
        return False
    return True


def test_the_clips_of_an_exam_open_while_it_shows_them(held: Judging) -> None:
    names: list[PairKey] = []
    found = act(held, "start")
    while found.items:
        name = found.items[0].pair
        key = right(held, name)
        assert answer(held, name, (key + 2 if key < 3 else key - 2) if len(names) < 2 else key).status == "saved"
        names.append(name)
        found = desk(held)
    assert all(clip_opens(held, name) for name in names), "all may be graded anew until they are handed in"
    act(held, "hand_in")
    assert not any(clip_opens(held, name) for name in names)
    missed = [item.pair for item in act(held, "go_on").items]
    assert [clip_opens(held, name) for name in missed] == [True, True]
    assert not any(clip_opens(held, PairKey(f"{name}r")) for name in names[2:]), "not those that were right"
    look_again(held)
    assert not any(clip_opens(held, name) for name in (*names, *missed))


def test_who_is_paused_answers_nothing_and_sees_no_item(held: Judging) -> None:
    name = act(held, "start").items[0].pair
    assert clip_opens(held, name)
    pause_person(held.project, held.lead, held.annotators[EXAMINEE].annotator_id, "why", now=LATER)
    assert (answer(held, name, 2).status, clip_opens(held, name)) == ("refused", False)
    assert not report_broken(held.project, held.annotators[EXAMINEE], name, "black", now=LATER)
    assert held.rows("SELECT count(*) FROM exam_answer") == [(0,)]


def test_an_item_that_two_people_report_as_broken_leaves_the_exam(held: Judging) -> None:
    """No seat belongs to an item, so a person reports those of their own exam; one alone changes nothing for others."""
    name = act(held, "start").items[0].pair
    assert report_broken(held.project, held.annotators[EXAMINEE], name, "black", now=LATER)
    assert cases(held.project, OPERATOR, ReviewList.BLOCKED) == []
    assert len(reported_clips(held.project, held.lead)) == 1
    act(held, "start", 2)
    assert not report_broken(held.project, held.annotators[2], name, "black", now=LATER), "somebody else's item"
    clip = clip_for(held.project, held.annotators[EXAMINEE], name)
    same = next(
        item.pair
        for item in iter_items(held, 2)
        if clip_for(held.project, held.annotators[2], item.pair).path == clip.path
    )
    assert report_broken(held.project, held.annotators[2], same, "black", now=LATER)
    assert {pair.fault for pair in cases(held.project, OPERATOR, ReviewList.BLOCKED)} == {
        "Reported from the desk: black"
    }
    assert name not in [item.pair for item in desk(held).items]


def iter_items(judging: Judging, who: int) -> Iterator[DeskItem]:
    """The items of somebody's exam, each answered once the next is asked for."""
    while items := desk(judging, who).items:
        yield items[0]
        answer(judging, items[0].pair, 2, who=who)


def test_an_item_cannot_be_skipped(held: Judging) -> None:
    name = act(held, "start").items[0].pair
    skip = SkipEvent(name, SkipKind.CANNOT_JUDGE, "too dark", "s")
    (receipt,) = exchange.record_skips(held.project, held.annotators[EXAMINEE], [skip], now=LATER)
    assert (receipt.status, "cannot be skipped" in receipt.message) == ("refused", True)
    assert desk(held).items[0].pair == name


def test_who_misses_little_passes_looks_at_the_misses_again_and_goes_to_work(held: Judging) -> None:
    found = take(held, 2)
    assert (found.exam.phase, found.exam.result.missed, found.exam.result.answers) == (ExamPhase.RESULT, 2, 10)
    assert found.exam.result.passed
    again = act(held, "go_on")
    assert [(item.position, item.total, item.grade) for item in again.items] == [(1, 2, None), (2, 2, None)]
    first = again.exam.missed[0]
    assert first.right == right(held, first.pair)
    assert abs(first.own - first.right) == 2
    assert answer(held, first.pair, first.own, "still wrong").status == "saved"
    once_more = desk(held).exam
    assert replace(first, again=first.own) in once_more.missed
    work = look_again(held)
    assert (work.exam, len(work.items)) == (None, 7)
    (attempt,) = my_exam(held.project, held.annotators[EXAMINEE]).attempts
    assert attempt.result.missed == 2, "what was given again does not change the result"
    assert answer(held, first.pair, first.right).status == "saved"


def test_who_misses_too_much_waits_for_the_lead(held: Judging) -> None:
    take(held, 3)
    found = look_again(held)
    assert (found.state, found.items, found.exam and found.exam.phase) == ("exam", (), ExamPhase.FAILED)
    assert grade_by_key(held, EXAMINEE, held.pairs()[30].pair, at=LATER).status == "refused"
    assert act(held, "start").exam == found.exam, "no further attempt by oneself"

    (one,) = [one for one in exam_results(held.project, OPERATOR) if one.person == held.annotators[EXAMINEE]]
    assert (one.phase, len(one.attempts), len(one.attempts[0].missed)) == (ExamPhase.FAILED, 1, 3)
    for miss in one.attempts[0].missed:
        assert miss.right == held.state(miss.pair).relevance
        assert miss.again == miss.right
    asked = Counter(KEY)
    missed = Counter(miss.right for miss in one.attempts[0].missed)
    assert one.attempts[0].by_grade == tuple((missed[grade], asked[grade]) for grade in range(5))


def test_a_retake_is_a_new_attempt_and_answers_of_the_old_one_do_not_count_in_it(held: Judging) -> None:
    before = act(held, "start").items[0].pair
    take(held, 10)
    look_again(held)
    me = held.annotators[EXAMINEE].annotator_id
    grant_retake(held.project, held.lead, me, now=LATER)
    with pytest.raises(ProjectError, match="can already take the exam"):
        grant_retake(held.project, held.lead, me, now=LATER)
    found = desk(held).exam
    assert (found.phase, found.attempt) == (ExamPhase.FIRST, 2)
    names = [item.pair for item in act(held, "start").items]
    assert before not in names
    assert "handed in" in answer(held, before, 4, "late").message
    take(held, 0)
    assert act(held, "go_on").exam is None
    results = [attempt.result for attempt in my_exam(held.project, held.annotators[EXAMINEE]).attempts]
    assert [(result.missed, result.passed) for result in results if result] == [(10, False), (0, True)]


def test_an_exemption_needs_a_reason_lets_somebody_work_and_can_be_taken_back(held: Judging) -> None:
    me = held.annotators[EXAMINEE].annotator_id
    with pytest.raises(ProjectError, match="needs a reason"):
        exempt_from_exam(held.project, held.lead, me, "  ", now=LATER)
    exempt_from_exam(held.project, held.lead, me, "wrote the guideline", now=LATER)
    assert len(desk(held).items) == 7
    mine = my_exam(held.project, held.annotators[EXAMINEE])
    assert (mine.phase, mine.reason) == (ExamPhase.EXEMPT, "wrote the guideline")
    grant_retake(held.project, held.lead, me, now=LATER)
    assert phase(held) is ExamPhase.FIRST
    kinds = [kind for (kind,) in held.rows("SELECT kind FROM event ORDER BY event_id DESC LIMIT 2")]
    assert kinds[0] == "exam_retake"


def test_without_the_exam_everybody_works_and_the_record_stays(held: Judging) -> None:
    name = act(held, "start").items[0].pair
    assert end_exam(held.project, held.lead, now=LATER)
    assert not end_exam(held.project, held.lead, now=LATER)
    assert len(desk(held).items) == 7
    assert "has ended" in answer(held, name, 3).message
    assert len(my_exam(held.project, held.annotators[EXAMINEE]).attempts) == 1


def test_another_exam_replaces_the_first_one_and_who_passed_has_passed(held: Judging) -> None:
    take(held, 0)
    act(held, "go_on")
    act(held, "start", 2)
    set_exam(held.project, held.lead, queries=1, pairs=5, seed=4, although="few pairs", now=LATER)
    assert desk(held).exam is None
    begun_before = desk(held, 2).exam
    assert (begun_before.phase, begun_before.items, begun_before.attempt) == (ExamPhase.FIRST, 5, 2)


def test_a_later_pass_rule_judges_nobody_anew(held: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of ten were missed, which 20 % lets pass; a stricter rule is for the exams that are set with it."""
    take(held, 2)
    assert look_again(held).exam is None
    monkeypatch.setattr(exams, "PASS_RULE", "stricter")
    monkeypatch.setitem(marking.PASS_RULES, "stricter", lambda missed, answers, most_missed: missed == 0)
    assert desk(held).exam is None
    set_exam(held.project, held.lead, queries=1, pairs=5, seed=4, although="few pairs", now=LATER)
    assert desk(held).exam is None
    assert held.rows("SELECT rule_version FROM exam ORDER BY exam_id") == [(PASS_RULE,), ("stricter",)]
    assert not mark([(4, 4), (1, 4), (2, 2)], 50, 1, "stricter").passed
    held.rows("UPDATE exam SET rule_version = 'of-tomorrow-7'")
    with pytest.raises(ProjectError, match="this exam is marked by the rule of-tomorrow-7, but this ReelRank has"):
        desk(held)


def test_newcomers_only_exempts_who_graded_here(judging: Judging) -> None:
    for nth in range(3):
        judging.grade(0, judging.pairs()[nth].pair, 4)
        judging.grade(1, judging.pairs()[nth].pair, 4)
    report = set_exam(judging.project, judging.lead, newcomers_only=True, although="few pairs", now=LATER)
    assert report.exempted == 2
    assert [phase(judging, who) for who in range(4)] == [None, None, ExamPhase.FIRST, ExamPhase.FIRST]


def test_pairs_that_can_still_change_or_that_the_guideline_shows_are_not_asked(judging: Judging) -> None:
    pairs = [pair.pair for pair in judging.pairs()[:4]]
    for nth, pair in enumerate(pairs):
        at = NOW if nth != 1 else LATER - 60
        judging.grade(0, pair, 4, at=at)
        judging.grade(1, pair, 4, at=at)
    choose_example(judging.project, judging.lead, pairs[2], 4, "all of it", now=LATER)
    report_clip(judging.project, judging.annotators[0], pairs[3], "no picture", now=LATER)
    set_exam(judging.project, judging.lead, although="few pairs", now=LATER)
    assert [item.pair_key for item in exam_items(judging.project, OPERATOR)] == [pairs[0]]
    with pytest.raises(ProjectError, match="is in the exam"):
        choose_example(judging.project, judging.lead, pairs[0], 4, "all of it", now=LATER)


def test_without_a_settled_pair_there_is_nothing_to_ask(judging: Judging) -> None:
    with pytest.raises(ProjectError, match="no settled pair"):
        set_exam(judging.project, judging.lead, now=LATER)
    with pytest.raises(ProjectError, match="0 to 100"):
        set_exam(judging.project, judging.lead, most_missed=101, now=LATER)
    assert exam_held(judging.project, OPERATOR) is None


def test_a_clip_that_breaks_leaves_the_exam(held: Judging) -> None:
    found = act(held, "start")
    report_clip(held.project, held.annotators[EXAMINEE], found.items[0].pair, "no picture", now=LATER)
    assert {pair.fault for pair in cases(held.project, OPERATOR, ReviewList.BLOCKED)} == {"no picture"}
    left = desk(held)
    assert found.items[0].pair not in [item.pair for item in left.items]
    assert {item.total for item in left.items} == {9}
    done = take(held, 0)
    assert (done.exam.result.answers, done.exam.result.passed) == (9, True)


def test_a_key_from_a_file_is_taken_with_its_explanations(held: Judging, tmp_path: Path) -> None:
    first, second = held.pairs()[:2]
    file = tmp_path / "key.csv"
    file.write_text(
        "query_id,pair_id,grade,explanation\n"
        f'{first.query_id},{first.pair_id},4,"All of it,\n seen."\n,{second.pair_id},0,\n'
    )
    report = set_exam_from_file(
        held.project, held.lead, KeyFile.at(file), most_missed=10, although="few pairs", now=LATER
    )
    assert (report.items, report.grades, report.most_missed) == (2, (1, 0, 0, 0, 1), 10)
    items = [(item.pair_id, item.right, item.explanation) for item in exam_items(held.project, OPERATOR)]
    assert items == [(first.pair_id, 4, "All of it, seen."), (second.pair_id, 0, "")]
    found = exam_held(held.project, OPERATOR)
    assert (found.source, found.seed) == ("key.csv", None)


def test_a_bad_key_is_refused_as_a_whole_with_its_rows(held: Judging, tmp_path: Path) -> None:
    first, second, *_, still_open = held.pairs()
    file = tmp_path / "key.csv"
    lines = (
        f",{first.pair_id},5",
        f",{still_open.pair_id},3",
        ",999,3",
        f"{still_open.query_id},{second.pair_id},3",
        f",{second.pair_id},3",
        ",x,1",
    )
    file.write_text("query_id,pair_id,grade\n" + "\n".join(lines) + "\n")
    with pytest.raises(InputError) as refusal:
        set_exam_from_file(held.project, held.lead, KeyFile.at(file), now=LATER)
    told = [str(problem) for problem in refusal.value.problems]
    assert [line.split(": ")[0] for line in told] == [f"key.csv, row {row}" for row in (2, 3, 4, 5, 6, 7)]
    for part, line in zip(
        ("not one of 0", "not settled", "not a pair", "does not belong to query", "twice", "not a whole number"),
        told,
        strict=True,
    ):
        assert part in line
    found = exam_held(held.project, OPERATOR)
    assert found.source == "settled pairs", "the exam before is still held"


def test_the_doctor_finds_a_project_with_an_exam_well(held: Judging) -> None:
    take(held, 3)
    look_again(held)
    checks = {finding.check for finding in doctor(held.project, now=LATER).findings}
    assert checks <= {"videos"}, "the made-up videos are on no disk"


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DELETE FROM exam_answer WHERE revision = 1 AND item_id = (SELECT min(item_id) FROM exam_item)", "attempt 1"),
        ("UPDATE exam_attempt SET handed_in_at = NULL, read_at = NULL", "attempt 1"),
        ("UPDATE exam_answer SET item_id = 11 WHERE item_id = 1", "attempt 1"),
    ],
    ids=["a revision is missing", "looked at again before it was handed in", "an item of another exam"],
)
def test_the_doctor_finds_answers_that_cannot_be(held: Judging, damage: str, told: str) -> None:
    take(held, 10)
    look_again(held)
    set_exam(held.project, held.lead, queries=1, pairs=2, although="few pairs", now=LATER)
    with closing(sqlite3.connect(held.project.folder / "reelrank.db")) as db, db:
        for action in ("update", "delete"):
            db.execute(f"DROP TRIGGER exam_answer_no_{action}")
        db.execute(damage)
    found = {finding.check: finding for finding in doctor(held.project, now=LATER).findings}
    assert told in found["exam answers"].examples[0]


def test_answers_and_rulings_are_append_only(held: Judging) -> None:
    take(held, 0)
    exempt_from_exam(held.project, held.lead, held.annotators[0].annotator_id, "knows it", now=LATER)
    for table in ("exam_answer", "exam_ruling"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET annotator_id = 1"):
            with pytest.raises(sqlite3.DatabaseError, match=r"append-only|no such column"):
                held.rows(statement)


PAIRED = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


@settings(deadline=None)  # importing what it is compared with takes a second
@given(PAIRED, st.floats(0, 100))
def test_the_mark_counts_misses_and_its_kappas_are_those_of_sklearn(
    answers: list[tuple[int, int]], most: float
) -> None:
    cohen_kappa_score = pytest.importorskip("sklearn.metrics").cohen_kappa_score
    result = mark(answers, most, 1)
    wrong = [pair for pair in answers if pair[0] - pair[1] not in (-1, 0, 1)]
    assert (result.answers, result.missed) == (len(answers), len(wrong))
    assert result.passed is (len(wrong) * 100 <= most * len(answers))
    own, key = zip(*answers, strict=True)
    if result.kappa is None:
        assert len({*own, *key}) == 1
        assert result.undefined
    else:
        assert result.kappa == pytest.approx(cohen_kappa_score(own, key, labels=range(5)), abs=1e-12)
        quadratic = cohen_kappa_score(own, key, labels=range(5), weights="quadratic")
        assert result.kappa_quadratic == pytest.approx(quadratic, abs=1e-12)


def test_nothing_answered_is_not_passed() -> None:
    result = mark([], 100, 1)
    assert (result.passed, result.kappa, result.undefined) == (False, None, "no shared pairs")


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4)), max_size=60),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(0, 5),
)
def test_a_draw_is_of_the_settled_pairs_and_within_its_numbers(
    there: list[tuple[int, int]], queries: int, pairs: int, seed: int
) -> None:
    settled = [KnownPair(PairId(nth), grade, QueryId(query)) for nth, (query, grade) in enumerate(there)]
    drawn = draw(settled, queries=queries, pairs=pairs, seed=seed)
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(settled)
    taken, had = Counter(item.query_id for item in drawn), Counter(item.query_id for item in settled)
    assert len(taken) == min(queries, len(had))
    assert all(count == min(pairs, had[query]) for query, count in taken.items())
    # No query that was left out had more to give than one that was taken.
    assert not drawn or max([min(pairs, had[q]) for q in had if q not in taken], default=0) <= min(taken.values())


def test_results_are_of_the_first_attempt_and_of_what_was_given_when_it_had_just_been_explained(held: Judging) -> None:
    take(held, misses=3)
    (mine,) = exam_outcomes(held.project, OPERATOR).people
    assert (mine.person, mine.outcome.answers, mine.outcome.missed) == (held.annotators[EXAMINEE], 10, 3)
    assert mine.outcome.missed_first.value == 0.3
    assert mine.outcome.missed_after.reason == "3 of 3 missed clips not yet looked at again"
    found = act(held, "go_on")
    miss = found.exam.missed[0]
    answer(held, miss.pair, miss.own)  # missed once more; only the second time as it was explained
    look_again(held)
    (mine,) = exam_outcomes(held.project, held.lead).people
    assert mine.outcome.missed_after.value == 0.1
    grant_retake(held.project, held.lead, held.annotators[EXAMINEE].annotator_id, now=LATER)
    take(held, misses=0)
    found_now = exam_outcomes(held.project, OPERATOR)
    assert found_now.people == (mine,), "a retake is no first attempt"
    assert found_now.together.missed_first.value == 0.3


def test_what_is_held_is_what_was_looked_at(held: Judging) -> None:
    draw_it = {"queries": 1, "pairs": 9, "seed": 2, "most_missed": 10.0, "now": LATER}
    seen = preview_exam(held.project, held.lead, **draw_it)
    assert (len(seen.items), seen.queries, sum(seen.grades)) == (9, 1, 9)
    pair = seen.items[0]
    assert pair.right == {one.pair: one.relevance for one in held.pairs()}[pair.pair]
    adjudicate(held.project, held.lead, pair.pair, 4 - pair.right if pair.right != 2 else 0, "why", now=LATER)
    with pytest.raises(ProjectError, match="have changed since you looked"):
        set_exam(held.project, held.lead, previewed=seen.digest, although="few pairs", **draw_it)
    again = preview_exam(held.project, held.lead, **draw_it)
    set_exam(held.project, held.lead, previewed=again.digest, although="few pairs", **draw_it)
    found = exam_items(held.project, held.lead)
    assert {(item.pair_key, item.right) for item in found} == {(item.pair, item.right) for item in again.items}


def test_a_weak_exam_is_refused_before_the_one_that_is_held_ends(held: Judging) -> None:
    before = exam_held(held.project, held.lead)
    with pytest.raises(ProjectError, match="guessing can pass"):
        set_exam(held.project, held.lead, queries=1, pairs=1, now=LATER)
    assert exam_held(held.project, held.lead) == before
    set_exam(held.project, held.lead, queries=1, pairs=1, although="  one  will do ", now=LATER)
    reserve = exam_although(held.project, held.lead)
    assert reserve[1] == "one will do"
    assert any("would pass" in why for why in reserve[0])
    with pytest.raises(ProjectError, match="use at most 400"):
        set_exam(held.project, held.lead, queries=1, pairs=1, although="x" * 401, now=LATER)
