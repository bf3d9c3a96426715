"""The family of measures: how members are found, which are computed when, and their edges."""

import math

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.scoring import measures as family
from backend.scoring.evaluate import evaluate
from backend.scoring.measures.axiou_ap import harmonic
from backend.scoring.presets import settle

TRUTH = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 2}]}

BEST_IOU = '''
from backend.scoring.measure import Measure
import numpy as np

def compute(found, cutoffs, thresholds):
    """The IoU of the first prediction, at every cut-off."""
    return np.stack([np.bincount(found.query, found.iou * (found.rank == 0), found.queries)[None] for _ in cutoffs])

MEASURE = Measure("first_iou", "First IoU", None, compute, "IoU of the first prediction")
'''


def run_of(*ends):
    """Predictions [0, end) of the one query: IoU end / 10 up to 10."""
    return {"q": [["v", 0, end, -n] for n, end in enumerate(ends)]}


def test_a_file_dropped_into_the_package_is_a_measure(tmp_path, monkeypatch):
    (tmp_path / "first_iou.py").write_text(BEST_IOU)
    monkeypatch.setattr(family, "__path__", [*family.__path__, str(tmp_path)])
    monkeypatch.setattr(family, "MEASURES", family.find_measures())
    assert "first_iou" in family.MEASURES
    result = evaluate(TRUTH, run_of(4, 8), measures=["first_iou", "axiou"], k=[1, 2])
    assert result["mean"]["first_iou@1"] == result["mean"]["first_iou@2"] == 0.4


def test_every_measure_explains_itself():
    for measure in family.MEASURES.values():
        text = __import__(measure.compute.__module__, fromlist=["x"]).__doc__
        assert all(part in text for part in ("Source:", "Edge cases:", "Worked example", ">>> evaluate(")), measure


def test_preset_paper_has_all_measures_and_official_the_published_one():
    assert settle("paper", [1], [0.5], {}).measures == ("ndcg", "axiou_ap", "recall", "recall_gt", "axiou", "dcg")
    assert settle("tvr-ranking", [1], [0.5], {}).keys == ("ndcg@1,0.5",)


def test_a_measure_asked_for_in_official_follows_its_other_conventions():
    run = run_of(5)
    assert evaluate(TRUTH, run, measures=["dcg"], k=[1])["mean"] == {"dcg@1": 0.5}
    official = evaluate(TRUTH | {"r": []}, run, preset="tvr-ranking", measures=["dcg"], k=[1])["mean"]
    assert official == {"dcg@1": pytest.approx(math.sqrt(2) - 1, abs=1e-15)}


def test_only_what_changes_a_number_is_told():
    assert settle("paper", [1], [0.5], {"gain": "linear"}).changed == {}
    changed = settle("paper", [1], [0.5], {"gain": "exp2"}, min_relevance=3).changed
    assert changed == {"gain": "exp2", "min_relevance": 3}


def test_a_moment_below_min_relevance_is_not_there_but_for_ndcg():
    truth = {"q": [*TRUTH["q"], {"video": "v", "start": 0, "end": 8, "relevance": 1}]}
    mean = evaluate(truth, run_of(8), k=[1], mu=[0.9], theta=[0.9], min_relevance=2)["mean"]
    assert mean == {
        "ndcg@1,0.9": 0.5,
        **{"axiou_ap@1,0.9": 0.0, "recall@1,0.9": 0.0, "recall_gt@1,0.9": 0.0, "axiou@1": 0.8, "dcg@1": 0.8},
    }
    assert evaluate(truth, run_of(8), k=[1], theta=[0.9], min_relevance=1, measures=["recall_gt", "axiou"])["mean"] == {
        "recall_gt@1,0.9": 1.0,
        "axiou@1": 1.0,
    }


@pytest.mark.parametrize("arithmetic", ["exact", "float64"])
def test_an_iou_of_exactly_theta_counts_for_recall_alone(arithmetic):
    asked = {"k": [1], "theta": [0.5], "measures": ["recall_gt", "axiou_ap", "recall"], "arithmetic": arithmetic}
    for compare in ("ge", "gt"):
        mean = evaluate(TRUTH, run_of(5), **asked, iou_compare=compare)["mean"]
        assert mean == {"recall_gt@1,0.5": 0.0, "axiou_ap@1,0.5": 0.0, "recall@1,0.5": 1.0}


