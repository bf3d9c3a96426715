"""Columns of moments: some of them, equal ones, what is wrong with them, and their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring.matching.columns import Run, Truth, offsets_of, order_within


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
    assert order_within(np.array([1, 0, 1]), np.array([2**61, 0, 5])).tolist() == [1, 2, 0]
    assert order_within(np.array([0, 0]), np.array([2**62, -(2**62)])).tolist() == [1, 0]
    assert order_within(np.array([0, 0]), np.array([2**61 + 1, 2**61 - 1])).tolist() == [1, 0]


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(-3, 3), st.sampled_from([-2.0, 0.0, 0.5]), st.sampled_from([-(2**40), 0, 7])
        ),
        max_size=20,
    )
)
def test_positions_are_sorted_by_group_then_value_and_equals_stay(rows):
    """Groups may be below 0 and values far apart: then they do not fit into one number."""
    for group, value in ((0, 1), (0, 2), (1, 1), (1, 2), (0, 3)):
        groups, values = ([row[place] for row in rows] for place in (group, value))
        found = order_within(np.array(groups, dtype=np.int64), np.array(values, dtype=float if value == 2 else int))
        assert found.tolist() == sorted(range(len(rows)), key=lambda n: (groups[n], values[n]))


MOMENTS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("vw"), st.integers(0, 2), st.integers(3, 5)), max_size=20
).map(lambda moments: sorted(moments, key=lambda one: one[0]))


def run_of(moments):
    """A run of queries 0 to 2, in a file whose every other row is blank."""
    queries = [one[0] for one in moments]
    return Run(
        "r.json",
        (7, "b", 9),
        (1, 2, 3),
        np.array([sum(query < n for query in queries) for n in range(4)]),
        ("v", "w"),
        np.array(["vw".index(one[1]) for one in moments], dtype=np.int64),
        np.array([float(one[2]) for one in moments]),
        np.array([float(one[3]) for one in moments]),
        np.arange(2, 2 * len(moments) + 2, 2),
        np.array([queries[: n + 1].count(query) for n, query in enumerate(queries)], dtype=np.int64),
        score=np.linspace(1, 0, len(moments)),
    )


@settings(max_examples=50)
@given(MOMENTS)
def test_equal_moments_of_a_query_stand_together_the_first_of_the_file_first(moments):
    order, first = run_of(moments).groups_of_equals()
    expected = sorted(range(len(moments)), key=lambda n: moments[n])
    assert order.tolist() == expected
    fresh = [at for at, n in enumerate(expected) if at == 0 or moments[n] != moments[expected[at - 1]]]
    assert first.tolist() == fresh


@settings(max_examples=50)
@given(MOMENTS, st.data())
def test_some_moments_keep_what_they_are(moments, data):
    chosen = [n for n in range(len(moments)) if data.draw(st.booleans())]
    found, run = run_of(moments).take(np.array(chosen, dtype=np.int64)), run_of(moments)
    assert found.query.tolist() == [moments[n][0] for n in chosen]
    assert found.offsets.tolist() == [sum(moments[n][0] < query for n in chosen) for query in range(4)]
    for name in ("video", "start_s", "end_s", "row", "number", "score"):
        assert getattr(found, name).tolist() == [getattr(run, name)[n] for n in chosen]
    assert (found.file, found.queries, found.query_rows, found.videos) == ("r.json", (7, "b", 9), (1, 2, 3), ("v", "w"))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (0, 0.5, None),
        (NAN, 2, "[nan, 2.0] is not two finite times"),
        (0, INF, "[0.0, inf] is not two finite times"),
        (-INF, 2, "[-inf, 2.0] is not two finite times"),
        (-0.5, 2, "start -0.5 is before the video begins"),
        (-2, -3, "start -2.0 is before the video begins"),
        (3, 3, "end 3.0 is not after start 3.0"),
        (3, 2, "end 2.0 is not after start 3.0"),
        (0, 0, "end 0.0 is not after start 0.0"),
        (0.5, 0.25, "end 0.25 is not after start 0.5"),
    ],
)
def test_times_that_cannot_be_are_told_by_position(start, end, told):
    run = run_of([(0, "v", 0, 1), (1, "w", start, end)])
    assert run.span_problems() == ({} if told is None else {1: told})


def test_a_problem_names_file_row_query_and_place():
    run = run_of([(0, "v", 0, 1), (1, "w", 0, 1), (1, "v", 0, 1), (2, "v", 0, 1)])
    assert str(run.problem(2, "is odd")) == "r.json, row 6: query b, moment 2: is odd"
    assert str(run.problem(3, "is odd")) == "r.json, row 8: query 9, moment 1: is odd"


def test_relevances_that_are_none_are_told_by_position():
    given_ = [0.0, 4.0, 5.0, -1.0, 2.5, NAN, 3.0]
    count = len(given_)
    column = np.zeros(count)
    truth = Truth(
        *("t.json", ("q",), (1,), np.array([0, count]), ("v",), np.zeros(count, dtype=np.int64)),
        *(column, column + 1, np.ones(count, dtype=np.int64), np.arange(1, count + 1)),
        relevance=np.array(given_),
    )
    told = {2: "5", 3: "-1", 4: "2.5", 5: "nan"}
    assert truth.relevance_problems() == {n: f"relevance {it} is not one of 0, 1, 2, 3, 4" for n, it in told.items()}
    # A file that does not say of what queries tell says it of some of them neither.
    assert truth.of_queries(np.array([False])).types == ()


def test_offsets_begin_with_nothing_and_end_with_all():
    assert offsets_of(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert offsets_of(np.array([], dtype=np.int64)).tolist() == [0]
