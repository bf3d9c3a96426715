"""The corpora of `shared/data`, whole: every count is taken from the file by plain JSON and a few lines here."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.campaign.corpus.importing.formats import parse
from backend.campaign.corpus.importing.model import ImportOptions

Entry = tuple[str, float, float, float, str]
"""Video, start, end and duration in seconds, sentence as it stands."""

SENTENCES = [
    "charades_sta/charades_train.json",
    "charades_sta/charades_test.json",
    "activitynet/train.json",
    "activitynet/val.json",
    "activitynet/test.json",
    "tacos/test.json",
    "mvmr/charades_test_mvmr.json",
]


def entries(path: Path) -> Iterator[Entry]:
    for video, entry in json.loads(path.read_text()).items():
        per_second = entry.get("fps", 1)
        duration = entry["duration"] if "duration" in entry else entry["num_frames"] / per_second
        for (start, end), sentence in zip(entry["timestamps"], entry["sentences"], strict=True):
            yield video, start / per_second, end / per_second, duration, sentence


@pytest.mark.long
@pytest.mark.parametrize("file", SENTENCES)
def test_every_sentence_is_taken_merged_or_left_out(shared: Path, file: str) -> None:
    path = shared / "data" / file
    all_of_it = list(entries(path))
    possible = [one for one in all_of_it if 0 <= one[1] < one[2] and one[1] < one[3] and one[2] <= one[3] + 1]
    distinct = dict.fromkeys((video, start, end, sentence.strip()) for video, start, end, _, sentence in possible)
    found = parse(None, path.read_bytes(), path.name)
    assert found.format == {"charades_sta": "charades-sta", "mvmr": "charades-sta"}.get(
        path.parent.name, path.parent.name
    )
    assert [(m.video, m.start_s, m.end_s, m.caption) for m in found.moments] == list(distinct)
    assert found.merged == len(possible) - len(distinct)
    assert sum(left.count for left in found.left_out) == len(all_of_it) - len(possible)
    assert {m.video: m.duration_s for m in found.moments} == {video: duration for video, _, _, duration, _ in possible}


@pytest.mark.parametrize(
    ("file", "videos", "captions", "merged", "left_out"),
    [
        ("charades_sta/charades_train.json", 5_336, 12_404, 0, 0),
        ("charades_sta/charades_test.json", 1_334, 3_720, 0, 0),
        ("activitynet/train.json", 10_009, 37_417, 0, 4),
        ("activitynet/val.json", 4_917, 17_505, 0, 0),
        ("activitynet/test.json", 4_885, 17_031, 0, 0),
        ("tacos/test.json", 25, 3_429, 572, 0),
    ],
)
def test_the_corpora_have_the_sizes_of_their_papers(
    shared: Path, file: str, videos: int, captions: int, merged: int, left_out: int
) -> None:
    """12,404 and 3,720 (Charades-STA), 37,421, 17,505 and 17,031 (ActivityNet Captions), 4,001 (TACoS, test)."""
    found = parse(None, (shared / "data" / file).read_bytes(), file)
    assert len({moment.video for moment in found.moments}) == videos
    assert (len(found.moments), found.merged, sum(left.count for left in found.left_out)) == (
        captions,
        merged,
        left_out,
    )


def test_what_was_left_out_of_activitynet_is_named(shared: Path) -> None:
    found = parse(None, (shared / "data/activitynet/train.json").read_bytes(), "train.json")
    (left,) = found.left_out
    assert left.why == "the end is not after the start"
    assert set(left.where) == {
        "video v_0bosp4-pyTM, sentence 4",  # 61.29 to 60.71 s
        "video v_rhOtqArO-3Y, sentence 6",  # 173.44 to 150.31 s
        "video v_N7ppHQNikv8, sentence 3",  # 34.77 to 34.77 s
        "video v_4rKTw99bM8g, sentence 2",  # 4.97 to 4.97 s
    }
    assert "sentences stripped of surrounding white space: 25,731" in found.notes


@pytest.mark.parametrize("types", ["v", "t", "vt", "all"])
def test_the_lines_of_tvr_by_type(shared: Path, types: str) -> None:
    path = shared / "data/tvr/tvr_val_release.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    wanted = [line for line in lines if types in ("all", line["type"])]
    distinct = {(line["vid_name"], *line["ts"], line["desc"]) for line in wanted}
    found = parse(None, path.read_bytes(), path.name, None if types == "v" else ImportOptions(types=frozenset({types})))
    assert (len(lines), found.format) == (10_895, "tvr")
    assert len(found.moments) == len(distinct)
    assert found.merged == len(wanted) - len(distinct)
    others = Counter(line["type"] for line in lines if types not in ("all", line["type"]))
    assert {left.why.rpartition(" ")[2]: left.count for left in found.left_out} == others
    if types == "v":
        assert (len(wanted), found.merged, len({m.video for m in found.moments})) == (8_097, 16, 2_179)
