"""Measures that a caller writes: what they see, against plain loops and our own measures, and how they are told of."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.measures import MEASURES
from backend.scoring.report.figures import chart_of
from backend.scoring.tables import to_csv, to_markdown
from reelrank import Measure, QueryMatches, Threshold, compare, evaluate, parse_key
from retrieval import data, plain_iou

TRUTH = {
    "tea": [
        {"video": "v1", "start": 12, "end": 19, "relevance": 4},
        {"video": "v1", "start": 20, "end": 28, "relevance": 2},
        {"video": "v2", "start": 0, "end": 10, "relevance": 2},
    ],
    "door": [{"video": "v3", "start": 4, "end": 9.5, "relevance": 3}],
    "cat": [{"video": "v3", "start": 4, "end": 9.5, "relevance": 3}],
}
RUN = {
    "tea": [["v1", 10, 30, 0.9], ["v1", 12, 20, 0.8], ["v2", 0, 8, 0.4]],
    "door": [["v2", 1, 9, 0.7], ["v3", 5, 9, 0.6]],
}


def hit(query, k, theta):
    """Whether one of the first K predictions reaches theta. What recall is."""
    assert len(query.iou) <= k
    return (query.iou >= theta).any()


def graded(query, k, mu):
    """What NDCG is, with the paper's gain."""
    discounts = np.log2(np.arange(2, k + 2))
    ideal = np.sort(query.relevance)[::-1][:k]
    best = (ideal / discounts[: len(ideal)]).sum()
    gained = query.relevance_at(mu)
    return (gained / discounts[: len(gained)]).sum() / best if best else 0


def first(query):
    return query.iou[0]


class Offset:
    """How far the first prediction begins from the nearest truth moment, negated. Higher is better."""

    name, title, highest, depth = "offset", "Offset (s)", None, 1

    def __call__(self, query: QueryMatches) -> float:
        assert len(query.start_s) == 1
        same = [
            start
            for video, start in zip(query.truth_video, query.truth_start_s, strict=True)
            if video == query.video[0]
        ]
        return -min((abs(start - query.start_s[0]) for start in same), default=99)


