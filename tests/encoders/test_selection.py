"""Ranking of moments from caption scores."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.encoders import search
from backend.encoders.search import top_moments
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


@st.composite
def corpora(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[list[int]], int, np.ndarray]:
    """Few distinct vectors, so that ties are everywhere, and moments with several captions."""
    size = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pool = rng.normal(size=(draw(st.integers(1, 8)), 5))
    jitter = draw(st.sampled_from([0.0, 1e-6, 1e-5, 0.3]))
    captions = pool[rng.integers(len(pool), size=size)] + jitter * rng.normal(size=(size, 5))
    queries = pool[: draw(st.integers(1, 3))] + 0.1
    captions, queries = (
        (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32) for vectors in (captions, queries)
    )
    count = draw(st.integers(1, 40))
    moments = [[int(m) for m in rng.integers(count, size=rng.integers(0, 4))] for _ in range(size)]
    return queries, captions, moments, draw(st.integers(1, 12)), rng.permutation(size)


@settings(deadline=None)
@given(corpora())
def test_permuting_the_corpus_changes_nothing(
    corpus: tuple[np.ndarray, np.ndarray, list[list[int]], int, np.ndarray],
) -> None:
    queries, captions, moments, k, order = corpus
    one = top_moments(queries, captions, moments, k)
    other = top_moments(queries, captions[order], [moments[row][::-1] for row in order], k)
    for first, second in zip(one, other, strict=True):
        assert [(c.moment_id, c.similarity, c.rank) for c in first] == [
            (c.moment_id, c.similarity, c.rank) for c in second
        ]


@settings(deadline=None)
@given(corpora())
def test_a_first_look_in_bfloat16_changes_nothing(
    corpus: tuple[np.ndarray, np.ndarray, list[list[int]], int, np.ndarray],
) -> None:
    queries, captions, moments, k, _ = corpus
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "coarse_pays", lambda vectors, queries: bool(len(vectors)))
        first = top_moments(queries, captions, moments, k)
    assert [*first] == [*top_moments(queries, captions, moments, k)]


@settings(deadline=None)
@given(corpora())
def test_no_moment_outside_is_better_than_one_inside(
    corpus: tuple[np.ndarray, np.ndarray, list[list[int]], int, np.ndarray],
) -> None:
    queries, captions, moments, k, _ = corpus
    everyone = {moment for ids in moments for moment in ids}
    exact = queries.astype(np.float64) @ captions.astype(np.float64).T
    for scores, found in zip(exact, top_moments(queries, captions, moments, k), strict=True):
        assert len(found) == len({c.moment_id for c in found}) == min(k, len(everyone))
        best = {m: max(scores[r] for r in range(len(moments)) if m in moments[r]) for m in everyone}
        assert all(abs(c.similarity - best[c.moment_id]) < 0.51e-5 for c in found)
        keys = [(-c.similarity, c.moment_id) for c in found]
        assert keys == sorted(keys)
        outside = everyone - {c.moment_id for c in found}
        assert all(best[m] < found[-1].similarity + 0.51e-5 for m in outside)


@given(corpora())
def test_left_out_moments_tie_with_the_last_candidate(
    corpus: tuple[np.ndarray, np.ndarray, list[list[int]], int, np.ndarray],
) -> None:
    queries, captions, moments, k, _ = corpus
    rows = np.arange(len(captions))
    scores = captions.astype(np.float64) @ queries[0]
    longer = rank_moments(np.zeros_like(rows), rows, scores, Described(moments), count=1, k=1000)[0]
    similarity = {c.moment_id: c.similarity for c in longer}
    tied = sum(value == longer[k - 1].similarity for value in similarity.values()) if len(longer) > k else 0
    kept_of_tie = sum(c.similarity == longer[k - 1].similarity for c in longer[:k]) if tied else 0
    assert left_out(longer[:k], moments) <= tied - kept_of_tie
