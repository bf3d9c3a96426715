"""Couples and matching against the greedy walk of the paper, in fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring.matching.greedy import index_truth, pair_up, settle_pairs
from retrieval import WHOLE_RUN, WHOLE_TRUTH, fraction_iou, greedy, numbers


def couples(truth, run, arithmetic="exact"):
    """Couples, and the order in which the index has the truth."""
    index = index_truth(*(numbers(truth, place) for place in range(5)), videos=3)
    order = sorted(range(len(truth)), key=lambda n: (*truth[n][:2], -truth[n][4], n))
    assert index.relevance.tolist() == [truth[n][4] for n in order]
    return pair_up(index, *(numbers(run, place) for place in range(4)), arithmetic=arithmetic), order


@settings(max_examples=25)
@given(WHOLE_TRUTH, WHOLE_RUN)
def test_couples_are_all_of_one_query_and_video(truth, run):
    pairs, order = couples(truth, run)
    expected = [
        (p, t, float(fraction_iou(one, truth[n])))
        for p, one in enumerate(run)
        for t, n in enumerate(order)
        if one[:2] == truth[n][:2]
    ]
    assert (
        list(zip(pairs.prediction.tolist(), pairs.truth.tolist(), pairs.iou.values.tolist(), strict=True)) == expected
    )


LEVELS = st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.4, 0.5, 0.75, 1.0]), min_size=1, max_size=3)


@settings(max_examples=25)
@given(WHOLE_TRUTH, WHOLE_RUN, LEVELS, st.booleans(), st.sampled_from(["exact", "float64"]))
def test_who_takes_whom_is_what_the_walk_gives(truth, run, mu, strict, arithmetic):
    pairs, order = couples(truth, run, arithmetic)
    for level, (prediction, taken) in zip(mu, settle_pairs(pairs, mu, strict=strict), strict=True):
        found = list(zip(prediction.tolist(), [order[t] for t in taken.tolist()], strict=True))
        assert found == greedy(truth, run, Fraction(str(level)), strict=strict)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=12, max_size=30), st.lists(st.integers(0, 9), min_size=12, max_size=30))
def test_a_long_queue_for_few_moments_is_settled_as_it_is_walked(starts, others):
    """One query and video: nearly everybody is refused, some many times."""
    truth = [(0, 0, start, start + 6, start % 4) for start in starts]
    run = [(0, 0, start, start + 6) for start in others]
    pairs, order = couples(truth, run)
    ((prediction, taken),) = settle_pairs(pairs, [0.2], strict=False)
    assert list(zip(prediction.tolist(), [order[t] for t in taken], strict=True)) == greedy(truth, run, Fraction("0.2"))


def test_chosen_couples_are_by_place_or_by_flag():
    truth = [(0, 0, 0, 4, 1), (0, 0, 2, 4, 2)]
    pairs, _ = couples(truth, [(0, 0, 0, 4), (0, 0, 0, 2)])
    for chosen in (np.array([0, 3]), np.array([True, False, False, True])):
        found = pairs.take(chosen)
        assert (found.prediction.tolist(), found.truth.tolist()) == ([0, 1], [0, 1])
        assert found.iou.values.tolist() == [0.5, 0.5]
    assert pairs.take(np.array([3, 0])).prediction.tolist() == [1, 0]


def test_couples_have_their_iou_in_the_arithmetic_that_is_asked_for():
    """[.3, .9) has .6 of [0, 1); 0.9 - 0.3 is 0.6000000000000001 in 64 bits, and 0.59999996 in 32."""
    first, one = np.array([0]), np.array([1])
    index = index_truth(first, first, first + 0.3, first + 0.9, one, videos=2)
    for arithmetic, value in (
        ("exact", 0.6),
        ("float64", 0.6000000000000001),
        ("float32", np.float32(0.9) - np.float32(0.3)),
    ):
        found = pair_up(index, first, first, first + 0.0, first + 1.0, arithmetic=arithmetic)
        assert found.iou.values.tolist() == [float(value)]
