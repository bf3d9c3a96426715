"""Judged@K and bpref: what the pooled truth has seen of a run, and a measure that passes over what it has not.

bpref is compared with trec_eval on any run and on real ones in `tests/scoring/test_trec.py`.
"""

import random

import ir_measures
import pytest

from backend.scoring.evaluate import evaluate
from retrieval import plain_iou

RNG = random.Random(7)


def made(predictions: int) -> tuple[dict, dict]:
    """Truth of four grades (0 too) in two videos, and a run with predictions near them, elsewhere and in a third."""
    truth = {
        f"q{q}": [
            {"video": f"v{RNG.randrange(2)}", "start": s, "end": s + RNG.randrange(2, 9), "relevance": RNG.randrange(4)}
            for s in RNG.sample(range(40), 5)
        ]
        for q in range(12)
    }
    run = {
        query: [
            [f"v{RNG.randrange(3)}", s, s + RNG.randrange(2, 9), 0] for s in RNG.choices(range(40), k=RNG.randrange(9))
        ]
        + [[m["video"], m["start"], m["end"] + 1, 0] for m in RNG.sample(moments, RNG.randrange(3))]
        for query, moments in truth.items()
    }
    return truth, {query: rows[:predictions] for query, rows in run.items()}


def test_judged_is_the_share_of_predictions_that_meet_any_graded_moment() -> None:
    truth, run = made(10)
    run["q3"] = []
    found = evaluate(truth, run, measures=["judged"], k=[1, 4, 20], mu=[0.3, 0.6])["per_query"]
    for query, rows in run.items():
        for k in (1, 4, 20):
            for mu in (0.3, 0.6):
                graded = [
                    any(row[0] == m["video"] and plain_iou(row, m, "exact") >= mu for m in truth[query])
                    for row in rows[:k]
                ]
                expected = sum(graded) / len(graded) if graded else 0
                assert found[query][f"judged@{k},{mu}"] == pytest.approx(expected, abs=1e-12)


def test_judged_is_that_of_ir_measures_where_moments_have_names() -> None:
    """Moments that overlap wholly or not at all are documents: one a video, and predictions of ungraded videos."""
    qrels, lines, truth, run = [], [], {}, {}
    for q in (str(n) for n in range(8)):
        graded = {f"v{n}": RNG.randrange(5) for n in RNG.sample(range(12), 5)}
        ranked = [f"v{n}" for n in RNG.sample(range(12), RNG.randrange(1, 12))]
        truth[q] = [{"video": v, "start": 0, "end": 5, "relevance": grade} for v, grade in graded.items()]
        run[q] = [[v, 0, 5, 0] for v in ranked]
        qrels += [ir_measures.Qrel(q, v, grade) for v, grade in graded.items()]
        lines += [ir_measures.ScoredDoc(q, v, -rank) for rank, v in enumerate(ranked)]
    asked = {k: ir_measures.Judged @ k for k in (1, 3, 10)}
    theirs = ir_measures.calc_aggregate(list(asked.values()), qrels, lines)
    ours = evaluate(truth, run, measures=["judged"], k=list(asked), mu=[0.5])["mean"]
    for k, measure in asked.items():
        assert ours[f"judged@{k},0.5"] == pytest.approx(theirs[measure], abs=1e-12)


def test_what_nobody_graded_costs_bpref_nothing_and_ndcg_something() -> None:
    truth, run = made(10)
    diluted = {query: [row for one in rows for row in (["new", 0, 5, 0], one)] for query, rows in run.items()}
    before, after = (
        evaluate(truth, one, measures=["bpref", "judged", "ndcg"], k=[5], mu=[0.3])["mean"] for one in (run, diluted)
    )
    assert after["bpref@0.3"] == before["bpref@0.3"] > 0
    assert after["ndcg@5,0.3"] < before["ndcg@5,0.3"]
    assert after["judged@5,0.3"] < before["judged@5,0.3"]


def test_bpref_looks_at_the_whole_list_whatever_k_is() -> None:
    truth = {"q": [{"video": "v", "start": 0, "end": 5, "relevance": 2}]}
    run = {"q": [*(["w", 0, 5, 0] for _ in range(999)), ["v", 0, 5, 0]]}
    assert evaluate(truth, run, measures=["bpref"], k=[10], mu=[0.5])["mean"] == {"bpref@0.5": 1}
    later = {"q": [["w", 0, 5, 0], *run["q"]]}
    assert evaluate(truth, later, measures=["bpref"], k=[10], mu=[0.5])["mean"] == {"bpref@0.5": 0}


def test_a_relevance_that_does_not_count_is_judged_and_not_relevant() -> None:
    """From relevance 3 on: the moment of 2 stands before the only relevant one, and R is 1."""
    truth = {"q": [{"video": v, "start": 0, "end": 5, "relevance": grade} for v, grade in (("a", 2), ("b", 3))]}
    run = {"q": [["a", 0, 5, 0], ["b", 0, 5, 0]]}
    found = evaluate(truth, run, measures=["bpref"], mu=[0.5], min_relevance=3)["mean"]
    assert found == {"bpref@0.5": 0}


def test_bpref_of_several_queries_by_hand() -> None:
    """R = 3 relevant, N = 2 not: c, a, b, e, d has one of the latter before each relevant one, so each loses 1/2."""
    graded = {"one": "a3 b1 e2 c0 d0", "none": "f0", "other": "g2 h0"}
    truth = {
        query: [{"video": m[0], "start": 0, "end": 5, "relevance": int(m[1])} for m in moments.split()]
        for query, moments in graded.items()
    }
    run = {query: [[v, 0, 5, 0] for v in order] for query, order in (("one", "cabed"), ("none", "w"), ("other", "g"))}
    found = evaluate(truth, run, measures=["bpref"], mu=[0.5])["per_query"]
    assert found == {"one": {"bpref@0.5": 0.5}, "none": {"bpref@0.5": 0}, "other": {"bpref@0.5": 1}}


def test_bpref_ends_after_a_thousand_predictions_also_where_others_look_further() -> None:
    truth = {"q": [{"video": "v", "start": 0, "end": 5, "relevance": 2}]}
    run = {"q": [*(["w", 0, 5, 0] for _ in range(1000)), ["v", 0, 5, 0]]}
    found = evaluate(truth, run, measures=["bpref", "recall"], k=[1001], mu=[0.5], theta=[0.5])["mean"]
    assert found == {"bpref@0.5": 0, "recall@1001,0.5": 1}


def test_an_iou_of_exactly_mu_is_judged_unless_it_has_to_be_exceeded() -> None:
    truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 0}]}
    run = {"q": [["v", 0, 5, 0]]}
    for preset, share in (("paper", 1), ("tvr-ranking", 0)):
        found = evaluate(truth, run, measures=["judged"], k=[1], mu=[0.5], preset=preset)["mean"]
        assert found == {"judged@1,0.5": share}
