"""Search against brute force on float64, including every way of tying at the cut."""

import numpy as np
import pytest

from backend.encoders import search
from backend.encoders.search import top_moments
from backend.encoders.selection import Ranking


@pytest.fixture(autouse=True, params=["in float32", "first in bfloat16"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search with and without the first look, whatever this processor is fast at."""
    monkeypatch.setattr(
        search, "coarse_pays", lambda vectors, queries: request.param == "first in bfloat16" and len(vectors)
    )


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def brute_force(
    queries: np.ndarray, captions: np.ndarray, moments: list[list[int]], k: int
) -> list[list[tuple[int, float]]]:
    """Every moment's best score, rounded to 5 decimals, all sorted by score and then id."""
    lists = []
    for query in queries.astype(np.float64):
        scores: dict[int, int] = {}
        for vector, ids in zip(captions.astype(np.float64), moments, strict=True):
            score = round(float(np.dot(vector, query)) * 100_000)
            for moment in ids:
                scores[moment] = max(score, scores.get(moment, -200_000))
        order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        lists.append([(moment, score / 100_000) for moment, score in order[:k]])
    return lists


def plain(lists: Ranking) -> list[list[tuple[int, float]]]:
    return [[(candidate.moment_id, candidate.similarity) for candidate in one] for one in lists]


@pytest.mark.parametrize("k", [1, 20, 40])
def test_equals_brute_force_on_ordinary_vectors(k: int) -> None:
    rng = np.random.default_rng(3)
    queries, captions = unit(rng.normal(size=(30, 24))), unit(rng.normal(size=(400, 24)))
    moments = [[int(number) for number in rng.choice(300, size=rng.integers(1, 4))] for _ in captions]
    found = top_moments(queries, captions, moments, k)
    assert plain(found) == brute_force(queries, captions, moments, k)
    assert all([candidate.rank for candidate in one] == list(range(1, k + 1)) for one in found)
    for one in found:
        assert all(candidate.moment_id in moments[candidate.caption] for candidate in one)


@pytest.mark.parametrize("tied", [1, 9, 12, 60, 200])
def test_more_ties_than_the_slack_holds_are_broken_by_id(tied: int) -> None:
    """`tied` distinct captions with one vector straddle the cut; ids run against the row order."""
    rng = np.random.default_rng(4)
    query = unit(rng.normal(size=(1, 16)))
    better = unit(query + 0.05 * rng.normal(size=(3, 16)))
    worse = unit(rng.normal(size=(50, 16)) - 2 * query)
    middle = np.repeat(unit(query + 0.3 * rng.normal(size=(1, 16))), tied, axis=0)
    captions = np.concatenate([worse, middle, better])
    moments = [[1000 - row] for row in range(len(captions))]
    found = top_moments(query, captions, moments, 5)
    assert plain(found) == brute_force(query, captions, moments, 5)
    if tied > 2:
        assert [c.moment_id for c in found[0][3:]] == [1000 - 49 - tied, 1000 - 48 - tied]


def test_many_moments_under_one_text_and_many_texts_of_one_moment() -> None:
    captions = unit(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.8, 0.2]]))
    queries = unit(np.array([[1.0, 0.0]]))
    moments = [[5], [9, 8, 7, 6, 5], [4], [3, 9]]
    found = top_moments(queries, captions, moments, 4)[0]
    assert [c.moment_id for c in found] == [5, 6, 7, 8]
    assert [c.caption for c in found] == [0, 1, 1, 1]


def test_one_moment_with_more_captions_than_the_depth_does_not_hide_the_others() -> None:
    captions = unit(np.array([[1.0, 0.01 * step] for step in range(100)]))
    moments = [[1] if row < 90 else [row] for row in range(100)]
    found = top_moments(unit(np.array([[1.0, 0.0]])), captions, moments, 3)[0]
    assert [c.moment_id for c in found] == [1, 90, 91]


def test_fewer_moments_than_asked_for() -> None:
    captions = unit(np.eye(3))
    assert [len(one) for one in top_moments(captions, captions, [[1], [2], []], 20)] == [2, 2, 2]
    assert [*top_moments(captions, np.empty((0, 3), dtype=np.float32), [], 20)] == [[], [], []]
    assert [*top_moments(np.empty((0, 3), dtype=np.float32), captions, [[1], [2], [3]], 20)] == []


@pytest.mark.parametrize("captions", [63, 64, 65, 999, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("k", [1, 3])
def test_no_place_in_the_corpus_is_overlooked(captions: int, k: int) -> None:
    """Captions are looked at in groups, and some are left over; the best ones may stand anywhere among them."""
    rng = np.random.default_rng(captions)
    corpus = unit(rng.normal(size=(captions, 8)))
    moments = [[row] for row in range(captions)]
    found = top_moments(corpus, corpus, moments, k)
    exact = corpus.astype(np.float64) @ corpus.astype(np.float64).T
    keys = np.rint(exact * 100_000) * captions - np.arange(captions)  # the better score, then the smaller id
    expected = np.argsort(-keys, axis=1)[:, :k]
    assert found.moment_ids.reshape(-1, k).tolist() == expected.tolist()


def test_a_corpus_too_large_for_one_product_is_searched_for_fewer_queries_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    vectors, moments = unit(rng.normal(size=(300, 8))), [[row % 250] for row in range(300)]
    whole = top_moments(vectors, vectors, moments, 7)
    monkeypatch.setattr(search, "_SCORES_AT_ONCE", 2000)
    parts = top_moments(vectors, vectors, moments, 7)
    assert [*parts] == [*whole]


def test_what_bfloat16_takes_for_worse_than_it_is_is_found() -> None:
    """Every number of the 25 best is rounded down by nearly as much as there can be, no number of the others is.

    With these queries the best score 0.9742 and come out as 0.96875, the others 0.9728 and come out as 0.97266.
    """
    query = np.array([[1 / 16] * 256 + [0.0] * 8], dtype=np.float32)
    best, other = np.zeros(264), np.zeros(264)
    best[:248], best[248:256] = 0.0625 + 0.00024, 0.0035  # next to 0.0625 comes 0.063
    other[:249], other[249] = 0.0625, 0.002
    aside = np.random.default_rng(6).normal(size=(1000, 8))
    along = np.array([best] * 25 + [other] * 975)
    room = np.sqrt(1 - (along**2).sum(axis=1, keepdims=True))
    along[:, 256:] = aside / np.linalg.norm(aside, axis=1, keepdims=True) * room
    captions = along.astype(np.float32)
    found = top_moments(query, captions, [[999 - row] for row in range(1000)], 20)
    assert plain(found) == brute_force(query, captions, [[999 - row] for row in range(1000)], 20)
    assert {candidate.caption for candidate in found[0]} <= set(range(25))


def test_progress_and_bad_shapes() -> None:
    calls: list[tuple[int, int]] = []
    vectors = unit(np.eye(4))
    top_moments(vectors[[0] * 600], vectors, [[1], [2], [3], [4]], 1, progress=lambda *at: calls.append(at))
    assert calls == [(512, 600), (600, 600)]
    with pytest.raises(ValueError, match="do not fit"):
        top_moments(vectors, vectors, [[1]], 1)
    with pytest.raises(ValueError, match="do not fit"):
        top_moments(vectors[:, :2], vectors, [[1], [2], [3], [4]], 1)
    with pytest.raises(ValueError, match="at least 1"):
        top_moments(vectors, vectors, [[1], [2], [3], [4]], 0)
