"""Truth from the files that benchmarks were published as, against counts made by other means."""

import json
from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.scoring.files.facts import read_facts
from backend.scoring.files.formats import read_truth, truth_file
from backend.scoring.presets import settle
from backend.scoring.scores import prepare_truth

VIDEOS = {
    "v_one": {"duration": 20.0, "timestamps": [[0, 12.5], [9, 9], [15, 21]], "sentences": ["A.", " B.", " C."]},
    "v_two": {"duration": 8, "timestamps": [[-1, 4]], "sentences": ["D."]},
}
DIDEMO = [
    {"annotation_id": 7, "description": "x", "video": "a.mov", "num_segments": 5, "times": [[0, 0], [1, 3], [1, 3]]},
    {"annotation_id": 3, "description": "y", "video": "b.mov", "times": [[5, 5]]},
]


def moments(truth):
    videos = [truth.videos[place] for place in truth.video]
    return list(zip(truth.query.tolist(), videos, truth.start_s.tolist(), truth.end_s.tolist(), strict=True))


class TestForms:
    def test_sentences_of_videos_are_queries_named_as_in_pools_and_impossible_ones_are_left_out_and_told_of(self):
        truth = truth_file(json.dumps(VIDEOS).encode(), "val.json")
        assert truth.queries == ("v_one#0", "v_one#2", "v_two#0")
        assert moments(truth) == [(0, "v_one", 0, 12.5), (1, "v_one", 15, 20), (2, "v_two", 0, 4)]
        assert truth.relevance.tolist() == [1, 1, 1]
        assert dict(truth.durations) == {"v_one": 20, "v_two": 8}
        left_out, cut = prepare_truth(truth, settle("paper", [1], [0.5], {})).warnings
        assert left_out.startswith("val.json: 1 moments that do not end after they begin")
        assert "video v_one, sentence 2" in left_out
        assert cut.startswith("val.json: 2 moments")

    def test_times_in_frames_become_seconds(self):
        video = {"fps": 20, "num_frames": 900, "timestamps": [[10, 35]], "sentences": ["She cuts."]}
        truth = truth_file(json.dumps({"s1.avi": video}).encode(), "test.json")
        assert moments(truth) == [(0, "s1.avi", 0.5, 1.75)]
        assert dict(truth.durations) == {"s1.avi": 45}

    def test_lines_of_charades_are_counted_within_their_video_and_a_wrong_one_is_named(self):
        content = b"AB 24.3 30.4##one.\r\nCD 0.0 1.5##two.\nAB 2 3##three.\n"
        truth = truth_file(content, "test.txt")
        assert truth.queries == ("AB#0", "CD#0", "AB#1")
        assert moments(truth) == [(0, "AB", 24.3, 30.4), (1, "CD", 0, 1.5), (2, "AB", 2, 3)]
        with pytest.raises(InputError, match=r"(?s)row 2: .*VIDEO start end##sentence.*row 4: start is 'x'"):
            truth_file(content.replace(b"CD 0.0", b"CD") + b"AB x 3##four", "test.txt")

    def test_every_persons_moment_of_a_didemo_sentence_is_relevant(self):
        truth = truth_file(json.dumps(DIDEMO).encode(), "val_data.json")
        assert truth.queries == (7, 3)
        assert moments(truth) == [(0, "a.mov", 0, 5), (0, "a.mov", 5, 20), (0, "a.mov", 5, 20), (1, "b.mov", 25, 30)]
        assert dict(truth.durations) == {"a.mov": 25, "b.mov": 30}

    def test_pools_are_told_where_they_belong(self):
        video = {"duration": 9, "timestamps": [], "sentences": [], "pos_moments": [], "retrieval_pool": []}
        with pytest.raises(InputError, match="--pool"):
            truth_file(json.dumps({"a": video}).encode(), "pools.json")

    def test_an_object_of_other_things_is_no_truth(self):
        with pytest.raises(InputError, match="is a JSON object with the keys `a`, which is no known form of a truth"):
            truth_file(b'{"a": {"start": 1}}', "f")

    def test_lines_tell_the_types_of_queries_and_how_long_videos_last(self):
        tvr = {"vid_name": "v", "duration": 61.46, "ts": [16.48, 33.87], "desc": "x", "type": "vt", "desc_id": 9}
        lines = [tvr, {**tvr, "desc_id": 8, "type": "v"}]
        truth = truth_file("\n".join(map(json.dumps, lines)).encode(), "f")
        assert (truth.queries, truth.types, dict(truth.durations)) == ((9, 8), ("vt", "v"), {"v": 61.46})
        assert truth.of_queries(truth.relevance < [0, 2]).types == ("v",)
        without = [tvr, {**tvr, "desc_id": 8, "type": None}]
        assert truth_file("\n".join(map(json.dumps, without)).encode(), "f").types == ()
        window = {"qid": 1, "query": "x", "vid": "w", "duration": 150, "relevant_windows": [[0, 2]]}
        assert dict(truth_file("\n".join(map(json.dumps, [window] * 1)).encode() + b"\n", "f").durations) == {"w": 150}


class TestExamples:
    """The made files that show every format of a corpus are truths too, where benchmarks have that format."""

    @pytest.mark.parametrize(
        ("name", "queries"),
        [("activitynet.json", 3), ("charades-sta.txt", 2), ("didemo.json", 2), ("tacos.json", 3), ("tvr.jsonl", None)],
    )
    def test_each_is_read_with_its_texts(self, name: str, queries: int | None):
        path = Path(__file__).parents[3] / "assets" / "example" / "corpora" / name
        truth = read_truth(path)
        assert queries in (None, len(truth.queries))
        texts = read_facts(path).texts
        assert {str(query) for query in truth.queries} <= texts.keys()


class TestPublished:
    """The real files whole, counted by other means."""

    @pytest.mark.parametrize(
        ("name", "left_out"), [("charades_sta/charades_test", 0), ("activitynet/val", 0), ("activitynet/train", 4)]
    )
    def test_every_sentence_of_videos_is_a_query(self, shared: Path, name: str, left_out: int):
        path = shared / "data" / f"{name}.json"
        videos = json.loads(path.read_text("utf-8"))
        truth = read_truth(path)
        assert len(truth.queries) == sum(len(video["sentences"]) for video in videos.values()) - left_out
        assert dict(truth.durations) == {video: entry["duration"] for video, entry in videos.items()}

    def test_tacos_ends_within_its_videos(self, shared: Path):
        videos = json.loads((shared / "data" / "tacos" / "test.json").read_text("utf-8"))
        truth = read_truth(shared / "data" / "tacos" / "test.json")
        assert len(truth.queries) == 4001
        expected = [
            (start / video["fps"], min(end / video["fps"], video["num_frames"] / video["fps"]))
            for video in videos.values()
            for start, end in video["timestamps"]
        ]
        assert list(zip(truth.start_s.tolist(), truth.end_s.tolist(), strict=True)) == expected

    def test_tvr_has_a_type_for_each_query(self, shared: Path):
        truth = read_truth(shared / "data" / "tvr" / "tvr_val_release.jsonl")
        assert {name: truth.types.count(name) for name in set(truth.types)} == {"v": 8097, "t": 964, "vt": 1834}
