"""Policies that save grades, each beside plain loops on small invented campaigns."""

import math
import statistics
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from backend.campaign.judging.rules import decide
from backend.campaign.nouns import Rounding
from backend.campaign.release.replay.model import Evidence, GivenGrades
from backend.campaign.release.replay.policies import LAST, LEAST_DOUBLE, POLICIES
from backend.campaign.release.replay.rules.outcome import outcome
from backend.campaign.release.replay.rules.truth import relevance_of
from backend.scoring.statistics.resampling import bootstrap_means

Grade = tuple[int, int]
"""(annotator, grade)"""


def campaign(
    pairs: list[list[list[Grade]]], *, decided: dict[int, int] | None = None, timed: bool = True, batch_size: int = 20
) -> GivenGrades:
    """A campaign from the grades of each pair of each query, in the order of giving."""
    flat = [grades for query in pairs for grades in query]
    rows = [(place, *grade) for place, grades in enumerate(flat) for grade in grades]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return GivenGrades(
        query=np.array([number for number, query in enumerate(pairs) for _ in query], dtype=np.int64),
        batch=np.array([place // batch_size + 1 for query in pairs for place in range(len(query))], dtype=np.int64),
        decided=np.array([(decided or {}).get(place, -1) for place in range(len(flat))], dtype=np.int64),
        re_opened=np.zeros(len(flat), dtype=bool),
        pair=columns[0],
        annotator=columns[1],
        grade=columns[2],
        round=np.zeros(len(rows), dtype=np.int64),
        timed=timed,
        highest=4,
        tolerance=1,
        rounding=Rounding.HALF_UP,
    )


def evidence(made: GivenGrades, taken_at: np.ndarray | None = None, k: int = 3, seed: int = 0) -> Evidence:
    ranks = np.zeros((2, made.pairs), dtype=np.int64) if taken_at is None else taken_at
    full = relevance_of(made, np.ones(len(made.pair), dtype=bool))
    return Evidence(made, full, ranks, k, "linear", np.random.default_rng(seed))


def used(name: str, about: Evidence, setting: float) -> np.ndarray:
    return POLICIES[name].used(about, setting)


@st.composite
def campaigns(draw: st.DrawFn, longest: int = 12) -> list[list[list[Grade]]]:
    """One to four queries with pairs that have two grades, or four after a disagreement, as the protocol asks."""
    grade = st.integers(0, 4)
    made = []
    for _ in range(draw(st.integers(1, 4))):
        query = []
        for _ in range(draw(st.integers(1, longest))):
            first, second = draw(grade), draw(grade)
            grades = [first, second, *((draw(grade), draw(grade)) if abs(first - second) > 1 else ())]
            people = draw(st.permutations(range(5)))
            query.append(list(zip(people, grades, strict=False)))
        made.append(query)
    return made


@given(campaigns(), st.integers(0, 2**32 - 1))
def test_the_truth_of_some_grades_is_the_consensus_rule_of_them(pairs: list[list[list[Grade]]], seed: int) -> None:
    made = campaign(pairs)
    kept = np.random.default_rng(seed).random(len(made.pair)) < 0.7
    expected = []
    for place in range(made.pairs):
        mine = made.pair == place
        grades = made.grade[mine & kept].tolist()
        if len(grades) % 2 and len(grades) < mine.sum():
            grades.append(int(statistics.median(grades)))
        relevance = decide(grades, 1).relevance
        expected.append(-1 if relevance is None else relevance)
    assert relevance_of(made, kept).tolist() == expected


def test_a_decision_of_a_lead_counts_where_no_grade_is_dropped() -> None:
    pairs = [[[(0, 0), (1, 4), (2, 0), (3, 4)], [(0, 0), (1, 4), (2, 0), (3, 4)]]]
    made = campaign(pairs, decided={0: 3, 1: 3})
    kept = np.ones(8, dtype=bool)
    kept[5:] = False
    assert relevance_of(made, kept).tolist() == [3, 0]


def test_a_re_opened_pair_needs_six_grades_unless_some_are_dropped() -> None:
    six = [(0, 0), (1, 4), (2, 1), (3, 3), (4, 3), (5, 4)]
    made = campaign([[six, [(0, 0), (1, 4), (2, 1), (3, 2)]]])
    made = GivenGrades(**{name: getattr(made, name) for name in made.__slots__} | {"re_opened": np.array([True, True])})
    every = np.ones(10, dtype=bool)
    # Of 0 1 3 3 4 4 the middle two decide. The second pair waits for two more grades, though 1 and 2 agree.
    assert relevance_of(made, every).tolist() == [3, -1]
    fewer = every.copy()
    # 0 1 3 4 4 with their median 3 once more are 0 1 3 3 4 4 again. Without one of its four grades, the second pair has
    # 0 1 4 and their median 1.
    fewer[[3, 9]] = False
    assert relevance_of(made, fewer).tolist() == [3, 1]


@given(campaigns(), st.integers(0, 2**32 - 1))
def test_a_drawn_order_is_one_in_which_the_grades_can_have_come(pairs: list[list[list[Grade]]], seed: int) -> None:
    made = campaign(pairs, timed=False)
    drawn = made.drawn_order(np.random.default_rng(seed))
    assert drawn.pair.tolist() == made.pair.tolist()
    for place in range(made.pairs):
        before, after = (
            list(zip(one.annotator[one.pair == place], one.grade[one.pair == place], strict=True))
            for one in (made, drawn)
        )
        assert sorted(before) == sorted(after)
        if len(after) == 4:
            assert abs(int(after[0][1]) - int(after[1][1])) > 1
    assert campaign(pairs).drawn_order(np.random.default_rng(seed)).grade.tolist() == made.grade.tolist()


def test_every_order_that_can_be_is_drawn_alike_often() -> None:
    # Of 0, 2, 3, 3, the pairs that differ by more than 1 are 0-2, 0-3 and 0-3: four first twos in three.
    made = campaign([[[(0, 0), (1, 2), (2, 3), (3, 3)]]] * 3_000, timed=False)
    drawn = made.drawn_order(np.random.default_rng(5))
    first = [frozenset(drawn.annotator[at : at + 2].tolist()) for at in range(0, len(drawn.pair), 4)]
    counts = {two: first.count(two) for two in set(first)}
    assert set(counts) == {frozenset({0, 1}), frozenset({0, 2}), frozenset({0, 3})}
    # A third of 3,000 each: four standard deviations are 103.
    assert all(abs(count - 1_000) < 103 for count in counts.values())


def test_rounds_keep_their_order() -> None:
    made = campaign([[[(0, 0), (1, 4), (2, 3), (3, 4)]]] * 50, timed=False)
    rounds = np.tile([1, 1, 2, 2], 50)
    made = GivenGrades(**{name: getattr(made, name) for name in made.__slots__} | {"round": rounds})
    drawn = made.drawn_order(np.random.default_rng(1))
    assert drawn.round.tolist() == rounds.tolist()
    assert set(drawn.annotator[0::4].tolist()) == {0, 1}
    assert set(drawn.annotator[2::4].tolist()) == {2, 3}


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 0.7, 0.8, 0.9, 1.0]))
def test_single_is_a_loop_over_pairs(seed: int, chance: float) -> None:
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(400):
        first = int(rng.choice([0, 1, 3, 4], p=[0.4, 0.4, 0.1, 0.1]))
        second = int(np.clip(first + rng.choice([0, 1, 3], p=[0.5, 0.3, 0.2]), 0, 4))
        grades = [first, second, *((1, 2) if abs(first - second) > 1 else ())]
        people = [int(rng.integers(0, 2)), int(rng.integers(0, 3)), 4, 5]
        pairs.append(list(zip(people, grades, strict=False)))
    made = campaign([pairs])
    agreed: dict[Grade, int] = {}
    seen: dict[Grade, int] = {}
    trusted: set[Grade] = set()
    expected = []
    for grades in pairs:
        cell = grades[0]
        if seen.get(cell, 0) >= LEAST_DOUBLE and (agreed[cell] + 1) / (seen[cell] + 2) >= chance:
            trusted.add(cell)
        expected += [True] + [cell not in trusted] * (len(grades) - 1)
        if grades[0][0] != grades[1][0]:
            seen[cell] = seen.get(cell, 0) + 1
            agreed[cell] = agreed.get(cell, 0) + (abs(grades[0][1] - grades[1][1]) <= 1)
    assert used("single", evidence(made), chance).tolist() == expected
    if chance == 1.0:
        assert all(expected)


