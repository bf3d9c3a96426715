"""Who can still give which grade, counted over single pairs; and days against a flow and a linear programme of them."""

from collections import Counter
from math import inf

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.monitoring.progress.model import Barred, Forecast, PairKind, Stuck, Worker
from backend.campaign.monitoring.progress.rules import alike, forecast, further, share_disputed, stuck
from backend.core.ids import AnnotatorId, QueryId

ANN, BEN, CEM, DEE = (AnnotatorId(n) for n in range(1, 5))
NAMES = {ANN: "Ann", BEN: "Ben", CEM: "Cem", DEE: "Dee"}


def workers(a_day: float = 10.0, **barred: Barred) -> list[Worker]:
    return [Worker(who, name, barred.get(name), a_day) for who, name in NAMES.items()]


def wanting(seats: int, *graded: AnnotatorId, skipped: tuple[AnnotatorId, ...] = (), **more: object) -> PairKind:
    return PairKind(seats, frozenset(graded), len(graded), disputed=seats > 2, skipped=frozenset(skipped), **more)  # type: ignore[arg-type]  # whatever field


def test_seven_pairs_wait_for_a_third_and_a_fourth_person() -> None:
    two = [one for one in workers() if one.annotator_id in (ANN, BEN)]
    found = stuck({wanting(4, ANN, BEN): 7, wanting(2, ANN): 5, wanting(2): 3}, two)
    assert found == (Stuck((3, 4), pairs=7, lacking=2, grades=14, ways_out=()),)


def test_who_is_kept_from_work_is_named_with_the_reason() -> None:
    people = workers(Ann=Barred.PAUSED, Ben=Barred.EXAM)
    kinds = {
        wanting(2, CEM, skipped=(DEE,)): 4,
        wanting(2, CEM): 1,
        wanting(4, CEM, DEE, known=frozenset({BEN})): 2,
    }
    first, second = stuck(kinds, people)
    assert (first.places, first.pairs, first.lacking, first.grades) == ((2,), 4, 1, 4)
    assert first.ways_out == (
        (Barred.PAUSED, ("Ann",), 4),
        (Barred.EXAM, ("Ben",), 4),
        (Barred.SKIPPED, ("Dee",), 4),
    )
    assert (second.places, second.pairs, second.lacking) == ((3, 4), 2, 2)
    assert second.ways_out == ((Barred.PAUSED, ("Ann",), 2),), "Ben has answered them in the exam"


def test_an_assignment_of_other_queries_keeps_from_a_pair() -> None:
    only = [Worker(ANN, "Ann", queries=frozenset({QueryId(1)})), Worker(BEN, "Ben")]
    found = stuck({wanting(2, query=QueryId(1)): 3, wanting(2, query=QueryId(2)): 5}, only)
    assert found == (Stuck((1, 2), 5, 1, 5, ((Barred.ASSIGNED, ("Ann",), 5),)),)


def test_days_are_those_of_who_may_still_give_the_grades() -> None:
    quick, slow = Worker(ANN, "Ann", a_day=90.0), Worker(BEN, "Ben", a_day=10.0)
    assert forecast({wanting(2): 100}, [quick, slow], None).days == pytest.approx(10), "Ben has 100 to give, not 20"
    assert forecast({wanting(2, BEN): 180}, [quick, slow], None).days == pytest.approx(2)
    assert forecast({wanting(2, ANN): 180}, [quick, slow], None).days == pytest.approx(18)
    assert forecast({}, [quick], None) == Forecast(0.0)


def test_what_nobody_can_give_is_never_a_matter_of_days() -> None:
    ann = Worker(ANN, "Ann", a_day=10.0)
    found = forecast({wanting(2): 100, wanting(2, BEN): 20}, [ann, Worker(BEN, "Ben", Barred.PAUSED, 50.0)], None)
    assert (found.stuck, found.days, found.ends) == (100, 12.0, False)
    assert forecast({wanting(2): 9}, [ann, Worker(BEN, "Ben")], None).idle == 9, "Ben has no pace"
    tired = Worker(BEN, "Ben", a_day=10.0, room=4)
    limited = forecast({wanting(2): 9}, [ann, tired], None)
    assert (limited.over_quota, limited.stuck, limited.ends) == (5, 0, False)
    nobody = forecast({wanting(2): 9}, [Worker(BEN, "Ben", Barred.SUSPENDED, 10.0)], None)
    assert (nobody.days, nobody.stuck) == (None, 0), "without a team a campaign has not begun, or is over"


