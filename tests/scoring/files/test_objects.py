"""Everything that a truth and a run may be given as has the same values: texts, open files, iterators, data frames."""

import gzip
import io
import json

import datasets
import pandas as pd
import pyarrow as pa
import pytest

from backend.core.errors import InputError
from reelrank import compare, evaluate

TRUTH = [
    {"query_id": "q1", "video": "a", "start": 0.0, "end": 10.0, "relevance": 4},
    {"query_id": "q1", "video": "b", "start": 5.0, "end": 9.5, "relevance": 1},
    {"query_id": "q2", "video": "a", "start": 20.0, "end": 30.0, "relevance": 2},
]
RUN = [
    {"query_id": "q1", "rank": 1, "video": "b", "start": 5.0, "end": 9.0, "score": 0.9},
    {"query_id": "q1", "rank": 2, "video": "a", "start": 1.0, "end": 10.0, "score": 0.7},
    {"query_id": "q2", "rank": 1, "video": "a", "start": 25.0, "end": 35.0, "score": 0.2},
]
ROWS = {"q1": [["b", 5.0, 9.0, 0.9], ["a", 1.0, 10.0, 0.7]], "q2": [["a", 25.0, 35.0, 0.2]]}
EXPECTED = evaluate(TRUTH, RUN)


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def csv(rows):
    return "\n".join(",".join(map(str, row)) for row in [rows[0], *(one.values() for one in rows)]) + "\n"


class Polars:
    """What a data frame of polars can do: `columns` is a list, and a column is a series with `to_list`."""

    class Series:
        def __init__(self, values):
            self._values = values

        def to_list(self):
            return self._values

    def __init__(self, rows):
        self.columns, self._rows = list(rows[0]), rows

    def __getitem__(self, name):
        return self.Series([row[name] for row in self._rows])

    def __iter__(self):
        """polars yields columns here, so that nobody may take a frame for an iterable of rows."""
        return iter(map(self.__getitem__, self.columns))


FLAT = [
    lines,
    csv,
    lambda rows: lines(rows).encode(),
    lambda rows: gzip.compress(csv(rows).encode()),
    lambda rows: io.StringIO(csv(rows)),
    lambda rows: io.BytesIO(lines(rows).encode()),
    lambda rows: io.BytesIO(gzip.compress(lines(rows).encode())),
    json.dumps,
    iter,
    lambda rows: (row for row in rows),
    lambda rows: map(dict, rows),
    pd.DataFrame,
    Polars,
    pa.Table.from_pylist,
    pa.RecordBatch.from_pylist,
    datasets.Dataset.from_list,
    lambda rows: datasets.Dataset.from_list(rows).to_iterable_dataset(),
]


@pytest.mark.parametrize("form", FLAT, ids=range(len(FLAT)))
def test_a_row_a_moment_in_any_form(form):
    assert evaluate(form(TRUTH), RUN) == EXPECTED
    assert evaluate(TRUTH, form(RUN)) == EXPECTED
    assert compare(form(TRUTH), {"mine": form(RUN)})["mine"] == EXPECTED


NESTED_TRUTH = [
    {"query_id": query, "relevant_moment": [row for row in TRUTH if row["query_id"] == query]} for query in ("q1", "q2")
]
NESTED_RUN = [{"query_id": query, "predictions": [r for r in RUN if r["query_id"] == query]} for query in ("q1", "q2")]


@pytest.mark.parametrize(
    "form", [iter, pd.DataFrame, Polars, pa.Table.from_pylist, datasets.Dataset.from_list, json.dumps, lines]
)
def test_a_row_a_query_with_its_moments_in_a_cell(form):
    assert evaluate(form(NESTED_TRUTH), form(NESTED_RUN)) == EXPECTED


def test_windows_of_qvhighlights_come_from_a_parquet_file_too(tmp_path):
    truth = [{"qid": n, "vid": f"v{n}", "relevant_windows": [[0, 10], [20, 30]]} for n in range(3)]
    run = [{"qid": n, "vid": f"v{n}", "pred_relevant_windows": [[0, 9.5, 0.9], [20, 28, 0.3]]} for n in range(3)]
    expected = evaluate(truth, run, benchmark="qvhighlights").figures
    for name, rows in (("truth", truth), ("run", run)):
        pd.DataFrame(rows).to_parquet(tmp_path / f"{name}.parquet")
    frames = [pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("truth", "run")]
    assert evaluate(*frames, benchmark="qvhighlights").figures == expected
    assert evaluate(truth, (row for row in run), benchmark="qvhighlights").figures == expected


