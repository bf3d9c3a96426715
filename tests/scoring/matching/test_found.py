"""What measures read of predictions, against loops in fractions over the same moments."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring.matching.found import Matches
from backend.scoring.matching.greedy import index_truth, pair_up
from retrieval import WHOLE_RUN, WHOLE_TRUTH, fraction_iou, greedy, numbers

QUERIES = 3
"""The third one has neither truth nor predictions."""


def ranks(run):
    """Rank of each prediction in its query, from 0."""
    return [sum(other[0] == one[0] for other in run[:place]) for place, one in enumerate(run)]


def found_of(truth, run, strict=False, least=2):
    index = index_truth(*(numbers(truth, place) for place in range(5)), videos=3)
    return Matches(
        queries=QUERIES,
        query=numbers(run, 0),
        rank=np.array(ranks(run), dtype=np.int64),
        video=numbers(run, 1),
        start_s=numbers(run, 2),
        end_s=numbers(run, 3),
        pairs=pair_up(index, *(numbers(run, place) for place in range(4)), arithmetic="exact"),
        truth=index,
        truth_query=np.arange(QUERIES),
        duration_s=np.empty(0),
        ideal=np.zeros((1, QUERIES)),
        relevant=np.zeros(QUERIES, dtype=np.int64),
        irrelevant=np.zeros(QUERIES, dtype=np.int64),
        gain="linear",
        strict=strict,
        min_relevance=least,
        abandonment="",
        persistence=0.8,
        map_depth=10,
        highest=4.0,
    )


def best_ious(truth, run, least=2):
    """IoU of each prediction with its best relevant moment."""
    return [
        max((fraction_iou(one, m) for m in truth if m[:2] == one[:2] and m[4] >= least), default=Fraction(0))
        for one in run
    ]


LEVELS = (0.0, 0.25, 0.5, 1.0)


@settings(max_examples=25)
@given(WHOLE_TRUTH, WHOLE_RUN, st.booleans())
def test_what_predictions_take_has_its_relevance(truth, run, strict):
    for level, (prediction, relevance) in zip(LEVELS, found_of(truth, run, strict).taken(LEVELS), strict=True):
        expected = greedy(truth, run, Fraction(level), strict=strict)
        assert list(zip(prediction.tolist(), relevance.tolist(), strict=True)) == [
            (p, truth[t][4]) for p, t in expected
        ]


@settings(max_examples=25)
@given(WHOLE_TRUTH, WHOLE_RUN, st.integers(1, 4), st.booleans())
def test_only_the_first_predictions_take_relevant_moments_at_a_threshold_that_counts(truth, run, depth, strict):
    relevant = [one for one in truth if one[4] >= 2]
    first = [place for place, rank in enumerate(ranks(run)) if rank < depth]
    for level, found in zip(LEVELS, found_of(truth, run, strict).right(LEVELS, depth), strict=True):
        expected = greedy(relevant, [run[place] for place in first], Fraction(level))
        assert found.tolist() == [first[number] for number, _ in expected]


@settings(max_examples=25)
@given(WHOLE_TRUTH, WHOLE_RUN, st.integers(0, 3))
def test_the_best_relevant_moment_of_each_and_of_all_before(truth, run, least):
    found, expected = found_of(truth, run, least=least), best_ious(truth, run, least)
    assert found.iou.tolist() == [float(one) for one in expected]
    so_far = [
        max(expected[other] for other in range(place + 1) if run[other][0] == run[place][0])
        for place in range(len(run))
    ]
    assert found.best.tolist() == [float(one) for one in so_far]
    of_query = [[iou for one, iou in zip(run, expected, strict=True) if one[0] == query] for query in range(QUERIES)]
    assert found.last_best.tolist() == [float(max(ious, default=0)) for ious in of_query]
    assert found.size.tolist() == [len(ious) for ious in of_query]


@settings(max_examples=25)
@given(WHOLE_TRUTH, WHOLE_RUN)
def test_what_reaches_a_threshold(truth, run):
    found, expected = found_of(truth, run), best_ious(truth, run)
    for _ in range(2):  # the second time as it was kept
        for level in (-0.5, *LEVELS):
            assert found.reaches(level, strict=False).tolist() == [iou >= level for iou in expected]
            assert found.reaches(level, strict=True).tolist() == [iou > level for iou in expected]


@settings(max_examples=25)
@given(WHOLE_RUN, st.data())
def test_the_first_flagged_rank_and_sums_over_the_first_ranks(run, data):
    found = found_of([], run)
    flags = data.draw(st.lists(st.booleans(), min_size=len(run), max_size=len(run)))
    values = data.draw(st.lists(st.integers(0, 9), min_size=len(run), max_size=len(run)))
    rows = list(zip([one[0] for one in run], ranks(run), flags, values, strict=True))
    assert found.first_rank(np.array(flags, dtype=bool)).tolist() == [
        min((rank for of, rank, flag, _ in rows if flag and of == query), default=math.inf) for query in range(QUERIES)
    ]
    for k in (1, 3, 1):
        total = found.total(np.array(values, dtype=np.float64), k)
        assert total.dtype == np.float64
        assert total.tolist() == [
            sum(value for of, rank, _, value in rows if of == query and rank < k) for query in range(QUERIES)
        ]
