"""Every form of truth and run files, and what is wrong with them, by file and row."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from backend.core import reading
from backend.core.errors import InputError
from backend.core.reading import unpack
from backend.scoring.evaluate import evaluate
from backend.scoring.files import documents, fast, text, words
from backend.scoring.files.facts import read_facts
from backend.scoring.files.fast import count_keys
from backend.scoring.files.formats import read_run, read_truth, read_videos, run_file, tasks_of, truth_file

TASK = {
    "video2idx": {"a": 7, "b": 9},
    "VR": [{"desc_id": 5, "desc": "x", "predictions": [[9, 0, 0, 1]]}],
    "VCMR": [{"desc_id": 5, "desc": "x", "predictions": [[9, 3, 6.5, 2.5], [7, 0, 4, 1]]}],
    "SVMR": [{"desc_id": 5, "desc": "x", "predictions": [[7, 1, 2, 3]]}],
}
WINDOWS = [
    {"qid": 5, "query": "x", "vid": "b", "pred_relevant_windows": [[3, 6.5, 2.5]], "pred_saliency_scores": [-0.2]},
    {"qid": 6, "query": "y", "vid": "a", "pred_relevant_windows": []},
]


def lines(*entries: object) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def write_truth(folder: Path) -> Path:
    path = folder / "val.csv"
    path.write_text("query_id,video,start,end,relevance\n5,a,0,9.5,4\n")
    return path


def said(read, content: bytes | object, *arguments: object) -> list[str]:
    """What a reader refuses, without the name of the file."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    with pytest.raises(InputError) as refused:
        read(content, "f", *arguments)
    return [str(problem).removeprefix("f, ").removeprefix("f: ") for problem in refused.value.problems]


