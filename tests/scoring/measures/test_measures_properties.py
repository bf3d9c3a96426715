"""The measures beside NDCG against plain loops, and what must hold whatever the data."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring import scores as scoring
from backend.scoring.evaluate import evaluate
from backend.scoring.measures import MEASURES
from retrieval import data, plain_iou

K = (1, 2, 3, 10)
THETA = (0.3, 0.5, 1.0)
DURATIONS = {"a": 90_020.0, "b": 13.5, "c": 9.0}
"""Of some drawn moments, the end lies far beyond the end of video b."""
OPTIONS = st.fixed_dictionaries(
    {
        "gain": st.sampled_from(["linear", "exp2"]),
        "arithmetic": st.sampled_from(["exact", "float64"]),
        "missing": st.sampled_from(["zero", "skip", "published"]),
        "min_relevance": st.integers(1, 4),
    }
)


def plain_values(moments, rows, options):
    """One query's values, by the text of the definitions and nothing shared with the code under test."""
    exact, least = options["arithmetic"], options["min_relevance"]
    r = []
    for row in rows:
        good = [m for m in moments if m["video"] == row[0] and m["relevance"] >= least]
        r.append(max([plain_iou(row, m, exact) for m in good], default=0))
    values = {}
    for k in K:
        padded = (r + [0] * k)[:k]
        gains = [float(x) if options["gain"] == "linear" else 2.0 ** float(x) - 1 for x in padded]
        values[f"dcg@{k}"] = math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
        values[f"ncxiou@{k}"] = math.fsum(float(max(padded[: j + 1])) / k for j in range(k))
        values[f"axiou@{k}"] = float(sum(Fraction(max(padded[:j])) for j in range(1, k + 1)) / k)
        for theta in THETA:
            level = Fraction(repr(theta)) if exact == "exact" else theta
            hits = [x > level for x in padded]
            values[f"recall_gt@{k},{theta}"] = float(any(hits))
            values[f"recall@{k},{theta}"] = float(any(x >= level for x in padded))
            values[f"axiou_ap@{k},{theta}"] = float(sum(Fraction(sum(hits[:j]), j) for j in range(1, k + 1)) / k)
    good = sorted((m for m in moments if m["relevance"] >= least), key=lambda m: -m["relevance"])
    averaged = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    aps = {theta: plain_average_precision(good, rows, theta, exact) for theta in {*THETA, *averaged}}
    values |= {f"map@{theta}": float(aps[theta]) for theta in THETA}
    values["map@avg"] = float(sum(aps[theta] for theta in averaged) / 10)
    values["miou"] = float([*r, 0][0])
    values["momentseeker_map"] = float(
        sum(x * Fraction(sum(map(Fraction, r[:k]))) / k for k, x in enumerate(map(Fraction, r[:5]), 1))
    )
    for k in K:
        values[f"union_iou@{k}"] = plain_union_iou(good, rows[:k])
        for theta in THETA:
            values |= {
                f"{name}@{k},{theta}": one for name, one in plain_localised(good, rows[:k], theta, exact).items()
            }
    return values | plain_didemo(good, rows, exact)


def plain_localised(good, rows, theta, exact):
    """What depends on the pairs that reach theta: of a list of predictions with the relevant moments."""
    level = Fraction(repr(theta)) if exact == "exact" else theta
    reaching = [
        (p, g)
        for p, row in enumerate(rows)
        for g, m in enumerate(good)
        if m["video"] == row[0] and plain_iou(row, m, exact) >= level
    ]
    right = len(plain_hits(good, rows, theta, exact))
    precision, recall = (
        len({p for p, _ in reaching}) / max(len(rows), 1),
        len({g for _, g in reaching}) / max(len(good), 1),
    )
    kept = [
        max(0, 1 - abs(rows[p][1] - good[g]["start"]) / DURATIONS[rows[p][0]])
        * max(0, 1 - abs(rows[p][2] - good[g]["end"]) / DURATIONS[rows[p][0]])
        for p, g in reaching
    ]
    return {
        "loc_precision": right / max(len(rows), 1),
        "loc_recall": right / max(len(good), 1),
        "loc_f1": 2 * right / (len(rows) + len(good)) if good else 0.0,
        "moment_recall": recall,
        "cover_f1": 2 * precision * recall / (precision + recall) if reaching else 0.0,
        "dr": max(kept, default=0.0),
    }