@settings(max_examples=100, deadline=None)
@given(
    data(),
    st.fixed_dictionaries(
        {
            "arithmetic": st.sampled_from(["exact", "float64"]),
            "iou_compare": st.sampled_from(["ge", "gt"]),
            "zero_relevance": st.sampled_from(["absorb", "drop"]),
            "missing": st.sampled_from(["zero", "skip", "published"]),
            "min_relevance": st.integers(1, 4),
        }
    ),
)
def test_our_measures_written_for_one_query_have_the_same_values(given_data, options):
    found = evaluate(
        *given_data,
        **options,
        k=[1, 3],
        mu=[0.3, 0.5],
        theta=[0.3, 1],
        measures=["recall", "ndcg", "miou", hit, graded, first],
    )
    for values in found.per_query.values():
        for key, value in values.items():
            ours = key.replace("hit", "recall").replace("graded", "ndcg").replace("first", "miou")
            assert value == pytest.approx(values[ours], abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(data(), st.sampled_from([1, 2, 1000]))
def test_a_query_is_seen_as_the_caller_gave_it(given_data, depth):
    truth, run = given_data
    seen = {}

    def look(query):
        moments = zip(query.truth_video, query.truth_start_s, query.truth_end_s, query.relevance, strict=True)
        moments = [dict(zip(("video", "start", "end", "relevance"), moment, strict=True)) for moment in moments]
        rows = list(zip(query.video, query.start_s, query.end_s, query.score, strict=True))
        assert query.ious.shape == (len(rows), len(moments))
        for row, of_row in zip(rows, query.ious, strict=True):
            for moment, iou in zip(moments, of_row, strict=True):
                expected = plain_iou(row, moment, "exact") if moment["video"] == row[0] else 0
                assert iou == pytest.approx(float(expected), abs=1e-15)
        matched = query.matched(0.5)
        assert (query.ious[matched >= 0, matched[matched >= 0]] >= 0.5).all()
        assert len(set(matched[matched >= 0])) == (matched >= 0).sum()
        seen[query.query] = rows, moments
        return 0

    look.depth = depth
    evaluate(truth, run, measures=look)
    assert set(seen) == {query for query, rows in run.items() if rows}
    for query, (rows, moments) in seen.items():
        assert [list(row) for row in rows] == run[query][:depth]
        key = lambda moment: tuple(map(str, map(moment.get, ("video", "start", "end", "relevance"))))  # noqa: E731
        plain = [{**moment, "start": float(moment["start"]), "end": float(moment["end"])} for moment in truth[query]]
        assert sorted(map(key, moments)) == sorted(map(key, plain))


def test_a_query_of_a_later_chunk_is_its_own(monkeypatch):
    """Queries are scored in pieces of many predictions: here, each is a piece of its own."""
    from backend.scoring import scores

    whole = evaluate(TRUTH, RUN, measures=[hit, graded, Offset()]).per_query
    monkeypatch.setattr(scores, "_CHUNK", 1)
    assert evaluate(TRUTH, RUN, measures=[hit, graded, Offset()]).per_query == whole
    assert whole["tea"]["offset"] == -2.0
    assert whole["door"]["offset"] == -99.0
    assert whole["cat"]["offset"] == 0.0, "no predictions: the option missing decides"


def test_everything_that_takes_a_measure_takes_one_of_ones_own():
    runs = compare(
        TRUTH,
        {"mine": RUN, "theirs": {"door": RUN["door"]}},
        k=[1, 3],
        theta=0.5,
        measures=[hit, Offset(), "ndcg@3,0.5"],
        baseline="theirs",
        resamples=50,
        by="video",
    )
    assert list(runs["mine"].mean) == ["hit@1,0.5", "hit@3,0.5", "offset", "ndcg@3,0.5"]
    assert runs.to_frame()["hit@3,0.5"].to_dict() == {"mine": 2 / 3, "theirs": 1 / 3}
    assert runs.differences["mine", "theirs"]["hit@3,0.5"]["difference"] == pytest.approx(1 / 3)
    assert runs["mine"].groups["video"]["v1"]["measures"]["offset"] == -2.0
    summary = json.loads(json.dumps(runs.summary))
    table = runs.to_latex(percent=True)
    assert r"hit@1, IoU$\geq\theta$" in table
    assert "in percent, but for Offset (s)" in table
    assert "66.67" in table
    assert "hit@3, IoU>=0.5" in to_csv(summary)
    assert (
        "hit@K,theta: hit@K, IoU&gt;=theta; Whether one of the first K predictions reaches theta. What recall is"
        in (to_markdown(summary).replace("\\", ""))
    )
    assert "hit by cut-off" in chart_of(runs._board, "by-k", "hit@1,0.5").title
    again = pickle.loads(pickle.dumps(runs["mine"]))
    assert again.mean == runs["mine"].mean


def test_a_benchmark_takes_it_beside_its_figures():
    truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
    run = {"q": [["v", 0, 5, 0.9], ["v", 0, 9, 0.8]]}
    found = evaluate(truth, run, benchmark="charades-sta", also=[hit, first, "miou"])
    assert found.figures["hit@1,0.5"] == found.figures["R@1, IoU=0.5"] == 1.0
    assert found.figures["first"] == found.figures["miou"] == 0.5
    assert "hit@1,0.5" in found.to_latex()


def test_an_array_of_all_queries_is_a_measure_too():
    length = Measure(
        "length",
        "Length",
        None,
        lambda found, ks, _: np.stack([found.size[None] + 0.0 for _ in ks]),
        "how many",
        highest=None,
    )
    strict = Measure(
        "first_hit",
        "First",
        Threshold("tau", ">"),
        lambda found, _, taus: np.stack([(found.first_rank(found.reaches(t, strict=True)) == 0) + 0.0 for t in taus])[
            None
        ],
        "first",
        depth=1,
    )
    found = evaluate(TRUTH, RUN, k=2, theta=0.5, measures=[length, strict, MEASURES["recall"]])
    assert found.per_query["tea"] == {"length@2": 2.0, "first_hit@0.5": 0.0, "recall@2,0.5": 1.0}
    assert r"First, IoU$>\tau$" in found.to_latex()


def test_its_key_can_be_read():
    assert parse_key("hit@3,0.5", measures=[hit]) == ("hit", 3, 0.5)
    assert parse_key("offset", measures=[Offset()]) == ("offset", None, None)
    with pytest.raises(InputError, match=r"key: 'hit@3,0.5' is not one of "):
        parse_key("hit@3,0.5")


def named(name, function):
    function.name = name
    return function


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([7], "7 is no measure; give a name, a function or a callable object"),
        ([Offset], "is no measure"),
        ([lambda query: 1], "'<lambda>' is no name for a measure; use `def`, or set the attribute `name`"),
        ([named("rank", lambda query: 1)], "rank is taken by a measure of ReelRank; choose another"),
        ([named("a,b", lambda query: 1)], "'a,b' is no name for a measure"),
        ([named("x", lambda query: 1), named("x", lambda query: 2)], "two measures are called x; rename one"),
        ([named("x", lambda: 1)], "x must take a query and then only k, and theta or mu, by these names"),
        ([named("x", lambda query, cutoff: 1)], "x must take a query and then only k"),
        ([named("x", lambda query, mu, theta: 1)], "x must take a query and then only k, and theta or mu"),
        ([named("x", lambda query: math.nan)], "x returned nan for query tea; return a number, such as 0.0"),
        ([named("x", lambda query: None)], "x returned None for query tea; return a number"),
        ([named("x", lambda query: 1.5)], "x returned 1.5 for query tea, outside 0 to 1; set the attribute `highest`"),
        ([hit, "gmap@3"], "'gmap@3' is not one of "),
    ],
)  # fmt: skip
def test_what_is_no_measure_is_told(measures, message):
    with pytest.raises(InputError) as refused:
        evaluate(TRUTH, RUN, measures=measures)
    assert str(refused.value).startswith("measures: ")
    assert message in str(refused.value)


def test_an_error_in_it_names_the_query():
    with pytest.raises(ZeroDivisionError) as error:
        evaluate(TRUTH, RUN, measures=named("x", lambda query: 1 / 0))
    assert error.value.__notes__ == ["Raised by the measure x for query tea."]


@pytest.mark.parametrize("name", ["iou", "start_s", "end_s", "score", "relevance", "truth_start_s", "truth_end_s"])
def test_it_cannot_change_what_other_measures_read(name):
    with pytest.raises(ValueError, match="read-only"):
        evaluate(TRUTH, RUN, measures=named("x", lambda query: getattr(query, name).sort() or 0))


def test_parameters_with_defaults_are_left_alone():
    def share(query, *, k, least=0.7):
        return (query.iou >= least).mean()

    assert evaluate(TRUTH, RUN, k=[1, 3], measures=share).per_query["tea"] == {"share@1": 0.0, "share@3": 2 / 3}
