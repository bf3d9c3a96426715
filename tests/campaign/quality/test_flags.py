"""Flags: every figure against counting grade by grade, and when it is raised."""

import random
import secrets
from collections import defaultdict
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend import api
from backend.campaign.judging.model import GradeEvent
from backend.campaign.quality.model import Flag, FlagKind
from backend.campaign.quality.rules import intervals
from backend.campaign.quality.rules.columns import NOT_MEASURED, Grades
from backend.campaign.quality.rules.flags import NEWEST, behind, flags_of, look_at
from backend.campaign.quality.rules.pace import too_fast, unseen
from support import NOW, Judging

ME = 7


def made(rows: list[tuple[int, int, int, int]], *, timed: bool = True, elapsed_ms: int = NOT_MEASURED) -> Grades:
    """Grades from (pair, seat, annotator, grade), given one after the other."""
    pair, seat, annotator, grade = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    elapsed = np.full(len(rows), elapsed_ms)
    when = np.arange(len(rows), dtype=np.float64)
    return Grades(pair, seat, annotator, grade, when, np.full(len(rows), timed), np.maximum(elapsed, 0), elapsed)


NO_CLIPS = (np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=bool))


def flag(grades: Grades, kind: FlagKind, *, highest: int = 4, clips: Any = NO_CLIPS, who: int = ME) -> Flag:
    found = {one.kind: one for one in flags_of(look_at(grades, clips, highest=highest, tolerance=1), who)}
    return found[kind]


rows_of_a_campaign = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 4)),
    min_size=1,
    max_size=24,
    unique_by=lambda row: row[:2],
)


@given(rows_of_a_campaign)
def test_every_figure_is_what_counting_gives(rows: list[tuple[int, int, int, int]]) -> None:
    grades = made(rows)
    work = look_at(grades, NO_CLIPS, highest=4, tolerance=1)
    for who in {row[2] for row in rows}:
        mine = [row for row in rows if row[2] == who]
        found = {one.kind: one for one in flags_of(work, who)}
        leanings = [
            grade - fmean(others)
            for pair, _, _, grade in mine
            if (others := [row[3] for row in rows if row[0] == pair and row[2] != who])
        ]
        assert found[FlagKind.BIAS].n == len(leanings)
        if leanings:
            assert found[FlagKind.BIAS].value == pytest.approx(fmean(leanings))
        most = max([row[3] for row in mine].count(grade) for grade in range(5))
        assert found[FlagKind.ONE_GRADE].value == pytest.approx(most / len(mine))
        near = [
            abs(grade - row[3]) <= 1
            for pair, seat, _, grade in mine
            for row in rows
            if seat <= 2 and row[0] == pair and row[1] == 3 - seat and row[2] != who
        ]
        assert found[FlagKind.AGREEMENT].n == len(near)
        assert not any(one.raised for one in found.values()), "of so few grades nothing is a flag"


@given(st.permutations(range(12)))
def test_the_names_of_pairs_and_people_do_not_matter(names: list[int]) -> None:
    rng = random.Random(4)
    rows = [(pair, seat, who, rng.randrange(5)) for pair in range(12) for seat, who in ((1, 1), (2, 2), (3, 3))]
    plain = flags_of(look_at(made(rows), NO_CLIPS, highest=4, tolerance=1), 1)
    renamed = [(names[pair] + 5, seat, who + 30, grade) for pair, seat, who, grade in rows]
    assert flags_of(look_at(made(renamed), NO_CLIPS, highest=4, tolerance=1), 31) == plain


def against(mine: list[int], theirs: list[int]) -> Grades:
    """One pair after the other, graded by me and by somebody else, and by nobody else."""
    return made(
        [row for n, (one, other) in enumerate(zip(mine, theirs, strict=True)) for row in pair_of(n, one, other)]
    )


def pair_of(number: int, mine: int, theirs: int) -> list[tuple[int, int, int, int]]:
    return [(number, 1, ME, mine), (number, 2, 8, theirs)]


@pytest.mark.parametrize(("often", "raised"), [(45, False), (46, True)])
def test_one_grade_more_than_45_percent_of_the_time(often: int, raised: bool) -> None:
    mine = [3] * often + [n % 3 for n in range(100 - often)]
    found = flag(against(mine, [3] * 20 + [1] * 80), FlagKind.ONE_GRADE)
    assert (found.value, found.n, found.raised) == (often / 100, 100, raised)
    assert found.told.startswith(f"{often} % of 100 grades are 3; more than 45 % is a flag.")
    assert found.told.endswith("Others gave 3 to these pairs in 20 %.")