def test_who_has_yet_to_pass_the_exam_makes_nothing_stuck() -> None:
    people = workers(Ann=Barred.EXAM_AHEAD, Ben=Barred.EXAM_AHEAD, Dee=Barred.EXAM)
    kinds = {wanting(2): 5, wanting(4, CEM, ANN): 2}
    (only,) = stuck(kinds, people)
    assert (only.places, only.pairs, only.lacking) == ((3, 4), 2, 1)
    assert only.ways_out == ((Barred.EXAM, ("Dee",), 2),)
    found = forecast(kinds, people, None)
    assert (found.stuck, found.exam, found.ends) == (2, 7, False)


def test_kinds_that_wait_for_the_same_are_counted_together_the_most_first() -> None:
    people = [Worker(ANN, "Cem", Barred.PAUSED), Worker(BEN, "Ann", Barred.PAUSED), Worker(CEM, "ben", Barred.PAUSED)]
    one, two = QueryId(1), QueryId(2)
    kinds = {wanting(2, DEE, query=one): 3, wanting(2, DEE, query=two): 4, wanting(2, query=one): 9, wanting(4, DEE): 9}
    assert stuck({**kinds, wanting(2, ANN, DEE): 5}, people) == (
        Stuck((1, 2), 9, 2, 18, ((Barred.PAUSED, ("Ann", "ben", "Cem"), 9),)),
        Stuck((2, 3, 4), 9, 3, 27, ((Barred.PAUSED, ("Ann", "ben", "Cem"), 9),)),
        Stuck((2,), 7, 1, 7, ((Barred.PAUSED, ("Ann", "ben", "Cem"), 7),)),
    )
    idle = forecast(
        {wanting(2, query=one): 9, wanting(2, query=two): 4}, [Worker(ANN, "A", None, 5.0), Worker(BEN, "B")], None
    )
    assert (idle.idle, idle.days) == (13, pytest.approx(13 / 5))
    assert forecast({wanting(2): 5}, [Worker(ANN, "Ann")], None) == Forecast(None, stuck=5, idle=5)


def test_queries_of_the_same_assignments_have_one_name() -> None:
    named = alike([frozenset({QueryId(1), QueryId(2), QueryId(6)}), frozenset({QueryId(2), QueryId(3), QueryId(7)})])
    assert named is not None
    assert [named(QueryId(n)) for n in range(1, 9)] == [1, 2, 3, 4, 4, 1, 3, 4]
    assert alike([]) is None


def test_disputes_to_come_are_grades_and_people_too() -> None:
    share = share_disputed(100, 10)
    assert share == 0.1
    assert (share_disputed(50, 10), share_disputed(49, 10)) == (0.2, None)
    assert (further({wanting(2): 400, wanting(4, ANN, BEN): 7}, share), further({wanting(2): 400}, None)) == (80, 0)
    four = forecast({wanting(2): 400}, workers(), share)
    assert (four.days, four.disputes, four.ends) == (pytest.approx(880 / 40), 0, True)
    assert forecast({wanting(2): 400}, workers(), None).days == pytest.approx(800 / 40)
    two = [one for one in workers() if one.annotator_id in (ANN, BEN)]
    for kinds, disputes, lack in (
        ({wanting(2): 30, wanting(2, query=QueryId(1)): 20}, 5, 2),
        ({wanting(2): 30, wanting(2, CEM): 20}, 5, 2),
        ({wanting(2): 30, wanting(4, CEM, DEE): 20}, 3, 2),
        ({wanting(2, CEM): 20}, 2, 1),
        ({wanting(2): 4}, 0, 0),
        ({wanting(2): 4, wanting(3): 50}, 0, 0),  # what is stuck by itself is none of them
    ):
        found = forecast(kinds, two, 0.1)
        assert (found.disputes, found.disputes_lack) == (disputes, lack), kinds
    three = forecast({wanting(2): 400}, workers(Dee=Barred.SUSPENDED), share)
    assert (three.disputes, three.disputes_lack, three.stuck, three.ends) == (40, 1, 0, False)


people_sets = st.frozensets(st.sampled_from(list(NAMES)))


