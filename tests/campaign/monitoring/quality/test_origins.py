"""A part of a board holds the grades of its pairs, against choosing them one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.model import WHOLE, BoardPart
from backend.campaign.monitoring.quality.rules.board import Origins, first_of_pair, narrow, no_origins
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Rounding
from graded import graded

SPLITS, QUERIES = ("val", "test"), ("He sits.", "She sits.", "They sit.")
DAYS = ("2026-03-09", "2026-03-10", "2026-03-16")
PEOPLE = ("Anna", "Boris", "Carla")
PAIRS = st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 2), st.integers(-1, 4)), min_size=1, max_size=6)
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 4), st.integers(-1, 2), st.booleans()), max_size=20
)
PARTS = st.builds(
    BoardPart,
    split=st.sampled_from(["", *SPLITS, "train"]),
    query=st.sampled_from(["", *QUERIES, "Nobody sits."]),
    first=st.sampled_from(["", "2026-03-01", *DAYS]),
    last=st.sampled_from(["", *DAYS, "2026-03-31"]),
)


@given(PAIRS, ROWS, PARTS, st.booleans())
def test_a_part_holds_the_grades_of_its_pairs(
    pairs: list[tuple[int, int, int]], rows: list[tuple[int, int, int, int, bool]], part: BoardPart, told: bool
) -> None:
    rows = [row for row in rows if row[0] < len(pairs)]
    split, query, decided = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    pair, annotator, grade, day, first = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    re_opened = split == query
    grades = GradedPairs(
        *(PEOPLE, pair, annotator, grade, decided, 4, 2, Rounding.HALF_DOWN, False),
        first_round=first.astype(bool) if told else None,
        no_rounds="" if told else "not known",
        re_opened=re_opened if told else None,
    )
    origins = Origins(split, SPLITS, query, QUERIES, (), day, DAYS, np.array([0, 0, 1]), ("w1", "w2"), 7, 8)

    def belongs(number: int) -> bool:
        days = [DAYS[row[3]] if row[3] >= 0 else None for row in rows if row[0] == number]
        when = days[0] if days else None
        return all(
            (
                not part.split or (split[number] >= 0 and SPLITS[split[number]] == part.split),
                not part.query or (query[number] >= 0 and QUERIES[query[number]] == part.query),
                not part.first or (when is not None and part.first <= when),
                not part.last or (when is not None and when <= part.last),
            )
        )

    kept = [number for number in range(len(pairs)) if belongs(number)]
    found, of = narrow(grades, origins, part)
    names = [found.people[who] for who in found.annotator]
    expected = [(kept.index(row[0]), PEOPLE[row[1]], row[2]) for row in rows if row[0] in kept]
    assert list(zip(found.pair.tolist(), names, found.grade.tolist(), strict=True)) == expected
    assert found.decided.tolist() == decided[kept].tolist()
    assert (found.highest, found.tolerance, found.rounding, found.may_go_on) == (4, 2, Rounding.HALF_DOWN, False)
    assert (of.split.tolist(), of.query.tolist()) == (split[kept].tolist(), query[kept].tolist())
    assert of.day.tolist() == [row[3] for row in rows if row[0] in kept]
    assert (of.splits, of.queries, of.days, of.weeks) == (SPLITS, QUERIES, DAYS, ("w1", "w2"))
    if told:
        assert found.first_round is not None
        assert found.re_opened is not None
        assert found.first_round.tolist() == [row[4] for row in rows if row[0] in kept]
        assert found.re_opened.tolist() == re_opened[kept].tolist()
    else:
        assert (found.first_round, found.re_opened, found.no_rounds) == (None, None, "not known")
    if part == WHOLE:
        assert (found, of) == (grades, origins)
    else:
        assert set(found.people) == set(names), "only those who graded it"
        assert (of.imported, of.simulated) == (0, 0)


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (BoardPart(split="val", query="He sits."), [0]),
        (BoardPart(split="test", query="She sits."), []),
        (BoardPart(query="He sits."), [0, 2]),
        (BoardPart(first="2026-03-10"), [1, 2]),
        (BoardPart(last="2026-03-10"), [0, 1]),
        (BoardPart(first="2026-03-10", last="2026-03-10"), [1]),
        (BoardPart(first="2026-03-11", last="2026-03-15"), []),
        (BoardPart(query="He sits.", last="2026-03-12"), [0]),
        (BoardPart(first="2026-03-01"), [0, 1, 2]),
    ],
)
def test_parts_are_of_a_split_and_a_query_and_a_time(part: BoardPart, kept: list[int]) -> None:
    """The fourth pair is of no split and no query, and nobody knows when it was graded."""
    grades = graded([[0], [1], [2], [3]])
    origins = Origins(
        *(np.array([0, 0, 1, -1]), SPLITS, np.array([0, 1, 0, -1]), QUERIES, ("val", "val", "test")),
        *(np.array([0, 1, 2, -1]), DAYS, np.array([0, 0, 1]), ("2026-03-09", "2026-03-16")),
    )
    assert narrow(grades, origins, part)[0].grade.tolist() == kept


def test_a_pair_is_of_the_day_of_its_first_grade() -> None:
    grades = graded([[0, 1], [2, 3], [None, None]])
    assert first_of_pair(grades, np.array([1, 0, -1, 2])).tolist() == [1, -1, -1]


@pytest.mark.parametrize("part", [BoardPart(split="val"), BoardPart(query="He sits."), BoardPart(first="2026-01-01")])
def test_a_file_of_grades_has_no_parts(part: BoardPart) -> None:
    grades = graded([[0, 1, 2], [2, None, 3]])
    origins = no_origins(grades)
    assert [codes.tolist() for codes in (origins.split, origins.query, origins.day, origins.week)] == [
        *([-1] * 2, [-1] * 2, [-1] * 5, [])
    ]
    names = (origins.splits, origins.queries, origins.query_split, origins.days, origins.weeks)
    assert (names, origins.imported, origins.simulated) == (((),) * 5, 0, 0)
    assert narrow(grades, origins, part)[0].pairs == 0