def plain_union_iou(good, rows):
    """Cut the time of each video at all boundaries, and look which pieces predictions and moments cover."""
    spans = {"p": [tuple(row[:3]) for row in rows], "g": [(m["video"], m["start"], m["end"]) for m in good]}
    both = either = Fraction(0)
    for video in DURATIONS:
        of_video = {kind: [one[1:] for one in ones if one[0] == video] for kind, ones in spans.items()}
        of_video = {kind: [one for one in ones if all(map(math.isfinite, one))] for kind, ones in of_video.items()}
        cuts = sorted({time for ones in of_video.values() for one in ones for time in one})
        for start, end in pairwise(cuts):
            covered = [any(s <= start and end <= e for s, e in ones) for ones in of_video.values()]
            both += (Fraction(end) - Fraction(start)) * all(covered)
            either += (Fraction(end) - Fraction(start)) * any(covered)
    return float(both / either) if either else 0.0


def plain_didemo(good, rows, exact):
    """Ranks and IoUs of each person's moment; the best three people count, or as many as there are."""
    people = min(len(good), 3)
    ious = [[plain_iou(row, m, exact) if m["video"] == row[0] else 0 for row in rows[:21]] for m in good]
    ranks = sorted(of.index(1) + 1 if 1 in of else math.inf for of in ious)[:people]
    first = sorted(([*of, 0][0] for of in ious), reverse=True)[:people]
    mean = Fraction(sum(ranks), people) if people and math.inf not in ranks else math.inf
    return {
        "didemo_rank1": float(mean <= 1),
        "didemo_rank5": float(mean <= 5),
        "didemo_miou": float(math.fsum(first) / people) if people else 0.0,
    }


def plain_average_precision(good, rows, theta, exact):
    """Interpolated, over the first ten predictions."""
    right = plain_hits(good, rows[:10], theta, exact)
    precision = [Fraction(sum(hit <= k for hit in right), k + 1) for k in range(len(rows[:10]))]
    return sum(max(precision[k:]) for k in right) / Fraction(max(len(good), 1))


def plain_hits(good, rows, theta, exact):
    """Places of right predictions; each takes the best free moment, the more relevant of equals."""
    level = Fraction(repr(theta)) if exact == "exact" else theta
    free, hits = list(good), []
    for place, row in enumerate(rows):
        near = [(plain_iou(row, m, exact) if m["video"] == row[0] else 0) for m in free]
        best = max(range(len(free)), key=lambda n: near[n], default=None)
        if best is not None and near[best] >= level:
            free.pop(best)
            hits.append(place)
    return hits


UNGRADED = [name for name, one in MEASURES.items() if one.threshold is None or one.threshold.values == "theta"]


COUNTS_ALL = {"loc_precision", "loc_f1", "cover_f1", "union_iou"}
"""The measures that a further wrong prediction changes."""


def others(truth, run, **options):
    videos = {name: [seconds, number] for number, (name, seconds) in enumerate(DURATIONS.items())}
    return evaluate(truth, run, videos=videos, **{"k": K, "theta": THETA, "measures": UNGRADED, **options})


@settings(max_examples=150, deadline=None)
@given(data(), OPTIONS)
def test_the_fast_way_equals_the_plain_loops(given_data, options):
    truth, run = given_data
    named = run if options["missing"] == "published" else {query for query, rows in run.items() if rows}
    expected = {query: plain_values(truth[query], run[query], options) for query in named}
    if options["missing"] == "zero":
        expected |= {query: plain_values([], [], options) for query in truth if query not in named}
    result = others(truth, run, **options)
    assert result["per_query"].keys() == expected.keys()
    for query, values in expected.items():
        assert result["per_query"][query] == pytest.approx(values, abs=1e-12)
        for key, value in values.items():
            if key.startswith("recall"):
                assert result["per_query"][query][key] == value


