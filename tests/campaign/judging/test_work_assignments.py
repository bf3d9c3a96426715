"""Who is assigned to something gets nothing else and no more than their quotas; nothing they did is lost."""

import random
import secrets
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.campaign.desk.exchange import desk, exam_act, exchange
from backend.campaign.judging import staffing
from backend.campaign.judging.grades import GONE
from backend.campaign.judging.model import Assignment, DeskState, GradeEvent, ReceiptStatus
from backend.campaign.nouns import OPERATOR, Role, Split
from backend.campaign.qualification.exam.setting import start_trial
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.qualification.gold.questions import GoldOptions, set_gold
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import AnnotatorId, QueryId
from support import NOW, Judging, grade_by_key

DAY_S = 86_400.0


def assign(judging: Judging, work: Assignment, *who: int, at: float = NOW) -> int:
    people = [judging.annotators[n].annotator_id for n in who or (0,)]
    return staffing.assign(judging.project, judging.lead, people, work, now=at)


def queries(judging: Judging) -> dict[int, tuple[str, int]]:
    """Split and position of each query that is judged."""
    rows = judging.project.store.db.conn.execute("SELECT query_id, split, position FROM query WHERE split <> 'train'")
    return {row[0]: (row[1], row[2]) for row in rows}


def query_of(judging: Judging, key: str) -> int:
    found: int = judging.project.store.db.conn.execute(
        "SELECT query_id FROM pair WHERE pair_key = ?", [key]
    ).fetchone()[0]
    return found


def work_off(judging: Judging, who: int, grade: int = 2, *, at: float = NOW) -> Counter[int]:
    """Grade until the desk is empty; how many pairs of each query that were."""
    done: Counter[int] = Counter()
    while items := desk(judging.project, judging.annotators[who], now=at).items:
        receipt = judging.grade(who, items[0].pair, grade, at=at)
        assert receipt.status is ReceiptStatus.SAVED, receipt.message
        done[query_of(judging, items[0].pair)] += 1
    return done


def state(judging: Judging, who: int = 0, at: float = NOW) -> DeskState:
    return desk(judging.project, judging.annotators[who], now=at).state


def test_a_split_is_all_that_is_handed_out_and_the_desk_says_that_there_is_more(judging: Judging) -> None:
    there = queries(judging)
    tests = {query for query, (split, _) in there.items() if split == "test"}
    assert assign(judging, Assignment(split=Split.TEST)) == len(tests) == 1
    assert work_off(judging, 0) == {query: 20 for query in tests}
    assert state(judging) is DeskState.ASSIGNED
    assert work_off(judging, 1) == dict.fromkeys(there, 20), "everybody else is handed what there is"
    assert work_off(judging, 2) == {query: 20 for query in there if query not in tests}
    assert state(judging) is DeskState.FINISHED, "nothing is left for anybody: no assignment is in the way"


def test_parts_share_the_queries_out_and_chosen_ones_are_those(judging: Judging) -> None:
    there = sorted(queries(judging), key=lambda query: queries(judging)[query][1])
    assign(judging, Assignment(part=1, parts=2), 0)
    assign(judging, Assignment(part=2, parts=2), 1)
    assign(judging, Assignment(queries=(QueryId(there[-1]),)), 2)
    first, second, chosen = (set(work_off(judging, who)) for who in range(3))
    assert (first | second, first & second) == (set(there), set())
    assert {len(first), len(second)} == {1, 2}, "three queries in turn"
    assert chosen == {there[-1]}


def test_a_quota_ends_the_day_and_the_next_one_begins_anew(judging: Judging) -> None:
    assign(judging, Assignment(a_day=3, in_all=8))
    assert len(desk(judging.project, judging.annotators[0], now=NOW).items) == 3, "not more than may be graded"
    days = []
    for day in range(4):
        at = NOW + day * DAY_S
        days.append(sum(work_off(judging, 0, at=at).values()))
        assert state(judging, at=at) is (DeskState.QUOTA if day >= 2 else DeskState.QUOTA_TODAY)
    assert days == [3, 3, 2, 0]
    staffing.unassign(judging.project, judging.lead, judging.annotators[0].annotator_id, now=NOW + 4 * DAY_S)
    assert state(judging, at=NOW + 4 * DAY_S) is DeskState.READY


def test_a_smaller_quota_takes_what_is_too_much_off_the_desk(judging: Judging) -> None:
    before = [item.pair for item in desk(judging.project, judging.annotators[0], now=NOW).items]
    assert len(before) == 7
    assign(judging, Assignment(a_day=2))
    assert [item.pair for item in desk(judging.project, judging.annotators[0], now=NOW).items] == before[:2]
    held = judging.project.store.db.conn.execute("SELECT count(*) FROM seat WHERE lease_until IS NOT NULL")
    assert held.fetchone()[0] == 2
    under_way = grade_by_key(judging, 0, before[-1])
    assert (under_way.status, under_way.message) == (ReceiptStatus.REFUSED, GONE)


