"""What statistics and studies cost at the official size, beside SciPy on the same numbers: `make bench`.

Prints Markdown tables for docs/performance.md. Never fails on a number; nothing here runs by default.
"""

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from backend.core.where import Where
from backend.scoring.statistics.resampling import RESAMPLES, compare
from backend.scoring.studies.stability import TRIALS, default_sizes, stability
from backend.scoring.studies.study import SystemValues
from bench.tables import table

pytestmark = pytest.mark.bench

MEASURES, RUNS, QUERIES = 12, 10, 2_781
PACKAGES = ("numpy", "scipy")


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def made_up_values() -> np.ndarray:
    """Values with the shares of zeros and the differences between runs that real ones have."""
    rng = np.random.default_rng(1)
    skill = np.linspace(0.3, 0.5, RUNS)[None, :, None]
    shared = rng.normal(0, 0.2, (MEASURES, 1, QUERIES))
    return np.clip(skill + shared + rng.normal(0, 0.15, (MEASURES, RUNS, QUERIES)), 0, 1)


def test_all_pairs_of_ten_runs() -> None:
    from scipy import stats

    values = made_up_values()
    pairs = list(combinations(range(RUNS), 2))
    one = seconds(lambda: compare(values[:1], pairs))
    twelve = seconds(lambda: compare(values, pairs))
    difference = values[0, 0] - values[0, 1]
    peer = seconds(
        lambda: (
            stats.permutation_test((difference,), np.sum, permutation_type="samples", n_resamples=RESAMPLES, rng=1),
            stats.bootstrap((difference,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=1),
        )
    )
    table(
        f"{RESAMPLES:,} resamples and sign flips, {len(pairs)} pairs of {RUNS} runs x {QUERIES:,} queries",
        [
            ("one measure", f"{one:.2f} s", ""),
            (f"{MEASURES} measures", f"{twelve:.2f} s", ""),
            (
                "SciPy, one pair of one measure",
                f"{peer:.2f} s",
                f"{len(pairs) * peer / one:.0f} times ours for all pairs",
            ),
        ],
        PACKAGES,
    )


def test_a_study_of_stability() -> None:
    from scipy import stats

    values = made_up_values()[:, :9]
    of_systems = SystemValues(tuple(f"m{n}" for n in range(MEASURES)), tuple(f"s{n}" for n in range(9)), values)
    sizes = default_sizes(QUERIES)
    both, alone = (seconds(lambda jobs=jobs: stability(of_systems, sizes, where=Where(jobs))) for jobs in (2, 1))  # type: ignore[misc]
    x, y = values.mean(axis=2)[:2]
    taus = TRIALS * len(sizes) * MEASURES
    peer = seconds(lambda: [stats.kendalltau(x, y) for _ in range(500)]) / 500 * taus
    table(
        f"Stability: {TRIALS:,} trials x {len(sizes)} sizes x {MEASURES} measures x 9 runs, {QUERIES:,} queries",
        [
            ("2 processes", f"{both:.1f} s", ""),
            ("1 process", f"{alone:.1f} s", ""),
            (f"SciPy's kendalltau {taus:,} times, from 500", f"{peer:.0f} s", f"{peer / alone:.0f} times ours in all"),
        ],
        PACKAGES,
    )