class TestForms:
    def test_tvr_predictions_bring_their_video_names_and_the_corpus_task_comes_first(self):
        run = run_file(json.dumps(TASK).encode(), "f")
        assert (run.queries, run.videos, run.video.tolist()) == ((5,), ("b", "a"), [0, 1])
        assert (run.start_s.tolist(), run.end_s.tolist(), run.score.tolist()) == ([3, 0], [6.5, 4], [2.5, 1])

    def test_single_video_predictions_are_read_where_there_are_no_others(self):
        single = {key: value for key, value in TASK.items() if key != "VCMR"}
        assert run_file(json.dumps(single).encode(), "f").start_s.tolist() == [1]
        ranked_videos_only = {key: TASK[key] for key in ("video2idx", "VR")}
        assert said(run_file, ranked_videos_only) == [
            "has predictions for neither VCMR nor SVMR; --benchmark tvr scores VR, which ranks videos alone"
        ]

    def test_a_task_may_be_chosen_and_without_a_choice_the_run_says_what_it_left(self):
        content = json.dumps(TASK).encode()
        assert run_file(content, "f").notes == ("f: only its VCMR was scored; --benchmark tvr scores SVMR and VR too",)
        for task, start_s, video in [("VCMR", [3, 0], "b"), ("SVMR", [1], "a"), ("VR", [0], "b")]:
            run = run_file(content, "f", task=task)
            assert (run.start_s.tolist(), run.videos[0], run.notes) == (start_s, video, ())
            # The careful way, which names faults, reads the same task.
            careful = documents.parse_run(json.loads(content), "f", None, task)
            assert (careful.start_s.tolist(), careful.videos) == (run.start_s.tolist(), run.videos)
        assert tasks_of(content) == ["VCMR", "SVMR", "VR"]
        assert tasks_of(b'{"5": [["VR", 0, 1, 2]]}') == []
        with pytest.raises(InputError, match="has no predictions for SVMR"):
            run_file(json.dumps({key: TASK[key] for key in ("video2idx", "VCMR")}).encode(), "f", task="SVMR")

    def test_qvhighlights_predictions_are_windows_of_the_video_of_their_line(self):
        run = run_file(lines(*WINDOWS), "f")
        assert (run.queries, run.videos, run.row.tolist()) == ((5, 6), ("b",), [1])
        assert (run.start_s.tolist(), run.end_s.tolist(), run.score.tolist()) == ([3], [6.5], [2.5])
        assert run_file(lines(WINDOWS[0]), "f").queries == (5,)

    def test_every_window_of_a_qvhighlights_line_is_relevant_by_one(self):
        line = {
            "qid": 8,
            "query": "x",
            "vid": "v",
            "relevant_windows": [[0, 16], [20, 30]],
            "saliency_scores": [[4, 1]],
        }
        truth = truth_file(lines(line, {**line, "qid": 9}), "f")
        assert (truth.queries, truth.end_s.tolist()) == ((8, 9), [16, 30, 16, 30])
        assert truth.relevance.tolist() == [1, 1, 1, 1]

    def test_a_tvr_line_is_one_moment_that_is_relevant_by_one(self):
        line = {"vid_name": "v", "duration": 61.46, "ts": [16.48, 33.87], "desc": "x", "type": "v", "desc_id": 90200}
        truth = truth_file(lines(line), "f")
        assert (truth.queries, truth.videos, truth.end_s.tolist(), truth.relevance.tolist()) == (
            *((90200,), ("v",)),
            *([33.87], [1]),
        )

    def test_only_tvr_lines_may_lack_the_relevance(self):
        line = {"query_id": 1, "video": "v", "start": 0, "end": 2}
        assert said(truth_file, lines(line)) == ["row 1: query 1, moment 1: has no field `relevance`"]

    @pytest.mark.parametrize("packed", [False, True])
    def test_csv_in_the_words_that_people_use(self, tmp_path: Path, packed: bool):
        content = b"qid,more,vid_name,start_s,end_s,rel\r\n5,,a b,0,9.5,4\r\n\r\n6,,c,1,2,0\r\n"
        path = tmp_path / "truth"
        path.write_bytes(gzip.compress(content) if packed else content)
        truth = read_truth(path)
        assert (truth.queries, truth.videos, truth.row.tolist()) == (("5", "6"), ("a b", "c"), [2, 4])
        assert (truth.end_s.tolist(), truth.relevance.tolist()) == ([9.5, 2], [4, 0])

    def test_the_rank_of_a_csv_run_decides_the_order_within_its_query(self):
        content = b"query_id,rank,video,start,end,score\n5,2,a,0,9,.1\n6,1,c,0,1,0\n5,1,b,3,4,.2\n"
        run = run_file(content, "f")
        assert [run.videos[n] for n in run.video] == ["b", "a", "c"]
        assert run.row.tolist() == [4, 2, 3]
        assert said(run_file, content + b"5,1,b,3,5,.2\n") == ["row 5: rank 1 of query 5 was already given in row 4"]

    def test_numbers_of_a_csv_run_are_indices_where_a_map_is_given(self):
        content = b"query_id,video,start,end,score\n5,7,0,9,.1\n5,b,0,9,.1\n"
        assert run_file(content, "f").videos == ("7", "b")
        assert run_file(content, "f", {7: "a"}).videos == ("a", "b")
        assert said(run_file, content, {8: "a"}) == ["row 2: query 5, moment 1: the video map has no index 7"]

    def test_a_map_of_videos_may_be_in_splits_as_that_of_tvr(self, tmp_path: Path):
        path = tmp_path / "map.json"
        path.write_text('{"train": {"a": [9.5, 0]}, "val": {"b": [8, 1], "a": [9.5, 0]}}')
        assert read_videos(path) == {0: "a", 1: "b"}
        assert dict(read_facts(write_truth(tmp_path), path).durations) == {"a": 9.5, "b": 8}
        path.write_text('{"train": {"a": [9.5, 0]}, "val": {"a": [9.5, 2]}}')
        with pytest.raises(InputError, match="row 2: video 'a' of 'val' differs"):
            read_videos(path)
        path.write_text('{"train": {"a": [9.5, 0]}, "val": {"b": [9.5, 0]}}')
        with pytest.raises(InputError, match="index 0 names both 'a' and 'b'"):
            read_videos(path)

    @pytest.mark.parametrize("name", ["entries", "lines", "mapping", "flat", "windows", "task", "objects"])
    def test_valid_runs_take_the_fast_way(self, name: str):
        entry = {"query_id": 5, "desc": "x", "predictions": [[7, 0, 1, 2.5]]}
        moment = {"query_id": 5, "video_name": "a", "timestamp": [0, 1], "model_scores": 3}
        content = {
            "entries": json.dumps([entry, {**entry, "query_id": 6}]).encode(),
            "lines": lines(entry, {**entry, "query_id": 6}),
            "mapping": json.dumps({"5": [[7, 0, 1, 2.5]], "6": []}).encode(),
            "flat": lines(moment, moment),
            "windows": lines(*WINDOWS),
            "task": json.dumps(TASK).encode(),
            "objects": json.dumps([{"query_id": 5, "predictions": [moment]}]).encode(),
        }[name]
        if name == "objects":
            content = content.replace(b'"query_id": 5, "video_name"', b'"video_name"')
        assert fast.run(content, "f", text.form_of(content, "f"), {7: "a"}) is not None

    def test_valid_truths_take_the_fast_way(self):
        moment = {"pair_id": 1, "video_name": "a", "timestamp": [0, 1], "caption": "x", "relevance": 3}
        nested = json.dumps([{"query_id": 5, "query": "y", "relevant_moment": [moment]}]).encode()
        for content in (nested, lines({"query_id": 5, **moment}, {"query_id": 6, **moment})):
            assert fast.truth(content, "f", text.form_of(content, "f")) is not None

    def test_a_flat_file_whose_queries_are_mixed_is_brought_together(self):
        rows = [("6", "a", 1), (5, "b", 2), (6, "c", 3), ("5", "a", 4)]
        found = lines(*({"qid": q, "vid": v, "st": 0, "ed": n, "score": n} for q, v, n in rows))
        run = fast.run(found, "f", text.Form.LINES, None)
        assert run is not None
        assert (run.queries, run.query_rows, run.row.tolist()) == (("6", 5), (1, 2), [1, 3, 2, 4])
        assert [run.videos[n] for n in run.video] == ["a", "c", "b", "a"]
        assert (run.score.tolist(), run.number.tolist()) == ([1, 3, 2, 4], [1, 2, 1, 2])

    def test_a_row_is_the_line_also_where_lines_are_empty(self):
        line = b'{"qid": %d, "predictions": [["v", 0, 1, 2]]}'
        assert run_file(b"\n".join([line % 1, b"", line % 2, b" ", line % 3, b"", b""]), "f").query_rows == (1, 3, 5)
        assert run_file(b"\r\n".join([line % 1, line % 2, b""]), "f").query_rows == (1, 2)
        assert said(run_file, line % 1 + line % 2 + b"\n" + line % 3) == [
            "row 1: is not JSON: has text after its end (column 44)"
        ]
        two_lines = (line % 1).replace(b"}", b"\n}") + line % 2 + b"\n" + line % 3
        with pytest.raises(InputError):
            run_file(two_lines, "f")


