"""Flags: every figure against counting grade by grade, and when it is raised."""

import random
import warnings
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.judging.rules import too_fast, unseen
from backend.campaign.monitoring.quality.model import Flag, FlagDismissal, FlagEvidence, FlagKind, Stretch
from backend.campaign.monitoring.quality.rules.flags import NEWEST, behind, flags_of, is_often, look_at
from backend.campaign.monitoring.quality.rules.pairs import NOT_MEASURED, Grades, Skips

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
        assert sorted(value for value in work.of(who).near.tolist() if value == value) == sorted(near)
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


def test_fifty_grades_are_enough_for_a_flag() -> None:
    for n, share, often in ((50, 0.46, True), (49, 0.46, False), (50, 0.45, False)):
        assert is_often(share, n, 4) is often


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


TIMES = st.tuples(
    *(st.integers(0, 3000), st.just(NOT_MEASURED) | st.integers(0, 3000), st.integers(1, 200)),
    *(st.booleans(), st.booleans()),
)


@given(st.lists(TIMES, min_size=1, max_size=60))
def test_seen_or_not_is_what_each_grade_by_itself_gives(times: list[tuple[int, int, int, bool, bool]]) -> None:
    """Of a measured grade of a pair whose clip is known."""
    number = np.arange(len(times)) * 3 + 2
    active, elapsed, tenths, known, whole = (np.array(column) for column in zip(*times, strict=True))
    grades = Grades(number, number * 0 + 1, number * 0 + ME, number * 0, number / 1, number >= 0, active, elapsed)
    work = look_at(grades, (number[known], tenths[known] / 10, whole[known]), highest=4, tolerance=1)
    nan = float("nan")
    hasty = [float(too_fast(min(a, e), t / 10)) if e >= 0 and there else nan for a, e, t, there, _ in times]
    blind = [float(unseen(e, t / 10)) if e >= 0 and there and not video else nan for _, e, t, there, video in times]
    assert work.too_fast.tolist() == pytest.approx(hasty, nan_ok=True)
    assert work.unseen.tolist() == pytest.approx(blind, nan_ok=True), "whole videos are not asked"


@pytest.mark.parametrize(("kind", "elapsed_ms", "most"), [(FlagKind.TOO_FAST, 400, 5), (FlagKind.UNSEEN, 200, 10)])
def test_more_than_a_share_of_grades_given_in_no_time_is_a_flag(kind: FlagKind, elapsed_ms: int, most: int) -> None:
    def of(n: int, fast: int) -> Flag:
        """The flag of so many grades, some of them too fast, of clips of one second."""
        pair = np.arange(n)
        elapsed = np.where(pair < fast, elapsed_ms, 5000)
        grades = Grades(pair, pair * 0 + 1, pair * 0 + ME, pair * 0, pair / 1, pair >= 0, elapsed, elapsed)
        return flag(grades, kind, clips=(pair, np.ones(n), np.zeros(n, dtype=bool)))

    limit = most / 100
    assert (of(100, most).value, of(100, most).n, of(100, most).limit) == (limit, 100, limit)
    assert [of(100, fast).raised for fast in (most, most + 1)] == [False, True]
    assert [of(n, n).raised for n in (49, 50)] == [False, True]
    assert of(49, 49).told == (
        f"100 % of 49 grades {_ARE[kind]}; more than {most} % is a flag. Too few to be a flag: 50 grades are needed."
    )
    assert of(100, most).told == f"{most} % of 100 grades {_ARE[kind]}; more than {most} % is a flag."


_ARE = {
    FlagKind.TOO_FAST: "came faster than the clip can be judged",
    FlagKind.UNSEEN: "came before half of the clip can have been on screen",
}


