"""The agreement board against counting by hand, other libraries, and a slow bootstrap with the same draws."""

import warnings
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.judging.rules import decide
from backend.campaign.nouns import Rounding, Verdict
from backend.campaign.quality.model import FIGURE_WORDS, AgreementBoard, BoardPart
from backend.campaign.quality.rules import board as rules
from backend.campaign.quality.rules import bootstrap
from backend.campaign.quality.rules.agreement import (
    Level,
    Weights,
    cohen_kappa,
    count_grades,
    couples_of,
    krippendorff_alpha,
    mean_pairwise_kappa,
)
from backend.campaign.quality.rules.origins import Origins, no_origins
from backend.campaign.quality.rules.pairs import GradedPairs

Table = list[list[int | None]]
"""Grades of units (rows) by annotators (columns)."""
TABLES = st.integers(2, 4).flatmap(
    lambda people: st.lists(
        st.lists(st.none() | st.integers(0, 4), min_size=people, max_size=people), min_size=1, max_size=25
    )
)


def graded(table: Table, decided: dict[int, int] | None = None) -> GradedPairs:
    rows = [(unit, who, grade) for unit, row in enumerate(table) for who, grade in enumerate(row) if grade is not None]
    pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    leads = np.full(len(table), -1)
    for unit, relevance in (decided or {}).items():
        leads[unit] = relevance
    names = tuple(f"person {who}" for who in range(len(table[0])))
    columns = (names, pair, annotator, grade, leads)
    return GradedPairs(*columns, 4, 1, Rounding.HALF_UP, True, first_round=np.ones(len(rows), dtype=bool))


def a_campaign(seed: int, units: int = 240, people: int = 3) -> Table:
    rng = np.random.default_rng(seed)
    table: Table = []
    for _ in range(units):
        truth, given = rng.integers(0, 5), rng.permutation(people)[: rng.integers(1, people + 1)]
        near = [int(np.clip(truth + rng.integers(-2, 3), 0, 4)) for _ in range(people)]
        table.append([near[who] if who in given else None for who in range(people)])
    return table


def board_of(table: Table, resamples: int = 0, decided: dict[int, int] | None = None) -> AgreementBoard:
    found = graded(table, decided)
    return rules.measure(found, no_origins(found), resamples=resamples)


@given(TABLES)
@settings(max_examples=60)
def test_alpha_equals_the_package_of_its_name(table: Table) -> None:
    found = graded(table)
    counts = count_grades(found.pair, found.grade, 5)
    values = np.array([[np.nan if grade is None else grade for grade in row] for row in table], dtype=float).T
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval")
    for level in levels:
        ours = krippendorff_alpha(counts, level).value
        if ours is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = krippendorff.alpha(values, level_of_measurement=level, value_domain=[0, 1, 2, 3, 4])
        assert ours == pytest.approx(theirs, abs=1e-9)


@given(TABLES)
@settings(max_examples=60)
def test_kappas_equal_scikit_learn(table: Table) -> None:
    from sklearn.metrics import cohen_kappa_score

    found = graded(table)
    couples = couples_of(found.pair, found.annotator, found.grade)
    named: dict[Weights, str | None] = {"plain": None, "quadratic": "quadratic"}
    for first, second in couples.couples.tolist():
        both = [(row[first], row[second]) for row in table if row[first] is not None and row[second] is not None]
        one, other = np.array(both).T
        for weights, theirs in named.items():
            ours = cohen_kappa(one, other, weights)
            if ours.value is not None:
                assert ours.value == pytest.approx(
                    cohen_kappa_score(one, other, weights=theirs, labels=range(5)), abs=1e-9
                )
            mean = mean_pairwise_kappa(*_only(found, first, second), weights=weights, min_shared=1)
            assert mean.value == pytest.approx(ours.value, abs=1e-12) if ours.value is not None else True


