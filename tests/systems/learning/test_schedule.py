"""The schedule has the paper's epochs and evaluations, and the published optimiser's learning rates."""

import pytest

from backend.systems.learning.schedule import default_epochs, default_evaluate_every, is_evaluated, rate_factor


@pytest.mark.parametrize(("top", "epochs", "every"), [(1, 4000, 20), (20, 200, 1), (40, 100, 0.5)])
def test_the_schedules_of_the_paper(top: int, epochs: int, every: float) -> None:
    """TVR-Ranking, appendix C.1."""
    assert (default_epochs(top), default_evaluate_every(top)) == (epochs, every)


def test_other_training_sets_have_as_many_pairs_in_all() -> None:
    assert (default_epochs(10), default_evaluate_every(10)) == (400, 2)
    assert (default_epochs(3), default_epochs(100_000)) == (1333, 1)


def test_the_learning_rate_rises_and_falls_as_published() -> None:
    """Figures of the published code's schedule `warmup_linear` with warmup = 0.01 for 200 steps."""
    published = {
        0: 0.0,
        1: 0.5,
        2: 1.0,
        3: 0.9949494949494949,
        50: 0.7575757575757576,
        100: 0.5050505050505051,
        150: 0.25252525252525254,
        199: 0.005050505050505055,
    }
    for step, factor in published.items():
        assert rate_factor(step, 200, 0.01) == pytest.approx(factor, abs=1e-12)
    assert [rate_factor(step, 4, 0.0) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]


@pytest.mark.parametrize(
    ("epoch_steps", "every", "steps", "evaluated"),
    [
        (4, 0.5, 8, [2, 4, 6, 8]),
        (5, 0.5, 10, [3, 5, 8, 10]),
        (5, 1, 15, [5, 10, 15]),
        (2, 3, 10, [6, 10]),  # the last step as well
        (30, 0.1, 30, [3, 6, 9, 12, 15, 18, 21, 24, 27, 30]),
        (2, 0.1, 3, [1, 2, 3]),  # no more often than there are steps
    ],
)
def test_evaluations_come_at_equal_distances(epoch_steps: int, every: float, steps: int, evaluated: list[int]) -> None:
    found = [step for step in range(1, steps + 1) if is_evaluated(step, steps, epoch_steps, every)]
    assert found == evaluated