def test_single_trusts_a_chance_that_is_reached_exactly_and_after_20_pairs_no_sooner() -> None:
    # All 20 agreed: (20 + 1) / (20 + 2) is the chance. The first of the next annotator is on its own.
    made = campaign([[[(0, 3), (1, 3)]] * 22 + [[(2, 3), (1, 3)]]])
    kept = used("single", evidence(made), 21 / 22).reshape(-1, 2)
    assert kept[:, 0].all()
    assert kept[:, 1].tolist() == [True] * 20 + [False] * 2 + [True]
    assert used("single", evidence(made), 0.5).reshape(-1, 2)[:, 1].tolist() == kept[:, 1].tolist()


@pytest.mark.parametrize(("relevances", "stop"), [([4, 0, 0, 0, 0, 0, 0], 6), ([0, 0, 0, 0, 0, 3], 5), ([4] * 5, 5)])
def test_settled_stops_where_nothing_can_rise(relevances: list[int], stop: int) -> None:
    made = campaign([[[(0, one), (1, one)] for one in relevances]])
    assert used("settled", evidence(made), 0).reshape(-1, 2)[:, 0].tolist() == [
        place < stop for place in range(len(relevances))
    ]


def test_settled_goes_on_where_nothing_is_known_of_the_last_five() -> None:
    # Five discarded pairs, then one of relevance 1, and one to go.
    discarded = [(0, 0), (1, 4), (2, 0), (3, 4)]
    made = campaign([[discarded] * 5 + [[(0, 1), (1, 1)], [(0, 4), (1, 4)]]])
    assert used("settled", evidence(made), 0.9).tolist() == [True] * 22 + [False] * 2


