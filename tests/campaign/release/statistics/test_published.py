"""Whole corpora of the shared data, beside the same files counted with json, regular expressions and sets."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.release.export.diffing import release_statistics
from backend.campaign.release.statistics.from_files import file_statistics
from backend.campaign.release.statistics.rules import Spread, Statistics

pytestmark = pytest.mark.long

ACTIVITYNET = ("activitynet/train.json", "activitynet/val.json", "activitynet/test.json")
CHARADES = ("charades_sta/charades_train.json", "charades_sta/charades_test.json")


def sentences(data: Path, *names: str) -> tuple[list[tuple[str, float, float, str]], dict[str, float]]:
    """Every sentence as (video, start_s, end_s, text), and the durations of videos in seconds."""
    found, durations = [], {}
    for name in names:
        documents: dict[str, dict[str, Any]] = json.loads((data / name).read_bytes())
        for video, document in documents.items():
            fps = document.get("fps", 1.0)
            durations[video] = document["num_frames"] / fps if "fps" in document else document["duration"]
            for (start, end), text in zip(document["timestamps"], document["sentences"], strict=True):
                found.append((video, start / fps, end / fps, text.strip()))
    return found, durations


def expect(row: Statistics, lines: list[tuple[str, float, float, str]], durations: dict[str, float]) -> None:
    """Everything but verbs, counted by other means."""
    moments = {line[:3] for line in lines}
    letters = ["".join(c if c.isalnum() or c in "'’" else " " for c in line[3].lower()) for line in lines]
    cut = [[word for word in re.split(r"\s+|'{2,}", text.replace("’", "'")) if word.strip("'")] for text in letters]
    cut = [[word.strip("'") for word in text] for text in cut]
    assert row.queries == row.pairs == len(lines)
    assert row.distinct_queries == len({line[3] for line in lines})
    assert (row.moments, row.videos) == (len(moments), len(durations))
    assert row.moment_hours == pytest.approx(sum(end - start for _, start, end in moments) / 3600)
    assert row.mean_pair_s == pytest.approx(sum(end - start for _, start, end, _ in lines) / len(lines))
    assert row.video_hours == pytest.approx(sum(durations.values()) / 3600)
    assert row.vocabulary == len({word for words in cut for word in words})
    assert row.words_per_query == pytest.approx(sum(map(len, cut)) / len(lines))


def test_charades_sta(shared: Path) -> None:
    data = shared / "data"
    row = file_statistics([data / name for name in CHARADES])
    expect(row, *sentences(data, *CHARADES))
    # Published (UniSDNet, table 1): 5,336 and 1,334 videos, 12,408 and 3,720 queries, 30.60 s, moments of 8.09 s.
    assert row.videos == 5336 + 1334
    assert list(row.parts.values()) == [12408 - 4, 3720]
    assert (round(row.mean_video_s or 0, 2), round(row.mean_pair_s, 2)) == (30.60, 8.09)


def test_activitynet_captions(shared: Path) -> None:
    data = shared / "data"
    row = file_statistics([data / name for name in ACTIVITYNET])
    lines, durations = sentences(data, *ACTIVITYNET)
    expect(row, [line for line in lines if line[2] > line[1]], durations)
    # Published (ibid.): 37,421, 17,505 and 17,031 queries, videos of 117.60 s, moments of 37.14 s.
    assert list(row.parts.values()) == [37421 - 4, 17505, 17031]
    assert (round(row.mean_video_s or 0, 2), round(row.mean_pair_s, 2)) == (117.60, 37.14)
    assert row.notes == ("train.json: 4 not counted: the end is not after the start",)


def test_tacos(shared: Path) -> None:
    data = shared / "data"
    row = file_statistics([data / "tacos/test.json"])
    lines, durations = sentences(data, "tacos/test.json")
    assert len(lines) == 4001  # as published (ibid.), with 25 videos
    expect(row, list(dict.fromkeys(lines)), durations)
    assert (row.videos, row.queries) == (25, 4001 - 572)


@pytest.mark.parametrize("types", [None, "v", "all"])
def test_tvr(shared: Path, types: str | None) -> None:
    file = shared / "data/tvr/tvr_val_release.jsonl"
    read = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    taken = [line for line in read if types == "all" or line["type"] == "v"]
    distinct = Counter((line["vid_name"], *map(float, line["ts"]), line["desc"].strip()) for line in taken)
    row = file_statistics([file], types=frozenset({types}) if types else None)
    expect(row, list(distinct), {line["vid_name"]: line["duration"] for line in taken})
    assert len(taken) == (10_895 if types == "all" else 8_097)


def test_the_row_of_charades_sta_in_tvr_ranking(shared: Path) -> None:
    """Table 1: 16,128 queries, 11,770 moments, 6,672 videos, 1,303 words, 469 verbs, 26.33 and 56.69 hours.

    MMN's files lack 4 sentences and 2 videos of the original ones, which give these numbers with their ends cut at the
    end of the video.
    """
    row = file_statistics([shared / "data" / name for name in CHARADES])
    assert (row.queries, row.moments, row.videos) == (16_128 - 4, 11_770 - 3, 6_672 - 2)
    assert (row.token_vocabulary, row.vocabulary) == (1_297, 1_270)
    assert round(row.moment_hours, 2) == pytest.approx(26.33, abs=0.011)
    assert round(row.video_hours or 0, 2) == 56.69
    assert row.verbs_at_least < row.verbs_at_most < 469  # base forms are fewer than forms


def test_the_row_of_activitynet_captions_in_tvr_ranking(shared: Path, tmp_path: Path) -> None:
    """Table 1: 54,559 queries and moments, 14,926 videos, 13,645 words, 560.37 and 487.60 hours.

    The paper has one description of each video: that of val_2, and of val_1 for the 32 videos that val_2 lacks.
    """
    train, val_1, val_2 = (json.loads((shared / "data" / name).read_bytes()) for name in ACTIVITYNET)
    (tmp_path / "all.json").write_text(json.dumps({**train, **val_1, **val_2}))
    row = file_statistics([tmp_path / "all.json"])
    assert row.queries == row.moments == 54_559 - 4  # four end before they begin
    assert row.videos == 14_926
    assert (round(row.moment_hours, 1), round(row.video_hours or 0, 2)) == (560.4, 487.60)
    assert row.token_vocabulary == pytest.approx(13_645, abs=10)


def test_the_queries_and_videos_of_tvr_ranking(shared: Path, tmp_path: Path) -> None:
    """Tables 1 and 4: 994 words and 7 / 14.11 / 35 words a query of validation; videos of 414.86 hours.

    A published run has the 500 queries. Their graded moments are not in the data, so the run's take their place.
    """
    folder = shared / "data/tvr_ranking"
    videos: dict[str, tuple[float, int]] = json.loads((folder / "video_name_duration_id.json").read_bytes())
    names = {index: (name, duration_s) for name, (duration_s, index) in videos.items()}
    queries = []
    for entry in json.loads((folder / "runs/ReLoCLNet_top_40_val.json").read_bytes()):
        video, start_s, end_s, _ = entry["predictions"][0]
        name, duration_s = names[video]
        moment = {"video_name": name, "timestamp": [start_s, end_s], "duration": duration_s, "relevance": 1}
        queries.append({"query_id": entry["query_id"], "query": entry["desc"], "relevant_moment": [moment]})
    (tmp_path / "val.json").write_text(json.dumps(queries))
    (tmp_path / "video_corpus.json").write_text(json.dumps(videos))
    row, release = file_statistics([tmp_path]), release_statistics(tmp_path)
    assert release is not None
    val = release.parts[0]
    assert val.query_tokens == Spread(500, 7, pytest.approx(14.11, abs=0.005), 35)
    assert (val.queries, val.token_vocabulary) == (500, 994)
    assert val.query_words == Spread(500, 6, pytest.approx(12.92, abs=0.005), 32)
    assert val.verbs_at_least < 330 < val.verbs_at_most
    assert release.corpus_video_s == Spread(19_614, 2.02, pytest.approx(76.14, abs=0.005), 272.02)
    assert (row.videos, round(row.video_hours or 0, 2)) == (19_614, 414.86)


def test_verbs_are_near_what_a_tagger_finds(shared: Path) -> None:
    """TextBlob 0.20.1's tagger found 190 verbs in Charades-STA, 183 in TACoS (test), 609 in TVR (val, type v)."""
    data = shared / "data"
    for files, tagged in ((CHARADES, 190), (("tacos/test.json",), 183), (("tvr/tvr_val_release.jsonl",), 609)):
        row = file_statistics([data / name for name in files])
        assert 0.8 * tagged < row.verbs_at_least < tagged < row.verbs_at_most
