"""Matching, gains and ideals on cases small enough to work out by hand."""

from math import log2

import numpy as np
import pytest

from backend.scoring.matching.greedy import index_truth
from backend.scoring.measures.ndcg import dcg, ideal_dcg, ranks_within, ratio
from retrieval import taken

PAPER = {"strict": False, "arithmetic": "exact"}
OFFICIAL = {"strict": True, "arithmetic": "float64"}


def whole(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def taken_relevances(truth, predictions, mu, threshold):
    """Relevance (None: nothing taken) of each (start, end) among (start, end, relevance), in one video."""
    start, end, relevance = (np.array(column) for column in zip(*truth, strict=True))
    same = np.zeros(len(truth), dtype=np.int64)
    index = index_truth(same, same, start.astype(float), end.astype(float), relevance, videos=2)
    p_start, p_end = (np.array(column, dtype=float) for column in zip(*predictions, strict=True))
    same = np.zeros(len(predictions), dtype=np.int64)
    found = taken(index, same, same, p_start, p_end, mu, **threshold)
    return [int(index.relevance[t]) if t >= 0 else None for t in found]


@pytest.mark.parametrize("threshold", [PAPER, OFFICIAL])
@pytest.mark.parametrize(
    ("truth", "predictions", "mu", "expected", "why"),
    [
        ([(12, 19, 4), (20, 28, 2), (50, 60, 2)], [(10, 30), (9, 29), (50, 70)], 0.3, [2, 4, 2], "Figure 2"),
        ([(0, 5, 1), (5, 10, 3)], [(0, 10), (0, 10)], 0.3, [3, 1], "equal IoU: the higher relevance first"),
        ([(0, 10, 0), (0, 7, 4)], [(0, 10)], 0.3, [0], "a truth moment of relevance 0 takes the prediction"),
        ([(0, 10, 4)], [(0, 6), (0, 10)], 0.5, [4, None], "rank goes before IoU: the second comes too late"),
        ([(0, 10, 1), (0, 9, 2), (0, 8, 3)], [(0, 10)] * 4, 0.5, [1, 2, 3, None], "three rounds of moving on"),
        ([(0, 10, 1), (1, 10, 2)], [(0, 10), (0, 10), (1, 10)], 0.95, [1, None, 2], "no second best below mu"),
    ],
)
def test_predictions_take_truth_moments_greedily_in_rank_order(threshold, truth, predictions, mu, expected, why):
    assert taken_relevances(truth, predictions, mu, threshold) == expected, why


def test_a_threshold_met_exactly_counts_unless_strict():
    for strict, expected in [(False, [3]), (True, [None])]:
        for arithmetic in ("float64", "float32", "exact"):
            threshold = {"strict": strict, "arithmetic": arithmetic}
            assert taken_relevances([(0, 10, 3)], [(0, 5)], 0.5, threshold) == expected


def test_matches_stay_within_query_and_video():
    moment = np.array([0.0]), np.array([10.0])
    index = index_truth(whole(1), whole(1), *moment, whole(4), videos=3)
    starts, ends = np.zeros(6), np.full(6, 10.0)
    query, video = whole(0, 0, 1, 1, 2, 2), whole(1, 2, 0, 1, 1, 2)
    assert taken(index, query, video, starts, ends, 0.5).tolist() == [-1, -1, -1, 0, -1, -1]


def test_without_truth_or_predictions_nothing_is_taken():
    none = np.zeros(0)
    index = index_truth(whole(), whole(), none, none, whole(), videos=1)
    assert taken(index, whole(0), whole(0), np.zeros(1), np.ones(1), 0.5).tolist() == [-1]
    assert taken(index, whole(), whole(), none, none, 0.5, **OFFICIAL).shape == (0,)


def test_gains_and_discounts_are_those_of_the_formula():
    query, rank, relevance = whole(0, 0, 1), whole(0, 2, 1), whole(3, 4, 2)
    linear = dcg(query, rank, relevance, 3, [3, 2], "linear")
    assert linear == pytest.approx(np.array([[3 + 4 / 2, 2 / log2(3), 0], [3, 2 / log2(3), 0]]), abs=1e-15)
    exponential = dcg(query, rank, relevance, 3, [3], "exp2")
    assert exponential == pytest.approx(np.array([[7 + 15 / 2, 3 / log2(3), 0]]), abs=1e-15)


def test_the_ideal_is_the_whole_truth_of_the_query_in_its_best_order():
    query, relevance = whole(0, 0, 0, 2), whole(0, 4, 2, 1)
    assert ideal_dcg(query, relevance, 3, [2], "linear")[0] == pytest.approx([4 + 2 / log2(3), 0, 1], abs=1e-15)


def test_an_ideal_of_0_gives_0_not_a_division_error():
    with np.errstate(all="raise"):
        assert ratio(np.array([0.0, 1.0]), np.array([0.0, 2.0])).tolist() == [0.0, 0.5]


def test_ranks_begin_anew_with_each_query():
    assert ranks_within(whole(0, 0, 1, 3, 3, 3)).tolist() == [0, 1, 0, 0, 1, 2]


def test_where_nothing_is_found_there_is_no_gain():
    nothing = whole()
    assert dcg(nothing, nothing, nothing, 2, [1, 5], "linear").tolist() == [[0, 0], [0, 0]]
