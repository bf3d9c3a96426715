"""Corpora into a project: whole, beside one another, twice, dry, and with files of videos that contradict them."""

import hashlib
import json
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.corpus.importing.model import ImportReport
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError
from support import NOW


def counts(project: Project) -> tuple[int, int, int]:
    found = status_counts(project, OPERATOR)
    return found["videos"], found["moments"], found["captions"]


def importing(project: Project, path: Path, format_: str | None = None, **options: object) -> ImportReport:
    return import_corpus(project, OPERATOR, path, format_, now=NOW, **options)  # type: ignore[arg-type]


def added(report: ImportReport) -> tuple[int, int, int]:
    return report.videos, report.moments, report.captions


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def videos_of(path: Path, ends: dict[str, float], captions: dict[str, str] | None = None, **more: float) -> Path:
    """A file in ActivityNet's form: one moment a video, from 0 to its end; `more` are their durations."""
    said = captions or {}
    return write(
        path,
        {
            video: {
                "duration": more.get(video, end),
                "timestamps": [[0, end]],
                "sentences": [said.get(video, "A dog.")],
            }
            for video, end in ends.items()
        },
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "files",
    [
        ["charades_sta/charades_train.json", "charades_sta/charades_test.json"],
        ["activitynet/train.json", "activitynet/val.json", "activitynet/test.json"],
        ["tacos/test.json"],
    ],
    ids=["charades-sta", "activitynet", "tacos"],
)
def test_whole_corpora_import_beside_one_another_and_a_second_time_adds_nothing(
    shared: Path, project: Project, files: list[str]
) -> None:
    """Expected: what plain JSON finds, without the four moments of ActivityNet's training file that do not last."""
    videos: set[str] = set()
    moments: set[tuple[object, ...]] = set()
    captions: set[tuple[object, ...]] = set()
    for file in files:
        for video, entry in json.loads((shared / "data" / file).read_text()).items():
            for (start, end), sentence in zip(entry["timestamps"], entry["sentences"], strict=True):
                if start < end:
                    videos.add(video)
                    moments.add((video, start, end))
                    captions.add((video, start, end, sentence.strip()))
    expected = len(videos), len(moments), len(captions)
    reports = [importing(project, shared / "data" / file) for file in files]
    assert counts(project) == expected
    assert tuple(map(sum, zip(*map(added, reports), strict=True))) == expected
    assert [added(importing(project, shared / "data" / file)) for file in files] == [(0, 0, 0)] * len(files)
    assert counts(project) == expected


def test_the_text_of_charades_says_what_its_json_says(shared: Path, project: Project, tmp_path: Path) -> None:
    document = json.loads((shared / "data/charades_sta/charades_test.json").read_text())
    lines = [
        f"{video} {start} {end}##{sentence}"
        for video, entry in document.items()
        for (start, end), sentence in zip(entry["timestamps"], entry["sentences"], strict=True)
    ]
    text = tmp_path / "charades_sta_test.txt"
    text.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="row 1: video 3MSZA has no duration: add one, or name the folder of"):
        importing(project, text)
    importing(project, shared / "data/charades_sta/charades_test.json")
    report = importing(project, text)
    spans = {line.partition("##")[0] for line in lines}
    assert (report.format, report.taken) == ("charades-sta", (1_334, len(spans), 3_720))
    assert added(report) == (0, 0, 0)


def test_a_dry_run_counts_what_an_import_then_does_and_writes_nothing(project: Project, tmp_path: Path) -> None:
    importing(project, videos_of(tmp_path / "first.json", {"v_a": 9, "v_b": 8}))
    path = videos_of(tmp_path / "second.json", {"v_b": 8, "v_c": 7}, captions={"v_b": "A cat."})
    files = [project.folder / f"reelrank.db{end}" for end in ("", "-wal")]
    before = [hashlib.sha256(file.read_bytes()).digest() for file in files]
    events = project.store.db.conn.execute("SELECT count(*) FROM event").fetchone()[0]
    dry = importing(project, path, dry_run=True)
    assert (dry.dry_run, added(dry), dry.taken) == (True, (1, 1, 2), (2, 2, 2))
    assert counts(project) == (2, 2, 2)
    assert project.store.db.conn.execute("SELECT count(*) FROM event").fetchone()[0] == events
    assert [hashlib.sha256(file.read_bytes()).digest() for file in files] == before
    assert added(importing(project, path)) == added(dry)
    assert counts(project) == (3, 3, 4)