def ideal(relevances: list[int], k: int) -> float:
    best = sorted((one for one in relevances if one >= 0), reverse=True)[:k]
    return sum(one / math.log2(rank + 1) for rank, one in enumerate(best, start=1))


@settings(deadline=None)
@given(campaigns(), st.sampled_from([0.0, 0.02, 0.1, 0.3, 1.0]), st.integers(1, 8))
def test_settled_is_a_loop_over_queries(pairs: list[list[list[Grade]]], epsilon: float, k: int) -> None:
    about = evidence(campaign(pairs), k=k)
    expected: list[bool] = []
    for number, query in enumerate(pairs):
        relevances = about.relevance[about.given.query == number].tolist()
        stop = len(query)
        for n in range(LAST, len(query)):
            best = max(relevances[n - LAST : n])
            high = ideal(relevances[:n] + [4 if best < 0 else best] * (len(query) - n), k)
            if high - ideal(relevances[:n], k) <= epsilon * high + 1e-12:
                stop = n
                break
        expected += [place < stop for place, grades in enumerate(query) for _ in grades]
    assert used("settled", about, epsilon).tolist() == expected


@given(campaigns(longest=14), st.sampled_from([0.0, 1.0, 2.0, 3.5]))
def test_batches_is_a_loop_over_batches(pairs: list[list[list[Grade]]], mean: float) -> None:
    about = evidence(campaign(pairs, batch_size=5))
    expected: list[bool] = []
    for number, query in enumerate(pairs):
        relevances = about.relevance[about.given.query == number].tolist()
        end = len(query)
        for begin in range(5, len(query), 5):
            known = [one for one in relevances[begin - 5 : begin] if one >= 0]
            if len(known) >= 3 and sum(known) / len(known) < mean:
                end = begin
                break
        expected += [place < end for place, grades in enumerate(query) for _ in grades]
    assert used("batches", about, mean).tolist() == expected


