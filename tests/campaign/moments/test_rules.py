"""Spans from shots and windows, whatever the shots and options."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.moments import rules
from backend.campaign.moments.model import ByShots, ByWindows

times = st.lists(st.integers(1, 60_000), min_size=1, max_size=30, unique=True).map(sorted)


def shots_at(cuts_ms: list[int]) -> list[tuple[float, float]]:
    return list(pairwise([0.0, *(cut / 1000 for cut in cuts_ms)]))


@given(times, st.floats(0, 5), st.floats(10, 30))
def test_moments_of_shots_cover_the_video_and_keep_their_lengths(
    cuts: list[int], shortest: float, longest: float
) -> None:
    shots, how = shots_at(cuts), ByShots(shortest, longest)
    moments = rules.from_shots(shots, how)
    assert moments[0][0] == 0.0
    assert moments[-1][1] == shots[-1][1]
    assert all(one[1] == other[0] for one, other in pairwise(moments))
    assert all(end - start <= longest + 0.002 for start, end in moments)
    if shots[-1][1] >= shortest:  # else all of it is one
        assert all(end - start >= shortest - 0.002 for start, end in moments)
    # Where no shot is short or long, they are the moments.
    if all(shortest <= end - start <= longest for start, end in shots):
        assert moments == shots


@given(
    st.integers(100, 200_000),
    st.lists(st.integers(5, 300), min_size=1, max_size=4),
    st.sampled_from([0.1, 0.25, 0.5, 1]),
)
def test_windows_cover_the_video_with_their_lengths(duration_ms: int, tenths: list[int], stride: float) -> None:
    duration = duration_ms / 1000
    how = ByWindows(tuple(n / 10 for n in tenths), stride)
    found = rules.windows(duration, how)
    assert len(found) == len(set(found)) <= rules.window_count(duration, how)
    for start, end in found:
        assert 0 <= start < end <= duration
        assert any(math.isclose(end - start, min(length, duration), abs_tol=0.002) for length in how.lengths_s)
    for length in how.lengths_s:  # no second is left out by any length, and neighbours overlap as the stride says
        own = sorted(start for start, end in found if math.isclose(end - start, min(length, duration), abs_tol=0.002))
        assert own[0] == 0
        assert own[-1] + min(length, duration) == pytest.approx(duration, abs=0.002)
        if len(set(tenths)) == 1:
            assert all(b - a <= length * stride + 0.002 for a, b in pairwise(own))


def test_windows_by_hand() -> None:
    # Of 12 s: of 5 s every 2.5 s, and one that ends with the video; of 10 s every 5 s likewise.
    assert rules.windows(12.0, ByWindows((5.0, 10.0), 0.5)) == [
        *((0.0, 5.0), (0.0, 10.0), (2.0, 12.0), (2.5, 7.5), (5.0, 10.0), (7.0, 12.0)),
    ]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (ByShots(-1.0, 20.0), "--shortest is -1"),
        (ByShots(2.0, 3.0), "--longest is 3"),
        (ByShots(0.0, 0.0), "--longest is 0"),
        (ByShots(0.0, math.nan), "--longest is nan"),
        (ByWindows(()), "--lengths are seconds"),
        (ByWindows((5.0, 0.0)), "--lengths are seconds"),
        (ByWindows((math.inf,)), "--lengths are seconds"),
        (ByWindows((5.0,), 0.0), "--stride is 0"),
        (ByWindows((5.0,), 1.5), "--stride is 1.5"),
    ],
)
def test_options_that_mean_nothing_are_told(how: ByShots | ByWindows, why: str) -> None:
    assert (rules.trouble(how) or "").startswith(why)