def test_a_bias_at_its_limit_is_a_flag_of_enough_grades() -> None:
    def of(mine: list[int], highest: int = 4) -> Flag:
        return flag(against(mine, [2] * len(mine)), FlagKind.BIAS, highest=highest)

    assert of([3, 2] * 25) == Flag(
        *(FlagKind.BIAS, 0.5, 50, 0.5, True),
        "On average 0.50 higher than the others on the same pairs, over 50 grades (99 % interval +0.50 to +0.50); "
        "0.5 or more, with 0 outside the interval, is a flag.",
        (0.5, 0.5),
    )
    assert of([1, 2] * 25).raised
    assert not of([3, 2] * 24 + [2, 2]).raised
    assert not of([3, 2] * 24).raised
    assert of([3, 2] * 24).told.endswith("is a flag. Too few to be a flag: 50 grades are needed.")
    assert not of([3, 2] * 25, highest=5).raised
    assert of([3, 2] * 25, highest=8).limit == 1.0, "an eighth of the scale"


def test_a_drift_at_its_limit_is_a_flag() -> None:
    def of(mine: list[int], highest: int = 4) -> Flag:
        return flag(against(mine, [2] * len(mine)), FlagKind.DRIFT, highest=highest)

    assert of([2] * NEWEST + [3, 2, 2, 2] * 50) == Flag(
        *(FlagKind.DRIFT, 0.25, 400, 0.25, True),
        "Against the others, the newest 200 grades are 0.25 higher than the 200 earlier ones, +0.25 and +0.00 "
        "(99 % interval +0.25 to +0.25); 0.25 or more, with 0 outside the interval, is a flag.",
        (0.25, 0.25),
    )
    assert of([2] * NEWEST + [1, 2, 2, 2] * 50).raised
    assert not of([2] * NEWEST + [3, 2, 2, 2] * 49 + [2] * 4).raised
    assert not of([2] * NEWEST + [3, 2, 2, 2] * 50, highest=5).raised
    assert not of([2] * NEWEST + [4] * 60 + [0] * 10 + [2] * 130).raised, "it may be chance"


def test_agreement_that_falls_by_ten_points_is_a_flag() -> None:
    def of(often: int) -> Flag:
        """All agree at first, then so many of ten."""
        mine = [2] * NEWEST + [2 if n % 10 < often else 4 for n in range(NEWEST)]
        return flag(against(mine, [2] * 2 * NEWEST), FlagKind.AGREEMENT)

    assert of(9).value == pytest.approx(-0.1)
    assert (of(9).n, of(9).limit, of(9).interval) == (400, 0.1, pytest.approx((-0.1, -0.1)))
    assert of(9).told == (
        "Within 1 of the other first grade of the pair: 90 % of the newest 200 grades, 100 % of the 200 earlier ones "
        "(99 % interval −10 to −10 points); a drop of 10 points or more, with 0 outside the interval, is a flag."
    )
    assert [of(often).raised for often in (9, 10)] == [True, False]
    rises = flag(against([4] * NEWEST + [2] * 2 * NEWEST, [2] * 3 * NEWEST), FlagKind.AGREEMENT)
    assert rises.value == 0.5, "against all before"
    mine = [2] * NEWEST + [2 if n % 20 else 4 for n in range(NEWEST)]
    assert not flag(against(mine, [2] * 2 * NEWEST), FlagKind.AGREEMENT).raised, "by five points"
    mine = [2] * NEWEST + [2] * 170 + [4] * 30
    assert not flag(against(mine, [2] * 2 * NEWEST), FlagKind.AGREEMENT).raised, "it may be chance"


def test_only_grades_whose_time_is_known_have_a_course() -> None:
    rows = against([2] * 500, [2] * 500)
    rows = replace(rows, timed=rows.pair >= 101)
    assert flag(rows, FlagKind.DRIFT).n == 399
    assert flag(rows, FlagKind.DRIFT).told == flag(rows, FlagKind.DRIFT).reason
    assert flag(rows, FlagKind.DRIFT).told == (
        "399 grades that can be compared are too few: the newest 200 need at least 200 earlier ones to compare with."
    )
    assert flag(replace(rows, timed=rows.pair >= 100), FlagKind.DRIFT).n == 400
    assert flag(replace(rows, timed=rows.pair >= 100), FlagKind.DRIFT).value == 0.0
    apart = behind(look_at(rows, NO_CLIPS, highest=4, tolerance=1).of(ME), FlagKind.AGREEMENT)
    assert sum(one.n for one in apart.stretches) == 399
    assert apart.pairs == ()
    most = behind(look_at(rows, NO_CLIPS, highest=4, tolerance=1).of(ME), FlagKind.ONE_GRADE)
    assert most.stretches == (), "not of all of them it is known when"
    assert list(most.pairs) == list(range(499, -1, -1))