@given(campaigns(), st.integers(0, 5))
def test_raters_is_a_loop_over_annotators(pairs: list[list[list[Grade]]], dropped: int) -> None:
    about = evidence(campaign(pairs))
    distances: dict[int, list[float]] = {}
    for query in pairs:
        for grades in query:
            for who, grade in grades:
                others = [one for other, one in grades if other != who]
                distances.setdefault(who, []).append(abs(grade - statistics.fmean(others)))
    ranked = sorted(distances, key=lambda who: (-round(statistics.fmean(distances[who]), 9), who))
    kept = used("raters", about, dropped)
    left = set(about.given.annotator[~kept].tolist())
    assert len(left) == min(dropped, len(ranked))
    # The mean distance of those who are left out is at least that of everybody who stays.
    means = {who: statistics.fmean(values) for who, values in distances.items()}
    assert all(means[out] >= means[stays] - 1e-9 for out in left for stays in set(ranked) - left)
    assert set(about.given.annotator[kept].tolist()).isdisjoint(left)


def test_raters_leaves_out_the_farthest_first_and_nobody_who_shares_no_pair() -> None:
    # Annotator 3 is always two off; 4 grades alone.
    pairs = [[(0, 2), (1, 2)], [(0, 2), (3, 4)], [(1, 3), (3, 1)], [(1, 2), (2, 3)], [(0, 1), (2, 1)], [(4, 0)]]
    made = campaign([pairs])
    left = [set(made.annotator[~used("raters", evidence(made), n)].tolist()) for n in range(1, 6)]
    # Mean distances: 3 is 2, then 1 (0, 2, 1), then 0 (0, 2, 0), then 2 (1, 0).
    assert left == [{3}, {3, 1}, {3, 1, 0}, {3, 1, 0, 2}, {3, 1, 0, 2}]


def test_batches_counts_relevance_0() -> None:
    # The last five of the first batch are 4, 0, 0, 0, 0: a mean of 0.8, and not 4.
    pairs = [[(0, one), (1, one)] for one in (4, 0, 0, 0, 0, 4, 4)]
    assert used("batches", evidence(campaign([pairs], batch_size=5)), 0.9).sum() == 10
    assert used("batches", evidence(campaign([pairs], batch_size=5)), 0.8).all()


