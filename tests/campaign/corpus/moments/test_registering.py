"""A folder of videos becomes the videos of a project: what can be read, whatever else lies there."""

import csv
import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.corpus.importing.model import RegisterReport
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import import_corpus, register_videos
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError
from support import NOW

# The demo's clips were drawn at 25 frames a second, 640 x 360.
DEMO = demo.clip_folder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two whole videos, one of them a folder down, and what else people's folders hold."""
    folder = tmp_path / "videos"
    (folder / "deep").mkdir(parents=True)
    shutil.copy(DEMO / "dog_dinner.mp4", folder / "dog.mp4")
    shutil.copy(DEMO / "park_book.mp4", folder / "deep" / "park.mp4")
    (folder / "notes.txt").write_text("no video")
    return folder


def register(project: Project, folder: Path) -> RegisterReport:
    return register_videos(project, OPERATOR, folder, now=NOW)


def videos(project: Project) -> dict[str, str]:
    return dict(project.store.db.conn.execute("SELECT name, path FROM video ORDER BY name").fetchall())


def test_every_video_is_taken_and_measured(project: Project, folder: Path) -> None:
    report = register(project, folder)
    assert [(video.name, video.new) for video in report.videos] == [("deep/park", True), ("dog", True)]
    assert report.problems == ()
    for video in report.videos:
        assert (video.facts.fps, video.facts.width_px) == (Fraction(25), 640)
    assert {Path(project.file(path)).resolve() for path in videos(project).values()} == {
        folder / "dog.mp4",
        folder / "deep" / "park.mp4",
    }
    found = status_counts(project, OPERATOR)
    assert (found["videos"], found["moments"], found["captions"]) == (2, 0, 0)
    assert doctor(project, now=NOW).findings == ()


def test_taking_a_folder_again_takes_nothing_new(project: Project, folder: Path) -> None:
    register(project, folder)
    before = videos(project)
    again = register(project, folder)
    assert (again.new, len(again.videos), videos(project)) == (0, 2, before)


def test_what_cannot_be_read_is_told_and_the_rest_is_taken(project: Project, folder: Path) -> None:
    (folder / "half.mp4").write_bytes((folder / "dog.mp4").read_bytes()[:30])
    (folder / "text.mp4").write_text("<html>404 Not Found</html>")
    shutil.copy(folder / "dog.mp4", folder / "twin.mp4")
    report = register(project, folder)
    assert [video.name for video in report.videos] == ["deep/park", "dog"]
    assert [str(problem) for problem in report.problems] == [
        "half.mp4: is incomplete (its index is missing): copy it again",
        "text.mp4: is not a video file",
        "twin.mp4: has the same content as the video dog: keep one of them",
    ]


def test_links_out_of_the_folder_are_told_and_the_rest_is_taken(project: Project, folder: Path, tmp_path: Path) -> None:
    shutil.copy(DEMO / "cafe_meeting.mp4", tmp_path / "private.mp4")
    (folder / "a.mp4").symlink_to(tmp_path / "private.mp4")
    report = register(project, folder)
    assert [video.name for video in report.videos] == ["deep/park", "dog"]
    assert [str(problem) for problem in report.problems] == [
        "a.mp4: is a link out of the folder, which is not followed: put the file itself there, or name the folder in "
        "which it lies"
    ]
    shutil.rmtree(folder / "deep")
    (folder / "dog.mp4").unlink()
    with pytest.raises(InputError, match=r"a\.mp4: is a link out of the folder"):
        register(project, folder)


