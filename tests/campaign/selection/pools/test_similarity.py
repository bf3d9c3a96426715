"""The similarity of queries and videos, against loops over pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.selection.pools import similarity
from backend.campaign.selection.pools.similarity import query_video, video_starts


def unit(rng: np.random.Generator, rows: int) -> np.ndarray:
    vectors = rng.standard_normal((rows, 7)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 5), st.integers(0, 99))
def test_the_best_sentence_of_a_video_counts(counts: list[int], asked: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, sentences = unit(rng, asked), unit(rng, sum(counts))
    video = [f"v{n}" for n, count in enumerate(counts) for _ in range(count)]
    found = query_video(queries, sentences, video_starts(video))
    assert found.shape == (asked, len(counts))
    for q in range(asked):
        for v in range(len(counts)):
            cosines = [
                sum(float(a) * float(b) for a, b in zip(queries[q], sentence, strict=True))
                for sentence, name in zip(sentences, video, strict=True)
                if name == f"v{v}"
            ]
            assert found[q, v] == pytest.approx(max(cosines), abs=1e-6)


@pytest.mark.parametrize("starts", [[1], [0, 2], [0, 1, 1]])
def test_a_video_without_a_sentence_has_no_similarity(starts: list[int]) -> None:
    vectors = unit(np.random.default_rng(0), 2)
    with pytest.raises(ValueError, match="every video needs a sentence"):
        query_video(vectors, vectors, np.array(starts))


def test_sentences_of_a_video_stand_together() -> None:
    with pytest.raises(ValueError, match="do not stand together"):
        video_starts(["a", "b", "a"])


def test_pairs_of_queries_are_counted_in_blocks_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(41, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    repeats = rng.integers(1, 4, 41)
    every = np.repeat(vectors, repeats, axis=0).astype(np.float64)
    upper = np.triu_indices(len(every), k=1)
    expected, _ = np.histogram((every @ every.T).round(5)[upper] + 1e-9, bins=np.linspace(-1, 1, 201))
    expected[-1] += len(upper[0]) - expected.sum()  # the addend lifts 1 out of the last bin
    for cells in (1, 41 * 7, 1 << 21):
        monkeypatch.setattr(similarity, "_CELLS_AT_ONCE", cells)
        assert similarity.count_pairs(vectors, repeats.tolist()).tolist() == expected.tolist()
