"""The ways in which pairs were graded, against looking at the pairs one by one."""

from collections import Counter

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs, Patterns, patterns
from backend.campaign.nouns import Rounding, Verdict
from graded import graded

Given = tuple[list[int], int, bool]
"""The grades of a pair, what a lead decided (-1: nothing), whether it was re-opened."""
PAIRS = st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=6), st.integers(-1, 3), st.booleans()), max_size=20)


EVERY_KIND: list[Given] = [
    *(
        ([0, 1], -1, False),
        ([1, 1], -1, False),
        ([0, 3], -1, False),
        ([0, 3, 1, 3], -1, False),
        ([0, 3, 1, 1], -1, False),
    ),
    *(
        ([0, 3, 1, 3], -1, True),
        ([0, 3, 1, 3, 2, 2], -1, True),
        ([0, 3, 1, 3], 2, False),
        ([2], -1, False),
        ([], -1, False),
    ),
    *(([3, 3, 1, 0], -1, True), ([1, 0], -1, False)),
]


def made(pairs: list[Given], tolerance: int, rounding: Rounding, *, told: bool) -> Patterns:
    """Their patterns; where it is not told who was re-opened, more than four grades say so."""
    counts = np.array([np.bincount(grades, minlength=4) for grades, _, _ in pairs], dtype=np.int64).reshape(-1, 4)
    re_opened = np.array([again for _, _, again in pairs], dtype=bool) if told else None
    return patterns(counts, np.array([lead for _, lead, _ in pairs], dtype=np.int64), tolerance, rounding, re_opened)


@example(EVERY_KIND, 1, Rounding.HALF_DOWN, True)
@given(PAIRS, st.integers(0, 2), st.sampled_from(list(Rounding)), st.booleans())
def test_a_pair_is_in_its_pattern_by_itself(pairs: list[Given], tolerance: int, rounding: Rounding, told: bool) -> None:
    found = made(pairs, tolerance, rounding, told=told)
    kinds = Counter()
    for (grades, lead, again), kind in zip(pairs, found.of_pair.tolist(), strict=True):
        further = len(grades) > 4 or (again and told)
        kinds[tuple(sorted(grades)), lead, further] += 1
        assert found.counts[kind].tolist() == [grades.count(grade) for grade in range(4)]
        assert found.decided[kind] == lead
        decision = decide(grades, tolerance, rounding, re_opened=further)
        between = sum(sorted(grades)[len(grades) // 2 - 1 : len(grades) // 2 + 1]) % 2 == 1
        if lead >= 0:
            assert (found.verdict[kind], found.relevance[kind]) == (Verdict.ADJUDICATED, lead)
        else:
            relevance = -1 if decision.relevance is None else decision.relevance
            assert (found.verdict[kind], found.relevance[kind]) == (decision.verdict, relevance)
        assert found.halves[kind] == (lead < 0 and decision.verdict is Verdict.CONSENSUS and between)
    assert sorted(found.times.tolist()) == sorted(kinds.values()), "each way is one pattern"
    assert found.size.tolist() == found.counts.sum(axis=1).tolist()


@example(EVERY_KIND, [-1, 2, 0] * 7)
@given(PAIRS, st.lists(st.integers(-1, 2), min_size=20, max_size=20))
def test_groups_of_pairs_and_kinds_of_patterns_are_counted(pairs: list[Given], groups: list[int]) -> None:
    found = made(pairs, 1, Rounding.HALF_UP, told=True)
    group = np.array(groups[: len(pairs)], dtype=np.int64)
    expected = Counter(zip(group.tolist(), found.of_pair.tolist(), strict=True))
    counted = found.by(group, 4)
    assert counted.shape == (4, len(found.times))
    assert {(g, k): int(counted[g, k]) for g, k in zip(*counted.nonzero(), strict=True)} == {
        (g, k): n for (g, k), n in expected.items() if g >= 0
    }
    each = list(zip(found.verdict, found.size.tolist(), found.halves.tolist(), strict=True))
    asked = (Verdict.CONSENSUS, Verdict.DISCARDED)
    waiting = (Verdict.OPEN, Verdict.ESCALATED)
    assert found.having(*asked).tolist() == [verdict in asked for verdict, _, _ in each]
    assert found.having(*asked, size=4).tolist() == [verdict in asked and size == 4 for verdict, size, _ in each]
    assert found.without_relevance(True).tolist() == [verdict is Verdict.DISCARDED for verdict, _, _ in each]
    assert found.without_relevance(False).tolist() == [
        verdict in (Verdict.DISCARDED, *waiting) for verdict, _, _ in each
    ]
    assert found.on_a_half().tolist() == [verdict is Verdict.CONSENSUS and half for verdict, _, half in each]
    assert found.on_a_half().dtype == found.having(*asked).dtype == bool


def test_pairs_without_a_grade_count_as_well() -> None:
    found = graded([[4, None, 4], [None, 1, None], [None, None, None]], decided={2: 3})
    assert found.pairs == 3
    assert found.counts().tolist() == [[0, 0, 0, 0, 2], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    assert found.counts_of(np.array([0])).tolist() == [[0, 0, 0, 0, 1], [0] * 5, [0] * 5]
    assert found.patterns().relevance[found.patterns().of_pair].tolist() == [4, -1, 3]
    assert found.counts().dtype == np.int64
    assert graded([[2, 3]]).patterns().relevance.tolist() == [3], "2.5, half up"


def test_what_is_known_of_the_campaign_goes_into_its_patterns() -> None:
    columns = (("Anna",), np.repeat([0, 1], 4), np.zeros(8, dtype=np.int64), np.array([0, 4, 1, 3, 0, 4, 2, 3]))
    more = (np.array([-1, -1]), 4, 2, Rounding.HALF_DOWN, True)
    found = GradedPairs(*columns, *more, first_round=np.arange(8) % 4 < 2, re_opened=np.array([False, True]))
    kinds = found.patterns()
    assert [kinds.verdict[kind] for kind in kinds.of_pair] == [Verdict.CONSENSUS, Verdict.ESCALATED]
    assert kinds.relevance[kinds.of_pair].tolist() == [2, -1]
    assert found.first_counts().tolist() == [[1, 0, 0, 0, 1], [1, 0, 0, 0, 1]]
    down = GradedPairs(*columns, *more).patterns()
    assert down.relevance[down.of_pair].tolist() == [2, 2], "2.5, half down"
    assert GradedPairs(*columns, *more).first_counts().tolist() == [[0] * 5] * 2, "known of none"
