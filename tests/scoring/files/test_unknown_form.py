"""A file in no known form is told what it is, and what the nearest forms need."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import InputError
from backend.scoring.files.formats import run_file, truth_file

READERS = {"truth": truth_file, "run": run_file}
QV_TRUTH = {"qid": 5, "query": "x", "vid": "v", "duration": 150, "relevant_windows": [[0, 2]]}
QV_RUN = {"qid": 5, "query": "x", "vid": "v", "pred_relevant_windows": [[0, 2, 0.5]]}
SIMPLEST = "docs/benchmarks.md lists the forms, of which CSV with query_id,video,start,end,{} is the simplest"


def refused(role: str, content: object, name: str = "f.json") -> str:
    """The only problem of a file, without its name."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    with pytest.raises(InputError) as error:
        READERS[role](content, name)
    (problem,) = error.value.problems
    assert (problem.file, problem.row) == (name, None)
    return problem.message


def lines(*entries: object) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


SCORES = {"brief": {"MR-full-mAP": 30.6, "R1": None}, "full": {"MR-mAP": {"0.5": 54.8}}}


class TestUnknown:
    @pytest.mark.parametrize("role", READERS)
    @pytest.mark.parametrize(
        ("content", "seen"),
        [
            ({"lr": 0.1, "name": "a", "layers": [1, 2]}, "is a JSON object with the keys `lr`, `name`, `layers`"),
            ({f"k{n}": "x" for n in range(9)}, "`k4`, `k5` and 3 more"),
            (b"2026_08_04 [Epoch] 001\nand so on\n", "is text, with lines such as '2026_08_04 [Epoch] 001'"),
            (b"[2026-08-04] epoch 1: loss 0.2\n", "is text, with lines such as '[2026-08-04] epoch 1: loss 0.2'"),
            (b"[isort]\nprofile = black\n", "is text, with lines such as '[isort]'"),
            (["a", "b"], "is a JSON list without objects"),
            ([{"a": 1}, {"b": 2}], "is a JSON list of objects with the keys `a`, `b`"),
            ({"v": {"fps": 1, "a": 2}, "w": {"fps": 1, "b": "x"}}, "is a JSON object of objects with the keys `fps`,"),
            ({"v": [{"begin": 1, "text": "x"}]}, "is a JSON object of lists of objects with the keys `begin`, `text`"),
            (lines({"loss": 1}, {"loss": 2, "lr": 3}), "has lines of JSON with the keys `loss`, `lr`"),
        ],
    )  # fmt: skip
    def test_what_was_seen_and_the_simplest_form(self, role: str, content: Any, seen: str):
        value = {"truth": "relevance", "run": "score"}[role]
        message = refused(role, content)
        assert seen in message
        assert message.endswith(f", which is no known form of a {role}; {SIMPLEST.format(value)}")

    def test_a_table(self):
        message = refused("run", b"LabelName,Display Name\n/m/1,Dog\n", "classes.csv")
        assert message.startswith("is a table with the columns `LabelName`, `Display Name`, which is no known form")

    @pytest.mark.parametrize("role", READERS)
    def test_printed_scores(self, role: str):
        assert refused(role, SCORES) == (
            f"is a JSON object with the keys `brief`, `full`, which is no known form of a {role}; it looks like printed"
            " scores: give the file with the predictions"
        )

    @pytest.mark.parametrize("content", [b"<!DOCTYPE html>\n<html></html>", b" <html lang='en'>", b"<HEAD>"])
    def test_a_web_page(self, content: bytes):
        message = "is a web page, saved in place of the file: download the file itself, on GitHub with `Raw`"
        assert refused("truth", content) == refused("run", content) == message


