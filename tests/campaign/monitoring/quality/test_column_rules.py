"""The grades that count, against reading every revision one by one."""

from dataclasses import fields

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.rules.pairs import NOT_MEASURED, Grades, standing

REVISIONS = st.lists(
    st.tuples(
        *(st.sampled_from([1, 2, 9, 17]), st.integers(1, 6), st.integers(1, 4), st.integers(0, 4), st.booleans()),
        *(st.integers(0, 5000), st.just(NOT_MEASURED) | st.integers(0, 9000)),
    ),
    max_size=12,
)
Revision = tuple[int, int, int, int, bool, int, int]


def made(rows: list[Revision]) -> Grades:
    """Revisions of (pair, seat, annotator, grade, timed, active, elapsed), one second after the other."""
    columns = list(zip(*rows, strict=True)) or [()] * 7
    pair, seat, annotator, grade, timed, active, elapsed = (np.array(column, dtype=np.int64) for column in columns)
    return Grades(
        *(pair, seat, annotator, grade, np.arange(len(rows), dtype=np.float64), timed.astype(bool), active, elapsed)
    )


@example([(9, 1, 1, 0, True, 10, 20), (1, 2, 2, 4, True, 30, 40), (1, 2, 2, 3, True, 5, NOT_MEASURED)])
@given(REVISIONS)
def test_of_each_seat_the_newest_counts_with_all_its_time(rows: list[Revision]) -> None:
    seats: dict[tuple[int, int], list[int]] = {}
    for number, (pair, seat, *_) in enumerate(rows):
        seats.setdefault((pair, seat), []).append(number)
    expected = []
    for revisions in sorted(seats.values(), key=lambda numbers: numbers[-1]):
        pair, seat, annotator, grade, timed, _, _ = rows[revisions[-1]]
        times = [rows[number][6] for number in revisions]
        elapsed = NOT_MEASURED if NOT_MEASURED in times else sum(times)
        active = sum(rows[number][5] for number in revisions)
        expected.append((pair, seat, annotator, grade, float(revisions[-1]), timed, active, elapsed))
    found = standing(made(rows))
    assert len(found) == len(expected)
    columns = [getattr(found, field.name).tolist() for field in fields(found)]
    assert list(zip(*columns, strict=True)) == expected
    assert all(column.dtype == np.int64 for column in (found.active_ms, found.elapsed_ms))


def test_some_of_them_are_taken_by_index_or_by_truth() -> None:
    grades = made([(1, 1, 5, 0, True, 10, 20), (2, 1, 6, 3, False, 30, 40), (3, 2, 7, 4, True, 50, 60)])
    for which in (np.array([0, 2]), np.array([True, False, True])):
        taken = grades.take(which)
        assert (taken.pair.tolist(), taken.elapsed_ms.tolist()) == ([1, 3], [20, 60])
