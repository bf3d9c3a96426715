"""The candidate lists are a function of query, texts and ids, not of the order in which they are stored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.encoders import search
from backend.encoders.search import top_moments
from backend.encoders.selection import Described, left_out, rank_moments


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
