"""An import with its videos, some missing, broken, moved or other ones: told all at once, the rest is taken."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import cv2
import pytest

from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.corpus.importing.model import ImportReport, Trouble
from backend.campaign.monitoring.videos.check import import_corpus, video_states
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError
from backend.store.connection import reading
from numbered_videos import numbered, write_source
from support import NOW


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds."""
    return write_source(tmp_path_factory.mktemp("film") / "film.mp4", range(50), Fraction(1, 25))


@pytest.fixture
def folder(film: Path, tmp_path: Path) -> Path:
    place = tmp_path / "videos"
    place.mkdir()
    shutil.copy(film, place / "good.mp4")
    return place


def written(tmp_path: Path, *videos: str, **more: object) -> Path:
    file = tmp_path / "moments.jsonl"
    line = {"start": 0.5, "end": 1.5, "caption": "A dog.", **more}
    file.write_text("".join(json.dumps({"video": video, **line}) + "\n" for video in videos))
    return file


def importing(project: Project, file: Path, folder: Path, **more: object) -> ImportReport:
    return import_corpus(project, OPERATOR, file, videos=folder, now=NOW, **more)  # type: ignore[arg-type]


def troubles(report: ImportReport) -> dict[str, tuple[str, str]]:
    return {one.video: (one.trouble.value, one.message) for one in report.troubles}


def test_what_is_wrong_is_told_at_once_and_the_rest_is_taken(project: Project, folder: Path, tmp_path: Path) -> None:
    (folder / "text.mp4").write_text("<html>404 Not Found</html>")
    file = written(tmp_path, "gone", "good", "text", duration=2.0)
    report = importing(project, file, folder)
    assert troubles(report) == {
        "gone": ("missing", f"gone: no video file in {folder}"),
        "text": ("unreadable", "text.mp4 is not a video file"),
    }
    assert (report.videos, report.moments, report.measured, report.decoded) == (3, 3, 1, True)
    states = {one.video: one for one in video_states(project, OPERATOR)}
    assert {name: one.trouble for name, one in states.items()} == {
        "gone": Trouble.MISSING,
        "good": None,
        "text": Trouble.UNREADABLE,
    }
    # Once they are there the same import takes them.
    shutil.copy(folder / "good.mp4", folder / "text.mp4")
    write_source(folder / "gone.mp4", range(40), Fraction(1, 25))
    assert importing(project, file, folder).troubles == ()
    assert {one.trouble for one in video_states(project, OPERATOR)} == {None}


def test_moments_of_a_video_of_unknown_length_are_left_out(project: Project, folder: Path, tmp_path: Path) -> None:
    report = importing(project, written(tmp_path, "gone", "good"), folder)
    assert [(left.count, left.where) for left in report.left_out] == [(1, ("row 1",))]
    assert report.left_out[0].why.startswith("the length of the video is unknown")
    assert (report.videos, report.moments) == (1, 1)


def test_where_no_video_can_be_shown_nothing_is_taken(project: Project, folder: Path, tmp_path: Path) -> None:
    (folder / "text.mp4").write_text("no video")
    with pytest.raises(InputError) as refusal:
        importing(project, written(tmp_path, "gone", "text", duration=2.0), folder)
    assert [str(problem) for problem in refusal.value.problems] == [
        f"moments.jsonl, row 1: gone: no video file in {folder}",
        "moments.jsonl, row 2: text.mp4 is not a video file",
    ]
    assert video_states(project, OPERATOR) == []


def test_a_renamed_file_is_found_by_its_content_and_another_content_is_not_taken(
    project: Project, folder: Path, tmp_path: Path
) -> None:
    file = written(tmp_path, "good", "other", duration=2.0)
    write_source(folder / "other.mp4", range(50), Fraction(1, 25), lambda n: numbered(n + 100))
    importing(project, file, folder)
    (folder / "good.mp4").rename(folder / "renamed.mp4")
    write_source(folder / "other.mp4", range(50), Fraction(1, 25), lambda n: numbered(n + 150))
    report = importing(project, file, folder)
    assert troubles(report) == {"other": ("changed", "other.mp4 has changed since it was added to the project")}
    states = {one.video: one for one in video_states(project, OPERATOR)}
    assert states["good"].path == str((folder / "renamed.mp4").resolve())
    assert states["other"].trouble is Trouble.CHANGED


def test_a_folder_of_frames_is_a_video(project: Project, folder: Path, tmp_path: Path) -> None:
    frames = folder / "frames" / "show"
    frames.mkdir(parents=True)
    for number in range(1, 9):
        assert cv2.imwrite(str(frames / f"{number:05}.jpg"), numbered(number))
    file = written(tmp_path, "show")
    assert importing(project, file, folder).troubles == ()
    [state] = video_states(project, OPERATOR)
    assert (state.duration_s, state.fps, state.codec, state.frames) == (pytest.approx(8 / 3), 3, "mjpeg", 8)
    other = init_project(tmp_path / "other", encoder="minilm")
    importing(other, file, folder, fps=Fraction(4))
    assert video_states(other, OPERATOR)[0].duration_s == 2.0


def test_the_real_damaged_video_is_named_with_place_and_counts(project: Project, shared: Path, tmp_path: Path) -> None:
    edge = shared / "data" / "videos" / "edge"
    report = importing(project, written(tmp_path, "corrupted", "timecode_25fps"), edge)
    # ffmpeg -i corrupted.mp4 -f null - says: 49 frames, "corrupt decoded frame" of one of them; the index announces 50.
    assert troubles(report) == {"corrupted": ("damaged", "damaged near 3.0 s: 48 of 50 frames")}
    assert importing(project, written(tmp_path, "corrupted"), edge, decode=False).troubles  # known, so not forgotten
    fresh = init_project(tmp_path / "fresh", encoder="minilm")
    assert importing(fresh, written(tmp_path, "corrupted"), edge, decode=False).troubles == ()


def test_files_and_annotations_of_either_form_are_one_video(project: Project, folder: Path, tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    (folder / "good.mp4").rename(folder / f"{decomposed}.mp4")
    assert importing(project, written(tmp_path, composed), folder).videos == 1
    again = importing(project, written(tmp_path, decomposed), folder)
    assert (again.videos, again.moments, again.captions, again.troubles) == (0, 0, 0, ())
    (folder / f"{decomposed}.mp4").rename(folder / f"{composed}.mp4")  # as a copy by way of another system does
    with reading(project.store) as db:
        source = project.source(corpus_rows.all_facts(db)[composed])
    assert source == folder / f"{composed}.mp4"
    shutil.copy(folder / f"{composed}.mp4", folder / f"{decomposed}.mp4")
    with pytest.raises(InputError, match=r"row 1: .*differ only in how Unicode writes its letters: rename or remove"):
        importing(init_project(tmp_path / "other", encoder="minilm"), written(tmp_path, composed), folder)
