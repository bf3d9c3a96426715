"""Forms found by file: each has an example that it alone recognises, read as worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.files import forms
from backend.scoring.files.annotations import Repair, annotated_queries
from backend.scoring.files.formats import run_file, truth_file
from backend.scoring.files.forms import FORMS, RUN_FORMS, TRUTH_FORMS
from backend.scoring.files.forms.form import TruthForm, opening_of
from backend.scoring.matching.columns import Spans

TIMED = {"timestamps": [[0, 12.5], [9, 24]], "sentences": ["A.", " B."]}
NLQ = {
    "version": "2.0",
    "videos": [
        {
            "video_uid": "v",
            "clips": [
                {
                    "clip_uid": "c",
                    "clip_end_sec": 480.0,
                    "annotations": [
                        {
                            "annotation_uid": "a1",
                            "language_queries": [
                                {"clip_start_sec": 1, "clip_end_sec": 2.5, "query": "Where was the cup?"},
                                {"clip_start_sec": 479, "clip_end_sec": 481},
                            ],
                        }
                    ],
                }
            ],
        }
    ],
}
HIREST = {
    "Make Tea": {
        "x.mp4": {"relevant": True, "clip": True, "v_duration": 90.5, "bounds": [5, 60], "steps": []},
        "y.mp4": {"relevant": True, "clip": False, "v_duration": 70.0, "bounds": [0, 0], "steps": []},
    }
}
SEEKER = {
    "qry_text": "a dog",
    "candidate_video_list": [{"output_path": f"/data/film_1/{clip}.mp4"} for clip in ("0.00_3.00", "3.00_7.50")],
    "gt_indices": [1],
}

TRUTHS: dict[str, tuple[Any, list[tuple[str, str, float, float]]]] = {
    "activitynet": (
        {"v_1": {"video_duration": 20, **TIMED}},
        [("v_1#0", "v_1", 0, 12.5), ("v_1#1", "v_1", 9, 20)],
    ),
    "charades-sta": ("AB 24.3 30.4##one.\nAB 2 3##two.\n", [("AB#0", "AB", 24.3, 30.4), ("AB#1", "AB", 2, 3)]),
    "cpl": (
        [["AB", 30.96, [24.3, 30.4], "one."], ["AB", 30.96, [0, 40], "two."]],
        [("AB#0", "AB", 24.3, 30.4), ("AB#1", "AB", 0, 30.96)],
    ),
    "didemo": (
        [{"annotation_id": 7, "description": "x", "video": "a.mov", "num_segments": 5, "times": [[0, 0], [1, 3]]}],
        [("7", "a.mov", 0, 5), ("7", "a.mov", 5, 20)],
    ),
    "ego4d-nlq": (NLQ, [("a1_0", "c", 1, 2.5), ("a1_1", "c", 479, 480)]),
    "groundnlq": (
        [
            {"query": "x", "query_id": "a1_0", "duration": 480.0, "video_id": "c", "timestamps": [[1.5, 2], [7, 9]]},
            {
                "query": "y",
                "query_id": "a1_1",
                "duration": 480.0,
                "video_id": "v",
                "clip_id": "c",
                "timestamps": [3, 4],
            },
        ],
        [("a1_0", "c", 1.5, 2), ("a1_0", "c", 7, 9), ("a1_1", "c", 3, 4)],
    ),
    "highlights": (
        {"qid": "v", "query": "BBC", "vid": "v", "relevant_windows": None, "label": [[1], [0]], "domain": "VU"},
        [],
    ),
    "highlights-umt": ({"v": {"fps": 25.0, "domain": "dog", "match": [1, -1, 0]}}, []),
    "hirest": (HIREST, [("x.mp4#Make Tea", "x.mp4", 5, 60)]),
    "hirest-steps": (
        {"x.mp4": {"captions": [{"start": 5, "end": 9, "sentence": "Boil"}], "bounds": [[5, 9]]}},
        [("x.mp4#0", "x.mp4", 5, 9)],
    ),
    "mad": (
        {
            "105": {
                "movie": "3003_F",
                "sentence": "He enters.",
                "timestamps": [162, 170],
                "ext_timestamps": [162.5, 175.8],
                "movie_duration": 7947.6,
            }
        },
        [("105", "3003_F", 162.5, 175.8)],
    ),
    "momentseeker": ([SEEKER], [("a dog", "film_1", 3, 7.5)]),
    "sentence-table": (
        "HITId,video_id,description,start,end\nA,x.mp4,a dog,5,9\nA,x.mp4,a dog,6,8.5\nB,x.mp4,a cat,1,2\n",
        [("x.mp4#0", "x.mp4", 5, 9), ("x.mp4#0", "x.mp4", 6, 8.5), ("x.mp4#1", "x.mp4", 1, 2)],
    ),
    "tacos": (
        {"s1.avi": {"fps": 20, "num_frames": 900, "timestamps": [[10, 35]], "sentences": ["She cuts."]}},
        [("s1.avi#0", "s1.avi", 0.5, 1.75)],
    ),
    "tall-tacos": (
        "s1-d2.avi_294_588:He cuts.#He slices. #\ns1-d2.avi_0_147:He washes.#\n",
        [
            ("s1-d2.avi#0", "s1-d2.avi", 10, 20),
            ("s1-d2.avi#1", "s1-d2.avi", 10, 20),
            ("s1-d2.avi#2", "s1-d2.avi", 0, 5),
        ],
    ),
    "timechat": (
        {"annotations": [{"image_id": "AB.mp4", "caption": "one.", "timestamp": [24.3, 30.4], "id": 0}]},
        [("0", "AB.mp4", 24.3, 30.4)],
    ),
    "tmlga": (
        [{"id": 0, "video": "AB", "time_start": 24.3, "time_end": 30.4, "description": "one.", "tokens": ["one"]}],
        [("0", "AB", 24.3, 30.4)],
    ),
    "youcook2": (
        {
            "database": {
                "v": {
                    "duration": 50.5,
                    "subset": "validation",
                    "annotations": [
                        {"segment": [3, 9], "id": 0, "sentence": "cut it"},
                        {"segment": [9, 60], "id": 1, "sentence": "fry it"},
                    ],
                }
            }
        },
        [("v#0", "v", 3, 9), ("v#1", "v", 9, 50.5)],
    ),
}
"""An example of each form of annotations, and its moments as read: query, video, start and end."""

RUNS: dict[str, tuple[Any, list[tuple[str, str, float, float]], list[float]]] = {
    "cbp-run": (
        {"results": {"s1-d2-14": [{"timestamp": [1.5, 2], "score": 0.9}, {"timestamp": [7, 9], "score": 0.4}]}},
        [("s1-d2#14", "s1-d2", 1.5, 2), ("s1-d2#14", "s1-d2", 7, 9)],
        [0.9, 0.4],
    ),
    "ego4d-nlq-run": (
        {
            "version": "1.0",
            "challenge": "ego4d_nlq_challenge",
            "results": [
                {"clip_uid": "c", "annotation_uid": "a1", "query_idx": 1, "predicted_times": [[1, 2], [7, 9]]},
                {"clip_uid": "c", "annotation_uid": "a1", "query_idx": 0, "predicted_times": [[3, 4, 0.5]]},
            ],
        },
        [("a1_1", "c", 1, 2), ("a1_1", "c", 7, 9), ("a1_0", "c", 3, 4)],
        [-1, -2, 0.5],
    ),
    "groundnlq-run": (
        [{"query_id": "9", "video_id": "c", "predicted_times": [[1, 2, 0.1, 0.2, 0.3], [7, 9, 0.4, 0.5, 0.6]]}],
        [("9", "c", 1, 2), ("9", "c", 7, 9)],
        [-1, -2],
    ),
    "hao-run": (
        {
            "version": "V0",
            "results": {
                "AB": [
                    {"sentence": "x", "timestamp": [1, 2], "gt_timestamp": [0, 4], "score": 0.7, "video_duration": 9},
                    {"sentence": "y", "timestamp": [5, 6], "gt_timestamp": [4, 7], "score": 0.2, "video_duration": 9},
                ]
            },
        },
        [("AB#0", "AB", 1, 2), ("AB#1", "AB", 5, 6)],
        [0.7, 0.2],
    ),
    "hirest-run": ({"Make Tea": {"x.mp4": {"bounds": [4, 61]}}}, [("x.mp4#Make Tea", "x.mp4", 4, 61)], [-1]),
    "momentseeker-run": (
        {
            "a dog": {
                "gt": ["/data/film_1/3.00_7.50.mp4"],
                "pred": ["/data/film_1/7.50_9.00.mp4", "film_1/3.00_7.50_mid_frame.png"],
            }
        },
        [("a dog", "film_1", 7.5, 9), ("a dog", "film_1", 3, 7.5)],
        [-1, -2],
    ),
    "own-video": ([[[1.5, 2], [7, 9]]], [("q", "v", 1.5, 2), ("q", "v", 7, 9)], [-1, -2]),
}
"""An example of each form of predictions, its predictions as read, and their scores."""

TRUTH = truth_file(b'{"query_id": "q", "video": "v", "start": 0, "end": 9.5, "relevance": 1}\n', "t.jsonl")


def written(example: Any, *, lines: bool = False) -> bytes:
    if isinstance(example, str):
        return example.encode()
    return ("".join(json.dumps(entry) + "\n" for entry in example) if lines else json.dumps(example)).encode()


def moments(spans: Spans) -> list[tuple[str, str, float, float]]:
    queries, videos = [str(spans.queries[i]) for i in spans.query], [spans.videos[i] for i in spans.video]
    return list(zip(queries, videos, spans.start_s.tolist(), spans.end_s.tolist(), strict=True))


VARIANTS: list[tuple[str, Any, list[tuple[str, str, float, float]]]] = [
    (
        "activitynet",
        {"v": {"timestamps": [[1, 2]], "sentences": ["A."], "framestamps": [[9, 9]]}},
        [("v#0", "v", 1, 2)],
    ),
    ("activitynet", {"v": {"duration": 8, "timestamps": [[1, 9], [0, 2]]}}, [("v#0", "v", 1, 8), ("v#1", "v", 0, 2)]),
    ("activitynet", {"v": {"duration": 0, "timestamps": [[1, 9]], "sentences": ["A."]}}, [("v#0", "v", 1, 9)]),
    ("cpl", [["AB", 9, [1, 2], "one.", ["one", "."], 4]], [("AB#0", "AB", 1, 2)]),
    (
        "sentence-table",
        "video,start_time,end_time,description\nAB,1,2,x\nAB,3,4,x\n",
        [("AB#0", "AB", 1, 2), ("AB#1", "AB", 3, 4)],
    ),
    (
        "timechat",
        {"annotations": [{"image_id": "v", "caption": "x", "timestamp": [[1, 2], [5, 7]], "id": 7}]},
        [("7", "v", 1, 2), ("7", "v", 5, 7)],
    ),
    (
        "youcook2",
        {
            "version": "v1",
            "database": {
                "v": {
                    "duration": 9,
                    "annotations": [{"query": "x", "segment": [1, 2], "annotation_uid": "a", "annotation_idx": 3}],
                }
            },
        },
        [("a_3", "v", 1, 2)],
    ),
    (
        "youcook2",
        {"database": {"v": {"duration": 9, "annotations": [{"sentence": "x", "segment": [1, 2], "sentence_id": 0}]}}},
        [("0", "v", 1, 2)],
    ),
]
"""Further files of the same forms, as other repositories write them."""


@pytest.mark.parametrize(("name", "example", "expected"), VARIANTS)
def test_variants_are_read_too(name: str, example: Any, expected: list[tuple[str, str, float, float]]) -> None:
    content = written(example)
    assert [form.name for form in TRUTH_FORMS if form.recognise(opening_of(content))] == [name]
    assert moments(truth_file(content, "f.csv")) == expected


def test_every_form_has_an_example() -> None:
    assert [form.name for form in TRUTH_FORMS if form.name != "mvmr"] == sorted(TRUTHS)
    assert [form.name for form in RUN_FORMS] == sorted(RUNS)
    assert len({form.name for form in FORMS}) == len(FORMS) == len({form.title for form in FORMS})


@pytest.mark.parametrize("name", TRUTHS)
def test_annotations_are_recognised_by_one_form_and_read(name: str) -> None:
    example, expected = TRUTHS[name]
    content = written(example)
    assert [form.name for form in TRUTH_FORMS if form.recognise(opening_of(content))] == [name]
    truth = truth_file(content, "f")
    assert moments(truth) == expected
    assert truth.relevance.tolist() == [1] * len(expected)
    assert len(truth.queries) == len(annotated_queries(content, "f") or ())


@pytest.mark.parametrize("name", RUNS)
def test_predictions_are_recognised_by_one_form_and_read(name: str) -> None:
    example, expected, scores = RUNS[name]
    content = written(example)
    assert [form.name for form in RUN_FORMS if form.recognise(opening_of(content))] == [name]
    run = run_file(content, "f", truth=TRUTH)
    assert moments(run) == expected
    assert run.score.tolist() == scores


@pytest.mark.parametrize(("name", "read"), [("groundnlq", truth_file), ("groundnlq-run", run_file)])
def test_lists_may_be_written_a_line_each(name: str, read: Any) -> None:
    example = (TRUTHS.get(name) or RUNS[name])[0]
    assert moments(read(written(example, lines=True), "f")) == moments(read(written(example), "f"))


@pytest.mark.parametrize(
    ("truth", "run"), [("ego4d-nlq", "ego4d-nlq-run"), ("hirest", "hirest-run"), ("momentseeker", "momentseeker-run")]
)
def test_decoded_files_are_scored_as_the_files_are(truth: str, run: str, tmp_path: Path) -> None:
    given = TRUTHS[truth][0], RUNS[run][0]
    paths = tmp_path / "truth", tmp_path / "run"
    for path, example in zip(paths, given, strict=True):
        path.write_bytes(written(example))
    assert evaluate(*given, measures="miou").per_query == evaluate(*paths, measures="miou").per_query


@pytest.mark.parametrize(
    ("repair", "queries", "end_s"),
    [("leave out", ("v#1",), 20), ("cut", ("v#0", "v#1"), 20), ("nothing", ("v#0", "v#1"), 21)],
)
def test_impossible_moments_are_repaired_as_asked(repair: Repair, queries: tuple[str, ...], end_s: float) -> None:
    videos = {"v": {"duration": 20, "timestamps": [[9, 9], [15, 21]], "sentences": ["A.", "B."]}}
    truth = truth_file(written(videos), "f", repair)
    assert truth.queries == queries
    assert moments(truth) == [("v#1", "v", 15, end_s)]
    assert len(truth.notes) == (1 if repair == "nothing" else 2)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("cpl", [["AB", 30.96, [24.3], "one."]], "f, row 1: "),
        (
            "ego4d-nlq",
            {"videos": [{"clips": [{"clip_uid": "c", "annotations": [{"language_queries": []}]}]}]},
            "f, row 1: ",
        ),
        (
            "ego4d-nlq",
            {
                "videos": [
                    {
                        "clips": [
                            {
                                "clip_uid": "c",
                                "annotations": [{"annotation_uid": "a", "language_queries": [{"query": "x"}]}],
                            }
                        ]
                    }
                ]
            },
            "f: has no times of its queries",
        ),
        (
            "groundnlq",
            [{"query_id": "1", "video_id": "v", "query": "x", "query_type": "nlq"}],
            "f: has no times of its queries",
        ),
        ("groundnlq", [{"query_id": "1", "video_id": "v", "timestamps": []}], "f, row 1: "),
        ("hirest", {"Make Tea": {"x.mp4": {"clip": True, "bounds": 5, "v_duration": 9}}}, "f, row 1: "),
        ("mad", {"1": {"movie": "m", "sentence": "s", "ext_timestamps": [1, 2]}}, "f, row 1: "),
        ("momentseeker", [{**SEEKER, "gt_indices": [2]}], "f, row 1: has no candidate 2"),
        (
            "momentseeker",
            [{**SEEKER, "candidate_video_list": [{"output_path": "a"}, {"output_path": "b"}]}],
            "f, row 1: 'b' does not end in VIDEO/START_END",
        ),
        ("sentence-table", "video,start,end,caption\nv,1,x,a\n,1,2,b\n", "f, row 2: has no video, no sentence, or"),
        ("youcook2", {"database": {"v": {"duration": 9, "annotations": [{"sentence": "x"}]}}}, "f: has no times"),
        ("tall-tacos", "s1-d2.avi_294_588:He cuts.\ns1-d2.avi:He washes.", "f, row 2: "),
        ("tall-tacos", f"v_1_5:a\nv_{'9' * 400}_5:a\nv_1_{'9' * 5000}:a", "f, row 2: it does not have the form"),
        ("cbp-run", {"results": {"AB-0": [{"timestamp": [1], "score": 1}]}}, "f, row 1: "),
        (
            "ego4d-nlq-run",
            {"results": [{"clip_uid": "c", "annotation_uid": "a", "query_idx": 0, "predicted_times": [[1]]}]},
            "f, row 1: query a_0, moment 1: is not [start, end]",
        ),
        ("momentseeker-run", {"a dog": {"gt": [], "pred": ["x"]}}, "f, row 1: 'x' does not end in VIDEO/START_END"),
    ],
)
def test_a_file_with_problems_is_refused_with_the_row(name: str, change: Any, message: str) -> None:
    content = written(change)
    (form,) = [form for form in FORMS if form.name == name]
    assert form.recognise(opening_of(content))
    with pytest.raises(InputError) as caught:
        truth_file(content, "f") if isinstance(form, TruthForm) else run_file(content, "f")
    assert str(caught.value.problems[0]).startswith(message), str(caught.value)


def test_a_number_with_thousands_of_digits_is_part_of_a_name() -> None:
    key = f"AB-{'9' * 5000}"
    run = run_file(written({"results": {key: [{"timestamp": [1, 2], "score": 1}]}}), "f")
    assert run.queries == (key,)


NEW = """
from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm

def read(content, file):
    video, start, end, text = content.decode().strip().split("|")
    return [AnnotatedQuery(text, 1, text, [CaptionedMoment(video, float(start), float(end), text, 1)])]

FORMS = (TruthForm("piped", "a line with bars", lambda opening: opening.line.count("|") == 3, read),)
"""


def test_a_file_in_the_folder_is_all_that_a_new_form_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "piped.py").write_text(NEW)
    monkeypatch.setattr(forms, "__path__", [*forms.__path__, str(tmp_path)])
    found = forms.find_forms()
    assert "piped" in [form.name for form in found]
    monkeypatch.setattr(forms, "TRUTH_FORMS", [form for form in found if isinstance(form, TruthForm)])
    assert moments(truth_file(b"v|1|2|A dog runs.", "f")) == [("A dog runs.", "v", 1, 2)]
