"""Graded pairs from small tables."""

import numpy as np
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Rounding

Table = list[list[int | None]]
"""Grades of pairs (rows) by annotators (columns)."""
TABLES = st.integers(2, 4).flatmap(
    lambda people: st.lists(
        st.lists(st.none() | st.integers(0, 4), min_size=people, max_size=people), min_size=1, max_size=25
    )
)


def graded(
    table: Table,
    highest: int = 4,
    decided: dict[int, int] | None = None,
    *,
    tolerance: int = 1,
    rounding: Rounding = Rounding.HALF_UP,
    may_go_on: bool = True,
) -> GradedPairs:
    """The grades of a table row by row, all of the first round; `decided` are a lead's relevances by pair."""
    rows = [(unit, who, grade) for unit, row in enumerate(table) for who, grade in enumerate(row) if grade is not None]
    pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    leads = np.array([(decided or {}).get(unit, -1) for unit in range(len(table))], dtype=np.int64)
    people = tuple(f"person {who}" for who in range(max((len(row) for row in table), default=0)))
    return GradedPairs(
        *(people, pair, annotator, grade, leads, highest, tolerance, rounding, may_go_on),
        first_round=np.ones(len(rows), dtype=bool),
    )


def a_campaign(seed: int, units: int = 240, people: int = 3) -> Table:
    """Grades near a true one, of some of the people."""
    rng = np.random.default_rng(seed)
    table: Table = []
    for _ in range(units):
        truth, given = rng.integers(0, 5), rng.permutation(people)[: rng.integers(1, people + 1)]
        near = [int(np.clip(truth + rng.integers(-2, 3), 0, 4)) for _ in range(people)]
        table.append([near[who] if who in given else None for who in range(people)])
    return table
