"""NDCG@K, IoU>=mu against plain loops, and what must hold whatever the data."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring.evaluate import evaluate
from retrieval import data, plain_iou

OPTIONS = st.fixed_dictionaries(
    {
        "gain": st.sampled_from(["linear", "exp2"]),
        "iou_compare": st.sampled_from(["ge", "gt"]),
        "arithmetic": st.sampled_from(["exact", "float64"]),
        "zero_relevance": st.sampled_from(["absorb", "drop"]),
        "missing": st.sampled_from(["zero", "skip", "published"]),
        "no_relevant": st.sampled_from(["zero", "skip", "correct_empty"]),
        "order": st.sampled_from(["file", "score"]),
        "duplicates": st.sampled_from(["keep", "merge_max"]),
        "dedupe_predictions": st.booleans(),
    }
)
MU = (0.3, 0.5, 0.7)


def plain_dcg(relevances, gain):
    total = 0
    for place, rel in enumerate(relevances):
        total += (rel if gain == "linear" else 2**rel - 1) / np.log2(place + 2)
    return total


def plain_ndcg(moments, rows, k, mu, o):
    """One query's value, by the text of the definition and nothing shared with the code under test."""
    if o["duplicates"] == "merge_max":
        merged = {}
        for m in moments:
            span = (m["video"], float(m["start"]), float(m["end"]))
            merged[span] = max(m, merged.get(span, m), key=lambda x: x["relevance"])
        moments = list(merged.values())
    if o["order"] == "score":
        rows = sorted(rows, key=lambda row: -row[3])
    if o["dedupe_predictions"]:
        rows = [row for n, row in enumerate(rows) if row[:3] not in [other[:3] for other in rows[:n]]]
    free = sorted(moments, key=lambda m: -m["relevance"])
    if o["zero_relevance"] == "drop":
        free = [m for m in free if m["relevance"] > 0]
    limit = Fraction(repr(mu)) if o["arithmetic"] == "exact" else mu
    relevances = []
    for row in rows:
        best, best_iou = None, None
        for m in free:
            if m["video"] == row[0]:
                iou = plain_iou(row, m, o["arithmetic"])
                if best_iou is None or iou > best_iou:
                    best, best_iou = m, iou
        good = best is not None and (best_iou > limit if o["iou_compare"] == "gt" else best_iou >= limit)
        relevances.append(best["relevance"] if good else 0)
        if good:
            free = [m for m in free if m is not best]
    ideal = plain_dcg(sorted((m["relevance"] for m in moments), reverse=True)[:k], o["gain"])
    return plain_dcg(relevances[:k], o["gain"]) / ideal if ideal > 0 else 0


def plain(truth, run, ks, mus, o):
    no_target = [q for q, moments in truth.items() if not any(m["relevance"] > 0 for m in moments)]
    empty = [q for q in no_target if not run.get(q)] if o["no_relevant"] == "correct_empty" else []
    run = {q: rows for q, rows in run.items() if rows or (o["missing"] == "published" and q not in empty)}
    queries = [q for q in run] + [q for q in truth if q not in [*run, *empty] and o["missing"] == "zero"] + empty
    if o["no_relevant"] == "skip":
        queries = [q for q in queries if q not in no_target]
    return {
        q: {
            f"ndcg@{k},{mu}": 1.0 if q in empty else float(plain_ndcg(truth[q], run.get(q, []), k, mu, o))
            for k in ks
            for mu in mus
        }
        for q in queries
    }


@settings(max_examples=150, deadline=None)
@given(data(), OPTIONS)
def test_the_fast_way_equals_the_plain_loops_to_the_last_bit(given_data, options):
    truth, run = given_data
    expected = plain(truth, run, (1, 3, 10), MU, options)
    result = evaluate(truth, run, k=(1, 3, 10), mu=MU, measures=["ndcg"], **options)
    assert result["per_query"] == expected
    assert list(result["per_query"]) == list(expected)
    means = {key: np.mean([row[key] for row in expected.values()]) for key in next(iter(expected.values()), {})}
    assert result["mean"] == means


@settings(max_examples=75, deadline=None)
@given(data(invalid=True), OPTIONS, st.sampled_from([-0.5, 0.0, 0.3, 1.0, 1.5]))
def test_impossible_moments_are_computed_on_where_invalid_is_zero(given_data, options, mu):
    truth, run = given_data
    # Equality of NaN is nobody's rule, so equals are not merged here.
    options = options | {"duplicates": "keep", "dedupe_predictions": False}
    result = evaluate(truth, run, k=(1, 5), mu=[mu], measures=["ndcg"], invalid="zero", **options)
    assert result["per_query"] == plain(truth, run, (1, 5), [mu], options)


@settings(max_examples=50, deadline=None)
@given(data(invalid=True))
def test_skipping_impossible_moments_is_scoring_without_them(given_data):
    truth, run = given_data

    def possible(start, end):
        return math.isfinite(start) and math.isfinite(end) and 0 <= start < end

    good_truth = {q: [m for m in ms if possible(m["start"], m["end"])] for q, ms in truth.items()}
    good_run = {q: [r for r in rows if possible(r[1], r[2])] for q, rows in run.items()}
    assert evaluate(truth, run, invalid="skip") == evaluate(good_truth, good_run)


@settings(max_examples=50, deadline=None)
@given(data())
def test_values_lie_in_0_to_1_and_a_run_of_the_truth_is_perfect(given_data):
    truth, run = given_data
    for row in evaluate(truth, run, measures=["ndcg"])["per_query"].values():
        assert all(0 <= value <= 1 + 1e-12 for value in row.values())
    different = {(m["video"], m["start"], m["end"]): m for m in next(iter(truth.values()))}
    answer = {"q": list(different.values())}
    best = sorted(answer["q"], key=lambda m: -m["relevance"])
    ideal = {"q": [[m["video"], m["start"], m["end"], 1.0] for m in best]}
    for value in evaluate(answer, ideal, k=(1, 5), mu=(0.3, 1.0), measures=["ndcg"])["mean"].values():
        assert value == (1.0 if any(m["relevance"] for m in answer["q"]) else 0.0)


@settings(max_examples=50, deadline=None)
@given(data(), st.integers(1, 4))
def test_what_stands_below_rank_k_changes_nothing(given_data, k):
    truth, run = given_data
    cut = {query: rows[:k] for query, rows in run.items()}
    assert evaluate(truth, run, k=[k]) == evaluate(truth, cut, k=[k])