def test_of_two_grades_one_is_given_more_often_without_a_flag() -> None:
    mine = [0] * 74 + [1] * 26
    assert not flag(against(mine, mine), FlagKind.ONE_GRADE, highest=1).raised
    mine = [0] * 76 + [1] * 24
    assert flag(against(mine, mine), FlagKind.ONE_GRADE, highest=1).raised


def test_too_few_grades_are_no_flag_and_say_so() -> None:
    found = flag(against([4] * 49, [0] * 49), FlagKind.ONE_GRADE)
    assert (found.value, found.raised) == (1.0, False)
    assert found.told.endswith("Too few to be a flag: 50 grades are needed.")


def test_a_bias_needs_to_be_large_and_sure() -> None:
    """Half a grade above the others is a flag, unless grades scatter so that it may be chance."""
    small = flag(against([3] * 80 + [2] * 120, [2] * 200), FlagKind.BIAS)
    large = flag(against([3, 2] * 60 + [3] * 80, [2] * 200), FlagKind.BIAS)
    scattered = flag(against(([4] * 20 + [0] * 20) * 2 + [4] * 20 + [2] * 4, [1] * 20 * 5 + [2] * 4), FlagKind.BIAS)
    assert (small.value, small.raised) == (0.4, False)
    assert (large.value, large.raised) == (0.7, True)
    assert large.told.startswith("On average 0.70 higher than the others on the same pairs, over 200 grades (99 %")
    assert scattered.value is not None
    assert scattered.value > 0.5
    assert not scattered.raised


def test_a_drift_is_against_the_others_and_not_of_the_queries() -> None:
    rng = random.Random(9)
    theirs = [rng.randrange(1, 4) for _ in range(3 * NEWEST)]
    theirs[-NEWEST:] = [3] * NEWEST  # better candidates: everybody's grades rise
    same = [grade + rng.choice((-1, 0, 1)) for grade in theirs]
    assert not flag(against(same, theirs), FlagKind.DRIFT).raised
    stricter = same[:-NEWEST] + [grade - (n % 2) for n, grade in enumerate(same[-NEWEST:])]
    found = flag(against(stricter, theirs), FlagKind.DRIFT)
    assert found.raised
    assert found.n == 3 * NEWEST
    apart = [mine - other for mine, other in zip(stricter, theirs, strict=True)]
    assert found.value == pytest.approx(fmean(apart[-NEWEST:]) - fmean(apart[:-NEWEST]))


def test_agreement_that_falls_is_a_flag_and_that_rises_is_none() -> None:
    agreeing = [n % 20 != 0 for n in range(2 * NEWEST)]  # 95 %
    differing = [n % 5 != 0 for n in range(NEWEST)]  # 80 %

    def grades(near: list[bool]) -> Grades:
        return against([2 if one else 4 for one in near], [2] * len(near))

    falls = flag(grades(agreeing + differing), FlagKind.AGREEMENT)
    assert falls.value == pytest.approx(0.80 - 0.95)
    assert falls.raised
    assert falls.told.startswith("Within 1 of the other first grade of the pair: 80 % of the newest 200 grades, 95 %")
    assert not flag(grades(differing + differing + agreeing), FlagKind.AGREEMENT).raised


def test_disputed_pairs_that_somebody_is_third_at_do_not_lower_their_agreement() -> None:
    rows = [row for n in range(2 * NEWEST) for row in pair_of(n, 2, 2)]
    rows += [row for n in range(1000, 1000 + NEWEST) for row in ((n, 1, 8, 0), (n, 2, 9, 4), (n, 3, ME, 2))]
    found = flag(made(rows), FlagKind.AGREEMENT)
    assert (found.value, found.n, found.raised) == (0.0, 2 * NEWEST, False)


def test_what_is_undefined_says_why() -> None:
    alone = made([(n, 1, ME, 3) for n in range(500)])
    assert flag(alone, FlagKind.BIAS).reason == "Nobody else graded these pairs."
    assert flag(alone, FlagKind.TOO_FAST).reason == "None of the grades has a measured time and a known clip."
    assert flag(alone, FlagKind.BIAS, who=99).value is None
    assert flag(alone, FlagKind.ONE_GRADE, who=99).reason == "No grade yet."
    untimed = made([row for n in range(500) for row in pair_of(n, 1, 3)], timed=False)
    assert "does not say when" in flag(untimed, FlagKind.DRIFT).reason
    few = made([row for n in range(399) for row in pair_of(n, 1, 3)])
    assert flag(few, FlagKind.AGREEMENT).reason.startswith("399 grades that can be compared are too few")


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 200)), min_size=1, max_size=60))
def test_seen_or_not_is_what_each_grade_by_itself_gives(times: list[tuple[int, int, int]]) -> None:
    number = np.arange(len(times))
    active, elapsed, tenths = (np.array(column) for column in zip(*times, strict=True))
    grades = Grades(number, number * 0 + 1, number * 0 + ME, number * 0, number / 1, number >= 0, active, elapsed)
    lengths, whole = tenths / 10, np.array([n % 5 == 0 for n in number])
    work = look_at(grades, (number, lengths, whole), highest=4, tolerance=1)
    assert work.too_fast.tolist() == [too_fast(min(a, e), t / 10) for a, e, t in times]
    asked = [(e, t / 10) for n, (_, e, t) in enumerate(times) if n % 5]
    assert [bool(one) for one in work.unseen[~whole]] == [unseen(e, length) for e, length in asked]
    assert np.isnan(work.unseen[whole]).all(), "whole videos are not asked"


