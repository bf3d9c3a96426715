"""Ranking of moments from caption scores."""

import pytest

from backend.encoders.selection import Candidate, left_out, rank_moments, settled


def test_scores_within_a_quantum_tie_and_the_smaller_id_wins() -> None:
    found = rank_moments([0, 1, 2], [0.700004, 0.7, 0.699996], [[30], [20], [10]], 3)
    assert [(c.moment_id, c.similarity) for c in found] == [(10, 0.7), (20, 0.7), (30, 0.7)]


def test_a_moment_scores_as_its_best_caption() -> None:
    found = rank_moments([0, 1, 2], [0.2, 0.9, 0.5], [[1, 2], [2], [3]], 3)
    assert found == [Candidate(2, 0.9, 1, 1), Candidate(3, 0.5, 2, 2), Candidate(1, 0.2, 3, 0)]


def test_negative_similarities_rank_below_zero() -> None:
    found = rank_moments([0, 1, 2], [-0.25, 0.0, -1.0], [[1], [2], [3]], 3)
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
    assert settled([Candidate(1, 0.9, 1, 0), Candidate(2, last, 2, 1)], 2, worst) is expected


def test_too_few_candidates_are_never_settled() -> None:
    assert not settled([Candidate(1, 0.9, 1, 0)], 2, -1.0)
    assert not settled([], 2, -1.0)


def test_left_out_counts_identical_text_only() -> None:
    moments = [[1, 2, 3], [4], [5]]
    whole = rank_moments([0, 1], [0.9, 0.5], moments, 4)
    assert left_out(whole, moments) == 0
    assert left_out(whole[:2], moments) == 1
    # Another text that happens to tie is not the same text.
    assert left_out(rank_moments([1, 2], [0.5, 0.5], moments, 1), moments) == 0
    # Moment 2 is chosen for its own better text, so its worse text's other moments were not cut by a tie.
    assert left_out(rank_moments([0, 1], [0.9, 0.2], [[2], [2, 7]], 1), [[2], [2, 7]]) == 0
