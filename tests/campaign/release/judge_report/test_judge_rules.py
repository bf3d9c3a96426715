"""How a model's grades compare with people's, against scikit-learn, the package krippendorff and plain loops."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.nouns import Rounding
from backend.campaign.release.judge_report import rules
from backend.campaign.release.judge_report.model import FIGURE_WORDS
from backend.campaign.release.judge_report.rules import JudgedPairs


def judged(seed: int, pairs: int = 60, queries: int = 8, rounding: Rounding = Rounding.HALF_UP) -> JudgedPairs:
    """Made-up pairs of two to four people each, and a model that is often near them."""
    rng = np.random.default_rng(seed)
    query = np.sort(np.concatenate([np.arange(queries), rng.integers(0, queries, pairs - queries)]))
    truth = rng.integers(0, 5, pairs)
    size = rng.integers(2, 5, pairs)
    of_pair = rng.permutation(np.repeat(np.arange(pairs), size))
    grade = np.clip(truth[of_pair] + rng.integers(-1, 2, len(of_pair)), 0, 4)
    agreed = np.array([grade[of_pair == pair].mean() for pair in range(pairs)])
    model = np.clip(truth + rng.integers(-2, 3, pairs), 0, 4)
    return JudgedPairs(query, np.floor(agreed + 0.5).astype(int), agreed, model, of_pair, grade, 4, rounding)


SEEDS = st.integers(0, 10_000)


@given(SEEDS)
@settings(deadline=None, max_examples=20)
def test_kappas_are_those_of_scikit_learn(seed: int) -> None:
    from sklearn.metrics import cohen_kappa_score

    pairs = judged(seed)
    splits = [rules.halves(pairs, number) for number in range(3)]
    found = rules.figures(pairs, splits, resamples=5)

    def kappa(one: np.ndarray, other: np.ndarray) -> float:
        return float(cohen_kappa_score(one, other, weights="quadratic", labels=range(5)))

    assert found["kappa_quadratic"].value == pytest.approx(kappa(pairs.model, pairs.relevance))
    assert found["kappa_quadratic_people"].value == pytest.approx(np.mean([kappa(*split) for split in splits]))
    each = [kappa(pairs.model, half) for split in splits for half in split]
    assert found["kappa_quadratic_half"].value == pytest.approx(np.mean(each))


@given(SEEDS)
@settings(deadline=None, max_examples=20)
def test_the_model_is_one_more_annotator_in_the_alpha_of_the_package_krippendorff(seed: int) -> None:
    import krippendorff

    pairs = judged(seed)
    found = rules.figures(pairs, [rules.halves(pairs, 0)], resamples=5)
    people = np.array([np.bincount(pairs.grade[pairs.of_pair == pair], minlength=5) for pair in range(60)])
    both = people + np.eye(5, dtype=int)[pairs.model]

    def alpha(counts: np.ndarray) -> float:
        return float(krippendorff.alpha(value_counts=counts, level_of_measurement="ordinal"))

    assert found["alpha_people"].value == pytest.approx(alpha(people))
    assert found["alpha_with_model"].value == pytest.approx(alpha(both))
    assert found["alpha_change"].value == pytest.approx(alpha(both) - alpha(people))


def test_intervals_are_those_of_resampled_queries_each_with_all_its_pairs() -> None:
    """Every draw of three queries out of three is as likely as any other, so the exact percentiles can be listed."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    pairs = judged(4, pairs=30, queries=3)
    counts = np.array([np.bincount(pairs.grade[pairs.of_pair == pair], minlength=5) for pair in range(30)])
    samples, biases, alphas = [], [], []
    for drawn in itertools.product(range(3), repeat=3):
        rows = np.concatenate([np.flatnonzero(pairs.query == query) for query in drawn])
        samples.append(cohen_kappa_score(pairs.model[rows], pairs.relevance[rows], weights="quadratic"))
        biases.append((pairs.model[rows] - pairs.agreed[rows]).mean())
        alphas.append(krippendorff.alpha(value_counts=counts[rows], level_of_measurement="ordinal"))
    found = rules.figures(pairs, [rules.halves(pairs, 0)], resamples=4_000)
    for key, values in (("kappa_quadratic", samples), ("bias", biases), ("alpha_people", alphas)):
        # The ends are values that draws have; 2.5 % of 27 draws is less than one draw, of which each end is.
        assert (found[key].low, found[key].high) == pytest.approx((min(values), max(values)))