class TestNearest:
    @pytest.mark.parametrize(
        ("role", "content", "nearest"),
        [
            ("truth", lines({"qid": 5, "query": "x", "vid": "v"}, {"qid": 6, "query": "x", "vid": "v"}),
             "the nearest would be QVHighlights with `relevant_windows` added, or one moment an entry with `timestamp`,"
             " `relevance` added"),
            ("run", lines({"qid": 5, "query": "x", "vid": "v"}, {"qid": 6, "query": "x", "vid": "v"}),
             "the nearest would be QVHighlights with `pred_relevant_windows` added, or one prediction an entry with"
             " `timestamp`, `score` added"),
            ("truth", {"v": {"sentences": ["x"], "duration": 9}},
             "the nearest would be ActivityNet Captions with `timestamps` added"),
            ("truth", {"annotations": [{"id": 1, "image_id": "v", "caption": "x"}]},
             "the nearest would be TimeChat with `timestamp` added"),
            ("run", b"video,start,end,score\nv,0,1,2\n", "the nearest would be CSV with `query_id` added"),
            ("run", {"data": [QV_RUN]},
             "its list has the form QVHighlights: give the list without the object around it"),
            ("run", {"data": [{"qid": 5, "predictions": []}]},
             "its list has the form a list of queries: give the list without the object around it"),
        ],
    )  # fmt: skip
    def test_the_nearest_forms_and_what_they_need(self, role: str, content: Any, nearest: str):
        name = "f.csv" if isinstance(content, bytes) and content.startswith(b"video") else "f.json"
        assert refused(role, content, name).endswith(f"; {nearest}")


class TestOtherRole:
    @pytest.mark.parametrize(
        ("content", "form"),
        [
            (lines(QV_TRUTH), "QVHighlights"),
            (lines(QV_TRUTH, QV_TRUTH), "QVHighlights"),
            (lines({"desc_id": 7, "desc": "x", "vid_name": "v", "ts": [0, 1]}), "TVR"),
            ([{"query_id": 5, "relevant_moment": []}], "a release"),
            (lines({"query_id": 1, "video": "v", "start": 0, "end": 2, "relevance": 1}), "one moment an entry"),
            ({"v": {"duration": 9, "timestamps": [[0, 1]], "sentences": ["x"]}}, "ActivityNet Captions"),
            ({"v": {"fps": 9, "num_frames": 9, "timestamps": [[0, 1]], "sentences": ["x"]}}, "TACoS"),
            ([{"annotation_id": 0, "description": "x", "video": "v", "times": [[1, 3]]}], "DiDeMo"),
            ({"annotations": [{"id": 1, "image_id": "v", "caption": "x", "timestamp": [0, 1]}]}, "TimeChat"),
            (
                {"annotations": [{"timestamp": [0, 1], "all": [[0, 1]], "id": 1, "image_id": "v", "caption": "x"}]},
                "TimeChat",
            ),
            (b"query_id,video,start,end,relevance\n5,v,0,9,1\n", "CSV"),
            (b"3MSZA 24.3 30.4##person turn a light on.\n", "Charades-STA"),
        ],
    )
    def test_a_truth_given_as_run(self, content: Any, form: str):
        assert refused("run", content) == f"is a truth ({form}), not a run: give it to --truth"

    @pytest.mark.parametrize(
        ("content", "form"),
        [
            (lines(QV_RUN), "QVHighlights"),
            (lines({"qid": 5, "vid": "v", "pred_saliency_scores": [0.1]}), "QVHighlights, highlights"),
            ([{"query_id": 5, "predictions": []}], "a list of queries"),
            (lines({"query_id": 1, "video": "v", "start": 0, "end": 2, "score": 1}), "one prediction an entry"),
            ({"5": [["v", 0, 9, 0.5]]}, "an object of queries"),
            ({"5": [[0, 9]]}, "an object of queries"),
            ({"5": [{"video_name": "v", "timestamp": [0, 9], "model_scores": 1}]}, "an object of queries"),
            ([[[0, 9]], [[1, 2]]], "a list a query"),
            ({"video2idx": {"v": 0}, "VCMR": []}, "TVR"),
            (b"query_id,video,start,end,score\n5,v,0,9,1\n", "CSV"),
            ([{"query_id": 5, "answer": "From 1 to 2."}], "answers of a language model"),
            (
                lines({"video_id": "v", "task": "grounding", "query_id": 0, "answer": "x"}),
                "answers of a language model",
            ),
            ({"5": "From 1 to 2."}, "answers of a language model"),
            (b"query_id,answer\n5,From 1 to 2.\n", "answers of a language model"),
        ],
    )
    def test_a_run_given_as_truth(self, content: Any, form: str):
        assert refused("truth", content) == f"is a run ({form}), not a truth: give it to --run"

    def test_pools_and_a_video_map(self):
        pools = {"v": {"duration": 9, "timestamps": [[0, 1]], "sentences": ["x"], "retrieval_pool": [["v"]]}}
        assert refused("run", pools) == "is a file of pools, not a run: give it to --pool"
        assert "give it with --pool" in refused("truth", pools)
        for role in READERS:
            assert refused(role, {"v": [12.5, 0], "w": [3, 1]}) == (
                f"is a video map, not a {role}: give it to --videos"
            )


