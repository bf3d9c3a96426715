"""The drop from the own video to the pool, on numbers that are easy to check by hand."""

import pytest

from backend.scoring.pools.overconfidence import overconfidence


def means(first: float, fifth: float) -> dict[str, float]:
    return {"recall@1,0.5": first, "recall@5,0.5": fifth, "recall@1,0.7": 0.1}


@pytest.mark.parametrize(
    ("own", "pool", "expected"),
    [
        # MMN on MVMR-TACoS has 8.61 and 25.84 (Table 2), whose mean is 17.225; the own video's are chosen here.
        (means(0.3, 0.5), means(0.0861, 0.2584), (0.4, 0.17225, 0.22775, 0.569375)),
        (means(0.2, 0.4), means(0.2, 0.4), (0.3, 0.3, 0, 0)),
        (means(0.2, 0.4), means(0.3, 0.6), (0.3, 0.45, -0.15, -0.5)),  # other videos of the pool match, too
        (means(0, 0), means(0, 0.5), (0, 0.25, -0.25, None)),
    ],
)
def test_the_drop_is_that_of_the_means_of_rank_1_and_rank_5(
    own: dict[str, float], pool: dict[str, float], expected: tuple[float | None, ...]
) -> None:
    found = overconfidence(own, pool)
    assert found is not None
    assert list(found.values()) == [value if value is None else pytest.approx(value, abs=1e-12) for value in expected]


@pytest.mark.parametrize("key", ["recall@1,0.5", "recall@5,0.5"])
def test_without_one_of_the_two_there_is_none(key: str) -> None:
    other = means(0.2, 0.4)
    del other[key]
    assert overconfidence(means(0.2, 0.4), other) is None
    assert overconfidence(other, means(0.2, 0.4)) is None
