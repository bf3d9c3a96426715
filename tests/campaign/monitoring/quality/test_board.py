"""The agreement board against counting by hand and against boards of its parts."""

import dataclasses
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.quality.model import FIGURE_WORDS, WHOLE, AgreementBoard, BoardPart, Couple, Verdicts
from backend.campaign.monitoring.quality.rules import board as rules
from backend.campaign.monitoring.quality.rules.board import Origins, no_origins
from backend.campaign.monitoring.quality.rules.figures import figures
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Verdict
from backend.scoring.statistics import bootstrap
from graded import TABLES, Table, a_campaign, graded


def board_of(table: Table, resamples: int = 0, decided: dict[int, int] | None = None) -> AgreementBoard:
    found = graded(table, decided=decided)
    return rules.measure(found, no_origins(found), resamples=resamples)


@given(TABLES, st.dictionaries(st.integers(0, 24), st.integers(0, 4), max_size=3))
def test_pairs_are_counted_once_and_as_the_rule_says(table: Table, leads: dict[int, int]) -> None:
    leads = {unit: relevance for unit, relevance in leads.items() if unit < len(table)}
    board = board_of(table, decided=leads)
    verdicts = []
    ends = np.zeros((5, 5), dtype=int)
    for unit, row in enumerate(table):
        grades = [grade for grade in row if grade is not None]
        verdicts.append((Verdict.ADJUDICATED if unit in leads else decide(grades, 1).verdict, len(grades)))
        if len(grades) > 1:
            ends[min(grades), max(grades)] += 1
    (whole,) = board.settled
    assert whole.pairs == len(table)
    assert whole.by_two == verdicts.count((Verdict.CONSENSUS, 2))
    assert whole.by_four == verdicts.count((Verdict.CONSENSUS, 4))
    assert whole.discarded == sum(verdict is Verdict.DISCARDED for verdict, _ in verdicts)
    assert whole.adjudicated == len(leads)
    others = whole.by_two + whole.by_four + whole.discarded + whole.adjudicated
    assert whole.waiting == whole.pairs - others
    assert np.array(board.lowest_highest).tolist() == ends.tolist()