def test_nothing_is_written_where_nothing_can_be_taken(project: Project, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        register(project, tmp_path / "nowhere")
    bad = tmp_path / "bad"
    bad.mkdir()
    with pytest.raises(InputError, match="the folder has no video files"):
        register(project, bad)
    for name in ("a.mp4", "b.mp4"):
        (bad / name).write_text("no video")
    with pytest.raises(InputError, match=r"a\.mp4: is not a video file\nb\.mp4: is not a video file"):
        register(project, bad)
    assert videos(project) == {}
    assert project.store.db.conn.execute("SELECT count(*) FROM event").fetchone()[0] == 0


def test_a_file_is_the_video_that_annotations_named_before(project: Project, folder: Path, tmp_path: Path) -> None:
    line = {"video": "dog.avi", "start": 1, "end": 2, "caption": "A dog.", "duration": 90.0}
    file = tmp_path / "m.jsonl"
    file.write_text(json.dumps(line))
    import_corpus(project, OPERATOR, file, now=NOW)
    report = register(project, folder)
    assert [(video.name, video.new) for video in report.videos] == [("deep/park", True), ("dog.avi", False)]
    assert project.store.db.conn.execute("SELECT duration_s < 90 FROM video WHERE name = 'dog.avi'").fetchone()[0]


def test_a_file_with_another_name_is_known_by_its_content(project: Project, folder: Path) -> None:
    register(project, folder)
    (folder / "dog.mp4").rename(folder / "deep" / "hound.mp4")
    report = register(project, folder)
    assert [(video.name, video.new) for video in report.videos] == [("deep/park", False), ("dog", False)]
    assert videos(project).keys() == {"deep/park", "dog"}
    assert project.file(videos(project)["dog"]).resolve() == folder / "deep" / "hound.mp4"


def test_another_content_under_an_old_name_is_not_taken_for_it(project: Project, folder: Path) -> None:
    register(project, folder)
    before = project.store.db.conn.execute("SELECT sha256 FROM video WHERE name = 'dog'").fetchone()[0]
    shutil.copy(DEMO / "rainy_street.mp4", folder / "dog.mp4")
    report = register(project, folder)
    assert [str(problem) for problem in report.problems] == [
        "dog.mp4: its content differs from the project's video dog: rename this file, or put the old one back"
    ]
    assert project.store.db.conn.execute("SELECT sha256 FROM video WHERE name = 'dog'").fetchone()[0] == before


@pytest.mark.long
def test_the_real_videos_are_measured_as_their_manifest_says(project: Project, shared: Path) -> None:
    folder = shared / "data" / "videos"
    said = {
        line["file"].removesuffix(".mp4"): line
        for line in csv.DictReader((folder / "MANIFEST.tsv").open(), delimiter="\t")
        if "/" not in line["file"]
    }
    report = register_videos(project, OPERATOR, folder, decode=False, now=NOW)  # 14 s of decoding less
    found = {video.name: video.facts for video in report.videos}
    assert len(said) == 9
    for name, line in said.items():
        assert found[name].duration_s == pytest.approx(float(line["duration_s"]), abs=0.06), name
        assert found[name].sha256 == line["sha256"]
        assert found[name].has_audio == (line["audio"] not in ("", "none", "-"))
    count = len(videos(project))
    taken = import_corpus(project, OPERATOR, folder / "moments.jsonl", now=NOW)
    assert (taken.taken[0], taken.videos, len(videos(project))) == (9, 0, count)  # the file names the same videos


def test_a_file_that_comes_later_names_the_videos(project: Project, folder: Path, tmp_path: Path) -> None:
    """People take their videos first; a corpus keeps its names, with extensions or without folders."""
    register(project, folder)
    before = videos(project)
    file = tmp_path / "moments.jsonl"
    moments = [("dog.mp4", "A dog eats."), ("park", "Somebody reads.")]
    lines = [json.dumps({"video": video, "start": 0.5, "end": 1, "caption": text}) for video, text in moments]
    file.write_text("\n".join(lines))
    for dry_run in (True, False):
        report = import_corpus(project, OPERATOR, file, dry_run=dry_run, now=NOW)
        assert (report.taken, report.videos, report.moments, report.captions) == ((2, 2, 2), 0, 2, 2)
        told = "2 videos were renamed to match the file: dog is now dog.mp4, ..."
        assert told in report.notes
    assert videos(project) == {"dog.mp4": before["dog"], "park": before["deep/park"]}
    assert import_corpus(project, OPERATOR, file, now=NOW).notes == ()
    # What a file has named once stays as that file has it.
    file.write_text(lines[0].replace("dog.mp4", "dog").replace("}", ', "duration": 4}'))
    assert import_corpus(project, OPERATOR, file, now=NOW).videos == 1


def test_two_files_of_canonically_equal_names_are_told_and_the_rest_is_taken(project: Project, folder: Path) -> None:
    for name, video in (("cafe\u0301.mp4", "cafe_meeting"), ("caf\u00e9.mp4", "moving_boxes")):
        shutil.copy(DEMO / f"{video}.mp4", folder / name)
    (folder / "deep").rename(folder / "u\u0308ber")
    shutil.copy(DEMO / "cafe_meeting.mp4", folder / "a\x07b.mp4")
    report = register(project, folder)
    assert [video.name for video in report.videos] == ["dog", "\u00fcber/park"]
    assert [problem.message.partition(":")[0] for problem in report.problems] == [
        "the text contains the control character U+0007",
        "two videos of the folder have the same name, and differ only in how Unicode writes its letters",
    ]