@given(campaigns(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(1, 6))
def test_active_takes_the_pairs_whose_discounts_differ_most(
    pairs: list[list[list[Grade]]], seed: int, share: float, k: int
) -> None:
    made = campaign(pairs)
    ranks = np.random.default_rng(seed).integers(0, 8, (4, made.pairs))

    def discount(rank: int) -> float:
        return 1 / math.log2(rank + 1) if 0 < rank <= k else 0.0

    weights = [
        sum(abs(discount(a) - discount(b)) for a, b in combinations(ranks[:, pair].tolist(), 2))
        for pair in range(made.pairs)
    ]
    kept = used("active", evidence(made, ranks, k=k), share)
    chosen = set(made.pair[kept].tolist())
    assert len(chosen) == math.ceil(share * made.pairs)
    assert kept.tolist() == [pair in chosen for pair in made.pair.tolist()]
    rest = set(range(made.pairs)) - chosen
    assert all(weights[one] >= weights[other] - 1e-9 for one in chosen for other in rest)


@settings(deadline=None)
@given(campaigns(longest=30), st.integers(0, 100))
def test_a_policy_collects_some_of_the_given_grades_and_a_stricter_one_no_fewer(
    pairs: list[list[list[Grade]]], seed: int
) -> None:
    made = campaign(pairs, batch_size=5)
    ranks = np.random.default_rng(seed).integers(0, 8, (3, made.pairs))
    for name, policy in POLICIES.items():
        numbers = []
        # From the setting that saves most to that which saves least.
        for setting in sorted(policy.settings, reverse=name in ("settled", "batches", "raters")):
            kept = used(name, evidence(made, ranks, seed=seed), setting)
            assert kept.dtype == bool
            assert kept.shape == made.pair.shape
            numbers.append(int(kept.sum()))
            if name in ("settled", "batches", "active", "random"):
                taken = np.bincount(made.pair, kept, minlength=made.pairs)
                assert set(taken / np.bincount(made.pair)) <= {0.0, 1.0}, "a pair is graded in full or not at all"
        assert numbers == sorted(numbers) or name == "random", (name, numbers)


@pytest.mark.parametrize(
    ("name", "setting"), [("single", 1), ("batches", 0), ("raters", 0), ("active", 1), ("random", 1)]
)
def test_the_setting_that_saves_nothing(name: str, setting: float) -> None:
    rng = np.random.default_rng(1)
    pairs = [[[(int(who), int(rng.integers(0, 5))) for who in rng.permutation(4)[:2]] for _ in range(45)]] * 3
    assert used(name, evidence(campaign(pairs)), setting).all()


def test_the_outcome_of_scores_is_that_of_their_means() -> None:
    full = np.array([[0.1, 0.3], [0.4, 0.4], [0.5, 0.9]])
    fewer = np.array([[[0.5, 0.5], [0.2, 0.4], [0.7, 0.9]], full])
    found = outcome(full, fewer, resamples=200, seed=1)
    # Means .2, .4, .7 become .5, .3, .8 in the first draw: of three pairs one changes its order.
    assert found.change[0] == pytest.approx((0.3 - 0.1 + 0.1) / 3 / 2)
    assert found.largest == (pytest.approx(0.15), 0)
    assert found.tau is not None
    assert found.tau[0] == pytest.approx((1 / 3 + 1) / 2)
    assert found.tau[1] <= found.tau[0] <= found.tau[2]
    assert found.swapped == 0.5


def test_the_same_scores_change_nothing_in_any_sample() -> None:
    full = np.random.default_rng(2).random((4, 30))
    found = outcome(full, full[None], resamples=300, seed=3)
    assert (found.change, found.largest[0], found.tau, found.swapped) == ((0, 0, 0), 0, (1, 1, 1), 0)


def test_a_tie_is_no_swap() -> None:
    full, fewer = np.array([[0.1, 0.2], [0.5, 0.5], [0.7, 0.8]]), np.array([[[0.5, 0.5], [0.5, 0.5], [0.1, 0.1]]])
    # Systems 1 and 2 are tied now; 3 fell below both.
    assert outcome(full, fewer, resamples=20, seed=0).swapped == 2


def test_intervals_pool_the_samples_of_all_draws() -> None:
    rng = np.random.default_rng(8)
    full, fewer = rng.random((4, 25)), rng.random((3, 4, 25))
    found = outcome(full, fewer, resamples=400, seed=6)
    drawn = bootstrap_means(np.concatenate([full[None], fewer]), resamples=400, seed=6)
    changes, taus = [], []
    for sample in drawn:
        for draw in sample[1:]:
            changes.append(np.mean([after - before for before, after in zip(sample[0], draw, strict=True)]))
            taus.append(stats.kendalltau(sample[0], draw).statistic)
    assert found.change[1:] == pytest.approx(np.quantile(changes, [0.025, 0.975]))
    assert found.tau is not None
    assert found.tau[1:] == pytest.approx(np.quantile(taus, [0.025, 0.975]))


def test_a_truth_that_ties_all_systems_has_no_tau() -> None:
    assert outcome(np.random.default_rng(2).random((3, 5)), np.zeros((1, 3, 5)), resamples=50, seed=0).tau is None
