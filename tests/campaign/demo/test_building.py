"""Building the demo project from the kept clips."""

import shutil
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.demo import build_demo
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.status import status_counts
from backend.campaign.selection.queries import drawing
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import ProjectError, SchemaOutOfDate
from backend.encoders import sentence
from support import NOW, WordEncoder


def build(folder: Path) -> Project:
    return build_demo(folder, judged=False, now=NOW, progress=lambda *_: None)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    return build(tmp_path / "demo")


def test_the_demo_has_the_kept_clips_and_captions_and_asks_for_240_pairs(built: Project) -> None:
    counts = status_counts(built, OPERATOR)
    assert (counts["videos"], counts["moments"], sum(counts["pairs"].values())) == (16, 96, 240)
    assert counts["simulated"] == 0
    assert built.settings.cast == demo.cast()


def test_a_demo_that_was_moved_still_has_its_videos(built: Project, tmp_path: Path) -> None:
    moved = open_project(built.folder.rename(tmp_path / "elsewhere"))
    stored = dict(moved.store.db.execute("SELECT video_id, path FROM video").fetchall())
    files = [moved.file(path) for path in stored.values()]
    assert len(files) == 16
    assert all(file.is_relative_to(tmp_path / "elsewhere") for file in files)
    assert all(file.read_bytes() == (demo.clip_folder() / file.name).read_bytes() for file in files)


def test_a_demo_whose_building_was_killed_is_built_anew_by_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, at_the_kill = tmp_path / "place", tmp_path / "at-the-kill"
    place.mkdir()

    def killed(*_: object, **__: object) -> None:
        shutil.copytree(place, at_the_kill)
        raise KeyboardInterrupt

    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "draw_queries", killed)
        with pytest.raises(KeyboardInterrupt):
            build(place / "demo")
    assert list(place.iterdir()) == []  # a person's Ctrl-C leaves nothing
    shutil.copytree(at_the_kill, place, dirs_exist_ok=True)
    assert list(place.rglob("reelrank.db")) != []
    assert not (place / "demo").exists()
    demo = build(place / "demo")
    assert (demo.name, [path.name for path in place.iterdir()]) == ("demo", ["demo"])
    assert sum(status_counts(demo, OPERATOR)["pairs"].values()) == 240


def test_two_commands_do_not_build_one_demo(tmp_path: Path) -> None:
    with demo.new_folder(tmp_path / "demo") as part:
        part.mkdir(parents=True)
        with pytest.raises(ProjectError, match=r"another command is building the demo in .*demo: wait"):
            build(tmp_path / "demo")


def test_files_of_others_are_never_written_over_and_a_file_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "demo" / "videos" / "cafe_meeting.mp4"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(ProjectError, match=r"has files but no ReelRank project: name another folder"):
        build(tmp_path / "demo")
    assert (own.read_text(), [path.name for path in tmp_path.rglob("*")]) == ("mine", ["demo", "videos", own.name])
    with pytest.raises(ProjectError, match=r"cafe_meeting.mp4 is a file: name a new folder"):
        build(own)


def test_a_demo_of_another_version_says_what_to_do(built: Project) -> None:
    applied = "_sqlite_migrations"
    built.store.db.execute(f"INSERT INTO {applied} (migration_set, name) VALUES ('reelrank', 'm999_later')")
    with pytest.raises(SchemaOutOfDate, match=r"update ReelRank to open it, or delete .*demo and start a new demo$"):
        build(built.folder)


def test_a_project_of_its_own_is_not_taken_for_the_demo(tmp_path: Path) -> None:
    project = init_project(tmp_path / "mine", encoder="minilm")
    for name in ("Ana", "Ben", "Lea"):  # as in docs/first-run.md
        add_person(project, OPERATOR, name, Role.ANNOTATOR, now=NOW)
    with pytest.raises(ProjectError, match=r"mine is a project of its own"):
        build(project.folder)