class TestFaults:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b'{"5": [], "6": [], "5": []}', "row 3: '5' was already given in row 1"),
            (
                b'{"5": [["v", NaN, 1, 1]]}',
                "row 1: query 5, moment 1: start is NaN, infinite or too large, not a number",
            ),
            (b'{"5": [["v", 0, 1, -Infinity]]}', "query 5, moment 1: score is NaN, infinite or too large"),
            (b'{"5": [["v", 0, 1e400, 1]]}', "query 5, moment 1: end is NaN, infinite or too large"),
            (b'{"5": [["v", 0, 1' + b"0" * 400 + b", 1]]}", "moment 1: int too large to convert to float"),
            (b'{"5": [["v", 0, 1' + b"0" * 9000 + b", 1]]}", "moment 1: end is NaN, infinite or too large"),
            (b'{"5": [[" ", 0, 1, 1]]}', "query 5, moment 1: the video's name is blank"),
            (b'{" ": []}', "row 1: the query id is blank"),
            (b'{"5": [["\\ud800", 0, 1, 1]]}', "moment 1: the video's name '\\ud800' contains half of a character"),
            (
                b'{"5": [["v", 0, 1, 1]], "6": [["v", 0 1, 1]]}',
                "row 2: is not JSON: Expecting ',' delimiter (column 39)",
            ),
            (b'{"5": [["v", 0, 1, 1]]} 7', "is not JSON: has text after its end (column 25)"),
            (b'[{"query_id": 1, "predictions": []},]', "row 2: is not JSON: Expecting value"),
            (b'[{"query_id": 1, "predictions": []}', "row 1: is not JSON: a comma or ] is missing"),
            (b'[{"query_id": 1, "query_id": 2, "predictions": []}]', "row 1: has the field `query_id` twice"),
            (b'[{"query_id": 1, "predictions": [], "predictions": []}]', "row 1: has the field `predictions` twice"),
            (b'[{"query_id": 1, "predictions": []}, 7]', "row 2: is not an object with a `query_id`"),
            (
                b'{"qid": 1, "vid": "a", "start": 0, "end": 1, "score": 1, "end": 2}',
                "moment 1: has the field `end` twice",
            ),
            (b'{"qid": 1, "pred_relevant_windows": [[0, 1, 1]]}', "row 1: query 1 has no `vid`"),
            (b'{"qid": 1, "vid": "a", "pred_relevant_windows": [[0, 1]]}', "moment 1: is not [start, end, score]"),
            (b'{"qid": 1, "vid": "a", "vid": "b", "pred_relevant_windows": []}', "row 1: has the field `vid` twice"),
            (b'{"video2idx": {"a": 1, "a": 2}, "VCMR": []}', "`video2idx` has 'a' twice"),
            (b'{"video2idx": {"a": 1, "b": 1}, "VCMR": []}', "row 2: index 1 names both 'a' and 'b'"),
            (b'{"video2idx": {"a": "1"}, "VCMR": []}', "row 1: video 'a' does not map to an index"),
            (b'{"video2idx": 3, "VCMR": []}', "`video2idx` is not an object `name -> index`"),
            (b'{"video2idx": {}, "VCMR": [{"desc_id": 1, "predictions": [[1, 0, 1, 1]]}]}', "has no index 1"),
            (b'{"VCMR": [{"desc_id": 1, "predictions": []}, {"desc_id": 2 "predictions": []}]}', "row 2: is not JSON"),
            (b'{"VCMR": 4}', "`VCMR` is not a list of queries"),
            (b"[" * 100_000, "row 1: is not JSON: nested too deep"),
            (
                b"query_id,video,start,end\n5,a,0,1\n",
                "row 1: no column 'score' or 'model_scores' or 'model_score'; the",
            ),
            (b"query_id,qid,video,start,end,score\n1,1,a,0,1,1\n", "row 1: both 'query_id' and 'qid' are columns"),
            (b"query_id,video,start,end,score\n5,a,0,nan,1\n", "row 2: column 'end' holds 'nan', not a number"),
            (b"query_id,video,start,end,score\n5,a,0,1\n", "row 2: 4 columns where the header has 5"),
            (b"query_id,video,start,end,score\n,a,0,1,1\n", "row 2: column 'query_id' holds '', not a query id"),
            (b"\xff\xfd\x00\x01", "row 1: is not UTF-8 text"),
            (b"\xff\xfe\x00\xd8", "is damaged UTF-16 text"),
        ],
        ids=lambda value: repr(value[:30]),
    )
    def test_a_bad_run_is_refused_with_its_row(self, content: bytes, message: str):
        (found,) = said(run_file, content)
        assert message in found

    def test_a_field_that_stands_twice_in_a_truth_moment_is_refused(self):
        moment = b'{"video_name": "a", "timestamp": [0, 1], "relevance": 3%s}'
        entry = b'[{"query_id": 5, "relevant_moment": [' + moment % b"" + b", " + moment + b"]}]"
        for extra in (b', "relevance": 4', b', "video_name": "b"', b', "timestamp": [2, 3]', b', "rele\\u0076ance": 4'):
            (found,) = said(truth_file, entry % extra)
            assert "row 1: query 5, moment 2: has the field `" in found
        # What nobody reads may stand twice, or not be a number.
        assert len(truth_file(entry % b', "more": NaN, "more": 1', "f").video) == 2

    def test_packed_files_that_are_cut_damaged_or_far_too_large(self, monkeypatch: pytest.MonkeyPatch):
        packed = gzip.compress(b"[1, 2, 3]" * 50)
        assert said(unpack, packed[:-3]) == ["is cut off: the end of the gzip data is missing"]
        assert said(unpack, packed[:-6] + b"\0" + packed[-5:])[0].startswith("is damaged: gzip cannot unpack it")
        assert said(unpack, packed + b"more") == ["is damaged: there is other data after the end of the gzip data"]
        monkeypatch.setattr(reading, "LARGEST_UNPACKED", 1 << 20)
        bomb = gzip.compress(b" " * (40 << 20))
        assert said(unpack, bomb) == ["unpacks to more than 0.000976562 GiB: if that is right, unpack it yourself"]

    def test_names_that_look_like_keys_are_counted_exactly(self):
        assert count_keys(b'{"castle": 1, "castl3": 2, "battle": "cattle"}', ["castle", "battle"])["castle"] >= 1
        run = {"predictions": [["query_id", 0, 1, 2]], "query_id": [["predictions", 1, 2, 3]]}
        assert run_file(json.dumps(run).encode(), "f").queries == ("predictions", "query_id")
        entries = [{"query_id": "query_id", "predictions": [["predictions", 0, 1, 2]]}]
        assert run_file(json.dumps(entries).encode(), "f").queries == ("query_id",)

    def test_keys_are_found_where_two_blocks_meet(self):
        for shift in range(16):
            content = b" " * (2**17 - shift) + b'{"relevance": 1}'
            assert count_keys(content, ["relevance"]) == {"relevance": 1}

    def test_every_word_for_a_field_is_one_only(self):
        groups = [words.QUERY, words.VIDEO, words.START, words.END, words.TIMES, words.RELEVANCE, words.SCORE]
        together = [word for group in groups for word in group]
        assert len(together) == len(set(together))


