"""Losses equal plain Python, gradients its finite differences, and TVR-Ranking's two changes do what they say."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from backend.systems.learning.losses import hinge_loss, nce_loss, positives_of, span_loss
from learnable import differences

Table = list[list[float]]
POSITIVES = [[True, False, True], [False, True, False], [False, False, True]]
"""Of three pairs: the third video is a positive of the first query, too."""


def plain_nce(scores: Table, positives: list[list[bool]], temperature: float) -> list[float]:
    e = np.exp(np.array(scores) / temperature)
    numerators = [sum(e[i, j] for j in range(len(e)) if positives[i][j]) for i in range(len(e))]
    return [-math.log(numerators[i] / (e[i, :].sum() + e[:, i].sum())) for i in range(len(e))]


def plain_hinge(scores: Table, positives: list[list[bool]], margin: float) -> list[float]:
    found = []
    for i in range(len(scores)):
        videos = [max(0, margin + scores[i][j] - scores[i][i]) for j in range(len(scores)) if not positives[i][j]]
        queries = [max(0, margin + scores[j][i] - scores[i][i]) for j in range(len(scores)) if not positives[j][i]]
        found.append(sum(sum(part) / len(part) for part in (videos, queries) if part))
    return found


def plain_hardest(scores: Table, positives: list[list[bool]], margin: float, hardest: int) -> list[float]:
    found = []
    for i in range(len(scores)):
        videos = sorted((scores[i][j] for j in range(len(scores)) if not positives[i][j]), reverse=True)[:hardest]
        queries = sorted((scores[j][i] for j in range(len(scores)) if not positives[j][i]), reverse=True)[:hardest]
        terms = [[max(0, margin + one - scores[i][i]) for one in part] for part in (videos, queries)]
        found.append(sum(sum(part) / len(part) for part in terms if part))
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
@pytest.mark.parametrize("own_only", [True, False])
def test_video_losses_and_their_gradients(seed: int, own_only: bool) -> None:
    at, weight = scores(seed), torch.tensor(WEIGHTS, dtype=torch.float64)
    positives = positives_of(torch.tensor(POSITIVES), own_only=own_only)
    for loss, plain, number in ((nce_loss, plain_nce, 0.3), (hinge_loss, plain_hinge, 0.2)):
        given = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        found = loss(given, positives, number)
        assert found.tolist() == pytest.approx(plain(at, positives.tolist(), number), abs=1e-6)
        assert torch.autograd.gradcheck(
            lambda one, loss=loss, number=number: weight * loss(one, positives, number), [given]
        )


@pytest.mark.parametrize("hardest", [1, 3, 40, 100])
def test_the_hardest_negatives_of_hinge(hardest: int) -> None:
    rng = np.random.default_rng(1)
    at, mask = rng.uniform(-1, 1, (40, 40)), rng.random((40, 40)) < 0.3
    mask[3] = mask[:, 5] = True  # one query, and one video, without a negative
    np.fill_diagonal(mask, True)
    given = torch.tensor(at, requires_grad=True)
    found = hinge_loss(given, torch.from_numpy(mask), 0.2, hardest)
    assert found.tolist() == pytest.approx(plain_hardest(at.tolist(), mask.tolist(), 0.2, hardest), abs=1e-6)
    found.sum().backward()
    assert given.grad is not None
    assert given.grad.isfinite().all()


def test_a_random_mask_of_a_larger_batch() -> None:
    rng = np.random.default_rng(0)
    at, mask = rng.uniform(-1, 1, (40, 40)), rng.random((40, 40)) < 0.3
    np.fill_diagonal(mask, True)
    found = nce_loss(torch.from_numpy(at), torch.from_numpy(mask), 0.1)
    assert found.tolist() == pytest.approx(plain_nce(at.tolist(), mask.tolist(), 0.1), abs=1e-6)


def test_with_the_diagonal_alone_it_is_the_published_loss() -> None:
    """The expected losses were computed with the published code of TVR-Ranking and ReLoCLNet (class MILNCELoss)."""
    given = torch.tensor(
        [[0.31, -0.42, 0.17, 0.88], [0.05, 0.64, -0.73, 0.29], [0.52, 0.11, 0.47, -0.36], [-0.15, 0.93, 0.26, 0.70]],
        dtype=torch.float64,
    )
    own = positives_of(torch.ones((4, 4), dtype=torch.bool), own_only=True)
    at_1 = [2.048408402542033, 1.755201046718899, 1.7980054867402566, 1.87753567609856]
    at_01 = [5.734522355189926, 3.0062814265648603, 1.3476946742998406, 2.893306797500993]
    assert nce_loss(given, own, 1.0).tolist() == pytest.approx(at_1, abs=1e-9)
    assert nce_loss(given, own, 0.1).tolist() == pytest.approx(at_01, abs=1e-9)


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
    own = torch.eye(2, dtype=torch.bool)
    given = torch.log(torch.tensor([[2.0, 1.0], [3.0, 4.0]]))
    assert nce_loss(given, own, 1.0).tolist() == pytest.approx([math.log(4), math.log(3)])
    both = torch.tensor([[True, True], [False, True]])
    assert nce_loss(given, both, 1.0).tolist() == pytest.approx([math.log(8 / 3), math.log(3)])
    given = torch.tensor([[0.5, 0.45], [0.3, 0.2]])
    assert hinge_loss(given, own, 0.1).tolist() == pytest.approx([0.05, 0.55])
    start, end = torch.log(torch.tensor([[1.0, 3.0]])), torch.zeros((1, 2))
    assert span_loss(start, end, torch.tensor([1]), torch.tensor([1])).item() == pytest.approx(math.log(8 / 3))


def test_a_clip_that_is_not_there_takes_no_probability() -> None:
    start = torch.tensor([[0.0, 0.0, -torch.inf]])
    assert span_loss(start, start, torch.tensor([0]), torch.tensor([1])).item() == pytest.approx(2 * math.log(2))


def test_a_positive_in_the_batch_is_pulled_by_nce_and_left_alone_by_hinge() -> None:
    """TVR-Ranking, C.1: the third video is a positive of the first query."""
    low, high = torch.zeros((3, 3)), torch.zeros((3, 3))
    high[0, 2] = 0.9
    top, own = torch.tensor(POSITIVES), positives_of(torch.tensor(POSITIVES), own_only=True)
    assert torch.equal(hinge_loss(low, top, 0.5), hinge_loss(high, top, 0.5))
    assert nce_loss(high, top, 0.5)[0] < nce_loss(low, top, 0.5)[0]
    for loss in (nce_loss, hinge_loss):
        # The first query and the third video both suffer from it where it is no positive, the second pair never.
        assert (loss(high, own, 0.5) > loss(low, own, 0.5)).tolist() == [True, False, True]


def test_without_negatives_hinge_has_no_loss() -> None:
    assert hinge_loss(torch.rand(2, 2), torch.ones((2, 2), dtype=torch.bool), 0.1).tolist() == [0.0, 0.0]