def test_behind_a_flag_are_the_pairs_that_speak_for_it() -> None:
    rows = against([0, 4, 2, 2, 3] * 100, [2] * 500)
    mine = look_at(rows, NO_CLIPS, highest=4, tolerance=1).of(ME)
    biased = behind(mine, FlagKind.BIAS)
    assert [rows.grade[rows.pair == pair][0] for pair in biased.pairs[:100]] == [4] * 100, "the farthest first"
    assert len(biased.pairs) == 200, "and none of those below the others"
    given_most = behind(mine, FlagKind.ONE_GRADE)
    assert list(given_most.pairs[:3]) == [498, 497, 493], "the newest first"
    apart = behind(mine, FlagKind.AGREEMENT)
    assert list(apart.pairs[:3]) == [496, 495, 491]
    assert min(apart.pairs) >= 300, "of the newest 200 only"
    assert sum(one.n for one in biased.stretches) == 500
    assert fmean(one.mean for one in biased.stretches) == pytest.approx(0.2, abs=0.02)


@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 1000))
def test_intervals_are_students_over_runs(new: int, old: int, seed: int) -> None:
    from scipy import stats

    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=20 * new), rng.normal(size=20 * old)
    runs = [values.reshape(-1, 20).mean(axis=1) for values in (one, other)]
    expected = stats.ttest_ind(*runs, equal_var=False).confidence_interval(0.99)
    assert intervals.of_difference(one, other) == pytest.approx((expected.low, expected.high))
    alone = stats.ttest_1samp(runs[0], 0).confidence_interval(0.99)
    assert intervals.of_mean(one) == pytest.approx((alone.low, alone.high))
    assert intervals.of_mean(one[:39]) is None


def test_a_project_tells_its_flags(judging: Judging) -> None:
    rng = random.Random(2)
    given: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    clips = {pair.pair: pair for pair in judging.pairs()}
    for n in range(100):
        me = judging.annotators[n % 2]
        pair = api.desk(judging.project, me, now=NOW + n).items[0].pair if n < 80 else None
        if pair is None:
            continue
        elapsed = rng.choice((400, 700, 1400, 4000))
        event = GradeEvent(pair, rng.choice((2, 3)), secrets.token_hex(8), elapsed, elapsed)
        api.record_grades(judging.project, me, [event], now=NOW + n)
        given[me.annotator_id].append((elapsed, elapsed, clips[pair].end_s - clips[pair].start_s))
    found = {one.annotator_id: one for one in api.flags(judging.project, judging.lead)}
    assert [one.name for one in found.values()] == ["Anna", "Boris", "Carla", "Dev"]
    for who, times in given.items():
        hasty, blind = found[who].flags[:2]
        assert hasty.value == fmean(too_fast(min(active, elapsed), length) for active, elapsed, length in times)
        assert blind.value == fmean(unseen(elapsed, length) for _, elapsed, length in times)
        behind = api.behind_flag(judging.project, judging.lead, found[who].annotator_id, FlagKind.TOO_FAST)
        reviews = api.pairs_behind(judging.project, judging.lead, behind.pairs[:10])
        assert [pair.pair_id for pair in reviews] == list(behind.pairs[:10])
        assert all(any(one.too_fast and one.annotator == found[who].name for one in pair.grades) for pair in reviews)


def test_a_correction_in_no_time_is_not_too_fast(judging: Judging) -> None:
    me, at = judging.annotators[0], NOW
    pair = api.desk(judging.project, me, now=at).items[0].pair
    for grade, ms in ((0, 5000), (3, 300)):
        event = GradeEvent(pair, grade, secrets.token_hex(8), ms, ms)
        api.record_grades(judging.project, me, [event], now=at)
    assert api.flags(judging.project, judging.lead)[0].flags[0].value == 0
    (given,) = judging.state(pair).grades
    assert (given.grade, given.active_ms, given.too_fast) == (3, 5300, False)
