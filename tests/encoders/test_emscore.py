"""EMScore against the formulas of its paper, written out one number at a time."""

from math import log, sqrt

import numpy as np
import pytest

from backend.encoders.emscore import FrameVectors, Idf, SentenceVectors, idf, score

DIM = 24


def unit(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random, but on one side of the sphere, as CLIP's are: F is ill-conditioned where P + R is nearly 0."""
    vectors = rng.normal(1, 1, size=(count, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def slow(tokens: list[int], words: np.ndarray, frames: np.ndarray, corpus: list[list[int]] | None) -> dict[str, float]:
    """Coarse, P, R, F and full F by loops over Python floats."""
    x, v = words.astype(float).tolist(), frames.astype(float).tolist()

    def dot(a: list[float], b: list[float]) -> float:
        return sum(one * other for one, other in zip(a, b, strict=True))

    weights = [1.0] * len(x)
    if corpus is not None:
        weights = [log((len(corpus) + 1) / (sum(token in other for other in corpus) + 1)) for token in tokens]
    precision = sum(w * max(dot(one, frame) for frame in v) for w, one in zip(weights, x, strict=True)) / sum(weights)
    recall = sum(max(dot(one, frame) for one in x) for frame in v) / len(v)
    f = 2 * precision * recall / (precision + recall)
    mean = [sum(frame[n] for frame in v) / len(v) for n in range(DIM)]
    coarse = dot(x[-1], mean) / sqrt(dot(mean, mean))
    return {"coarse": coarse, "precision": precision, "recall": recall, "f": f, "full_f": (coarse + f) / 2}


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_the_paper_says_of_random_vectors(weighted: bool) -> None:
    rng = np.random.default_rng(5)
    corpus = [[0, *rng.integers(1, 12, size=rng.integers(1, 9)).tolist(), 12] for _ in range(20)]
    videos = [unit(rng, count) for count in (1, 2, 7, 40, 3)]
    frames = FrameVectors.of(videos)
    for tokens in corpus:
        words = unit(rng, len(tokens))
        found = score(SentenceVectors(tokens, words), frames, idf(corpus) if weighted else None)
        for number, video in enumerate(videos):
            expected = slow(tokens, words, video, corpus if weighted else None)
            for name, value in expected.items():
                assert getattr(found, name)[number] == pytest.approx(value, abs=1e-6), name


def test_some_videos_score_as_they_do_among_all() -> None:
    rng = np.random.default_rng(6)
    frames = FrameVectors.of([unit(rng, count) for count in (3, 1, 5, 2)])
    sentence = SentenceVectors((4, 5, 6), unit(rng, 3))
    chosen = np.array([2, 0])
    np.testing.assert_allclose(
        score(sentence, frames.some(chosen)).full_f, score(sentence, frames).full_f[chosen], atol=1e-7
    )


def test_rare_tokens_weigh_more_and_those_of_every_sentence_nothing() -> None:
    weights = idf([(1, 2, 9), (1, 3, 9), (1, 3, 9)])
    assert weights.known == pytest.approx({1: 0, 9: 0, 2: log(4 / 2), 3: log(4 / 3)})
    assert weights.unknown == pytest.approx(log(4))
    assert weights.of((1, 2)).tolist() == [0, 1]
    assert weights.of((1, 9)).tolist() == [0.5, 0.5]  # else P would be 0 / 0
    assert Idf({}, 1.0).of((7, 8, 7)).tolist() == pytest.approx([1 / 3] * 3)


def test_a_video_without_frames_is_refused() -> None:
    with pytest.raises(ValueError, match="frame"):
        FrameVectors.of([np.zeros((0, DIM), dtype=np.float32)])
    with pytest.raises(ValueError, match="videos"):
        FrameVectors.of([])


def test_frames_that_cancel_out_are_like_nothing() -> None:
    one = np.zeros((1, DIM), dtype=np.float32)
    one[0, 0] = 1
    found = score(SentenceVectors((1,), one), FrameVectors.of([np.concatenate([one, -one])]))
    assert found.coarse.tolist() == [0]
    assert found.precision.tolist() == [1]
    assert found.recall.tolist() == [0]  # 1 and -1
    assert found.f.tolist() == [0]