@st.composite
def campaigns(draw: st.DrawFn) -> tuple[dict[PairKind, int], list[Worker]]:
    """A few kinds of pairs, each a few times, and four people."""
    kinds = Counter[PairKind]()
    for _ in range(draw(st.integers(0, 5))):
        graded = draw(st.frozensets(st.sampled_from(list(NAMES)), max_size=3))
        seats = 2 if len(graded) < 2 else 4
        kind = PairKind(
            seats,
            graded,
            len(graded),
            disputed=seats == 4,
            skipped=draw(people_sets) - graded,
            known=draw(st.frozensets(st.sampled_from(list(NAMES)), max_size=1)),
            query=QueryId(draw(st.integers(1, 2))),
        )
        kinds[kind] += draw(st.integers(1, 4))
    people = [
        Worker(
            who,
            name,
            draw(st.sampled_from([None, None, None, Barred.PAUSED])),
            float(draw(st.sampled_from([0, 1, 2, 7]))),
            draw(st.sampled_from([None, None, 1, 3, 8])),
            draw(st.sampled_from([None, None, frozenset({QueryId(1)})])),
        )
        for who, name in NAMES.items()
    ]
    return kinds, people


def may(kind: PairKind, worker: Worker) -> bool:
    return not (
        worker.barred
        or worker.annotator_id in kind.graded | kind.skipped | kind.known
        or (worker.queries is not None and kind.query not in worker.queries)
    )


def most_grades(kinds: dict[PairKind, int], people: list[Worker], most: dict[AnnotatorId, float]) -> int:
    """By a flow over single pairs."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["from", "to"])
    for kind, count in kinds.items():
        for nth in range(count):
            graph.add_edge("from", (kind, nth), capacity=kind.free)
            for worker in people:
                if may(kind, worker):
                    graph.add_edge((kind, nth), worker.annotator_id, capacity=1)
    for who, capacity in most.items():
        graph.add_edge(who, "to", capacity=min(capacity, 10**6))
    return int(nx.maximum_flow_value(graph, "from", "to"))


@given(campaigns())
@settings(max_examples=150, deadline=None)
def test_what_is_left_over_is_what_no_sharing_out_can_give(campaign: tuple[dict[PairKind, int], list[Worker]]) -> None:
    kinds, people = campaign
    found = forecast(kinds, people, None)
    wanted = sum(kind.free * count for kind, count in kinds.items())
    room = {one.annotator_id: inf if one.room is None else one.room for one in people}
    anybody = most_grades(kinds, people, dict.fromkeys(room, inf))
    within = most_grades(kinds, people, room)
    moving = most_grades(
        kinds, people, {one.annotator_id: room[one.annotator_id] if one.a_day else 0 for one in people}
    )
    assert (found.stuck, found.over_quota, found.idle) == (wanted - anybody, anybody - within, within - moving)
    lacking = {
        kind: kind.free - sum(may(kind, one) for one in people)
        for kind in kinds
        if sum(may(kind, one) for one in people) < kind.free
    }
    told = stuck(kinds, people)
    assert sum(one.pairs for one in told) == sum(kinds[kind] for kind in lacking)
    assert sum(one.grades for one in told) == sum(kinds[kind] * short for kind, short in lacking.items()) == found.stuck
    assert max((one.lacking for one in told), default=0) == max(lacking.values(), default=0)


@given(campaigns())
@settings(max_examples=60, deadline=None)
def test_nobody_is_through_sooner_than_a_linear_programme_says(
    campaign: tuple[dict[PairKind, int], list[Worker]],
) -> None:
    """min T: everybody gives what they can give of `moving`, at most pace times T, one grade a pair."""
    from scipy.optimize import linprog

    kinds, people = campaign
    people = [Worker(one.annotator_id, one.name, one.barred, one.a_day, None, one.queries) for one in people]
    found = forecast(kinds, people, None)
    fast = [one for one in people if one.a_day]
    edges = [(kind, one) for kind in kinds for one in fast if may(kind, one)]
    target = {kind: kinds[kind] * min(kind.free, sum(may(kind, one) for one in fast)) for kind in kinds}
    if not sum(target.values()):
        assert found.days == (0.0 if not sum(kinds.values()) else None)
        return
    busy = [kind for kind in kinds if target[kind]]
    solved = linprog(
        [0.0] * len(edges) + [1.0],
        A_ub=[[float(who is one) for _, who in edges] + [-one.a_day] for one in fast],
        b_ub=[0.0] * len(fast),
        A_eq=[[float(of is kind) for of, _ in edges] + [0.0] for kind in busy],
        b_eq=[float(target[kind]) for kind in busy],
        bounds=[(0, kinds[kind]) for kind, _ in edges] + [(0, None)],
    )
    assert solved.success
    assert found.days is not None
    # Grades are whole: the last of somebody's may end up to one grade later than its fraction.
    whole = max(1 / one.a_day for one in fast)
    assert solved.fun - 1e-6 <= found.days <= solved.fun + whole + 1e-6
