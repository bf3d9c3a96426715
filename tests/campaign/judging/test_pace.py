"""When a grade is too fast, and when its clip cannot have been seen, at the limits."""

import pytest

from backend.campaign.judging.rules import too_fast, unseen


@pytest.mark.parametrize(
    ("clip_s", "limit_ms"),
    [(60.0, 1500), (3.1, 1500), (3.0, 1500), (2.0, 1000), (0.5, 250)],  # 1.5 s, or half of a clip of less than 3 s
)
def test_too_fast_is_less_than_a_second_and_a_half_or_half_of_the_clip(clip_s: float, limit_ms: int) -> None:
    assert too_fast(limit_ms - 1, clip_s) is True
    assert too_fast(limit_ms, clip_s) is False


@pytest.mark.parametrize(("clip_s", "limit_ms"), [(60.0, 15_000), (8.0, 2000), (0.5, 125)])
def test_a_quarter_of_the_length_shows_half_of_the_clip_at_double_speed(clip_s: float, limit_ms: int) -> None:
    assert unseen(limit_ms - 1, clip_s) is True
    assert unseen(limit_ms, clip_s) is False