@given(SEEDS, st.sampled_from(Rounding))
@settings(deadline=None, max_examples=20)
def test_halves_split_the_people_of_each_pair(seed: int, rounding: Rounding) -> None:
    pairs = judged(seed, rounding=rounding)
    first, second = rules.halves(pairs, seed)
    for pair in range(60):
        grades = pairs.grade[pairs.of_pair == pair].tolist()
        few = len(grades) // 2
        possible = set()
        for chosen in itertools.combinations(range(len(grades)), few):
            one = [grades[place] for place in chosen]
            other = [grades[place] for place in range(len(grades)) if place not in chosen]
            possible.add((rounded(one, rounding), rounded(other, rounding)))
        assert (first[pair], second[pair]) in possible


def rounded(grades: list[int], rounding: Rounding) -> int:
    mean = sum(grades) / len(grades)
    return math.floor(mean + 0.5) if rounding is Rounding.HALF_UP else math.ceil(mean - 0.5)


def test_splits_are_those_of_their_seed_and_differ() -> None:
    pairs = judged(1)
    assert all(np.array_equal(*both) for both in zip(rules.halves(pairs, 3), rules.halves(pairs, 3), strict=True))
    assert not np.array_equal(rules.halves(pairs, 3)[0], rules.halves(pairs, 4)[0])


def test_a_model_that_says_what_people_agreed_on_is_perfect() -> None:
    pairs = judged(2)
    perfect = JudgedPairs(
        pairs.query,
        pairs.relevance,
        pairs.relevance.astype(float),
        pairs.relevance,
        pairs.of_pair,
        pairs.grade,
        4,
        Rounding.HALF_UP,
    )
    found = rules.figures(perfect, [rules.halves(perfect, 0)], resamples=50)
    for key, value in (("kappa_quadratic", 1), ("equal", 1), ("within_one", 1), ("bias", 0)):
        assert (found[key].value, found[key].low, found[key].high) == (value, value, value)
    assert rules.apart(perfect) == 0
    assert np.array(rules.confusion(perfect)).trace() == 60


@given(SEEDS)
@settings(deadline=None, max_examples=20)
def test_confusion_and_biases_count_every_pair_once(seed: int) -> None:
    pairs = judged(seed)
    table = rules.confusion(pairs)
    for relevance, model in itertools.product(range(5), range(5)):
        both = sum(
            (r, m) == (relevance, model) for r, m in zip(pairs.relevance.tolist(), pairs.model.tolist(), strict=True)
        )
        assert table[relevance][model] == both
    assert [len(row) for row in table] == [5] * 5
    distance = [abs(r - m) for r, m in zip(pairs.relevance.tolist(), pairs.model.tolist(), strict=True)]
    found = rules.figures(pairs, [rules.halves(pairs, 0)], resamples=5)
    assert found["equal"].value == pytest.approx(distance.count(0) / 60)
    assert found["within_one"].value == pytest.approx((distance.count(0) + distance.count(1)) / 60)
    assert rules.apart(pairs) == sum(abs(r - m) >= 2 for r, m in zip(pairs.relevance, pairs.model, strict=True))
    groups = rules.bias_groups(pairs, pairs.relevance, [*"01234"], resamples=5)
    assert sum(group.pairs for group in groups) == 60
    for group in groups:
        rows = pairs.relevance == int(group.name)
        assert group.bias.value == pytest.approx((pairs.model[rows] - pairs.agreed[rows]).mean())


def test_shows_are_told_only_where_there_are_several() -> None:
    group, names = rules.show_groups(
        ["house_s01e02_seg02_clip_00", "s01e01_seg01_clip_00", "house_s02e02_seg02_clip_01"]
    )
    assert [names[number] for number in group] == ["house", "no prefix", "house"]
    assert rules.show_groups(["kitchen", "garden"])[1] == []


def test_spreads_leave_out_what_is_undefined() -> None:
    nothing, some = rules.spreads([np.array([np.nan, 0.5]), np.array([np.nan, 1.0]), np.array([np.nan, np.nan])], 2)
    assert nothing is None
    assert some is not None
    assert (some.mean, some.low, some.high) == (0.75, 0.5, 1.0)