def of_two_days(found: GradedPairs) -> Origins:
    """Four queries, two of a split; each split was graded on a day of its own."""
    query = np.arange(found.pairs) % 4
    return Origins(
        *(query // 2, ("val", "test"), query, ("a", "b", "c", "d"), ("val", "val", "test", "test")),
        *(query[found.pair] // 2, ("2026-03-09", "2026-03-16"), np.array([0, 1]), ("2026-03-09", "2026-03-16")),
    )


@pytest.mark.parametrize(
    ("part", "queries"),
    [
        (BoardPart(split="test"), (2, 3)),
        (BoardPart(query="b"), (1,)),
        (BoardPart(first="2026-03-10"), (2, 3)),
        (BoardPart(last="2026-03-15"), (0, 1)),
        (BoardPart(first="2026-03-01", last="2026-03-31"), (0, 1, 2, 3)),
        (BoardPart(split="val", query="c"), ()),
        (BoardPart(split="val", first="2026-03-16"), ()),
    ],
)
def test_the_board_of_a_part_is_as_of_these_pairs_alone(part: BoardPart, queries: tuple[int, ...]) -> None:
    table = a_campaign(6, units=90)
    found = graded(table)
    board = rules.measure(found, of_two_days(found), part, resamples=50)
    units = [unit for unit in range(90) if unit % 4 in queries]
    if not units:
        assert (board.summary["rows"], board.people, board.queries) == (0, (), ())
        return
    alone = board_of([table[unit] for unit in units], resamples=50)
    assert board.part == part
    assert board.settled[0] == alone.settled[0]
    for name in ("summary", "figures", "lowest_highest", "histogram", "couples"):
        assert getattr(board, name) == getattr(alone, name), name
    assert [one for one in board.people if one.grades] == [one for one in alone.people if one.grades]
    assert {one.name for one in board.queries} == {"abcd"[query] for query in queries}


def test_by_query_and_by_day_is_as_of_these_pairs_alone() -> None:
    table = a_campaign(6, units=90)
    found = graded(table)
    board = rules.measure(found, of_two_days(found), resamples=0)
    for part, units in (
        *((board.queries[n], [u for u in range(90) if u % 4 == n]) for n in range(4)),
        *((days[n], [u for u in range(90) if u % 4 // 2 == n]) for days in (board.days, board.weeks) for n in range(2)),
    ):
        alone = board_of([table[unit] for unit in units])
        assert part.pairs == len(units)
        assert part.alpha_ordinal == pytest.approx(alone.figures["alpha_ordinal"].value, abs=1e-12)
        assert part.exact == pytest.approx(alone.figures["exact_agreement"].value, abs=1e-12)
        assert part.within == pytest.approx(alone.figures["within_tolerance_agreement"].value, abs=1e-12)
        assert part.settled.by_two == alone.settled[0].by_two
        given_ = [grade for unit in units for grade in table[unit] if grade is not None]
        assert part.mean == pytest.approx(np.mean(given_))
    assert [part.part for part in board.settled] == ["all", "val", "test"]
    assert sum(week.grades for week in board.person_weeks) == len(found.grade)


def a_week_and_a_bit() -> tuple[GradedPairs, Origins]:
    """Six pairs: two settled by two and one by four; one waits, one is discarded, a lead decided one."""
    table = [[1, 1], [2, 3], [0, 4, 2, 2], [4], [4, 0, 1, 3], [None, None, 0, 2]]
    found = replace(graded(table, decided={5: 1}), people=("Anna", "Boris", "Carla", "Dev"))
    day = [0, 0, 0, 0, 0, 1, 2, 2, -1, 2, 2, 2, 2, -1, -1]  # the third pair took a week
    return found, Origins(
        *(np.array([0, 0, 1, 1, -1, 0]), ("val", "test", "train")),
        *(np.array([0, 0, 1, 1, -1, 3]), ("a", "b", "c", "d"), ("val", "test", "test", "val")),
        *(np.array(day), ("2026-03-09", "2026-03-10", "2026-03-16"), np.array([0, 0, 1]), ("2026-03-09", "2026-03-16")),
        *(3, 2),
    )


def test_a_small_board_is_what_counting_by_hand_gives() -> None:
    board = rules.measure(*a_week_and_a_bit(), resamples=0)
    told = (board.part, board.resamples, board.tolerance, board.imported, board.simulated, board.most_used_limit)
    assert told == (WHOLE, 0, 1, 3, 2, 0.45)
    assert board.settled == (
        Verdicts("all", 6, 2, 1, 0, 1, 1, 1),
        Verdicts("val", 3, 2, 0, 0, 1, 0, 0),
        Verdicts("test", 2, 0, 1, 0, 0, 0, 1),
    )
    counts = [n for one in board.settled for n in dataclasses.astuple(one)[1:]]
    counts += [*(n for row in board.lowest_highest for n in row), *(one.grades for one in board.queries)]
    assert set(map(type, counts)) == {int}, "as files show them"
    assert {(low, high): n for low, row in enumerate(board.lowest_highest) for high, n in enumerate(row) if n} == {
        **{(1, 1): 1, (2, 3): 1, (0, 4): 2, (0, 2): 1},
    }
    assert board.histogram == (3, 3, 4, 2, 3)
    assert [(one.name, one.grades, one.histogram, one.most_used, one.often) for one in board.people] == [
        ("Anna", 5, (1, 1, 1, 0, 2), 4, False),
        ("Boris", 4, (1, 1, 0, 1, 1), 0, False),
        ("Carla", 3, (1, 1, 1, 0, 0), 0, False),
        ("Dev", 3, (0, 0, 2, 1, 0), 2, False),
    ]
    assert [one.most_used_share for one in board.people] == [0.4, 0.25, 1 / 3, 2 / 3]
    # Against the others: Anna 0, -1, -8/3, 8/3; Carla 0, -4/3, -2; Boris and Dev lean as far the other way.
    assert [one.bias.value for one in board.people] == pytest.approx([-1 / 4, 1 / 4, -10 / 9, 10 / 9])
    assert [(one.bias.n, one.bias.of, one.bias.low) for one in board.people] == [
        (n, "grades", None) for n in (4, 4, 3, 3)
    ]
    few = "they share fewer than 50 pairs"
    assert board.couples == tuple(
        Couple(first, second, n, None, None, few)
        for first, second, n in ((0, 1, 4), (0, 2, 2), (0, 3, 2), (1, 2, 2), (1, 3, 2), (2, 3, 3))
    )
    assert [(one.week, one.name, one.grades, one.most_used, one.n) for one in board.person_weeks] == [
        *(("2026-03-09", "Anna", 3, 0, 3), ("2026-03-09", "Boris", 3, 1, 3), ("2026-03-16", "Anna", 1, 4, 1)),
        *(("2026-03-16", "Boris", 1, 0, 1), ("2026-03-16", "Carla", 2, 1, 2), ("2026-03-16", "Dev", 2, 2, 2)),
    ]
    assert [one.most_used_share for one in board.person_weeks] == [1 / 3, 1 / 3, 1, 1, 0.5, 0.5]
    assert [one.bias for one in board.person_weeks] == pytest.approx([-11 / 9, 11 / 9, 8 / 3, -8 / 3, -2 / 3, 2 / 3])


def test_groups_of_a_small_board_are_what_counting_by_hand_gives() -> None:
    board = rules.measure(*a_week_and_a_bit(), resamples=0)
    assert [(one.name, one.pairs, one.grades, one.split, one.reason) for one in board.queries] == [
        ("a", 2, 4, "val", ""), ("b", 2, 4, "test", ""), ("d", 1, 2, "val", "")
    ]  # fmt: skip
    assert [one.mean for one in board.queries] == [1.75, 2.4, 1.0]
    assert [one.exact for one in board.queries] == pytest.approx([0.5, 1 / 6, 0])
    assert [one.within for one in board.queries] == pytest.approx([1, 1 / 6, 0])
    assert board.queries[2].alpha_ordinal == pytest.approx(0), "of two grades, what chance gives"
    assert [dataclasses.astuple(one.settled)[1:] for one in board.queries] == [
        (2, 2, 0, 0, 0, 0, 0), (2, 0, 1, 0, 0, 0, 1), (1, 0, 0, 0, 1, 0, 0)
    ]  # fmt: skip
    assert [(one.name, one.pairs, one.grades, one.mean) for one in board.days] == [
        ("2026-03-09", 3, 8, 15 / 8), ("2026-03-16", 1, 4, 2.0)
    ]  # fmt: skip
    assert [(one.name, one.pairs, one.split) for one in board.weeks] == [("2026-03-09", 3, ""), ("2026-03-16", 1, "")]


def test_groups_without_an_alpha_say_why() -> None:
    found = graded([[2, 2], [2, 2], [1, None], [0, 4]])
    query = np.array([0, 0, 1, 2])
    origins = replace(no_origins(found), query=query, queries=("same", "alone", "apart"), query_split=("",) * 3)
    board = rules.measure(found, origins, resamples=0)
    assert [one.mean for one in board.queries] == [2.0, 1.0, 2.0]
    assert [(one.alpha_ordinal, one.exact, one.within, one.reason) for one in board.queries] == [
        (None, 1.0, 1.0, "all grades are the same"),
        (None, None, None, "no pair has two grades"),
        (pytest.approx(0), 0.0, 0.0, ""),
    ]


def test_whoever_lacks_grades_is_discarded_where_nobody_goes_on() -> None:
    found = replace(graded([[1, None], [0, 4], [2, 2]]), may_go_on=False)
    assert rules.measure(found, no_origins(found), resamples=0).settled == (Verdicts("all", 3, 1, 0, 0, 0, 2, 0),)
    again = replace(graded([[0, 4, 1, 3, 3, 4], [2, 2], [0, 4, 1, 3]]), re_opened=np.array([True, False, True]))
    assert rules.measure(again, no_origins(again), resamples=0).settled == (Verdicts("all", 3, 1, 0, 1, 0, 0, 1),)


def test_who_gives_one_grade_often_is_marked() -> None:
    board = board_of([[n % 5 if n < 25 else 2, n % 5] for n in range(50)])
    assert [(one.most_used, one.most_used_share, one.often) for one in board.people] == [
        (2, 0.6, True),
        (0, 0.2, False),
    ]


def test_who_gave_no_grade_has_none_that_is_used_most() -> None:
    _, idle = board_of([[1, None]]).people
    assert (idle.grades, idle.most_used, idle.most_used_share, idle.often) == (0, 0, 0.0, False)


def test_biases_are_resampled_by_pair_as_the_figures_are() -> None:
    found = graded(a_campaign(4, units=40))
    board = rules.measure(found, no_origins(found), resamples=30, seed=4)
    assert board.resamples == 30
    assert board.figures == figures(found, found.patterns(), resamples=30, seed=4)
    for who, person in enumerate(board.people):
        mine = found.annotator == who
        pair, lean = found.pair[mine], found.grade[mine].astype(float)
        for row, of in enumerate(pair):
            others = found.grade[(found.pair == of) & ~mine]
            lean[row] -= others.mean() if others.size else np.nan
        low, high = bootstrap.interval(bootstrap.mean_samples(lean, pair, resamples=30, seed=4))
        assert (person.bias.low, person.bias.high) == pytest.approx((low, high), abs=1e-9)


def test_two_who_never_differ_have_no_kappa() -> None:
    (couple,) = board_of([[2, 2]] * 50).couples
    assert couple == Couple(0, 1, 50, None, None, "both gave every pair the same single grade")
    (couple,) = board_of([[n % 2 * 4, n % 2 * 4] for n in range(49)] + [[0, 4]]).couples
    assert couple.reason == ""
    # 49 of 50 alike; by chance 26 * 25 + 24 * 25 of 2500.
    assert couple.kappa_plain == couple.kappa_quadratic == pytest.approx((0.98 - 0.5) / (1 - 0.5))


def test_a_quadratic_kappa_counts_how_far_two_are_apart() -> None:
    table = [[0, 0]] * 20 + [[4, 4]] * 20 + [[0, 1]] * 5 + [[0, 4]] * 5
    (couple,) = board_of(table).couples
    first, second = zip(*table, strict=True)
    anyhow = [(a, b) for a in first for b in second]
    plain = np.mean([a != b for a, b in table]) / np.mean([a != b for a, b in anyhow])
    quadratic = np.mean([(a - b) ** 2 for a, b in table]) / np.mean([(a - b) ** 2 for a, b in anyhow])
    assert (couple.kappa_plain, couple.kappa_quadratic) == pytest.approx((1 - plain, 1 - quadratic))


def test_a_board_as_json_has_the_summary_on_top() -> None:
    board = board_of([[1, 2]])
    found = rules.as_json(board)
    assert list(found)[: len(board.summary)] == list(board.summary)
    assert {name: found[name] for name in board.summary} == board.summary
    assert set(found) - set(board.summary) == {field.name for field in dataclasses.fields(board)} - {"summary"}
    assert found["couples"] == board.couples


def test_intervals_are_of_a_thousand_resamples_unless_told() -> None:
    found = graded([[1, 2]])
    assert rules.measure(found, no_origins(found)).resamples == 1000


def test_couples_with_few_shared_pairs_have_no_kappa() -> None:
    board = board_of([[1, 2, None]] * 30 + [[2, 2, None]] * 20 + [[None, 3, 3]] * 49)
    assert [(one.first, one.second, one.n) for one in board.couples] == [(0, 1, 50), (1, 2, 49)]
    assert board.couples[0].kappa_quadratic == 0.0
    assert board.couples[1].kappa_quadratic is None
    assert board.couples[1].reason == "they share fewer than 50 pairs"


def test_everything_undefined_says_why() -> None:
    for table in ([[1, None]], [[2, 2]]):
        board = board_of(table, resamples=5)
        assert set(board.figures) == set(FIGURE_WORDS)
        for one in [*board.figures.values(), *(p.bias for p in board.people)]:
            assert (one.value is None) == bool(one.reason)
            assert one.value is not None or one.low is None
        assert all(one.reason for one in board.couples)


def test_a_board_is_the_same_every_time_and_in_any_order() -> None:
    table = a_campaign(9, units=70)
    board = board_of(table, resamples=60)
    assert board == board_of(table, resamples=60)
    turned = board_of(table[::-1], resamples=0)
    assert {key: one.value for key, one in turned.figures.items()} == pytest.approx(
        {key: one.value for key, one in board.figures.items()}, abs=1e-12
    )
    assert len(list(combinations(range(3), 2))) == len(board.couples)