class TestRealFiles:
    def test_the_real_runs_score_against_a_truth_made_of_their_own_predictions(self, shared: Path):
        folder = shared / "data" / "tvr_ranking"
        videos = read_videos(folder / "video_name_duration_id.json")
        paths = sorted((folder / "runs").glob("*.json"))
        runs = {path.name: json.loads(path.read_text("utf-8")) for path in paths}
        for path in paths:
            run = read_run(path, videos)
            assert (len(run.queries), len(run.video)) == (500, 20_000)
            assert not run.span_problems()
            own = {
                entry["query_id"]: [
                    {"video": videos[v], "start": s, "end": e, "relevance": 4 - n}
                    for n, (v, s, e, _) in enumerate(rows)
                ]
                for entry in runs[path.name]
                for rows in [entry["predictions"][:4]]
            }
            predicted = {
                run.queries[q]: [
                    [run.videos[run.video[n]], run.start_s[n], run.end_s[n], run.score[n]]
                    for n in range(run.offsets[q], run.offsets[q + 1])
                ]
                for q in range(500)
            }
            means = evaluate(own, predicted)["mean"]
            # The four best of a run, in its own order: nothing can be better.
            assert means["ndcg@10,0.5"] == pytest.approx(1.0)

    def test_the_lines_of_tvr_are_a_truth(self, shared: Path):
        path = shared / "data" / "tvr" / "tvr_val_release.jsonl"
        truth = read_truth(path)
        entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert list(truth.queries) == [entry["desc_id"] for entry in entries]
        assert [truth.videos[n] for n in truth.video] == [entry["vid_name"] for entry in entries]
        assert truth.end_s.tolist() == [entry["ts"][1] for entry in entries]
        assert np.array_equal(truth.relevance, np.ones(len(entries)))
