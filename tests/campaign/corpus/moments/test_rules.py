"""Spans from shots and windows, whatever the shots and options."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.corpus.moments import model
from backend.campaign.corpus.moments.model import ByShots, ByWindows

times = st.lists(st.integers(1, 60_000), min_size=1, max_size=30, unique=True).map(sorted)


def shots_at(cuts_ms: list[int]) -> list[tuple[float, float]]:
    return list(pairwise([0.0, *(cut / 1000 for cut in cuts_ms)]))


@given(times, st.floats(0, 5), st.floats(10, 30))
def test_moments_of_shots_cover_the_video_and_keep_their_lengths(
    cuts: list[int], shortest: float, longest: float
) -> None:
    shots, how = shots_at(cuts), ByShots(shortest, longest)
    moments = model.from_shots(shots, how)
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
    found = model.windows(duration, how)
    assert len(found) == len(set(found)) <= model.window_count(duration, how)
    for start, end in found:
        assert 0 <= start < end <= duration
        assert any(math.isclose(end - start, min(length, duration), abs_tol=0.002) for length in how.lengths_s)
    for length in how.lengths_s:  # no second is left out by any length, and neighbours overlap as the stride says
        own = sorted(start for start, end in found if math.isclose(end - start, min(length, duration), abs_tol=0.002))
        assert own[0] == 0
        assert own[-1] + min(length, duration) == pytest.approx(duration, abs=0.002)
        if len(set(tenths)) == 1:
            assert all(b - a <= length * stride + 0.002 for a, b in pairwise(own))


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (ByShots(-1.0, 20.0), "--shortest is -1"),
        (ByShots(math.inf, math.inf), "--shortest is inf"),
        (ByShots(2.0, 3.0), "--longest is 3"),
        (ByShots(0.0, 0.0), "--longest is 0"),
        (ByShots(0.0, math.nan), "--longest is nan"),
        (ByWindows(()), "--lengths: write seconds"),
        (ByWindows((5.0, 0.0)), "--lengths: write seconds"),
        (ByWindows((math.inf,)), "--lengths: write seconds"),
        (ByWindows((5.0,), 0.0), "--stride is 0"),
        (ByWindows((5.0,), 1.5), "--stride is 1.5"),
    ],
)
def test_options_that_mean_nothing_are_told(how: ByShots | ByWindows, why: str) -> None:
    assert (model.option_problem(how) or "").startswith(why)


@pytest.mark.parametrize(
    "how",
    [
        *(ByShots(0.0, 0.1), ByShots(2.0, 4.0), ByShots(0.0, math.inf)),
        *(ByWindows((0.1,), 1.0), ByWindows((5.0, 10.0), 0.01)),
    ],
)
def test_options_at_their_bounds_are_taken(how: ByShots | ByWindows) -> None:
    assert model.option_problem(how) is None


@pytest.mark.parametrize(
    ("shots", "how", "moments"),
    [
        # The shortest goes first, to its shorter neighbour, which is then longer than the other one of (4, 5.5).
        (
            [(0, 4), (4, 5.5), (5.5, 8.5), (8.5, 9.7), (9.7, 14)],
            ByShots(2.0, 20.0),
            [(0, 5.5), (5.5, 9.7), (9.7, 14)],
        ),
        # Of two that are as short the first, and to the later of two neighbours that are as short.
        ([(0, 4), (4, 5), (5, 8), (8, 9), (9, 13)], ByShots(2.0, 20.0), [(0, 4), (4, 8), (8, 13)]),
        ([(0, 5), (5, 6), (6, 11)], ByShots(2.0, 20.0), [(0, 5), (5, 11)]),
        # At both ends there is one neighbour.
        ([(0, 1), (1, 9), (9, 10)], ByShots(2.0, 20.0), [(0, 10)]),
        ([(0, 1), (1, 2)], ByShots(9.0, 20.0), [(0, 2)]),
        # Exactly as short, and as long, as may be.
        ([(0, 2), (2, 12)], ByShots(2.0, 5.0), [(0, 2), (2, 7), (7, 12)]),
        ([(0, 1), (1, 11)], ByShots(0.0, 3.0), [(0, 1), (1, 3.5), (3.5, 6), (6, 8.5), (8.5, 11)]),
        # Parts begin at whole milliseconds.
        ([(0, 10)], ByShots(0.0, 4.0), [(0, 3.333), (3.333, 6.667), (6.667, 10)]),
        ([(0.00049, 7)], ByShots(0.0, 9.0), [(0.00049, 7)]),
    ],
)
def test_moments_of_shots_by_hand(
    shots: list[tuple[float, float]], how: ByShots, moments: list[tuple[float, float]]
) -> None:
    assert model.from_shots(shots, how) == moments


@pytest.mark.parametrize(
    ("duration", "how", "found"),
    [
        # Of 5 s every 2.5 s, and one that ends with the video; of 10 s every 5 s likewise.
        (12.0, ByWindows((5.0, 10.0)), [(0, 5), (0, 10), (2, 12), (2.5, 7.5), (5, 10), (7, 12)]),
        (7 / 3, ByWindows((7 / 3,)), [(0, 7 / 3)]),
        (10.0, ByWindows((5.0,), 1.0), [(0, 5), (5, 10)]),
        # What is left is less than a millisecond, or more.
        (10.0009, ByWindows((5.0,), 1.0), [(0, 5), (5, 10)]),
        # In floats six tenths of a second are a little less than six times one: the seventh window is not left out.
        (0.7, ByWindows((0.1,), 1.0), [(n / 10, (n + 1) / 10) for n in range(7)]),
        (10.002, ByWindows((5.0,), 1.0), [(0, 5), (5, 10), (5.002, 10.002)]),
        # To the millisecond; yet the last window does not end after the video.
        (2.3336, ByWindows((2 / 3,), 1.0), [(0, 0.667), (0.667, 1.333), (1.333, 2), (1.667, 2.3336)]),
        # A length above the video's does not end the others.
        (4.0, ByWindows((5.0, 2.0), 1.0), [(0, 2), (0, 4), (2, 4)]),
    ],
)
def test_windows_of_other_videos_by_hand(duration: float, how: ByWindows, found: list[tuple[float, float]]) -> None:
    assert model.windows(duration, how) == found


@given(st.integers(1, 400), st.integers(1, 100), st.sampled_from([0.25, 0.5, 1.0]))
def test_windows_are_counted_before_they_are_made_with_one_too_many_at_most(
    duration: int, length: int, stride: float
) -> None:
    how = ByWindows((float(length),), stride)
    assert 0 <= model.window_count(float(duration), how) - len(model.windows(float(duration), how)) <= 1


def test_windows_of_all_lengths_are_counted() -> None:
    # Of 12 s: 3 of 5 s every 2.5 s and 1 at the end; one of 60 s.
    assert [model.window_count(12.0, ByWindows(lengths)) for lengths in ((5.0,), (60.0,), (5.0, 60.0))] == [4, 1, 5]


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        (0.0, 10.0, None),
        (9.5, 10.0, None),
        (math.nan, 2.0, "start and end have to be numbers of seconds"),
        (1.0, math.inf, "start and end have to be numbers of seconds"),
        (-0.5, 2.0, "the start -0.5 is negative"),
        (2.0, 2.0, "the end 2 is not after the start 2"),
        (9.0, 10.0009, None),
        (9.0, 10.002, "the end 10.002 is after that of the video, which lasts 10 s"),
    ],
)
def test_what_keeps_a_span_from_being_a_moment(start: float, end: float, why: str | None) -> None:
    told = model.span_problem(start, end, 10.0)
    assert told is None if why is None else (told or "").startswith(why)


def test_a_hull_is_from_the_first_start_to_the_last_end() -> None:
    assert model.hull(iter([(3.0, 4.0), (1.0, 9.0), (2.0, 5.0)])) == (1.0, 9.0)
