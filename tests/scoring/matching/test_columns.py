"""Columns of moments: some queries of them."""

import numpy as np

from backend.scoring.matching.columns import Truth, order_within


def test_some_queries_keep_their_rows_moments_and_types():
    """Query b has no moment; a has two, c one."""
    columns = {
        "offsets": np.array([0, 2, 2, 3]),
        "video": np.array([0, 1, 1]),
        "start_s": np.array([0.0, 5.0, 7.0]),
        "end_s": np.array([2.0, 6.0, 9.0]),
        "row": np.array([1, 1, 3]),
        "number": np.array([1, 2, 1]),
        "relevance": np.array([1.0, 2.0, 3.0]),
    }
    truth = Truth("t.json", ("a", "b", "c"), (1, 2, 3), videos=("v", "w"), types=("v", "t", "vt"), **columns)
    some = truth.of_queries(np.array([False, True, True]))
    assert (some.file, some.queries, some.query_rows, some.types) == ("t.json", ("b", "c"), (2, 3), ("t", "vt"))
    assert some.videos == ("v", "w")
    found = {name: getattr(some, name).tolist() for name in columns}
    assert found == {
        **{"offsets": [0, 0, 1], "video": [1], "start_s": [7], "end_s": [9]},
        **{"row": [3], "number": [1], "relevance": [3]},
    }
    assert some.query.tolist() == [1]
    assert truth.of_queries(np.array([True, True, True])) is truth


def test_whole_numbers_too_far_apart_for_one_number_are_sorted_all_the_same():
    assert order_within(np.array([0, 1, 0]), np.array([2**61, 5, 0])).tolist() == [2, 0, 1]
