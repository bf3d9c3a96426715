"""Ranking of moments from caption scores."""

from collections.abc import Sequence

import numpy as np
import pytest

from backend.encoders.selection import Candidate, Described, Ranking, left_out, rank_moments, settled


def ranked(captions: list[int], scores: Sequence[float], moments: list[list[int]], k: int) -> list[Candidate]:
    """The ranking of one query."""
    query, caption = np.zeros(len(captions), dtype=np.int64), np.array(captions)
    return rank_moments(query, caption, np.array(scores), Described(moments), count=1, k=k)[0]


def ranking(*lists: list[tuple[int, float]]) -> Ranking:
    """Lists of (moment, similarity), as columns."""
    moments, similarities = (np.array([entry[n] for one in lists for entry in one]) for n in (0, 1))
    starts = np.cumsum([0, *map(len, lists)])
    return Ranking(starts, moments, np.rint(similarities * 100_000).astype(np.int64), np.zeros_like(moments))


def test_scores_within_a_quantum_tie_and_the_smaller_id_wins() -> None:
    found = ranked([0, 1, 2], [0.700004, 0.7, 0.699996], [[30], [20], [10]], 3)
    assert [(c.moment_id, c.similarity) for c in found] == [(10, 0.7), (20, 0.7), (30, 0.7)]


def test_a_moment_scores_as_its_best_caption() -> None:
    found = ranked([0, 1, 2], [0.2, 0.9, 0.5], [[1, 2], [2], [3]], 3)
    assert found == [Candidate(2, 0.9, 1, 1), Candidate(3, 0.5, 2, 2), Candidate(1, 0.2, 3, 0)]


def test_negative_similarities_rank_below_zero() -> None:
    found = ranked([0, 1, 2], [-0.25, 0.0, -1.0], [[1], [2], [3]], 3)
    assert [(c.moment_id, c.similarity) for c in found] == [(2, 0.0), (1, -0.25), (3, -1.0)]


@pytest.mark.parametrize(
    ("last", "worst", "expected"),
    [
        (0.5, 0.4, True),
        (0.5, 0.5, False),  # a tie may continue outside
        (0.5, 0.49999, False),  # one quantum below: could be a tie after float32 error
        (0.5, 0.49997, True),
    ],
)
def test_settled_needs_a_gap_below_the_cut(last: float, worst: float, expected: bool) -> None:
    assert settled(ranking([(1, 0.9), (2, last)]), 2, [worst]).tolist() == [expected]


def test_too_few_candidates_are_never_settled() -> None:
    assert settled(ranking([(1, 0.9)], [(1, 0.9), (2, 0.8)], []), 2, [-1, -1, -1]).tolist() == [False, True, False]


def test_rankings_of_several_queries_are_kept_apart_and_joined_in_order() -> None:
    """Query 1 has nothing; 0 and 2 were asked together, 1 and 3 later."""
    query, caption = np.array([0, 2, 0]), np.array([1, 0, 2])
    first = rank_moments(query, caption, np.array([0.1, 0.4, 0.3]), Described([[5], [6], [7]]), count=3, k=2)
    assert [[c.moment_id for c in one] for one in first] == [[7, 6], [], [5]]
    kept = first.of(np.array([True, False, True]))
    later = ranking([], [(9, 0.5)])
    joined = Ranking.joined([kept, later], np.array([0, 2, 1, 3]))
    assert [[(c.rank, c.moment_id) for c in one] for one in joined] == [[(1, 7), (2, 6)], [], [(1, 5)], [(1, 9)]]


def test_left_out_counts_identical_text_only() -> None:
    moments = [[1, 2, 3], [4], [5]]
    whole = ranked([0, 1], [0.9, 0.5], moments, 4)
    assert left_out(whole, moments) == 0
    assert left_out(whole[:2], moments) == 1
    # Another text that happens to tie is not the same text.
    assert left_out(ranked([1, 2], [0.5, 0.5], moments, 1), moments) == 0
    # Moment 2 is chosen for its own better text, so its worse text's other moments were not cut by a tie.
    assert left_out(ranked([0, 1], [0.9, 0.2], [[2], [2, 7]], 1), [[2], [2, 7]]) == 0
