"""How two truths order the same systems, against scipy and plain loops over evaluations of each truth."""

import itertools

import numpy as np
import pytest

from backend.scoring.evaluate import evaluate
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.presets import settle
from backend.scoring.scoreboard import Scoreboard, score_runs
from backend.scoring.statistics.orders import rank_changes, taus

QUERIES, MOMENTS, RUNS = 6, 5, 5


def a_truth(seed: int, empty: int | None = None) -> dict[str, list[dict[str, object]]]:
    """Relevances of the same moments; those of the query `empty` are all 0."""
    rng = np.random.default_rng(seed)
    return {
        str(query): [
            {"video": f"v{moment}", "start": 0, "end": 9, "relevance": 0 if query == empty else int(rng.integers(0, 5))}
            for moment in range(MOMENTS)
        ]
        for query in range(QUERIES)
    }


def the_runs() -> dict[str, dict[str, list[list[object]]]]:
    rng = np.random.default_rng(9)
    return {
        f"run{number}": {
            str(query): [[f"v{moment}", 0, 9, 0] for moment in rng.permutation(MOMENTS)] for query in range(QUERIES)
        }
        for number in range(RUNS)
    }


SETTINGS = {"k": [2, 4], "mu": [0.5], "theta": [0.5], "unknown": "ignore"}


def board(truth: dict[str, list[dict[str, object]]]) -> Scoreboard:
    runs = {name: parse_run_mapping(run) for name, run in the_runs().items()}
    return score_runs(
        parse_truth_mapping(truth), runs, settle("paper", [2, 4], [0.5], {"unknown": "ignore"}, theta=[0.5])
    )


def means(truth: dict[str, list[dict[str, object]]], chosen: list[int] | None = None) -> dict[str, dict[str, float]]:
    """The mean of each measure for each run, over some draws of the queries that count."""
    found = {}
    for name, run in the_runs().items():
        per_query = evaluate(truth, run, **SETTINGS)["per_query"]
        rows = [per_query[str(n)] for n in (range(QUERIES) if chosen is None else chosen) if str(n) in per_query]
        found[name] = {
            key: float(np.mean([row[key] for row in rows])) if rows else 0.0 for key in per_query["1"]
        }  # "1" counts by all
    return found


@pytest.mark.parametrize("empty", [None, 0])
def test_tau_is_that_of_scipy_over_the_means_of_both_truths(empty: int | None) -> None:
    from scipy import stats

    one, other = a_truth(1), a_truth(2, empty)
    changes = rank_changes(board(one), board(other), resamples=20)
    by_one, by_other = means(one), means(other)
    assert [change.key for change in changes] == list(by_one["run0"])
    for change, tau in zip(changes, taus(board(one), board(other)).tolist(), strict=True):
        columns = [[by[name][change.key] for name in by] for by in (by_one, by_other)]
        expected = stats.kendalltau(*np.round(columns, 10)).statistic
        assert (np.nan if change.tau is None else change.tau) == pytest.approx(expected, nan_ok=True)
        assert tau == pytest.approx(expected, nan_ok=True)
    assert sum(change.tau is not None for change in changes) > 5


def test_the_largest_swap_is_that_of_all_couples() -> None:
    one, other = a_truth(1), a_truth(2)
    by_one, by_other = means(one), means(other)
    swapped = 0
    for change in rank_changes(board(one), board(other), resamples=20):
        gaps = {
            by_one[a][change.key] - by_one[b][change.key]: (a, b)
            for a, b in itertools.permutations(by_one, 2)
            if by_one[a][change.key] - by_one[b][change.key] > 1e-9
            and by_other[a][change.key] - by_other[b][change.key] < -1e-9
        }
        if not gaps:
            assert change.swap is None
            continue
        swapped += 1
        assert change.swap is not None
        assert change.swap.by_first == pytest.approx(max(gaps))
        ahead, behind = change.swap.ahead, change.swap.behind
        assert by_one[ahead][change.key] - by_one[behind][change.key] == pytest.approx(max(gaps))
        assert change.swap.by_second == pytest.approx(by_other[ahead][change.key] - by_other[behind][change.key])
    assert swapped


def test_intervals_are_those_of_all_draws_of_queries() -> None:
    """With two queries there are four draws; one with the first query alone is a quarter of them."""
    from scipy import stats

    one, other = ({query: a_truth(seed)[query] for query in "01"} for seed in (1, 2))
    draws = list(itertools.product((0, 1), repeat=2))
    for change in rank_changes(board(one), board(other), resamples=2_000):
        found = []
        for draw in draws:
            both = [means(truth, list(draw)) for truth in (one, other)]
            columns = np.round([[by[name][change.key] for name in by] for by in both], 10)
            found.append(stats.kendalltau(*columns).statistic)
        if change.low is not None:
            assert (change.low, change.high) == pytest.approx((np.nanmin(found), np.nanmax(found)))


def test_the_same_truth_changes_nothing() -> None:
    for change in rank_changes(board(a_truth(1)), board(a_truth(1)), resamples=50):
        # Every run finds a relevant moment of each query, so recall ties them all.
        tau = None if change.key.startswith("recall") else 1
        assert (change.tau, change.low, change.high, change.swap) == (tau, tau, tau, None)


def test_a_truth_without_a_relevant_moment_orders_nothing() -> None:
    nothing = {query: [moment | {"relevance": 0} for moment in rows] for query, rows in a_truth(1).items()}
    for change in rank_changes(board(a_truth(1)), board(nothing), resamples=20):
        assert (change.tau, change.swap) == (None, None)
    assert np.isnan(taus(board(a_truth(1)), board(nothing))).all()
