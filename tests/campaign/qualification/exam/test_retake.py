"""A retake asks pairs that were not explained before, if there are enough, with the same right grades."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.desk import exchange
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.exam.answer_key import exam_items
from backend.campaign.qualification.exam.model import ExamItem
from backend.campaign.qualification.exam.results import exam_results, exempt_from_exam, grant_retake, in_order, my_exam
from backend.campaign.qualification.exam.retaking import RetakeOutlook, retake_outlooks
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rules.drawing import draw_retake
from backend.campaign.qualification.exam.setting import exam_held, set_exam
from backend.campaign.qualification.exam.taking import ExamStep
from backend.core.ids import PairId, QueryId
from backend.store import connection
from postgres import SQLITE_FIRST
from support import NOW, Judging

LATER = NOW + 15 * 60.0 + 1
ME, OTHER = 3, 2
KEY = [0, 1, 2, 3, 4]


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both engines, because the pairs that somebody has seen are one SQL query."""
    return str(request.param)


def settle(judging: Judging, first: int, last: int, people: tuple[int, int] = (0, 1)) -> None:
    """Settle pairs by number; their relevances are 0 to 4 in turn."""
    for nth, pair in enumerate(judging.pairs()[first:last], first):
        for who in people:
            judging.grade(who, pair.pair, KEY[nth % 5])


@pytest.fixture
def held(judging: Judging) -> Judging:
    """An exam of ten pairs of one query, two of each right grade; nothing else is settled."""
    with connection.writing(judging.project.store) as db:
        db.conn.execute("UPDATE video SET path = name, duration_s = 60, fps_num = 25, fps_den = 1, sha256 = name")
    settle(judging, 0, 10)
    set_exam(judging.project, judging.lead, queries=1, pairs=10, most_missed=20, although="few pairs", now=LATER)
    return judging


def take(judging: Judging, misses: int, who: int = ME) -> list[ExamItem]:
    """Begin an attempt, miss its first items, and hand it in. Return its items in order, with the answers."""
    project, person = judging.project, judging.annotators[who]
    exchange.exam_act(project, person, ExamStep.START, now=LATER)
    there = asked(judging, who)
    for nth, item in enumerate(there):
        name = exchange.desk(project, person, now=LATER).items[0].pair
        right = item.right or 0
        event = GradeEvent(name, right if nth >= misses else (right + 2 if right < 3 else right - 2), name, 900)
        assert exchange.record_grades(project, person, [event], now=LATER)[0].status == "saved"
    exchange.exam_act(project, person, ExamStep.HAND_IN, now=LATER)
    return asked(judging, who)


def asked(judging: Judging, who: int = ME) -> list[ExamItem]:
    """The items of somebody's newest attempt, in the order in which they are asked."""
    with connection.reading(judging.project.store) as db:
        attempt = attempts.newest(db, judging.annotators[who].annotator_id)
        assert attempt is not None
        return in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)


def retake(judging: Judging, misses: int = 0, who: int = ME) -> list[ExamItem]:
    grant_retake(judging.project, judging.lead, judging.annotators[who].annotator_id, now=LATER)
    return take(judging, misses, who)


def outlook(judging: Judging, who: int = ME) -> RetakeOutlook:
    me = judging.annotators[who].annotator_id
    return retake_outlooks(judging.project, judging.lead, [me], now=LATER)[me]


def pairs(items: list[ExamItem]) -> set[PairId]:
    return {item.pair_id for item in items}


def missed(items: list[ExamItem]) -> set[PairId]:
    return {item.pair_id for item in items if abs((item.own or 0) - (item.right or 0)) > 1}


