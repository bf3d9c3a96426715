"""Every measure against expected values from outside: golden/hand.json and golden/random.json.

`expected` comes from a slow independent reference; `official` from the unmodified published evaluator
(Ranking-VMR/TVR-Ranking, modules/ndcg_iou.py at db1dc44), which preset `tvr-ranking` must equal to the last bit.
"""

import itertools
import json

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate

# An empty moment, and mu = 0: refused by default, so these two need a milder option.
REFUSED = {"degenerate", "mu_zero"}


def cases(shared):
    for name in ("hand", "random"):
        yield from json.loads((shared / "golden" / f"{name}.json").read_text("utf-8"))["cases"]


def named(values, gain, iou_compare):
    """The values of one variant, as `evaluate` names them: recall is never strict, the AxIoU ones always are."""
    prefixes = {
        f"ndcg[{gain},{iou_compare}]": "ndcg",
        "recall[gt]": "recall_gt",
        "ap[gt]": "axiou_ap",
        "rank": "recall",
        f"dcg[{gain}]": "dcg",
        "axiou": "axiou",
    }
    split = {key: key.partition("@") for key in values}
    return {f"{prefixes[name]}@{at}": values[key] for key, (name, _, at) in split.items() if name in prefixes}


@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
@pytest.mark.parametrize(("gain", "iou_compare"), list(itertools.product(["linear", "exp2"], ["ge", "gt"])))
def test_every_golden_value_is_reproduced(shared, gain, iou_compare, arithmetic):
    seen = values_seen = 0
    for case in cases(shared):
        asked = {"k": case["K"], "mu": case["mu"], "theta": case["theta"], **case["options"]}
        if asked.get("missing") == "skip":
            # The reference leaves out queries that are not named, and counts an empty list, as the published one.
            asked["missing"] = "published"
        invalid = "skip" if case["id"] in REFUSED else None
        result = evaluate(
            case["ground_truth"],
            case["predictions"],
            **asked,
            gain=gain,
            iou_compare=iou_compare,
            arithmetic=arithmetic,
            invalid=invalid,
        )
        expected = case["expected"]
        assert result["mean"] == pytest.approx(named(expected["mean"], gain, iou_compare), abs=1e-12), case["id"]
        assert result["per_query"].keys() == expected["per_query"].keys(), case["id"]
        for query, values in expected["per_query"].items():
            wanted = named(values, gain, iou_compare)
            assert result["per_query"][query] == pytest.approx(wanted, abs=1e-12), case["id"]
            values_seen += len(wanted)
        seen += 1
    assert seen == 153
    assert values_seen > 10_000


def test_preset_official_equals_the_published_evaluator_to_the_last_bit(shared):
    seen = 0
    for case in cases(shared):
        if "official" not in case:
            continue
        result = evaluate(
            case["ground_truth"],
            case["predictions"],
            preset="tvr-ranking",
            k=case["K"],
            mu=case["mu"],
            theta=case["theta"],
        )
        official = case["official"]
        mean = official["mean"] or {}  # null where the run is empty
        assert result["mean"] == {f"ndcg@{key}": value for key, value in mean.items()}, case["id"]
        per_query = {
            query: {f"ndcg@{key}": value for key, value in values.items()}
            for query, values in official["per_query"].items()
        }
        assert result["per_query"] == per_query, case["id"]
        seen += 1
    assert seen > 100


def test_what_a_validator_should_refuse_is_refused_by_default(shared):
    refused = set()
    for case in cases(shared):
        try:
            evaluate(case["ground_truth"], case["predictions"], k=case["K"], mu=case["mu"], theta=case["theta"])
        except InputError:
            refused.add(case["id"])
    assert refused == REFUSED
