"""Runs whose rows name no video are in the own videos of the truth's queries."""

import json

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.files.formats import run_file, truth_file
from backend.scoring.presets import settle
from backend.scoring.scored_files import score_files
from backend.scoring.scores import prepare_run, prepare_truth

VIDEOS = {
    "one": {"duration": 20.0, "timestamps": [[0, 10], [10, 20]], "sentences": ["A.", "B."]},
    "two": {"duration": 8, "timestamps": [[2, 4]], "sentences": ["C."]},
}
TRUTH = truth_file(json.dumps(VIDEOS).encode(), "truth")
ROWS = [[[0, 9], [3, 12]], [[10, 20]], []]
EXPECTED = [("one#0", "one", 0, 9), ("one#0", "one", 3, 12), ("one#1", "one", 10, 20)]


def rows(run):
    return [
        (str(run.queries[query]), run.videos[video], start_s, end_s)
        for query, video, start_s, end_s in zip(
            run.query.tolist(), run.video.tolist(), run.start_s.tolist(), run.end_s.tolist(), strict=True
        )
    ]


def test_lists_stand_in_the_order_of_the_truth_and_rank_as_they_stand():
    run = run_file(json.dumps(ROWS).encode(), "run", None, TRUTH)
    assert rows(run) == EXPECTED
    assert run.queries == TRUTH.queries  # the empty list is a query that was answered with nothing
    settings = settle("paper", [1], [0.5], {})
    assert not prepare_run(run, prepare_truth(TRUTH, settings), settings).warnings


@pytest.mark.parametrize("form", ["object", "list", "lines"])
def test_queries_may_be_named_and_rows_scored(form):
    named = {query: [[*row, 0.5] for row in ROWS[number]] for number, query in enumerate(TRUTH.queries)}
    entries = [{"query_id": query, "predictions": found} for query, found in named.items()]
    content = {
        "object": json.dumps(named),
        "list": json.dumps(entries),
        "lines": "\n".join(map(json.dumps, entries)),
    }[form]
    run = run_file(content.encode(), "run", None, TRUTH)
    assert rows(run) == EXPECTED
    assert run.score.tolist() == [0.5] * 3


@pytest.mark.parametrize(
    ("run", "truth", "message"),
    [
        (ROWS, None, "only be read together with a truth"),
        (ROWS[:2], TRUTH, r"2 lists of moments without query ids, but truth has 3 queries; .*in the same order"),
        ([[[0, 9]], 5, []], TRUTH, "row 2: is not a list of moments"),
        ([[[0, 9]], [[1, 2, 3, 4]], []], TRUTH, r"row 2: query one#1, moment 1: is not \[start, end\]"),
        ([[[0, 9]], [["x", 2]], []], TRUTH, "row 2: query one#1, moment 1: start is text"),
    ],
)
def test_what_does_not_fit_is_named(run, truth, message):
    with pytest.raises(InputError, match=message):
        run_file(json.dumps(run).encode(), "run", None, truth)


def test_a_query_with_moments_in_two_videos_needs_names():
    moments = [{"query_id": 5, "video": video, "start": 0, "end": 2, "relevance": 1} for video in "ab"]
    truth = truth_file("\n".join(map(json.dumps, moments)).encode(), "truth")
    with pytest.raises(InputError, match="query 5 has moments in 2 videos"):
        run_file(b'{"5": [[0, 2]]}', "run", None, truth)


def test_files_are_scored_with_one_another(tmp_path):
    (tmp_path / "truth.json").write_text(json.dumps(VIDEOS))
    (tmp_path / "run.json").write_text(json.dumps(ROWS))
    board = score_files(tmp_path / "truth.json", [tmp_path / "run.json"], k=[1], theta=[0.5, 0.9], measures=["recall"])
    assert board.runs[0].means == {"recall@1,0.5": 2 / 3, "recall@1,0.9": 2 / 3}


def test_from_python_the_same_is_read_from_what_the_files_hold():
    asked = {"k": 1, "theta": [0.5, 0.9], "measures": "recall"}
    for run in (ROWS, {query: rows for query, rows in zip(TRUTH.queries, map(tuple, ROWS), strict=True)}):
        assert evaluate(VIDEOS, run, **asked).mean == {"recall@1,0.5": 2 / 3, "recall@1,0.9": 2 / 3}
    didemo = [{"annotation_id": 7, "description": "x", "video": "a.mov", "times": [[0, 0], [1, 3]]}]
    assert evaluate(didemo, {7: [[5.0, 20.0]]}, **asked).mean == {"recall@1,0.5": 1, "recall@1,0.9": 1}
    with pytest.raises(InputError, match="truth, row 1: query 'one' holds"):
        evaluate({"one": {"start": 0}}, ROWS)