@settings(max_examples=75, deadline=None)
@given(data(invalid=True), st.sampled_from(["exact", "float64"]))
def test_impossible_moments_overlap_nothing_where_invalid_is_zero(given_data, arithmetic):
    truth, run = given_data
    options = {"arithmetic": arithmetic, "min_relevance": 1, "gain": "linear"}
    result = others(truth, run, invalid="zero", **options)["per_query"]
    for query, rows in run.items():
        assert result[query] == pytest.approx(plain_values(truth[query], rows, options), abs=1e-12)


@settings(max_examples=75, deadline=None)
@given(data())
def test_values_stay_within_the_bounds_that_their_measure_states(given_data):
    for row in others(*given_data, measures=list(MEASURES), mu=THETA)["per_query"].values():
        for key, value in row.items():
            highest = MEASURES[key.partition("@")[0]].highest
            assert 0 <= value <= (math.inf if highest is None else highest + 1e-12)


@settings(max_examples=50, deadline=None)
@given(data(), st.randoms(use_true_random=False))
def test_the_order_of_the_queries_changes_no_value(given_data, random):
    truth, run = given_data
    mixed = {query: run[query] for query in random.sample(list(run), len(run))}
    shuffled = {query: truth[query] for query in random.sample(list(truth), len(truth))}
    assert evaluate(shuffled, mixed)["per_query"] == evaluate(truth, run)["per_query"]


@settings(max_examples=50, deadline=None)
@given(data(), st.integers(0, 20))
def test_a_prediction_of_another_video_at_the_end_changes_nothing(given_data, start):
    truth, run = given_data
    longer = {query: [*rows, ["elsewhere", start, start + 5, -1]] for query, rows in run.items()}
    asked = [name for name in UNGRADED if name not in COUNTS_ALL]
    before = others(truth, run, measures=asked)["per_query"]
    for query, row in others(truth, longer, measures=asked)["per_query"].items():
        assert row == pytest.approx(before[query], abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(data())
def test_irrelevant_truth_changes_no_ungraded_measure(given_data):
    truth, run = given_data
    extra = {"video": "a", "start": 0, "end": 12, "relevance": 0}
    before = others(truth, run)["per_query"]
    for query, row in others({query: [extra, *moments] for query, moments in truth.items()}, run)["per_query"].items():
        assert row == pytest.approx(before[query], abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(data())
def test_what_can_only_grow_with_k_grows(given_data):
    # AP may fall with K, NDCG may too; AxIoU is a mean of running maxima, which do not fall.
    for row in others(*given_data)["per_query"].values():
        for name in ("recall_gt", "recall", "dcg", "axiou", "dr", "loc_recall", "moment_recall"):
            by_threshold = {}
            for key, value in row.items():
                if key.startswith(name + "@"):
                    by_threshold.setdefault(key.partition(",")[2], []).append(value)
            for values in by_threshold.values():
                assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))


@settings(max_examples=50, deadline=None)
@given(data())
def test_axiou_is_recall_averaged_over_theta_and_cut_offs(given_data):
    # As AxIoU derives itself: the integral of R@k,theta over theta is the best IoU of the first k.
    truth, run = given_data
    thetas = [n / 50 for n in range(1, 51)]
    cutoffs = (1, 2, 3, 4)
    result = evaluate(truth, run, k=cutoffs, theta=thetas, measures=["recall_gt", "axiou"])["per_query"]
    for row in result.values():
        mean = np.mean([row[f"recall_gt@{k},{theta}"] for k in cutoffs for theta in thetas])
        assert row["axiou@4"] == pytest.approx(mean, abs=1 / 50 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(data(), st.integers(1, 3))
def test_chunks_change_nothing(given_data, size):
    truth, run = given_data
    whole = evaluate(truth, run)
    before = scoring._CHUNK
    try:
        scoring._CHUNK = size
        assert evaluate(truth, run) == whole
    finally:
        scoring._CHUNK = before