def test_a_cut_off_far_beyond_the_list_costs_nothing():
    k = 10**9
    mean = evaluate(TRUTH, run_of(4, 8), k=[k], theta=[0.5], mu=[0.5])["mean"]
    assert mean[f"axiou@{k}"] == pytest.approx(0.8, abs=1e-8)
    # One hit, at rank 2: the harmonic sum 1/2 + ... + 1/K, over K.
    assert mean[f"axiou_ap@{k},0.5"] == pytest.approx((math.log(k) + 0.5772156649015329 - 1) / k, rel=1e-9)
    assert mean[f"recall_gt@{k},0.5"] == mean[f"recall@{k},0.5"] == 1.0


def test_a_list_shorter_than_k_goes_on_with_its_maximum_or_with_misses():
    mean = evaluate(TRUTH, run_of(2, 6), k=[4], theta=[0.5], measures=["axiou", "axiou_ap", "dcg"])["mean"]
    assert mean["axiou@4"] == pytest.approx((0.2 + 0.6 * 3) / 4, abs=1e-15)
    assert mean["axiou_ap@4,0.5"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 4, abs=1e-15)
    assert mean["dcg@4"] == pytest.approx(0.2 + 0.6 / math.log2(3), abs=1e-15)


def test_hits_of_one_query_do_not_run_into_the_next():
    truth = {name: TRUTH["q"] for name in "abcd"}
    run = {"a": run_of(9, 9)["q"], "b": [], "c": run_of(1)["q"], "d": run_of(1, 9)["q"]}
    result = evaluate(truth, run, k=[2], theta=[0.5], measures=["axiou", "axiou_ap", "recall_gt"], missing="published")
    result = result["per_query"]
    assert [row["axiou@2"] for row in result.values()] == pytest.approx([0.9, 0, 0.1, 0.5])
    assert [row["axiou_ap@2,0.5"] for row in result.values()] == [1, 0, 0, 0.25]
    assert [row["recall_gt@2,0.5"] for row in result.values()] == [1, 0, 0, 1]


def test_at_a_threshold_of_0_every_prediction_reaches_and_fillers_do_not():
    asked = {"theta": [0.0], "invalid": "skip", "measures": ["recall_gt", "recall", "axiou_ap"]}
    elsewhere = {"q": [["other", 0, 5, 1]]}
    assert evaluate(TRUTH, elsewhere, k=[2], **asked)["mean"] == {
        "recall_gt@2,0.0": 0,
        "recall@2,0.0": 1,
        "axiou_ap@2,0.0": 0,
    }
    assert evaluate(TRUTH, {"q": []}, k=[2], **asked)["mean"] == {
        "recall_gt@2,0.0": 0,
        "recall@2,0.0": 0,
        "axiou_ap@2,0.0": 0,
    }


def test_names_given_as_one_text_are_read_as_on_the_command_line():
    assert settle("paper", [1], [0.5], {}, theta=[0.3], measures="axiou_ap, miou").keys == ("axiou_ap@1,0.3", "miou")
    with pytest.raises(InputError, match="measures: 'a' is not one of "):
        settle("paper", [1], [0.5], {}, measures="a")


def test_harmonic_numbers_on_both_sides_of_where_the_series_begins():
    """`fsum` rounds once, so its sum is wrong by the rounding of the terms alone: less than 1e-15 here."""
    sizes = [998, 999, 1000, 1001, 2000, 10_000]
    sums = [math.fsum(1 / n for n in range(1, size + 1)) for size in sizes]
    assert harmonic(np.array(sizes)).tolist() == pytest.approx(sums, rel=0, abs=3e-15)


def test_a_mean_rank_of_five_is_good_enough_for_didemo_in_each_of_several_queries():
    """One person's moment stands at the rank that the query is called by."""
    moment = {"video": "v", "start": 0, "end": 5, "relevance": 1}
    truth = {rank: [moment] for rank in ("5", "6", "4", "1")} | {"none": []}
    run = {rank: [*(["w", 0, 5, 0] for _ in range(int(rank) - 1)), ["v", 0, 5, 0]] for rank in ("5", "6", "4", "1")}
    run["none"] = [["v", 0, 5, 0]]
    found = evaluate(truth, run, measures=["didemo_rank5"])["per_query"]
    assert {query: values["didemo_rank5"] for query, values in found.items()} == {
        "5": 1,
        "6": 0,
        "4": 1,
        "1": 1,
        "none": 0,
    }


def test_the_only_moment_of_relevance_one_found_first_has_an_ndcg_of_one():
    """The ideal DCG is 1 then, for either gain: the lowest that there is."""
    truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
    for gain in ("linear", "exp2"):
        found = evaluate(truth, run_of(10), measures=["ndcg"], k=[1], mu=[0.5], gain=gain)["mean"]
        assert found == {"ndcg@1,0.5": 1}
