"""The field's average precision, against the published evaluator of QVHighlights and another library."""

import json
from pathlib import Path

import numpy as np
import pytest

from backend.scoring.evaluate import evaluate
from backend.scoring.scored_files import evaluate_files

GOLDEN = json.loads((Path(__file__).parent / "golden" / "moment_detr.json").read_text("utf-8"))
"""`made_by` tells how: an invented truth and run, and what the published code says of them."""
LEVELS = GOLDEN["thresholds"]


def truth_and_run():
    truth = {
        one["qid"]: [{"video": one["vid"], "start": s, "end": e, "relevance": 1} for s, e in one["relevant_windows"]]
        for one in GOLDEN["truth"]
    }
    run = {one["qid"]: [[one["vid"], *row] for row in one["pred_relevant_windows"]] for one in GOLDEN["run"]}
    return truth, run


@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
def test_every_query_has_the_published_average_precision(arithmetic):
    found = evaluate(*truth_and_run(), theta=LEVELS, measures=["map"], arithmetic=arithmetic)
    for query, expected in GOLDEN["average_precision"].items():
        row = found["per_query"][int(query)]
        assert [row[f"map@{level}"] for level in LEVELS] == pytest.approx(expected, abs=1e-12)
        assert row["map@avg"] == pytest.approx(sum(expected) / 10, abs=1e-12)


def test_files_of_the_benchmark_get_the_published_figures_to_their_digits(tmp_path):
    for name in ("truth", "run"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in GOLDEN[name]))
    asked = [f"{name}@{at}{level}" for name, at in (("map", ""), ("recall", "1,")) for level in LEVELS]
    means = evaluate_files(tmp_path / "truth.jsonl", [tmp_path / "run.jsonl"], measures=[*asked, "map@avg"])
    means = means["runs"][0]["measures"]
    printed = {key: float(f"{100 * value:.2f}") for key, value in means.items()}
    published = GOLDEN["percent"]
    expected = {f"map@{level}": published["map"][str(level)] for level in LEVELS}
    expected |= {f"recall@1,{level}": published["recall@1"][str(level)] for level in LEVELS}
    assert printed == expected | {"map@avg": published["map"]["average"]}


def test_without_interpolation_to_be_seen_it_is_the_average_precision_of_retrieval():
    """Where precision never rises after a hit, and every moment is found, scikit-learn's sum is the same."""
    from sklearn.metrics import average_precision_score

    right = [1, 1, 0, 1, 0, 0, 1]  # precisions 1, 1, 3/4, 4/7 at the hits
    moments = [{"video": "v", "start": 20 * n, "end": 20 * n + 10, "relevance": 1} for n in range(sum(right))]
    starts = [20 * (sum(right[: n + 1]) - 1) if hit else 500 for n, hit in enumerate(right)]
    run = [["v", s, s + 10, 1 - n / 10] for n, s in enumerate(starts)]
    mean = evaluate({"q": moments}, {"q": run}, measures=["map@0.5"])["mean"]
    assert mean["map@0.5"] == pytest.approx(average_precision_score(right, -np.arange(len(right))), abs=1e-12)


def test_only_ten_predictions_are_looked_at_whatever_the_cut_offs_are():
    truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
    wrong = ["v", 50, 60, 1]
    for before, expected in ((9, 0.1), (10, 0.0)):
        run = {"q": [wrong] * before + [["v", 0, 10, 0]]}
        mean = evaluate(truth, run, k=[1, 40], measures=["map@0.5", "axiou"])["mean"]
        assert mean["map@0.5"] == pytest.approx(expected, abs=1e-15)
        assert mean["axiou@1"] == 0