def test_what_is_held_of_other_queries_goes_back_at_once(judging: Judging) -> None:
    items = desk(judging.project, judging.annotators[0], now=NOW).items
    at_hand = query_of(judging, items[0].pair)
    other = next(query for query in queries(judging) if query != at_hand)
    assign(judging, Assignment(queries=(QueryId(other),)))
    db = judging.project.store.db.conn
    assert db.execute("SELECT count(*) FROM seat WHERE lease_until IS NOT NULL").fetchone()[0] == 0
    told = db.execute("SELECT payload FROM event WHERE kind = 'seats_returned'").fetchone()[0]
    assert '"why":"assigned"' in told
    now_held = desk(judging.project, judging.annotators[0], now=NOW).items
    assert {query_of(judging, item.pair) for item in now_held} == {other}


def test_gold_and_further_seats_come_to_somebody_with_an_assignment_as_well(judging: Judging) -> None:
    there = list(queries(judging))
    later = NOW + 3600
    judging.project.store.db.conn.execute("UPDATE video SET path = 'v.mp4', sha256 = 'x'")
    settled = [pair for pair in judging.pairs() if pair.query_id == there[0]][:6]
    for pair in settled:
        for who in (1, 2):
            judging.grade(who, pair.pair, 3)
    set_gold(judging.project, judging.lead, GoldOptions(share=0.4), now=later)
    assign(judging, Assignment(queries=(QueryId(there[1]),)), 0)
    apart = [pair for pair in judging.pairs() if pair.query_id == there[1]][:2]
    for pair in apart:
        for who, grade in ((1, 0), (2, 4)):
            judging.grade(who, pair.pair, grade)
    done = work_off(judging, 0, at=later)
    assert done[there[1]] == 20, "the disputed pairs among them"
    db = judging.project.store.db.conn
    gold = db.execute("SELECT count(*) FROM gold_answer WHERE annotator_id = ?", [judging.annotators[0].annotator_id])
    assert gold.fetchone()[0] == sum(done.values()) - 20 > 0
    assert {query for query in done if query != there[1]} == {there[0]}, "gold alone comes from elsewhere"
    assert done[there[0]] <= len(settled)


@pytest.mark.parametrize(
    ("work", "word"),
    [
        (Assignment(), "is empty"),
        (Assignment(a_day=0), "at least one grade"),
        (Assignment(part=3, parts=2), "no part 3 of 2"),
        (Assignment(part=1), "no part 1"),
        (Assignment(part=1, parts=1), "at least two"),
        (Assignment(queries=()), "at least one"),
        (Assignment(queries=(QueryId(9999),)), "cannot be graded"),
        (Assignment(split=Split.TRAIN), "not graded"),
    ],
)
def test_what_cannot_be_assigned_is_refused_with_nothing_written(judging: Judging, work: Assignment, word: str) -> None:
    with pytest.raises(ProjectError, match=word):
        assign(judging, work)
    assert staffing.current_assignments(judging.project, judging.lead) == {}


def test_only_annotators_are_assigned_and_all_or_nobody(judging: Judging) -> None:
    anna = judging.annotators[0].annotator_id
    for other, word in ((judging.lead.annotator_id, "is a lead"), (AnnotatorId(999), "no person 999")):
        with pytest.raises(ProjectError, match=word):
            staffing.assign(judging.project, judging.lead, [anna, other], Assignment(a_day=5), now=NOW)
    with pytest.raises(ProjectError, match="at least one person"):
        staffing.assign(judging.project, judging.lead, [], Assignment(a_day=5), now=NOW)
    assert staffing.current_assignments(judging.project, judging.lead) == {}
    with pytest.raises(Overtaken, match="no assignment any more"):
        staffing.unassign(judging.project, judging.lead, anna, now=NOW)


def test_the_newest_assignment_stands_and_the_others_stay_on_record(judging: Judging) -> None:
    assign(judging, Assignment(a_day=5), 0, 1)
    assign(judging, Assignment(split=Split.VAL, in_all=9), 0, at=NOW + 1)
    found = staffing.current_assignments(judging.project, judging.lead)
    anna, boris = (judging.annotators[n].annotator_id for n in range(2))
    assert (found[anna].split, found[anna].a_day, found[anna].in_all, found[anna].by) == (Split.VAL, None, 9, "Lea")
    assert found[boris].a_day == 5
    ended = judging.project.store.db.conn.execute("SELECT count(*) FROM assignment WHERE ended_at = ?", [NOW + 1])
    assert ended.fetchone()[0] == 1


