"""The CroCs loss against its equations written as loops, and its gradients against differences."""

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.training import CroCsLoss

Vector = Sequence[float]


def cosine(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


def one_way(anchors, partners, weak, strong, there, temperature, margin):
    """One half of equation 5 as it stands: anchor i belongs to partner i."""
    terms = []
    for i, anchor in enumerate(anchors):
        right = math.exp((cosine(anchor, partners[i]) - margin) / temperature)
        wrong = [cosine(anchor, partner) for j, partner in enumerate(partners) if j != i and weak[i][j]]
        wrong += [cosine(anchor, rival) for rival, counts in zip(strong[i], there[i], strict=True) if counts]
        terms.append(-math.log(right / (right + math.fsum(math.exp(s / temperature) for s in wrong))))
    return math.fsum(terms) / len(terms)


def batch(pairs: int, strong: int, seed: int):
    """Queries, moments, which may be negatives, strong moments and queries, and which of them count."""
    draw = torch.Generator().manual_seed(seed)
    queries, moments = torch.randn((2, pairs, 5), generator=draw, dtype=torch.float64)
    strong_moments, strong_queries = torch.randn((2, pairs, strong, 5), generator=draw, dtype=torch.float64)
    potential = torch.rand((pairs, pairs), generator=draw) < 0.6
    there, asked = torch.rand((2, pairs, strong), generator=draw) < 0.7
    return queries, moments, potential, strong_moments, strong_queries, there, asked


@given(st.integers(1, 6), st.integers(0, 4), st.integers(0, 999), st.floats(0.1, 1), st.floats(0, 0.5))
def test_the_equations_as_loops(pairs: int, strong: int, seed: int, temperature: float, margin: float) -> None:
    queries, moments, potential, strong_moments, strong_queries, there, asked = batch(pairs, strong, seed)
    found = CroCsLoss(temperature, margin)(
        queries,
        moments,
        potential,
        strong_moments,
        strong_queries,
        strong_moments_mask=there,
        strong_queries_mask=asked,
    )
    q, m, weak = queries.tolist(), moments.tolist(), potential.tolist()
    to_moments = one_way(q, m, weak, strong_moments.tolist(), there.tolist(), temperature, margin)
    columns = potential.T.tolist()
    to_queries = one_way(m, q, columns, strong_queries.tolist(), asked.tolist(), temperature, margin)
    assert float(found) == pytest.approx(to_moments + to_queries, abs=1e-6)


def test_single_precision_is_as_near() -> None:
    *vectors_and_masks, there, asked = batch(6, 4, 0)
    single = [part.float() if part.is_floating_point() else part for part in vectors_and_masks]
    masks = {"strong_moments_mask": there, "strong_queries_mask": asked}
    assert float(CroCsLoss()(*single, **masks)) == pytest.approx(
        float(CroCsLoss()(*vectors_and_masks, **masks)), abs=1e-4
    )


def test_gradients_are_those_of_differences() -> None:
    queries, moments, potential, strong_moments, strong_queries, there, asked = batch(4, 3, 1)
    there[0] = asked[1] = False  # an anchor without any strong negative
    potential[2] = False

    def loss(*vectors: torch.Tensor) -> torch.Tensor:
        q, m, rival_moments, rival_queries = vectors
        return CroCsLoss(0.3, 0.2)(
            q, m, potential, rival_moments, rival_queries, strong_moments_mask=there, strong_queries_mask=asked
        )

    inputs = [part.requires_grad_() for part in (queries, moments, strong_moments, strong_queries)]
    assert torch.autograd.gradcheck(loss, inputs)


def test_what_is_no_potential_negative_is_not_pushed_away() -> None:
    queries, moments = torch.randn((2, 3, 5), generator=torch.Generator().manual_seed(2)).unbind()
    moments.requires_grad_()
    potential = torch.ones((3, 3), dtype=torch.bool)
    potential[:2, 2] = potential[2, :2] = False  # pair 2 shows what the others show
    losses = CroCsLoss()
    losses(queries, moments, potential).backward()
    assert moments.grad is not None
    gradient = moments.grad[2]
    assert gradient.tolist() == pytest.approx([0.0] * 5, abs=1e-6), "nothing is a negative of it, nor it of anything"
    assert moments.grad[:2].abs().max() > 1e-3


def test_without_negatives_there_is_nothing_to_learn() -> None:
    queries, moments = torch.randn((2, 3, 5)).unbind()
    assert float(CroCsLoss()(queries, moments, torch.eye(3, dtype=torch.bool))) == pytest.approx(0, abs=1e-6)


def test_shapes_and_temperatures_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"potential is \(2, 3\), not \(3, 3\)"):
        CroCsLoss()(torch.ones(3, 2), torch.ones(3, 2), torch.ones((2, 3), dtype=torch.bool))
    with pytest.raises(ValueError, match="temperature must be above 0"):
        CroCsLoss(temperature=0.0)
