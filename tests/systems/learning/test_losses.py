"""Losses equal plain Python, gradients its finite differences, and TVR-Ranking's two changes do what they say."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from backend.systems.learning.network import hinge_loss, nce_loss, negatives_of, span_loss
from learnable import differences

Table = list[list[float]]
POSITIVES = [[True, False, True], [False, True, False], [False, False, True]]
"""Of three pairs: the third video is a positive of the first query, too."""


def plain_nce(scores: Table, negatives: list[list[bool]], temperature: float) -> list[float]:
    found = []
    for i in range(len(scores)):
        right = math.exp(scores[i][i] / temperature)
        below = right
        for j in range(len(scores)):
            below += math.exp(scores[i][j] / temperature) if negatives[i][j] else 0
            below += math.exp(scores[j][i] / temperature) if negatives[j][i] else 0
        found.append(-math.log(right / below))
    return found


def plain_hinge(scores: Table, negatives: list[list[bool]], margin: float) -> list[float]:
    found = []
    for i in range(len(scores)):
        videos = [max(0, margin + scores[i][j] - scores[i][i]) for j in range(len(scores)) if negatives[i][j]]
        queries = [max(0, margin + scores[j][i] - scores[i][i]) for j in range(len(scores)) if negatives[j][i]]
        found.append(sum(sum(part) / len(part) for part in (videos, queries) if part))
    return found


def plain_span(start: Table, end: Table, first: list[int], last: list[int]) -> list[float]:
    def told(logits: list[float], place: int) -> float:
        return -math.log(math.exp(logits[place]) / sum(math.exp(one) for one in logits))

    columns = zip(start, first, end, last, strict=True)
    return [told(one, begins) + told(other, ends) for one, begins, other, ends in columns]


def gradient(loss: Callable[[Tensor], Tensor], at: Table) -> np.ndarray:
    given = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    loss(given).backward()
    assert given.grad is not None
    return given.grad.numpy()


def scores(seed: int) -> Table:
    return np.random.default_rng(seed).uniform(-1, 1, (3, 3)).tolist()


WEIGHTS = [0.9, 0.3, 0.6]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("masked", [True, False])
def test_video_losses_and_their_gradients(seed: int, masked: bool) -> None:
    at, weight = scores(seed), torch.tensor(WEIGHTS, dtype=torch.float64)
    negatives = negatives_of(torch.tensor(POSITIVES), masked=masked)
    for loss, plain, number in ((nce_loss, plain_nce, 0.3), (hinge_loss, plain_hinge, 0.2)):
        given = torch.tensor(at, dtype=torch.float64)
        assert loss(given, negatives, number).tolist() == pytest.approx(plain(at, negatives.tolist(), number))

        def weighed(table: np.ndarray, plain: Callable[..., list[float]] = plain, number: float = number) -> float:
            return float(np.dot(WEIGHTS, plain(table.tolist(), negatives.tolist(), number)))

        found = gradient(lambda one, loss=loss, number=number: (weight * loss(one, negatives, number)).sum(), at)
        assert found == pytest.approx(differences(weighed, np.array(at)), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_span_loss_and_its_gradients(seed: int) -> None:
    start, end = scores(seed), scores(seed + 100)
    first, last = [0, 1, 2], [2, 1, 2]

    def loss(one: Tensor, other: Tensor) -> Tensor:
        return span_loss(one, other, torch.tensor(first), torch.tensor(last))

    both = [torch.tensor(one, dtype=torch.float64) for one in (start, end)]
    assert loss(*both).tolist() == pytest.approx(plain_span(start, end, first, last))
    found = gradient(lambda one: loss(one, both[1]).sum(), start)
    plain = differences(lambda one: sum(plain_span(one.tolist(), end, first, last)), np.array(start))
    assert found == pytest.approx(plain, abs=1e-6)


def test_worked_by_hand() -> None:
    all_others = negatives_of(torch.eye(2, dtype=torch.bool), masked=True)
    given = torch.log(torch.tensor([[2.0, 1.0], [3.0, 4.0]]))
    assert nce_loss(given, all_others, 1.0).tolist() == pytest.approx([math.log(3), math.log(2)])
    given = torch.tensor([[0.5, 0.45], [0.3, 0.2]])
    assert hinge_loss(given, all_others, 0.1).tolist() == pytest.approx([0.05, 0.55])
    start, end = torch.log(torch.tensor([[1.0, 3.0]])), torch.zeros((1, 2))
    assert span_loss(start, end, torch.tensor([1]), torch.tensor([1])).item() == pytest.approx(math.log(8 / 3))


def test_a_clip_that_is_not_there_takes_no_probability() -> None:
    start = torch.tensor([[0.0, 0.0, -torch.inf]])
    assert span_loss(start, start, torch.tensor([0]), torch.tensor([1])).item() == pytest.approx(2 * math.log(2))


def test_a_positive_in_the_batch_pushes_and_is_pushed_by_nothing() -> None:
    """TVR-Ranking, C.1: the third video is a positive of the first query, so its score there may be anything."""
    low, high = torch.zeros((3, 3)), torch.zeros((3, 3))
    high[0, 2] = 0.9
    masked = negatives_of(torch.tensor(POSITIVES), masked=True)
    for loss in (nce_loss, hinge_loss):
        assert torch.equal(loss(low, masked, 0.5), loss(high, masked, 0.5))
        unmasked = negatives_of(torch.tensor(POSITIVES), masked=False)
        # The first query and the third video both suffer from it where it is not masked, the second pair never.
        assert (loss(high, unmasked, 0.5) > loss(low, unmasked, 0.5)).tolist() == [True, False, True]


def test_without_negatives_there_is_no_loss() -> None:
    nothing = torch.zeros((2, 2), dtype=torch.bool)
    assert nce_loss(torch.rand(2, 2), nothing, 0.1).tolist() == pytest.approx([0.0, 0.0])
    assert hinge_loss(torch.rand(2, 2), nothing, 0.1).tolist() == [0.0, 0.0]