def test_a_retake_asks_wholly_other_pairs_with_the_same_spread_of_grades(held: Judging) -> None:
    settle(held, 10, 32)
    first = take(held, 4)
    assert outlook(held) == RetakeOutlook(10, 0, 0)
    assert outlook(held).short == ""
    before = my_exam(held.project, held.annotators[ME]).attempts
    grant_retake(held.project, held.lead, held.annotators[ME].annotator_id, now=LATER)
    desk = exchange.desk(held.project, held.annotators[ME], now=LATER).exam
    assert (desk.items, desk.queries) == (10, 0), "of how many queries is known when it begins"
    second = take(held, 4)
    assert pairs(first).isdisjoint(pairs(second))
    assert Counter(item.right for item in second) == Counter(item.right for item in first)
    assert my_exam(held.project, held.annotators[ME]).attempts[:1] == before, "an attempt on record stays as it is"
    exam = exam_held(held.project, OPERATOR)
    assert (exam.items, exam.queries, exam.showable) == (10, 1, 10)
    assert pairs(take(held, 0, OTHER)) == pairs(first), "a first attempt has the items of the exam"
    assert {item.pair_id for item in exam_items(held.project, OPERATOR) if item.alternate} == pairs(second)
    assert {finding.check for finding in doctor(held.project, now=LATER).findings} == {"videos"}


def test_what_a_person_has_graded_themselves_is_no_news_to_them(held: Judging) -> None:
    first, me = take(held, 4), held.annotators[ME].annotator_id
    exempt_from_exam(held.project, held.lead, me, "for now", now=LATER)
    settle(held, 10, 15, people=(0, ME))
    settle(held, 15, 20)
    second = retake(held)
    assert {item.pair_key for item in second}.isdisjoint(pair.pair for pair in held.pairs()[10:15])
    assert len(pairs(second) - pairs(first)) == 5


def test_where_too_few_others_are_settled_explained_ones_come_last_and_the_lead_is_told(held: Judging) -> None:
    settle(held, 10, 13)  # of the grades 0, 1 and 2
    first = take(held, 4)
    said = outlook(held)
    second = retake(held, 4)
    new = pairs(second) - pairs(first)
    assert len(new) == 3
    assert Counter(item.right for item in second) == Counter(item.right for item in first)
    again = pairs(second) & missed(first)
    for right in range(5):  # of each grade two are asked: new ones, then unexplained ones, then explained ones
        known = [item for item in first if item.right == right]
        there = sum(item.right == right for item in second if item.pair_id in new)
        unexplained = sum(item.pair_id not in missed(first) for item in known)
        assert sum(item.pair_id in again for item in known) == max(0, 2 - there - unexplained)
    assert said == RetakeOutlook(10, 7, len(again))
    assert said.short == (
        f"A retake repeats 7 of 10 pairs, {len(again)} of them explained: too few others are settled."
    )
    (mine,) = [one for one in exam_results(held.project, OPERATOR) if one.person == held.annotators[ME]]
    assert [len(missed) for missed in (mine.attempts[0].missed, mine.attempts[1].missed)] == [4, 4]


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=5),
    st.lists(st.integers(0, 2), max_size=4),
    st.data(),
)
def test_no_draw_of_the_same_spread_repeats_less(asked: list[int], there: list[int], data: st.DataObject) -> None:
    known = [KnownPair(PairId(n), right, QueryId(n % 2)) for n, right in enumerate(asked + there)]
    exam, others = known[: len(asked)], known[len(asked) :]
    seen = data.draw(st.sets(st.sampled_from([one.pair_id for one in known])))
    explained = data.draw(st.dictionaries(st.sampled_from(sorted(seen)), st.integers(1, 3))) if seen else {}
    found = draw_retake(exam, others, seen, explained, seed=data.draw(st.integers(0, 3)))

    def cost(some: tuple[KnownPair, ...]) -> tuple[int, int]:
        return sum(one.pair_id in explained for one in some), sum(one.pair_id in seen for one in some)

    spread = Counter(one.right for one in exam)
    equal = [some for some in combinations(known, len(exam)) if Counter(one.right for one in some) == spread]
    assert len(set(found)) == len(found)
    assert Counter(one.right for one in found) == spread
    assert cost(tuple(found)) == min(map(cost, equal))
