"""Runs that cannot be meant: late moments, other units, unknown videos; the same from every way of giving them."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring.evaluate import compare, evaluate
from backend.scoring.files import documents, fast, text
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.plausibility import doubts_about
from backend.scoring.scored_files import score_files

TRUTH = {
    "1": [{"video": "v1", "start": 0, "end": 10, "relevance": 3}],
    "2": [{"video": "v2", "start": 5, "end": 9, "relevance": 4}],
}
VIDEOS = {"v1": [20, 0], "v2": [30, 1], "other": [40.5, 2]}
FINE = {"1": [["v1", 0, 10, 0.9]], "2": [["v2", 5, 9, 0.7]]}


def warnings_of(run: object, **options: object) -> list[str]:
    found = evaluate(TRUTH, run, videos=VIDEOS, **options).warnings  # type: ignore[arg-type]
    return [one for one in found if "judged" not in one and "none of its videos" not in one]


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        # Ends up to 5 s after the video are what models that predict whole clips write.
        ([["v1", 0, 25, 1], ["v2", 29, 35, 0.5], ["other", 40.5, 41, 0.1]], []),
        (
            [["v1", 20.1, 24, 1], ["v2", 5, 9, 0.5]],
            ["1 prediction begins after its video ends; the first: row 1, query 1, moment 1: 20.1 to 24 s of v1, "
             "which lasts 20 s"],
        ),
        (
            [["v2", 5, 9, 1], ["v1", 0, 25.01, 0.5], ["v1", 3, 99, 0.1]],
            ["2 predictions end more than 5 s after their video; the first: row 1, query 1, moment 2: 0 to 25.01 s "
             "of v1, which lasts 20 s"],
        ),
        # 9,000 of 30 s: too much for frames, and 9 s if divided by 1,000.
        (
            [["v2", 5000, 9000, 1]],
            ["1 prediction begins after its video ends; times seem to be in milliseconds; the first: row 1, query 1, "
             "moment 1: 5000 to 9000 s of v2, which lasts 30 s"],
        ),
        # 25 frames a second: 5 to 9 s, 12 to 16 s.
        (
            [["v2", 125, 225, 1], ["v2", 300, 400, 0.5]],
            ["2 predictions begin after their video ends; times seem to be in frames; the first: row 1, query 1, "
             "moment 1: 125 to 225 s of v2, which lasts 30 s"],
        ),
        # No unit explains these.
        (
            [["v1", 0, 1_000_000, 1]],
            ["1 prediction ends more than 5 s after its video; the first: row 1, query 1, moment 1: 0 to 1000000 s of "
             "v1, which lasts 20 s"],
        ),
    ],
)  # fmt: skip
def test_moments_after_the_end_are_told_with_the_unit_that_seems_likely(
    moments: list[list[object]], expected: list[str]
) -> None:
    assert warnings_of({"1": moments, "2": [["v2", 5, 9, 0.7]]}) == [f"run: {one}" for one in expected]


@pytest.mark.parametrize(("rate", "unit"), [(1000, "milliseconds"), (25, "frames"), (29.97, "frames"), (60, "frames")])
def test_a_whole_run_in_another_unit_is_told_as_that(rate: float, unit: str) -> None:
    """Moments of all places of a video, as a model that is right would predict them."""
    spans = [(start, start + length) for start in range(0, 26, 2) for length in (2, 4)]
    run = {"1": [["v2", round(start * rate), round(end * rate), 1.0] for start, end in spans], **{"2": FINE["2"]}}
    (told, *_) = warnings_of(run)
    assert f"times seem to be in {unit};" in told


def test_names_that_the_map_of_videos_lacks_are_counted_and_the_first_is_named() -> None:
    run = {"1": [["v1", 0, 9, 1], ["v1.mp4", 0, 10, 0.9], ["x", 1, 2, 0.8]], "2": [["v1.mp4", 5, 9, 0.7]]}
    assert warnings_of(run) == [
        "run: 3 predictions are of videos that are not in the map of videos (2 names); the first: row 1, query 1, "
        "moment 2: 'v1.mp4'"
    ]
    assert warnings_of({"1": [["x", 1, 2, 0.8]], "2": FINE["2"]}) == [
        "run: 1 prediction is of a video that is not in the map of videos; the first: row 1, query 1, moment 1: 'x'"
    ]
    assert warnings_of(FINE) == []
    assert evaluate(TRUTH, run).warnings == ()  # no map says which names there are


def test_durations_of_the_truth_do_without_a_map() -> None:
    late = {**FINE, "2": [["v2", 31, 33, 1]]}
    lasting = {query: [{**one, "duration": 30} for one in moments] for query, moments in TRUTH.items()}
    (told,) = evaluate(lasting, late).warnings
    assert told.startswith("run: 1 prediction begins after its video ends; the first: row 2, query 2")
    entries = [
        {"query_id": q, "relevant_moment": [{"video_name": m["video"], "timestamp": [m["start"], m["end"]],
                                             "relevance": m["relevance"], "duration": 30}]}
        for q, (m,) in TRUTH.items()
    ]  # fmt: skip
    assert evaluate(entries, late).warnings == (told,)


def test_what_was_skipped_or_ignored_is_not_told_again() -> None:
    run = {"1": [["v1", 0, 10, 1], ["v1", 900, 90, 0.5]], "2": FINE["2"], "x": [["z", 900, 901, 1]]}
    told = warnings_of(run, invalid="skip", unknown="ignore")
    assert [one.partition(";")[0] for one in told] == [
        "run: 1 impossible moments were left out",
        "run: queries that the truth lacks were ignored: x",
    ]


def test_every_way_of_giving_a_run_says_the_same(tmp_path: Path) -> None:
    rows = [("1", "v1", 0, 10, 0.9), ("2", "v2", 5000, 9000, 0.7), ("2", "x", 1, 2, 0.6)]
    run = {q: [[v, s, e, c] for query, v, s, e, c in rows if query == q] for q in TRUTH}
    table = io.StringIO()
    csv.writer(table).writerows([["query_id", "video", "start", "end", "score"], *rows])
    files = {
        "object.json": json.dumps(run),
        # A key that stands twice elsewhere makes the fast reader give up.
        "careful.json": json.dumps([{"query_id": q, "predictions": p, "x": {"query_id": 0}} for q, p in run.items()]),
        "lines.jsonl": "".join(json.dumps({"qid": q, "predictions": p}) + "\n" for q, p in run.items()),
        "table.csv": table.getvalue(),
    }
    (tmp_path / "truth.json").write_text(
        json.dumps([{"query_id": q, "relevant_moment": moments} for q, moments in TRUTH.items()])
    )
    (tmp_path / "videos.json").write_text(json.dumps(VIDEOS))
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    paths = [tmp_path / name for name in files]
    board = score_files(tmp_path / "truth.json", paths, videos=tmp_path / "videos.json")
    late, unknown = compare(TRUTH, {"run": run}, videos=VIDEOS).warnings
    for path in paths:
        told = [one.removeprefix(f"{path}: ") for one in board.warnings if one.startswith(str(path))]
        row = {"table.csv": 3}.get(path.name, 2)
        assert told == [
            one.removeprefix("run: ").replace("row 2", f"row {row + n}" if path.name == "table.csv" else f"row {row}")
            for n, one in enumerate((late, unknown))
        ], path.name


TIMES = st.floats(0, 1e5, allow_nan=False)
ROWS = st.lists(st.tuples(st.sampled_from(["v1", "v2", "other", "x", "y"]), TIMES, TIMES), max_size=5)


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(st.sampled_from("abc"), ROWS, min_size=1))
def test_counts_are_those_of_plain_loops_and_both_readers_agree(run: dict[str, list[tuple[str, float, float]]]) -> None:
    content = json.dumps({q: [[v, s, e, 1.0] for v, s, e in rows] for q, rows in run.items()}).encode()
    lasts = {"v1": 20.0, "v2": 30.0, "other": math.nan}
    truth = replace(parse_truth_mapping(TRUTH), durations=lasts, catalogue=frozenset(lasts))
    quick = fast.run(content, "run", text.form_of(content, "run"), None)
    careful = documents.parse_run(text.document(content, "run"), "run", None)
    told = doubts_about(careful, truth)
    assert quick is None or doubts_about(quick, truth) == told
    assert told == doubts_about(parse_run_mapping(json.loads(content)), truth)
    flat = [row for rows in run.values() for row in rows]
    begin = sum(s > lasts.get(v, math.inf) for v, s, _ in flat)
    end = sum(e > lasts.get(v, math.inf) + 5 >= s + 5 for v, s, e in flat)
    unknown = sum(v in "xy" for v, _, _ in flat)
    assert [int(one.split(" ")[1].replace(",", "")) for one in told] == [n for n in (begin, end, unknown) if n]
