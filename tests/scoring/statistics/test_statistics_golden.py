"""Statistics and studies against values computed by slow, independent references (stats.json), to 1e-12."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.scoring.statistics.distributions import tau_b
from backend.scoring.statistics.resampling import compare, holm, paired_t, sign_flip_p
from backend.scoring.studies.noise import axiou_error, recall_error, rmse
from backend.scoring.studies.stability import all_tied, z_scores


@pytest.fixture(scope="module")
def golden(shared: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((shared / "golden/stats.json").read_text())
    return content


def close(ours: object, expected: object) -> bool:
    return bool(np.allclose(np.asarray(ours), np.asarray(expected), rtol=0, atol=1e-12))


def test_kendall(golden: dict[str, Any]) -> None:
    for row in golden["kendall_tau_b"]["rows"]:
        ours = tau_b(np.array(row["x"], dtype=float), np.array(row["y"], dtype=float))
        assert np.isnan(ours) if row["tau_b"] is None else close(ours, row["tau_b"]), row


def test_gaussian_noise(golden: dict[str, Any]) -> None:
    for row in golden["gaussian_noise"]["rows"]:
        r, theta, gamma = (np.array(row[name]) for name in ("r", "theta", "gamma"))
        recall, axiou = recall_error(r, theta, gamma), axiou_error(gamma)
        assert close(recall.squared_bias, row["bias2"]), row
        assert close(recall.variance, row["variance"]), row
        assert close(recall.mse, row["mse"]), row
        assert close([axiou.squared_bias, axiou.variance, axiou.mse], [0, row["axiou_variance"], row["axiou_mse"]])


def test_ties_z_scores_and_rmse(golden: dict[str, Any]) -> None:
    assert close(all_tied(np.array(golden["all_tied"]["scores_query_by_system"]).T), golden["all_tied"]["ratio"])
    z = golden["z_scores"]
    assert close(z_scores(np.array(z["values"])), z["z"])
    assert close(z_scores(np.array(z["constant"]["values"])), z["constant"]["z"])
    noise = golden["rmse"]
    assert close(rmse(np.array(noise["noisy"])[:, None], np.array([noise["reference"]])), noise["rmse"])


def test_paired_tests(golden: dict[str, Any]) -> None:
    """The file's mean difference is b - a or a - b; its sign says which."""
    for row in golden["paired_tests"]["rows"]:
        a, b = np.array(row["a"]), np.array(row["b"])
        first, second = (a, b) if close((a - b).mean(), row["mean_difference"]) else (b, a)
        t, p = paired_t(first - second)
        assert close(t, row["t"])
        assert close(p, row["p_t_two_sided"])
        assert close(sign_flip_p(first - second), row["p_sign_flip_exact_two_sided"])
        ((comparison,),) = compare(np.array([[first, second]]), [(0, 1)])
        assert close(comparison.difference, row["mean_difference"])
        assert comparison.p == row["p_sign_flip_exact_two_sided"]


def test_holm(golden: dict[str, Any]) -> None:
    assert close(holm(np.array(golden["holm"]["p"])), golden["holm"]["adjusted"])