def test_one_grade_everywhere_leaves_kappa_and_alpha_undefined_with_the_reason() -> None:
    ones = np.ones(4, dtype=np.int64)
    given = np.repeat(np.arange(4), 2), np.ones(8, dtype=np.int64)
    pairs = JudgedPairs(np.array([0, 0, 1, 1]), ones, ones.astype(float), ones, *given, 4, Rounding.HALF_UP)
    found = rules.figures(pairs, [rules.halves(pairs, 0)], resamples=5)
    for key in ("kappa_quadratic", "kappa_quadratic_half", "kappa_quadratic_people"):
        assert found[key] == Figure(None, 4, "model grades", "both gave every pair the same single grade")
    assert found["alpha_people"] == Figure(None, 8, "grades", "all grades are the same")
    assert found["alpha_with_model"] == Figure(None, 12, "grades", "all grades are the same")
    assert found["alpha_change"] == Figure(None, 12, "grades", "all grades are the same")
    assert found["equal"] == Figure(1, 4, "pairs", "", 1, 1)
    assert found["bias"] == Figure(0, 4, "model grades", "", 0, 0)
    assert rules.confusion(pairs) == ((0,) * 5, (0, 4, 0, 0, 0), *((0,) * 5,) * 3)
    unlike = replace(pairs, model=np.array([1, 2, 2, 2]))
    found = rules.figures(unlike, [rules.halves(unlike, 0)], resamples=5)
    assert found["alpha_with_model"].value is not None
    assert found["alpha_change"] == Figure(None, 12, "grades", "all grades are the same")


def test_each_figure_says_over_what_it_is_and_intervals_are_those_of_the_seed() -> None:
    pairs = judged(3)
    splits = [rules.halves(pairs, 0), rules.halves(pairs, 1)]
    found = rules.figures(pairs, splits, resamples=200)
    people = len(pairs.grade)
    assert {key: (figure.n, figure.of) for key, figure in found.items()} == {
        **dict.fromkeys(("kappa_quadratic", "kappa_quadratic_half", "kappa_quadratic_people"), (60, "model grades")),
        **{"alpha_people": (people, "grades"), "alpha_with_model": (people + 60, "grades")},
        "alpha_change": (people + 60, "grades"),
        **{"equal": (60, "pairs"), "within_one": (60, "pairs"), "bias": (60, "model grades")},
    }
    assert list(found) == list(FIGURE_WORDS)
    for figure in found.values():
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high
    assert rules.figures(pairs, splits, resamples=200) == found
    other = rules.figures(pairs, splits, resamples=200, seed=1)
    assert all(other[key].value == figure.value for key, figure in found.items())
    assert all((other[key].low, other[key].high) != (figure.low, figure.high) for key, figure in found.items())
    assert rules.figures(pairs, splits, resamples=0)["alpha_change"].low is None


def test_intervals_of_means_over_splits_are_those_of_their_samples() -> None:
    """Two queries have four draws, of which the first query alone is a quarter."""
    from sklearn.metrics import cohen_kappa_score

    pairs = judged(7, pairs=20, queries=2)
    splits = [rules.halves(pairs, number) for number in range(2)]
    samples = []
    for drawn in itertools.product(range(2), repeat=2):
        rows = np.concatenate([np.flatnonzero(pairs.query == query) for query in drawn])
        samples.append(np.mean([cohen_kappa_score(a[rows], b[rows], weights="quadratic") for a, b in splits]))
    found = rules.figures(pairs, splits, resamples=500)["kappa_quadratic_people"]
    assert (found.low, found.high) == pytest.approx((min(samples), max(samples)))


def test_groups_have_intervals_over_their_own_queries() -> None:
    pairs = judged(5)
    (one,) = rules.bias_groups(pairs, np.where(pairs.query == 2, 1, 0), ["", "the second", "nobody"], resamples=50)[1:]
    assert (one.name, one.pairs, one.bias.of) == ("the second", int((pairs.query == 2).sum()), "model grades")
    assert one.bias.low == one.bias.value == one.bias.high  # a single query is in every draw
    both = rules.bias_groups(pairs, pairs.query % 2, ["even", "odd"], resamples=50)
    again = rules.bias_groups(pairs, pairs.query % 2, ["even", "odd"], resamples=50, seed=1)
    assert [(group.name, group.pairs, group.bias.value) for group in both] == [
        (group.name, group.pairs, group.bias.value) for group in again
    ]
    assert both[0].bias.low != again[0].bias.low
    assert rules.bias_groups(pairs, pairs.query % 2, ["even", "odd"], resamples=50) == both
    assert rules.bias_groups(pairs, pairs.query % 2, ["even", "odd"], resamples=0)[0].bias.low is None


def test_queries_are_grouped_by_fives_of_words() -> None:
    group, names = rules.length_groups(list(range(30)))
    assert group.tolist() == [0] * 6 + [1] * 5 + [2] * 5 + [3] * 5 + [4] * 9
    assert names == ["1–5 words", "6–10 words", "11–15 words", "16–20 words", "21 words or more"]