def _only(found: GradedPairs, *people: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kept = np.isin(found.annotator, people)
    return found.pair[kept], found.annotator[kept], found.grade[kept]


def test_intervals_are_those_of_resampling_pair_by_pair() -> None:
    """The same pairs, drawn one by one and counted the long way, give the interval of the fast one."""
    table = a_campaign(1, units=150)
    found = graded(table)
    fast = rules.measure(found, no_origins(found), resamples=400).figures
    rng = np.random.default_rng(7)
    slow = {"alpha_ordinal": [], "exact_agreement": [], "share_settled_by_two": []}
    for _ in range(400):
        again = board_of([table[unit] for unit in rng.integers(0, len(table), len(table))]).figures
        for key, values in slow.items():
            values.append(again[key].value)
    for key, values in slow.items():
        low, high = np.quantile(values, [0.025, 0.975])
        width = high - low
        # Other draws, so alike within what 400 of them can tell.
        assert fast[key].low == pytest.approx(low, abs=0.2 * width)
        assert fast[key].high == pytest.approx(high, abs=0.2 * width)
        assert fast[key].low < fast[key].value < fast[key].high


def test_patterns_are_drawn_like_pairs() -> None:
    """With the draws of patterns in hand, a slow loop that builds every resample finds each value again."""
    found = graded(a_campaign(2, units=60))
    kinds = found.patterns()
    drawn = bootstrap.drawn_patterns(kinds.times, resamples=25, seed=3)
    assert drawn.sum(axis=1).tolist() == [60] * 25
    slow = [krippendorff_alpha(np.repeat(kinds.counts, times, axis=0)).value for times in drawn]
    fast = rules.measure(found, no_origins(found), resamples=25, seed=3).figures["alpha_ordinal"]
    assert (fast.low, fast.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=1e-12)


def test_kappas_are_resampled_with_whole_pairs() -> None:
    found = graded(a_campaign(3, units=80))
    couples = couples_of(found.pair, found.annotator, found.grade)
    fast = bootstrap.mean_kappas(couples, 80, 20, resamples=110, seed=5)
    enough = [tuple(one) for one, table in zip(couples.couples, couples.tables(), strict=True) if table.sum() >= 20]
    draws = list(bootstrap.drawn_units(80, resamples=110, seed=5))
    for weights, values in fast.items():
        for place in (0, 57, 109):
            means = []
            for first, second in enough:
                tables = {who: dict(zip(*_grades_of(found, who), strict=True)) for who in (first, second)}
                both = sorted(tables[first].keys() & tables[second].keys())
                units = np.repeat(both, draws[place][both])
                one, other = (np.array([tables[who][unit] for unit in units]) for who in (first, second))
                means.append(cohen_kappa(one, other, weights).value)
            assert values[place] == pytest.approx(np.mean(means), abs=1e-12)


def _grades_of(found: GradedPairs, who: int) -> tuple[list[int], list[int]]:
    kept = found.annotator == who
    return found.pair[kept].tolist(), found.grade[kept].tolist()


def test_means_are_resampled_by_unit() -> None:
    values, unit = np.array([1.0, 3.0, np.nan, -2.0, 0.5]), np.array([0, 0, 1, 2, 3])
    found = bootstrap.mean_samples(values, unit, resamples=3000, seed=2)
    rng = np.random.default_rng(4)
    of_unit = [(4.0, 2), (-2.0, 1), (0.5, 1)]
    slow = []
    for _ in range(3000):
        sums, counts = np.array([of_unit[n] for n in rng.integers(0, 3, 3)]).sum(axis=0)
        slow.append(sums / counts)
    assert set(np.round(found, 9)) == set(np.round(slow, 9)), "every sample of three units, and no other"
    assert found.mean() == pytest.approx(np.mean(slow), abs=0.1)


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


def test_first_round_and_all_rounds_are_two_figures() -> None:
    found = graded([[0, 4, 2, 2]] * 3 + [[1, 1, None, None], [3, 2, None, None]])
    first = GradedPairs(
        *(found.people, found.pair, found.annotator, found.grade, found.decided, 4, 1, Rounding.HALF_UP, True),
        first_round=found.annotator < 2,
    )
    figures = rules.measure(first, no_origins(first), resamples=0).figures
    counts = np.array([[1, 0, 0, 0, 1]] * 3 + [[0, 2, 0, 0, 0], [0, 0, 1, 1, 0]])
    assert figures["alpha_ordinal_first_round"].value == pytest.approx(krippendorff_alpha(counts).value, abs=1e-12)
    assert figures["alpha_ordinal_first_round"].n == 10
    assert figures["alpha_ordinal"].n == 16
    assert figures["alpha_ordinal"].value != figures["alpha_ordinal_first_round"].value


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
