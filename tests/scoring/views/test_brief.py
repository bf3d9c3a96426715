"""One small table: its rows and columns, for every shape of what was asked for."""

from typing import Any

import pytest

from backend.scoring.views.brief import grid, in_brief, left_out


def summary(runs: int, keys: list[str], **more: Any) -> dict[str, Any]:
    """Runs a, b, ...; the value of the n-th key is n tenths, and a hundredth more for every further run."""
    found = [
        {
            "name": "abc"[n],
            "queries": 5,
            "counted": 5,
            "missing": [],
            "measures": {key: place / 10 + n / 100 for place, key in enumerate(keys)},
        }
        for n in range(runs)
    ]
    return {"preset": "paper", "options": {}, "focus": keys[0], "runs": found, "warnings": [], **more}


def ndcg(cutoffs: tuple[int, ...], levels: tuple[float, ...]) -> list[str]:
    return [f"ndcg@{k},{mu}" for k in cutoffs for mu in levels]


@pytest.mark.parametrize(
    ("runs", "keys", "lines"),
    [
        (
            1,
            ndcg((10, 20), (0.3, 0.5)),
            [["K", "IoU>=0.3", "IoU>=0.5"], ["10", "0.0000", "0.1000"], ["20", "0.2000", "0.3000"]],
        ),
        (
            2,
            ndcg((10, 20), (0.3, 0.5)),
            [
                ["K", "run", "IoU>=0.3", "IoU>=0.5"],
                ["10", "a", "0.0000", "0.1000"],
                ["", "b", "0.0100", "0.1100"],
                ["20", "a", "0.2000", "0.3000"],
                ["", "b", "0.2100", "0.3100"],
            ],
        ),
        (
            2,
            ndcg((20,), (0.3, 0.5)),
            [["run", "IoU>=0.3", "IoU>=0.5"], ["a", "0.0000", "0.1000"], ["b", "0.0100", "0.1100"]],
        ),
        (2, ndcg((1, 5), (0.5,)), [["run", "K=1", "K=5"], ["a", "0.0000", "0.1000"], ["b", "0.0100", "0.1100"]]),
        (1, ndcg((5,), (0.5,)), [["run", "K=5"], ["a", "0.0000"]]),
        (1, ["recall_gt@1,0.5", "recall_gt@5,0.5"], [["run", "K=1", "K=5"], ["a", "0.0000", "0.1000"]]),
    ],
)
def test_runs_stand_below_each_cut_off_and_thresholds_side_by_side(
    runs: int, keys: list[str], lines: list[list[str]]
) -> None:
    table = grid(summary(runs, keys))
    assert table is not None
    assert table.texts() == lines


@pytest.mark.parametrize(
    "keys",
    [
        ["ndcg@10,0.3", "ndcg@20,0.5"],  # not every cut-off at every threshold
        ["ndcg@10,0.3", "recall@10,0.3"],
        ["axiou@10", "axiou@20"],
        ["map@0.5", "map@avg"],
        ["miou"],
    ],
)
def test_other_measures_make_no_grid(keys: list[str]) -> None:
    assert grid(summary(1, keys)) is None


def test_the_title_says_what_all_cells_share() -> None:
    titles = [grid(summary(1, keys)).title.partition(":")[0] for keys in (ndcg((5, 9), (0.5,)), ndcg((5,), (0.3, 0.5)))]  # type: ignore[union-attr]
    assert titles == ["NDCG@K, IoU>=0.5", "NDCG@5, IoU>=mu"]
    pools = grid(summary(1, ["recall@1,0.5", "recall@5,0.5"], pool={}))
    assert pools is not None
    assert pools.title.startswith("Rank n@m, R@K, IoU>=0.5: ")


def test_in_brief_is_ndcg_and_in_pools_rank_n_m() -> None:
    keys = ["ndcg@5,0.5", "recall@5,0.5", "axiou@5"]
    whole = summary(2, keys)
    brief = in_brief(whole)
    assert [list(run["measures"]) for run in brief["runs"]] == [["ndcg@5,0.5"]] * 2
    assert left_out(whole, brief) == ["recall", "axiou"]
    pools = summary(1, keys, pool={})
    pools["runs"][0]["own_video"] = {"counted": 5, "measures": dict.fromkeys(keys, 0.5)}
    (run,) = in_brief(pools)["runs"]
    assert (list(run["measures"]), list(run["own_video"]["measures"])) == (["recall@5,0.5"], ["recall@5,0.5"])
    splits = {"splits": {"val": whole, "test": whole}}
    assert left_out(splits, in_brief(splits)) == ["recall", "axiou"]
    only = summary(1, ["axiou@5"])
    assert in_brief(only) == only
    benchmark = summary(1, keys, benchmark={})
    assert in_brief(benchmark) == benchmark
