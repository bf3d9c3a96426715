"""Potential negatives and how likely each is drawn, against the equations written as loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.selection.pools.similarity import LEAST_TEMPERATURE, distribution

COSINE = st.one_of(st.floats(-1, 1, width=32), st.sampled_from([0.8999999761581421, 0.8999999761581421 + 2**-24, 1.0]))


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cells = draw(st.lists(COSINE, min_size=rows * columns, max_size=rows * columns))
    own = draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns))
    return np.array(cells, dtype=np.float32).reshape(rows, columns), np.array(own).reshape(rows, columns)


@given(tables(), st.floats(0.1, 1), st.floats(LEAST_TEMPERATURE, 2))
def test_the_equations_as_loops(table: tuple[np.ndarray, np.ndarray], threshold: float, temperature: float) -> None:
    similarity, own = table
    found = distribution(similarity, own, threshold, temperature)
    for r, row in enumerate(similarity.tolist()):
        potential = [c for c, s in enumerate(row) if s < np.float32(threshold) and not own[r, c]]
        assert found.potential[r] == len(potential)
        assert set(np.flatnonzero(found.probability[r])) == set(potential), "0 says: no potential negative"
        if not potential:
            assert found.effective[r] == 0
            continue
        total = math.fsum(math.exp((row[c] - row[potential[0]]) / temperature) for c in potential)
        expected = [math.exp((row[c] - row[potential[0]]) / temperature) / total for c in potential]
        assert found.probability[r, potential] == pytest.approx(expected, abs=1e-6)
        entropy = -math.fsum(p * math.log(p) for p in expected if p > 0)
        assert found.effective[r] == pytest.approx(math.exp(entropy), rel=1e-6)


def test_the_least_temperature_leaves_every_potential_negative_a_probability() -> None:
    """The widest that cosines can lie apart, with as many others as a large corpus has videos."""
    similarity = np.full((1, 20_000), 0.999, dtype=np.float32)
    similarity[0, 0] = -1
    found = distribution(similarity, np.zeros_like(similarity, dtype=bool), 1.0, LEAST_TEMPERATURE)
    assert found.probability[0, 0] >= np.finfo(np.float32).tiny


def test_colder_draws_more_similar_ones() -> None:
    similarity, own = np.array([[0.1, 0.5, 0.8]], dtype=np.float32), np.zeros((1, 3), dtype=bool)
    warm, cold = (distribution(similarity, own, 0.9, temperature) for temperature in (1.0, 0.1))
    assert cold.effective[0] < warm.effective[0] < 3
    assert (cold.probability @ similarity[0])[0] > (warm.probability @ similarity[0])[0]