def test_of_two_leads_who_assign_one_person_the_later_is_told(judging: Judging) -> None:
    project, lea = judging.project, judging.lead
    liv = add_person_with_password(project, OPERATOR, "Liv", Role.LEAD, "a password", now=NOW)
    anna, boris = (person.annotator_id for person in judging.annotators[:2])
    staffing.assign(project, lea, [anna], Assignment(a_day=5), seen={}, now=NOW)
    with pytest.raises(Overtaken, match="Lea gave Anna another assignment 2 minutes ago"):
        staffing.assign(project, liv, [boris, anna], Assignment(a_day=9), seen={}, now=NOW + 120)
    found = staffing.current_assignments(project, lea)
    assert {who: one.a_day for who, one in found.items()} == {anna: 5}, "all of them, or nobody"
    seen = {who: one.assignment_id for who, one in found.items()}
    staffing.assign(project, liv, [boris, anna], Assignment(a_day=9), seen=seen, now=NOW + 180)
    with pytest.raises(Overtaken, match="Liv gave Anna another"):
        staffing.unassign(project, lea, anna, seen=seen[anna], now=NOW + 240)
    staffing.unassign(
        project, liv, anna, seen=staffing.current_assignments(project, liv)[anna].assignment_id, now=NOW + 300
    )
    with pytest.raises(Overtaken, match="Liv took back the assignment of Anna 1 minute ago"):
        staffing.assign(project, lea, [anna], Assignment(a_day=7), seen={anna: seen[anna]}, now=NOW + 360)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_assigned_nobody_gets_more_and_everybody_gets_all_of_it(judging: Judging, seed: int) -> None:
    db = judging.project.store.db.conn
    db.execute("SAVEPOINT example")
    try:
        _work_at_random(judging, random.Random(seed))
    finally:
        db.execute("ROLLBACK TO example")
        db.execute("RELEASE example")


def _work_at_random(judging: Judging, chance: random.Random) -> None:
    there = queries(judging)
    order = sorted(there, key=lambda query: there[query][1])
    wanted: list[tuple[set[int], int]] = []
    for who in range(4):
        split = chance.choice((None, Split.VAL, Split.TEST))
        parts = chance.choice((None, 2, 3))
        part = chance.randint(1, parts) if parts else None
        chosen = chance.choice((None, tuple(QueryId(one) for one in chance.sample(order, chance.randint(1, 3)))))
        quota = chance.choice((None, 4, 23))
        mine = {
            query
            for query in order
            if (split is None or there[query][0] == split.value)
            and (parts is None or (there[query][1] - 1) % parts == (part or 0) - 1)
            and (chosen is None or query in chosen)
        }
        wanted.append((mine, 10**6 if quota is None else quota))
        if split or parts or chosen or quota:
            assign(judging, Assignment(split, part, parts, chosen, in_all=quota), who)
    done = [0] * 4
    for _ in range(300):
        if not (who := [n for n in range(4) if desk(judging.project, judging.annotators[n], now=NOW).items]):
            break
        me = chance.choice(who)
        items = desk(judging.project, judging.annotators[me], now=NOW).items
        assert len(items) <= wanted[me][1] - done[me]
        assert {query_of(judging, item.pair) for item in items} <= wanted[me][0]
        event = GradeEvent(items[0].pair, chance.choice((0, 2, 2, 4)), secrets.token_hex(8), 1000)
        receipts, _ = exchange(judging.project, judging.annotators[me], [event], [], now=NOW)
        assert receipts[0].status is ReceiptStatus.SAVED
        done[me] += 1
    else:
        return  # more work than one example takes
    for who in range(4):  # an empty desk: nothing that they could grade is left
        sitting = judging.annotators[who].annotator_id
        left = {
            row[0]
            for row in judging.project.store.db.conn.execute(
                "SELECT DISTINCT p.query_id FROM pair p JOIN seat s USING (pair_id) LEFT JOIN consensus c "
                "USING (pair_id) WHERE s.annotator_id IS NULL AND coalesce(c.verdict, 'escalated') = 'escalated' "
                "AND p.pair_id NOT IN (SELECT pair_id FROM seat WHERE annotator_id = ?)",
                [sitting],
            )
        }
        assert done[who] == wanted[who][1] or not left & wanted[who][0]


def test_a_trial_and_an_exam_come_first_whatever_is_assigned(judging: Judging) -> None:
    there = list(queries(judging))
    assign(judging, Assignment(queries=(QueryId(there[0]),), a_day=1))
    work_off(judging, 0)
    assert state(judging) is DeskState.QUOTA_TODAY
    judging.project.store.db.conn.execute("UPDATE video SET path = 'v.mp4', sha256 = 'x'")
    start_trial(judging.project, judging.lead, queries=1, now=NOW)
    asked = exam_act(judging.project, judging.annotators[0], ExamAct.START, now=NOW)
    assert len(asked.items) > 1, "neither the assignment nor the quota is of a trial"
    assert asked.exam is not None
