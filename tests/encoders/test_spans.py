"""The vector of a span of a video."""

from collections.abc import Sequence

import numpy as np
import pytest

from backend.encoders.clip import of_span


def mean_by_hand(frames: np.ndarray, instants: Sequence[float], start_s: float, end_s: float) -> np.ndarray:
    mean = np.mean([frame for frame, at in zip(frames, instants, strict=True) if start_s <= at < end_s], axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize(("start_s", "end_s"), [(0, 5), (0.25, 0.75), (0.26, 1.3), (1.2, 4.9), (4.5, 9.0)])
def test_a_span_is_the_mean_of_the_frames_that_it_shows(start_s: float, end_s: float) -> None:
    frames = np.random.default_rng(3).normal(size=(10, 8)).astype(np.float32)
    frames /= np.linalg.norm(frames, axis=1, keepdims=True)
    instants = [0.25 + 0.5 * number for number in range(10)]
    np.testing.assert_allclose(
        of_span(frames, start_s, end_s, 2.0), mean_by_hand(frames, instants, start_s, end_s), atol=1e-6
    )