def test_pairs_of_a_query_and_its_rows_are_a_run():
    assert evaluate(TRUTH, ((query, rows) for query, rows in ROWS.items())) == EXPECTED
    assert evaluate(TRUTH, ROWS.items()) == EXPECTED
    assert evaluate(zip(["q1", "q2"], [TRUTH[:2], TRUTH[2:]], strict=True), ROWS) == EXPECTED


def test_an_open_file_names_the_run_and_what_is_wrong(tmp_path):
    good, bad = tmp_path / "mine.jsonl", tmp_path / "worse.jsonl"
    good.write_text(lines(RUN))
    bad.write_text(lines([*RUN, {**RUN[0], "end": "late"}]))
    for mode in ("r", "rb"):
        with good.open(mode) as file:
            assert repr(evaluate(TRUTH, file)).startswith("mine: 2 queries")
        with (
            bad.open(mode) as file,
            pytest.raises(InputError, match=r"worse\.jsonl, row 4: query q1, moment 3: end is"),
        ):
            evaluate(TRUTH, file)
    with gzip.open(tmp_path / "run.json.gz", "wt") as file:
        file.write(json.dumps(ROWS))
    with gzip.open(tmp_path / "run.json.gz") as file:
        assert evaluate(TRUTH, file) == EXPECTED
    with pytest.raises(InputError, match=r"^run: is empty"):
        evaluate(TRUTH, io.StringIO(""))
    with pytest.raises(InputError, match=r"^run, row 1: is not UTF-8 text"):
        evaluate(TRUTH, '{"\ud800": []}')


def test_a_video_map_may_be_a_text_and_an_open_file():
    numbered = {query: [[{"a": 7, "b": 9}[row[0]], *row[1:]] for row in rows] for query, rows in ROWS.items()}
    names = json.dumps({"a": [40.0, 7], "b": [12.5, 9]})
    for videos in (names, io.StringIO(names), json.loads(names)):
        assert evaluate(TRUTH, numbered, videos=videos) == EXPECTED


def test_a_release_is_chosen_by_the_queries_of_a_run_that_can_be_read_once(tmp_path):
    for split, rows in (("val", TRUTH), ("test", [{**row, "query_id": "x" + row["query_id"]} for row in TRUTH])):
        (tmp_path / f"{split}.json").write_text(json.dumps(rows))
    (tmp_path / "manifest.json").write_text("{}")
    assert evaluate(tmp_path, iter(RUN)).mean == EXPECTED.mean
    assert evaluate(tmp_path, io.StringIO(lines(RUN))).mean == EXPECTED.mean


UNSCORED = {query: [row[:3] for row in rows] for query, rows in ROWS.items()}


class TestWithoutScores:
    def test_the_order_of_the_list_counts(self, tmp_path):
        (tmp_path / "run.json").write_text(json.dumps(UNSCORED))
        nested = [{"query_id": query, "predictions": rows} for query, rows in UNSCORED.items()]
        for given in (UNSCORED, nested, json.dumps(UNSCORED), tmp_path / "run.json"):
            for order in ("file", "score"):
                found = evaluate(TRUTH, given, order=order)
                assert found == EXPECTED
                assert found.warnings == ()

    def test_all_have_a_score_or_none_has(self):
        with pytest.raises(InputError, match=r"query q1, moment 2: is not \[video, start, end, score\]"):
            evaluate(TRUTH, {"q1": [ROWS["q1"][0], UNSCORED["q1"][1]]})
        message = r"query q2, moment 1: is not \[video, start, end\], as the first prediction is"
        with pytest.raises(InputError, match=message):
            evaluate(TRUTH, {**UNSCORED, "q2": ROWS["q2"]})

    def test_two_and_three_numbers_still_lie_in_the_own_video(self):
        truth = [row for row in TRUTH if row["video"] == "a"]
        run = {query: [row[1:3] for row in rows if row[0] == "a"] for query, rows in ROWS.items()}
        named = {query: [row for row in rows if row[0] == "a"] for query, rows in UNSCORED.items()}
        assert evaluate(truth, run) == evaluate(truth, named)


@pytest.mark.parametrize("given", [7, {1.5}, frozenset(), object()])
def test_what_has_no_rows_is_told(given):
    for truth, run in ((given, ROWS), (TRUTH, given)):
        with pytest.raises(InputError, match="is of type"):
            evaluate(truth, run)
