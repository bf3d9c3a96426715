"""How people did in an exam: shares, kappas and intervals, against other libraries and every resample there is."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.qualification.exam.rules.marking import Answer, Outcome, mark, outcome, together

ANSWERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


def answered(pairs: list[tuple[int, int]]) -> list[Answer]:
    return [Answer(own, right, right) for own, right in pairs]


@given(ANSWERS, st.integers(0, 2))
def test_shares_and_their_intervals_are_those_of_scipy(answers: list[tuple[int, int, int]], tolerance: int) -> None:
    from scipy.stats import binomtest

    found = outcome([Answer(*one) for one in answers], tolerance, resamples=10)
    first = [own for own, _, _ in answers]
    after = [again if abs(own - right) > tolerance else own for own, right, again in answers]
    for given_grades, share in ((first, found.missed_first), (after, found.missed_after)):
        missed = sum(abs(own - one[1]) > tolerance for own, one in zip(given_grades, answers, strict=True))
        expected = binomtest(missed, len(answers)).proportion_ci(method="wilson")
        assert (share.value, share.n, share.reason) == (missed / len(answers), len(answers), "")
        assert (share.low, share.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(ANSWERS)
def test_kappas_are_those_of_sklearn_and_lie_where_they_are_defined(answers: list[tuple[int, int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    found = outcome([Answer(*one) for one in answers], 1, resamples=50)
    own, right = [one[0] for one in answers], [one[1] for one in answers]
    for weights, kappa in ((None, found.kappa), ("quadratic", found.kappa_quadratic)):
        if len({*own, *right}) == 1:
            assert (kappa.value, kappa.low, kappa.high) == (None, None, None)
            assert kappa.reason == "both gave every pair the same single grade"
        else:
            assert kappa.value == pytest.approx(cohen_kappa_score(own, right, weights=weights, labels=range(5)))
        if kappa.low is not None and kappa.high is not None:
            assert -1 <= kappa.low <= kappa.high <= 1


def test_the_interval_of_a_kappa_is_that_of_all_resamples() -> None:
    # Six items have 6^6 resamples, so their percentiles can be counted out; those drawn by chance come near.
    pairs = [(0, 0), (1, 1), (4, 4), (2, 3), (0, 2), (3, 3)]
    every = [
        cohen_kappa([pairs[place] for place in places]) for places in product(range(len(pairs)), repeat=len(pairs))
    ]
    low, high = np.nanquantile(every, [0.025, 0.975])
    found = outcome(answered(pairs), 1, resamples=20_000).kappa
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)


def cohen_kappa(pairs: list[tuple[int, int]]) -> float:
    """By the definition: observed against expected agreement; NaN where chance agrees always."""
    n = len(pairs)
    observed = sum(own == right for own, right in pairs) / n
    own, right = [one[0] for one in pairs], [one[1] for one in pairs]
    expected = sum(own.count(grade) * right.count(grade) for grade in range(5)) / n**2
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def test_a_worked_attempt() -> None:
    # 3 of 10 miss. Wilson, z = 1.959964: (.3 + .192073 +- 1.959964 sqrt(.021 + .0096036)) / 1.384146.
    pairs = [(0, 4), (1, 4), (4, 1), (4, 4), (3, 3), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0)]
    answers = [Answer(own, right, [3, 0, 1][nth] if nth < 3 else None) for nth, (own, right) in enumerate(pairs)]
    found = outcome(answers, 1)
    assert (found.answers, found.missed) == (10, 3)
    assert (found.missed_first.low, found.missed_first.high) == pytest.approx((0.1078, 0.6032), abs=1e-4)
    assert found.missed_after.value == 0.1, "the second was missed again after it was explained"
    assert found.kappa.low is not None
    assert found == outcome(answers, 1), "the same seed draws the same resamples"


def test_what_was_missed_and_not_looked_at_again_leaves_the_second_share_open() -> None:
    found = outcome([Answer(0, 4, None), Answer(0, 3, 3), Answer(1, 1, None)], 1)
    assert found.missed_first.value == pytest.approx(2 / 3)
    assert found.missed_after.value is None
    assert found.missed_after.reason == "1 of 2 missed clips not yet looked at again"


def test_a_kappa_that_most_resamples_do_not_have_gets_no_interval() -> None:
    # All ten alike but one: (9/10)^10 = 35 % of the resamples leave that one out.
    found = outcome(answered([(0, 0)] * 9 + [(1, 1)]), 1, resamples=4000).kappa
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert found.reason in {f"undefined in {n} % of the resamples, so it has no interval" for n in range(32, 39)}


def test_how_many_resamples_have_no_kappa_is_told_in_percent() -> None:
    # Of two answers, one of each, half of the resamples are twice the same one.
    reasons = [outcome(answered([(0, 0), (1, 1)]), 1, resamples=4000, seed=seed).kappa.reason for seed in range(40)]
    told = [int(reason.split()[2]) for reason in reasons]
    assert sum(told) / len(told) == pytest.approx(50, abs=0.25)


def test_nothing_answered_says_so() -> None:
    found = outcome([], 1)
    assert found.missed_first.reason == found.kappa.reason == "nothing was answered"


def test_the_group_is_the_mean_of_its_people_and_its_interval_that_of_all_resamples_of_them() -> None:
    people = [
        outcome(answered([(0, 4)] * misses + [(1, 1), (2, 2), (3, 3)] * 3), 1, resamples=10) for misses in (0, 1, 3, 6)
    ]
    found = together(people, resamples=20_000)
    rates = [0, 1 / 10, 3 / 12, 6 / 15]
    assert found.missed_first.value == pytest.approx(fmean(rates))
    assert (found.missed_first.n, found.answers, found.missed) == (4, 9 + 10 + 12 + 15, 10)
    every = [fmean(rates[one] for one in places) for places in product(range(4), repeat=4)]
    assert (found.missed_first.low, found.missed_first.high) == pytest.approx(
        tuple(np.quantile(every, [0.025, 0.975])), abs=0.01
    )
    assert found.missed_after.value == 0


def test_a_group_of_one_has_no_interval_and_an_empty_one_no_mean() -> None:
    alone = outcome(answered([(0, 4), (1, 1), (2, 2)]), 1, resamples=10)
    assert together([alone]).missed_first.reason == "one person alone gives no interval"
    assert together([alone]).missed_first.value == pytest.approx(1 / 3)
    assert together([]).kappa.reason == "nobody has handed an exam in yet"
    same: Outcome = outcome(answered([(2, 2)]), 1)
    assert together([same, alone]).kappa.n == 1
    assert together([same]).kappa.reason == "nobody has a value"


def quadratic_kappa(pairs: Sequence[tuple[int, int]]) -> float:
    """By the definition: mean squared difference, against that of everybody's answers with everybody's keys."""
    observed = sum((own - right) ** 2 for own, right in pairs) / len(pairs)
    expected = sum((own - right) ** 2 for own, _ in pairs for _, right in pairs) / len(pairs) ** 2
    return 1 - observed / expected if expected else float("nan")


def test_the_interval_of_a_weighted_kappa_is_that_of_all_resamples() -> None:
    pairs = [(0, 0), (1, 1), (4, 4), (2, 4), (0, 3)]
    every = [quadratic_kappa(some) for some in product(pairs, repeat=5)]
    found = outcome(answered(pairs), 1, resamples=20_000).kappa_quadratic
    assert found.value == pytest.approx(quadratic_kappa(pairs))
    assert found.n == 5
    assert (found.low, found.high) == pytest.approx(tuple(np.nanquantile(every, [0.025, 0.975])), abs=0.03)


def test_every_figure_says_how_many_answers_or_people_it_rests_on() -> None:
    some = outcome([Answer(0, 4, None), Answer(0, 3, 3), Answer(1, 1, None)], 1, resamples=50)
    assert (some.missed_after.n, some.kappa.n) == (3, 3)
    alike = outcome(answered([(2, 2)] * 4), 1)
    assert (alike.kappa.value, alike.kappa.n) == (None, 4)
    rare = outcome(answered([(0, 0)] * 9 + [(1, 1)]), 1, resamples=100).kappa
    assert (rare.low, rare.n) == (None, 10)
    nothing = outcome([], 1)
    assert (nothing.missed_first.n, nothing.missed_first.value, nothing.kappa.n) == (0, None, 0)
    assert together([]).kappa.n == together([alike]).kappa.n == 0


def test_resamples_and_seed_are_those_that_were_asked_for() -> None:
    pairs = [(0, 0), (1, 1), (4, 4), (2, 3), (0, 2), (3, 3)]
    by_seed = [outcome(answered(pairs), 1, resamples=40, seed=seed).kappa for seed in (1, 1, 2)]
    assert by_seed[0] == by_seed[1] != by_seed[2]
    people = [outcome(answered([(0, 4)] * misses + [(1, 1), (2, 2)]), 1, resamples=10) for misses in range(5)]
    groups = [together(people, resamples=40, seed=seed).missed_first for seed in (1, 1, 2)]
    assert groups[0] == groups[1] != groups[2]
    once = together(people, resamples=1).missed_first
    assert once.low == once.high


def test_the_group_has_the_mean_of_each_kind_of_kappa() -> None:
    people = [outcome(answered([(0, 4)] * n + [(1, 1), (2, 3), (4, 4)]), 1, resamples=10) for n in (0, 2)]
    found = together(people, resamples=10)
    for one, several in (
        (found.kappa, [one.kappa.value for one in people]),
        (found.kappa_quadratic, [one.kappa_quadratic.value for one in people]),
    ):
        assert one.value == pytest.approx(fmean(value for value in several if value is not None))
    assert found.kappa.value != found.kappa_quadratic.value


def test_the_result_of_an_attempt_has_every_figure() -> None:
    from sklearn.metrics import cohen_kappa_score

    own, right = [4, 3, 0, 1, 2], [4, 4, 0, 4, 2]
    found = mark(list(zip(own, right, strict=True)), 20, 1)
    assert (found.answers, found.missed, found.most_missed, found.passed) == (5, 1, 20, True)
    assert found.kappa == pytest.approx(cohen_kappa_score(own, right))
    assert found.kappa_quadratic == pytest.approx(cohen_kappa_score(own, right, weights="quadratic"))
