"""Non-maximum suppression as the published code does it."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.core.timespan import iou_float64
from backend.scoring.evaluate import evaluate
from backend.scoring.files.entries import parse_run_mapping
from backend.scoring.matching.suppression import suppress

GOLDEN = json.loads((Path(__file__).parent / "golden" / "nms.json").read_text("utf-8"))
"""What three published functions, which agree, keep of made-up rows; the file says which and how."""


def rows(run, query=0):
    first, last = run.offsets[query : query + 2]
    columns = (run.start_s[first:last], run.end_s[first:last], run.score[first:last])
    return [list(row) for row in zip(*map(np.ndarray.tolist, columns), strict=True)]


@pytest.mark.parametrize("arithmetic", ["exact", "float64", "float32"])
@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_what_published_functions_keep_is_kept_in_their_order(case, arithmetic):
    # A second query of the same rows and a second video between them change nothing.
    found = [["v", *row] for row in case["rows"]]
    run = parse_run_mapping({"a": found, "b": [["w", 0, 30, 2], *found]})
    left = suppress(run, case["nms"], arithmetic=arithmetic)
    expected = [row[:2] for row in case["kept"]]
    assert [row[:2] for row in rows(left)] == expected
    assert [row[:2] for row in rows(left, 1)] == [[0, 30], *expected]


spans = st.tuples(st.sampled_from("vw"), st.integers(0, 20), st.integers(1, 20), st.integers(0, 5))


@given(st.lists(st.lists(spans, max_size=12), min_size=1, max_size=3), st.sampled_from([0.25, 0.5, 1.0]))
def test_no_two_kept_overlap_more_and_every_other_has_a_better_one_that_does(queries, level):
    run = parse_run_mapping({n: [[v, s, s + d, x] for v, s, d, x in found] for n, found in enumerate(queries)})
    left = suppress(run, level, arithmetic="exact")
    assert left.queries == run.queries
    for query, found in enumerate(queries):
        kept = slice(left.offsets[query], left.offsets[query + 1])
        video = [left.videos[v] for v in left.video[kept]]
        start_s, end_s, score = left.start_s[kept], left.end_s[kept], left.score[kept]
        assert (np.diff(score) <= 0).all()
        for number, name in enumerate(video):
            same = np.array([other == name for other in video]) & (np.arange(len(video)) != number)
            one = [np.full(same.sum(), column[number]) for column in (start_s, end_s)]
            assert (iou_float64(*one, start_s[same], end_s[same]) <= level).all()
        for name, start, length, value in found:
            better = np.array([other == name for other in video], dtype=bool) & (score >= value)
            one = [np.full(better.sum(), float(time)) for time in (start, start + length)]
            ious = iou_float64(*one, start_s[better], end_s[better])
            stays = ((start_s[better] == start) & (end_s[better] == start + length)).any()
            assert stays or (ious > level).any()


def test_an_evaluation_ranks_what_is_left():
    truth = {"q": [{"video": "v", "start": 10, "end": 20, "relevance": 1}]}
    run = {"q": [["v", 0, 10, 0.9], ["v", 0, 9, 0.8], ["v", 10, 20, 0.7]]}
    asked = {"k": [2], "theta": [0.5], "measures": ["recall"]}
    assert evaluate(truth, run, **asked)["mean"] == {"recall@2,0.5": 0}
    assert evaluate(truth, run, nms=0.5, **asked)["mean"] == {"recall@2,0.5": 1}
    for wrong in (0, 1.5, "half", True):
        with pytest.raises(InputError, match=r"nms: .* is not an IoU in \(0, 1\]"):
            evaluate(truth, run, nms=wrong, **asked)


def test_empty_predictions_are_refused_with_the_option_that_drops_them():
    truth = {"q": [{"video": "v", "start": 10, "end": 20, "relevance": 1}]}
    run = {"q": [["v", 3, 3, 0.9], ["v", 10, 20, 0.7], ["v", 4, 4, 0.6]]}
    with pytest.raises(InputError) as refused:
        evaluate(truth, run)
    assert [str(problem) for problem in refused.value.problems] == [
        "run, row 1: query q, moment 1: end 3.0 is not after start 3.0 "
        "(invalid=zero keeps such predictions at their ranks with IoU 0, as published evaluators do; "
        "invalid=skip removes them, and those below move up)",
        "run, row 1: query q, moment 3: end 4.0 is not after start 4.0",
    ]
    assert evaluate(truth, run, k=[1], theta=[0.5], measures=["recall"], invalid="skip")["mean"] == {"recall@1,0.5": 1}


def left_of(found, level, arithmetic="exact"):
    """The times of what is kept."""
    return [row[:2] for row in rows(suppress(parse_run_mapping({"q": found}), level, arithmetic=arithmetic))]


@pytest.mark.parametrize(("arithmetic", "kept"), [("exact", 2), ("float64", 1), ("float32", 2)])
def test_an_iou_of_exactly_the_level_is_told_from_more_as_the_arithmetic_has_it(arithmetic, kept):
    """[.3, .9) has .6 of [0, 1); 0.9 - 0.3 is 0.6000000000000001 in 64 bits, and 0.59999996 in 32."""
    assert len(left_of([["v", 0, 1, 0.9], ["v", 0.3, 0.9, 0.8]], 0.6, arithmetic)) == kept


def test_the_shortest_times_touch_without_overlap_and_are_alike_where_they_are_the_same():
    assert left_of([["v", 0, 1, 0.9], ["v", 1, 2, 0.8]], 0.5) == [[0, 1], [1, 2]]
    assert left_of([["v", 0, 1, 0.9], ["v", 0, 1, 0.8]], 0.5) == [[0, 1]]


def test_times_that_are_no_numbers_overlap_nothing():
    nan, inf = float("nan"), float("inf")
    found = [["v", nan, 1, 0.9], ["v", 0, inf, 0.8], ["v", nan, inf, 0.7], ["v", 0, 1, 0.6]]
    assert len(left_of(found, 0.5)) == 4
