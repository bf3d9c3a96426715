"""Random and prior: what they draw, against figures that follow from their definitions."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.core.errors import InputError
from backend.systems import baselines
from backend.systems.baselines import random_answers
from backend.systems.model import Answers, KnownMoment, SearchTask, in_ms

VIDEOS = {"a": 10.0, "b": 20.0, "c": 60.0, "d": 5.0}
QUERIES = {f"q{n}": "a man" for n in range(40)}
TASK = SearchTask("made", QUERIES, VIDEOS)
LEARNT = [KnownMoment("x", 0, 10), KnownMoment("x", 0, 12), KnownMoment("x", 80, 90), KnownMoment("y", 24, 28)]
BLIND = SearchTask("made", QUERIES, VIDEOS, training=LEARNT, training_durations={"x": 100.0, "y": 40.0})


def all_of(found: Answers) -> list[tuple[str, float, float, float]]:
    return [tuple(one) for answers in found.values() for one in answers]


def test_random_videos_are_all_equally_likely() -> None:
    drawn = Counter(one[0] for one in all_of(random_answers(TASK, seed=1)))
    assert sum(drawn.values()) == 4000
    assert stats.chisquare([drawn[name] for name in VIDEOS]).pvalue > 0.01


def test_random_times_are_two_uniform_ones_in_order() -> None:
    """Sorted uniform times: the start has the distribution 1 - (1 - x)**2, the end x**2."""
    found = all_of(random_answers(TASK, seed=1))
    starts = [start / VIDEOS[name] for name, start, _, _ in found]
    ends = [end / VIDEOS[name] for name, _, end, _ in found]
    assert stats.kstest(starts, lambda x: 1 - (1 - x) ** 2).pvalue > 0.01
    assert stats.kstest(ends, lambda x: x**2).pvalue > 0.01


@pytest.mark.parametrize("system", [random_answers, baselines.prior_answers])
def test_a_seed_says_all_and_an_answer_does_not_depend_on_the_other_queries(system: Callable[..., Answers]) -> None:
    whole = system(BLIND, 3)
    assert system(BLIND, 3) == whole
    assert system(BLIND, 4) != whole
    other_order = dict(reversed(VIDEOS.items()))
    one = SearchTask("m", {"q7": "x"}, other_order, training=LEARNT[::-1], training_durations=BLIND.training_durations)
    assert system(one, 3)["q7"] == whole["q7"]
    assert whole["q1"] != whole["q2"]


@pytest.mark.parametrize("system", [random_answers, baselines.prior_answers])
@given(seed=st.integers(0, 2**31), duration=st.floats(0.01, 1e4))
def test_every_answer_lies_in_its_video_and_is_no_better_than_the_one_before(
    system: Callable[..., Answers], seed: int, duration: float
) -> None:
    task = SearchTask(
        "m", {"q": "x"}, {"v": duration, "w": 1.0}, training=LEARNT, training_durations={"x": 100, "y": 40}
    )
    found = system(task, seed, top=9)["q"]
    for video, start, end, _ in found:
        assert 0 <= start < end <= task.durations[video] + 0.001
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


def brute_force(points: list[tuple[float, float]], bins: int) -> list[tuple[float, float, float]]:
    """Every bin asked of every point, the densest first."""
    found = []
    for i in range(bins):
        for j in range(bins):
            inside = [
                (start, length)
                for start, length in points
                if (i / bins <= start < (i + 1) / bins or (start == 1 and i == bins - 1))
                and (j / bins <= length < (j + 1) / bins or (length == 1 and j == bins - 1))
            ]
            if inside:
                mean = np.mean(inside, axis=0)
                found.append((float(mean[0]), float(mean[1]), len(inside) / len(points)))
    return sorted(found, key=lambda one: -one[2])


@given(st.lists(st.tuples(st.integers(0, 63), st.integers(1, 64)), min_size=1, max_size=40))
def test_the_density_is_that_of_counting_every_bin(sixty_fourths: list[tuple[int, int]]) -> None:
    """Shares are 64ths and bins quarters: binary fractions, so that nothing lies at a border by rounding."""
    spans = [(start, min(start + length, 64)) for start, length in sixty_fourths]
    moments = [KnownMoment("v", float(start), float(end)) for start, end in spans]
    found = baselines.density(moments, {"v": 64.0}, bins=4)
    expected = brute_force([(start / 64, (end - start) / 64) for start, end in spans], 4)
    np.testing.assert_allclose(np.array(found), np.array(expected), atol=1e-12)


def test_prior_gives_each_video_the_likeliest_span_then_the_next_one() -> None:
    """Two of four moments begin with their video and last 10 and 12 % of it: 11 %. The others are alone in their bins.

    Of these the one from 60 % on comes first, being earlier.
    """
    found = baselines.prior_answers(BLIND, 0, top=7)["q0"]
    assert {one[0] for one in found[:4]} == set(VIDEOS)
    for video, start, end, score in found[:4]:
        assert (start, score) == (0, 0.5)
        assert end == pytest.approx(0.11 * VIDEOS[video], abs=0.001)
    for place, (video, start, end, score) in enumerate(found[4:]):
        assert video == found[place][0]
        assert (start, end) == (pytest.approx(0.6 * VIDEOS[video]), pytest.approx(0.7 * VIDEOS[video]))
        assert score == 0.25


def test_parts_of_moments_outside_their_video_do_not_count() -> None:
    learnt = [KnownMoment("v", 8, 14), KnownMoment("v", 11, 12)]
    assert baselines.density(learnt, {"v": 10.0}) == [baselines.LikelySpan(0.8, pytest.approx(0.2), 1.0)]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (SearchTask("f.json", {}, VIDEOS), "f.json: has no queries"),
        (SearchTask("f.json", QUERIES, {}), "f.json: does not say which videos"),
        (SearchTask("f.json", QUERIES, {"v": 0.0}), "f.json: video v: its duration is 0 s"),
        (SearchTask("f.json", QUERIES, {"v": float("nan")}), "f.json: video v: its duration is nan s"),
    ],
)
@pytest.mark.parametrize("system", [random_answers, baselines.prior_answers])
def test_a_task_that_nobody_can_answer_is_refused(system: Callable[..., Answers], task: SearchTask, told: str) -> None:
    with pytest.raises(InputError, match=told):
        system(task)


def test_prior_needs_training_moments_of_known_videos() -> None:
    with pytest.raises(InputError, match="made: has no training moments"):
        baselines.prior_answers(TASK)
    with pytest.raises(InputError, match="made: video x: it has training moments"):
        baselines.prior_answers(SearchTask("made", QUERIES, VIDEOS, training=LEARNT))
    with pytest.raises(InputError, match="made: video x: it has training moments, but its duration is -5 s"):
        baselines.prior_answers(SearchTask("made", QUERIES, VIDEOS, training=LEARNT, training_durations={"x": -5.0}))


def test_times_are_whole_milliseconds_and_at_least_one_apart() -> None:
    assert in_ms("v", 0.0004, 0.0006, 1.0)[1:3] == (0.0, 0.001)
    assert in_ms("v", 0.29, 0.57, 1.0)[1:3] == (0.29, 0.57)
    assert in_ms("v", 2 / 3, 9.9999, 1.0)[1:3] == (0.666, 9.999)