def test_nothing_to_ask_is_no_figure() -> None:
    alone = made([(n, 1, ME, 3) for n in range(500)])
    nobody, unmeasured = "Nobody else graded these pairs.", "None of the grades has a measured time and a known clip."
    for kind, limit, reason in (
        *((FlagKind.TOO_FAST, 0.05, unmeasured), (FlagKind.UNSEEN, 0.10, unmeasured)),
        *((FlagKind.BIAS, 0.5, nobody), (FlagKind.DRIFT, 0.25, nobody), (FlagKind.AGREEMENT, 0.1, nobody)),
    ):
        assert flag(alone, kind) == Flag(kind, None, 0, limit, False, reason, None, reason)
    one = flag(alone, FlagKind.ONE_GRADE)
    assert one == Flag(FlagKind.ONE_GRADE, 1.0, 500, 0.45, True, "100 % of 500 grades are 3; more than 45 % is a flag.")
    for kind, limit in ((FlagKind.TOO_FAST, 0.05), (FlagKind.UNSEEN, 0.10), (FlagKind.ONE_GRADE, 0.45)):
        assert flag(alone, kind, who=99) == Flag(kind, None, 0, limit, False, "No grade yet.", None, "No grade yet.")
    empty = behind(look_at(alone, NO_CLIPS, highest=4, tolerance=1).of(99), FlagKind.ONE_GRADE)
    assert (empty.stretches, empty.pairs) == ((), ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert behind(look_at(alone, NO_CLIPS, highest=4, tolerance=1).of(ME), FlagKind.BIAS).pairs == ()


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


def behind_of(mine: list[int], kind: FlagKind) -> FlagEvidence:
    """Behind a flag of grades against others that are always 2."""
    return behind(look_at(against(mine, [2] * len(mine)), NO_CLIPS, highest=4, tolerance=1).of(ME), kind)


def test_behind_a_drift_are_the_newest_grades_that_went_its_way() -> None:
    """Downwards here, although all grades together lie above the others'."""
    newest = [0] * 10 + [1] * 50 + [3] * 140
    assert list(behind_of([4] * 50 + newest, FlagKind.DRIFT).pairs) == list(range(50, 110)), "the farthest first"
    assert list(behind_of([4, *newest], FlagKind.DRIFT).pairs) == list(range(1, 61))
    assert list(behind_of(newest, FlagKind.DRIFT).pairs) == list(range(60, 200)), "no more than these: by their mean"
    assert list(behind_of([4] * 50 + newest, FlagKind.BIAS).pairs) == [*range(50), *range(110, 250)]
    apart = [4] * 200 + [0] * 200 + [3] * 150 + [1] * 50
    assert list(behind_of(apart, FlagKind.DRIFT).pairs) == list(range(400, 550)), "against all before, which are even"
    assert list(behind_of([1, 3], FlagKind.BIAS).pairs) == [1], "upwards where they are even"
    assert list(behind_of([0, 3], FlagKind.BIAS).pairs) == [0]


def test_of_grades_as_far_apart_the_first_given_come_first() -> None:
    rng = random.Random(5)
    mine = [rng.choice((2, 2, 3, 4)) for _ in range(300)]
    farthest = sorted((n for n, grade in enumerate(mine) if grade > 2), key=lambda n: -mine[n])
    assert list(behind_of(mine, FlagKind.BIAS).pairs) == farthest


def test_the_course_of_a_figure_is_told_in_stretches() -> None:
    course = behind_of([3] * 23 + [1] * 22, FlagKind.BIAS).stretches
    assert course == (Stretch(0.0, 44.0, 23, 1.0), Stretch(46.0, 88.0, 22, -1.0)), "grades of mine are every second"
    assert behind_of([3] * 19, FlagKind.BIAS).stretches == ()
    assert [one.n for one in behind_of([3] * 20, FlagKind.BIAS).stretches] == [20]
    assert [one.n for one in behind_of([3] * 480, FlagKind.BIAS).stretches] == [20] * 24
    assert [one.n for one in behind_of([3] * 504, FlagKind.BIAS).stretches] == [21] * 24


def skipping(grades: int, skips: int, broken: int) -> dict[FlagKind, Flag]:
    """What is said of somebody with so many grades and skips, of which so many say that the clip is broken."""
    given = made([(pair, 1, ME, 2) for pair in range(grades)] + [(0, 2, ME + 1, 2)])
    who, pairs = np.append(np.full(skips, ME), ME + 1), np.append(np.arange(1000, 1000 + skips), 5)
    everybodys = Skips(who, pairs, np.append(np.arange(skips) < broken, True), np.zeros(skips + 1))
    work = look_at(given, NO_CLIPS, everybodys, highest=4, tolerance=1)
    return {one.kind: one for one in flags_of(work, ME)}


@pytest.mark.parametrize(
    ("grades", "skips", "broken", "raised"),
    [
        (11, 149, 149, {FlagKind.SKIPS, FlagKind.REPORTS}),  # the attack: 149 of 160 pairs
        (0, 60, 0, {FlagKind.SKIPS}),
        (80, 20, 5, set()),  # 20 % and 5 % are not more than 20 % and 5 %
        (79, 21, 6, {FlagKind.SKIPS, FlagKind.REPORTS}),
        (20, 29, 29, set()),  # 49 pairs are too few
    ],
)
def test_who_skips_or_reports_much_is_flagged(grades: int, skips: int, broken: int, raised: set[FlagKind]) -> None:
    found = skipping(grades, skips, broken)
    assert {kind for kind in (FlagKind.SKIPS, FlagKind.REPORTS) if found[kind].raised} == raised
    assert found[FlagKind.SKIPS].value == pytest.approx(skips / (grades + skips))
    assert found[FlagKind.REPORTS].value == pytest.approx(broken / (grades + skips))
    assert found[FlagKind.REPORTS].n == grades + skips


def test_the_pairs_behind_skips_are_the_newest_first_and_of_this_person() -> None:
    skips = Skips(
        np.array([ME, 1, ME, ME]), np.array([11, 12, 13, 14]), np.array([True, True, False, True]), np.zeros(4)
    )
    work = look_at(made([(1, 1, ME, 2)]), NO_CLIPS, skips, highest=4, tolerance=1).of(ME)
    assert behind(work, FlagKind.SKIPS).pairs == (14, 13, 11)
    assert behind(work, FlagKind.REPORTS).pairs == (14, 11)


def test_skips_are_told_in_words() -> None:
    found = skipping(11, 149, 149)[FlagKind.REPORTS]
    assert found.told == "149 of 160 pairs handed out were reported as broken (93.1 %); more than 5 % is a flag."
    assert skipping(0, 0, 0)[FlagKind.SKIPS].reason == "No grade and no skip yet."


@pytest.mark.parametrize(("more", "again"), [(49, False), (50, True)])
def test_so_many_skips_after_a_dismissal_raise_the_flag_again(more: int, again: bool) -> None:
    count, at = 100 + more, np.append(np.full(100, 5.0), np.full(more, 9.0))
    skips = Skips(np.full(count, ME), np.arange(count), np.zeros(count, dtype=bool), at)
    work = look_at(made([(1, 1, ME + 1, 2)]), NO_CLIPS, skips, highest=4, tolerance=1)
    dismissed = {FlagKind.SKIPS: FlagDismissal(7.0, "Lea", "")}
    (found,) = (one for one in flags_of(work, ME, dismissed) if one.kind is FlagKind.SKIPS)
    assert found.raised
    assert (found.dismissed is None) == again


def test_a_grade_whose_time_is_not_known_is_no_new_work() -> None:
    work = look_at(made([(pair, 1, ME, 2) for pair in range(60)], timed=False), NO_CLIPS, highest=4, tolerance=1)
    dismissed = {FlagKind.ONE_GRADE: FlagDismissal(-1.0, "Lea", "")}
    assert not any(one.raised and one.dismissed is None for one in flags_of(work, ME, dismissed))
