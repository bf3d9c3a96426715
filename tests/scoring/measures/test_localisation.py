"""Measures of boundaries and of several windows a query, against published evaluators, query by query."""

import json
from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate

GOLDEN = json.loads((Path(__file__).parent / "golden" / "localisation.json").read_text("utf-8"))
"""`made_by` tells how: an invented truth and run, and what published code says of them."""
SINGLE = GOLDEN["single"]
"""The queries with one window."""
ALL = len(GOLDEN["run"])
CBP = {"arithmetic": "float64_hull", "iou_epsilon": 1e-8}
"""The evaluators of CBP and of dense captioning add 1e-8 to the union."""


def scored(queries, measures, **options):
    """Return the values of each query, for each measure, in the order of `queries`."""
    names = {f"v{number}": [seconds, number] for number, seconds in enumerate(GOLDEN["duration"])}
    truth = {
        query: [{"video": f"v{query}", "start": s, "end": e, "relevance": 1} for s, e in GOLDEN["truth"][query]]
        for query in queries
    }
    run = {query: [[f"v{query}", s, e, 0] for s, e in GOLDEN["run"][query]] for query in queries}
    found = evaluate(truth, run, videos=names, measures=measures, **options)
    return {key: [found["per_query"][query][key] for query in queries] for key in found["mean"]}


def test_dr_is_that_of_bssard_to_the_last_digit():
    values = scored(SINGLE, ["dr"], k=[1], theta=[0.3, 0.5, 0.7], arithmetic="float64_hull")
    each = np.array(list(values.values())).T
    assert (100 * each).tolist() == GOLDEN["BSSARD"]["each"]
    printed = [f"{value:.2f}" for value in (100 * each.mean(axis=0)).tolist()]
    assert printed == [f"{value:.2f}" for value in GOLDEN["BSSARD"]["percent"]]


def test_cover_f1_is_that_of_et_bench():
    for theta, expected in GOLDEN["etbench"]["each"].items():
        (values,) = scored(range(ALL), [f"cover_f1@1000,{theta}"]).values()
        assert [round(value, 5) for value in values] == expected
        assert round(float(np.mean(values)), 5) == GOLDEN["etbench"]["F1"][theta]


def test_moment_recall_is_the_recall_of_dense_captioning():
    for theta, expected in GOLDEN["densevid"].items():
        recall, f1 = scored(range(ALL), [f"moment_recall@1000,{theta}", f"cover_f1@1000,{theta}"], **CBP).values()
        assert recall == [of_query for _, of_query in expected]
        assert f1 == pytest.approx([2 * p * r / (p + r) if p + r else 0 for p, r in expected], abs=1e-15)


def test_one_to_one_counts_are_those_of_action_segmentation():
    for theta, expected in GOLDEN["mstcn"].items():
        keys = [f"loc_{name}@1000,{theta}" for name in ("precision", "recall", "f1")]
        for tp, fp, fn, *values in zip(*np.array(expected).T, *scored(range(ALL), keys).values(), strict=True):
            assert values == [tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)]


@pytest.mark.parametrize("evaluator", ["cgbench", "vue_tr"])
def test_union_iou_is_that_of_video_language_models(evaluator):
    values = scored(range(ALL), ["union_iou@1000"])["union_iou@1000"]
    assert values == pytest.approx(GOLDEN["union"][evaluator], abs=1e-14)


def test_an_epsilon_in_the_union_reproduces_an_evaluator_that_has_one_to_the_last_digit():
    published = GOLDEN["CBP"]
    keys = [f"recall@{place}" for place in published["recall"]]
    values = scored(SINGLE, [*keys, "miou"], **CBP)
    assert values.pop("miou") == published["iou"]
    assert sum(published["iou"]) / len(SINGLE) == published["miou"]
    means = {key: float(np.float32(np.mean(of_query))) for key, of_query in values.items()}  # as that evaluator
    assert means == {f"recall@{place}": mean for place, mean in published["recall"].items()}
    plain = {key: float(np.float32(np.mean(of_query))) for key, of_query in scored(SINGLE, keys).items()}
    assert plain != means  # a few IoUs are exactly a threshold


@pytest.mark.parametrize(
    ("arithmetic", "iou"),
    [("float64", 8 / 10.25), ("float64_hull", 8 / 10.25), ("float32", float(np.float32(8) / np.float32(10.25)))],
)
def test_every_rounded_arithmetic_adds_the_epsilon(arithmetic, iou):
    found = evaluate(TRUTH, {"q": [["v", 0, 8, 1]]}, measures=["miou"], arithmetic=arithmetic, iou_epsilon=0.25)
    assert found.mean["miou"] == iou


def test_exact_arithmetic_refuses_an_epsilon():
    with pytest.raises(InputError, match="iou_epsilon: exact arithmetic has none: add arithmetic=float64_hull"):
        scored(SINGLE, ["miou"], iou_epsilon=1e-8)


TRUTH = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 2}]}


def test_dr_without_a_duration_says_how_to_give_one():
    with pytest.raises(InputError) as refused:
        evaluate(TRUTH, {"q": [["v", 0, 9, 1]]}, measures=["dr"])
    message = str(refused.value)
    assert "the duration of video v is not known, and dr needs it (videos without duration: 1)" in message
    assert "give --videos (videos= in Python), an object name -> [seconds, index]" in message
    known = {"w": [20, 0]}
    ungraded = {"q": [*TRUTH["q"], {"video": "w", "start": 0, "end": 10, "relevance": 3}]}
    found = evaluate(ungraded, {"q": [["w", 0, 9, 1]]}, measures=["dr@1,0.5"], min_relevance=3, videos=known)
    assert found.mean["dr@1,0.5"] == pytest.approx(0.95)


def test_a_prediction_far_beyond_its_video_has_no_negative_discount():
    found = evaluate(TRUTH, {"q": [["v", 0, 40, 1]]}, measures=["dr"], k=[1], theta=[0.2], videos={"v": [20, 0]})
    assert found.mean["dr@1,0.2"] == 0


def test_map_looks_at_as_many_predictions_as_its_option_says():
    run = {"q": [*[["v", 50, 60, 1]] * 19, ["v", 0, 10, 0]]}
    for depth, expected in ((19, 0), (20, 1 / 20), ("20", 1 / 20)):
        mean = evaluate(TRUTH, run, measures=["map@0.5"], k=[1], map_depth=depth).mean
        assert mean["map@0.5"] == expected
    with pytest.raises(InputError, match="map_depth: 0 is not a whole number from 1"):
        evaluate(TRUTH, run, map_depth=0)