def test_a_dry_run_refuses_what_an_import_refuses(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("video,start,end,caption,duration\na,3,2,A dog.,9\n,1,2,A dog.,9\n")
    refusals = []
    for dry_run in (True, False):
        with pytest.raises(InputError) as refusal:
            importing(project, path, dry_run=dry_run)
        refusals.append([str(problem) for problem in refusal.value.problems])
    assert (
        refusals[0]
        == refusals[1]
        == [
            "bad.csv, row 2: end 2.0 is not after start 3.0",
            "bad.csv, row 3: the video name is empty",
        ]
    )
    assert counts(project) == (0, 0, 0)


def test_durations_that_differ_slightly_are_told_and_the_first_stays(project: Project, tmp_path: Path) -> None:
    importing(project, videos_of(tmp_path / "train.json", {"v_a": 9, "v_b": 8}, v_a=9.5))
    report = importing(project, videos_of(tmp_path / "val.json", {"v_a": 7, "v_b": 7, "v_c": 7}, v_a=9.75, v_b=8.9))
    assert report.notes == (
        "2 videos have another duration in the project, which is kept: v_a lasts 9.75 s here, but 9.5 s in the "
        "project, ...",
    )
    found = project.store.db.conn.execute("SELECT name, duration_s FROM video ORDER BY name").fetchall()
    assert [tuple(row) for row in found] == [("v_a", 9.5), ("v_b", 8), ("v_c", 7)]


def test_durations_that_contradict_each_other_refuse_the_file_once_a_video(project: Project, tmp_path: Path) -> None:
    importing(project, videos_of(tmp_path / "train.json", {"v_a": 9, "v_b": 8}))
    document = {
        "v_c": {"duration": 5, "timestamps": [[0, 2]], "sentences": ["A dog."]},
        "v_a": {"duration": 20, "timestamps": [[0, 2], [3, 4], [5, 15]], "sentences": ["A dog.", "A cat.", "A cow."]},
        "v_b": {"duration": 6.9, "timestamps": [[0, 2]], "sentences": ["A dog."]},
    }
    with pytest.raises(InputError) as refusal:
        importing(project, write(tmp_path / "val.json", document))
    assert [str(problem) for problem in refusal.value.problems] == [
        "val.json: video v_a, sentence 1: video v_a lasts 20.0 s here, but 9.0 s in the project",
        "val.json: video v_b, sentence 1: video v_b lasts 6.9 s here, but 8.0 s in the project",
    ]
    assert counts(project) == (2, 2, 2)


CLIP = "bedroom_morning"
"""A video of the demo; its table of facts says 17.84 s."""


def test_a_measured_duration_counts_whatever_later_files_state(project: Project, tmp_path: Path) -> None:
    stated = {CLIP: {"duration": 19.5, "timestamps": [[0, 4], [3, 18.5]], "sentences": ["A bed.", "A room."]}}
    path = write(tmp_path / "train.json", stated)
    first = importing(project, path, "activitynet", videos=demo.clip_folder())
    assert (first.measured, added(first)) == (1, (1, 2, 2))
    assert "moments that end up to 1 s after their measured video, whose clips stop at its end: 1" in first.notes
    again = importing(project, path, "activitynet")
    assert added(again) == (0, 0, 0)
    assert f"another duration in the project, which is kept: {CLIP} lasts 19.5 s here, but 17.84 s" in again.notes[0]


def test_moments_outside_the_measured_video_are_left_out_of_a_published_corpus(
    project: Project, tmp_path: Path
) -> None:
    entry = {"duration": 40, "timestamps": [[0, 4], [18, 25], [10, 25]], "sentences": ["A bed.", "A room.", "A cup."]}
    path = write(tmp_path / "train.json", {CLIP: entry})
    assert added(importing(project, path, "activitynet")) == (1, 3, 3)
    report = importing(project, path, "activitynet", videos=demo.clip_folder())
    assert {left.why: left.where for left in report.left_out} == {
        "the start is after the end of the video": (f"video {CLIP}, sentence 2",),
        "the end is more than 1 s after that of the video": (f"video {CLIP}, sentence 3",),
    }
    assert (
        "moments that were left out now but stay in the project from an earlier import, without a clip: 2"
        in report.notes
    )
    own = tmp_path / "own.csv"
    own.write_text(f"video,start,end,caption\n{CLIP},0,4,A bed.\n{CLIP},18,25,A room.\n")
    with pytest.raises(InputError, match=r"row 3: start 18\.0 is outside the video, which lasts 17\.84 s"):
        importing(project, own, videos=demo.clip_folder())


def test_the_last_segment_of_didemo_ends_with_its_video(project: Project, tmp_path: Path) -> None:
    entries = [
        {"annotation_id": n, "description": text, "video": f"{CLIP}.mov", "times": [span] * 4, "num_segments": 6}
        for n, text, span in [(1, "a bed", [0, 1]), (2, "a room", [3, 3]), (3, "nothing", [4, 4])]
    ]
    report = importing(project, write(tmp_path / "val_data.json", entries), videos=demo.clip_folder())
    assert (report.format, added(report)) == ("didemo", (1, 2, 2))
    assert [(left.why, left.where) for left in report.left_out] == [
        ("the start is after the end of the video", ("row 3",))
    ]
    assert "moments that end up to 5 s after their measured video, whose clips stop at its end: 1" in report.notes


def test_a_published_corpus_of_which_no_moment_lies_in_its_videos_is_refused(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path / "f.json", {CLIP: {"duration": 90, "timestamps": [[50, 60]], "sentences": ["A bed."]}})
    with pytest.raises(InputError, match=rf"video {CLIP}, sentence 1: start 50\.0 is outside the video"):
        importing(project, path, "activitynet", videos=demo.clip_folder())