class TestKnown:
    """Faults in rows of a known form, and of JSON, keep their own messages."""

    @pytest.mark.parametrize(
        ("role", "content", "message"),
        [
            ("truth", b'[{"query_id": 1, "relevant_moment": 3}]', "query 1 has no list"),
            ("truth", lines({"query_id": 1, "video": "v", "start": 0, "end": 2}), "has no field `relevance`"),
            ("truth", b'{"v": {"duration": "x", "timestamps": [], "sentences": []}}', "Expected `float`"),
            ("truth", b"A 1 2##x\nnonsense\n", "VIDEO start end##sentence"),
            ("run", b'{"5": [["v", 0, 9]]', "is not JSON"),
            ("run", b'{"5": [["v", "x", 9, 1]]}', "start is text"),
            ("run", lines({"query_id": 1, "video": "v", "start": 0, "end": 2}), "has no field `model_scores`"),
            ("run", lines({"qid": 5, "pred_relevant_windows": [[0, 2, 0.5]]}), "has no `vid`"),
            ("run", b"query_id,video,start,end,score\n5,v,0,x,1\n", "holds 'x', not a number"),
            ("run", b'{"lr": 1, // comment\n}', "is not JSON"),
            ("run", b"[1, 2", "is not JSON"),
        ],
    )
    def test_their_messages_stay(self, role: str, content: bytes, message: str):
        with pytest.raises(InputError, match=message):
            READERS[role](content, "f")


@pytest.mark.parametrize("role", ["truth", "run"])
def test_objects_nested_almost_without_end(role: str):
    assert "is a JSON object of objects with the keys `a`" in refused(role, b'{"a":' * 900 + b"1" + b"}" * 900)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
         "is a pointer of Git LFS, not the file: run `git lfs pull`"),
        (b"\x80\x04\x95\x10\x00", "is a pickle, which may run any program when it is opened: "),
        (b"(dp1\nS'v'\np2\n(lp3\nF50\na.", "is a pickle, which may run any program when it is opened: "),
        (b"PK\x03\x04" + bytes(26) + b"train.npy\x93NUMPY", "is a NumPy archive (npz): "),
        (b"PK\x03\x04" + bytes(26) + b"model_best/data.pkl", "is a checkpoint of PyTorch: "),
        (b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", "is an Excel file: "),
        (b"PK\x03\x04" + bytes(26) + b"val.json", "is a ZIP archive: "),
        (b"\x89PNG\r\n\x1a\n" + bytes(9), "is a picture: "),
        (b"%PDF-1.5\n", "is a PDF: "),
        (b"B\r\r\n" + bytes(12), "is a binary file: "),
    ],
)  # fmt: skip
def test_a_file_that_is_no_text(content: bytes, kind: str, tmp_path: Path):
    expected = kind if "LFS" in kind else f"{kind}give a text file, such as JSON or CSV"
    assert refused("truth", content) == refused("run", content) == expected
