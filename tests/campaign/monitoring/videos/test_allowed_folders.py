"""What a lead may read from in a browser: every way out of the folders that are allowed is refused."""

import os
import shutil
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.monitoring.videos.adding import preview_videos
from backend.campaign.monitoring.videos.allowed_folders import allowed_folders, allowed_path
from backend.campaign.monitoring.videos.check import check_videos, import_corpus, register_videos
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError
from backend.store.connection import writing
from support import NOW

REFUSED = "is not in a folder that this server allows"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project", encoder="minilm")


@pytest.fixture
def lead(project: Project) -> Person:
    return people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a video that nobody allowed."""
    folder = tmp_path / "private"
    folder.mkdir()
    shutil.copy(sorted(demo.clip_folder().glob("*.mp4"))[0], folder / "secret.mp4")
    return folder


def allowing(project: Project, *roots: Path | str) -> Project:
    file = project.folder / "reelrank.toml"
    file.write_text(f"media_roots = {[str(root) for root in roots]}\n{file.read_text()}")
    return project


def ways_out(project: Project, outside: Path) -> list[str]:
    inside = project.folder / "videos"
    inside.mkdir(exist_ok=True)
    (inside / "link").symlink_to(outside)
    (inside / "chain").symlink_to(inside / "link")
    (inside / "deep").symlink_to("..")
    return [
        str(outside),
        f"{outside}/",
        f"{outside}/../private",
        f"  {outside}  ",
        "../private",
        "videos/../../private",
        "videos/link",
        "videos/chain",
        "videos/deep/../../private",
        f"{project.folder}/../private",
        f"{project.folder}-elsewhere",
        os.path.relpath(outside, project.folder),
        "/",
        "//",
        "/root",
        "/proc/self/cwd/../../root",
        "/proc/self/root",
        "~",
        "~root",
        "~root/.ssh",
        "videos\0/../../private",
        "\0",
    ]


def test_every_way_out_is_refused_whether_or_not_anything_is_there(
    project: Project, lead: Person, outside: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    ways = ways_out(project, outside)
    for served in (project, allowing(project, shared)):
        for typed in [*ways, "/no/such/folder"]:
            with pytest.raises(ProjectError, match=REFUSED):
                allowed_path(served, lead, typed)
            path = served.folder / os.path.expanduser(typed.strip())
            for verb in (register_videos, preview_videos):
                with pytest.raises(ProjectError, match=REFUSED):
                    verb(served, lead, path, now=NOW)
            with pytest.raises(ProjectError, match=REFUSED):
                check_videos(served, lead, videos=path, now=NOW)
            with pytest.raises(ProjectError, match=REFUSED):
                import_corpus(served, lead, path / "moments.csv", now=NOW)
            with pytest.raises(ProjectError, match=REFUSED):
                import_corpus(served, lead, served.folder / "moments.csv", videos=path, now=NOW)


def test_a_link_out_in_an_allowed_folder_brings_nothing_in(project: Project, lead: Person, outside: Path) -> None:
    folder = project.folder / "videos"
    folder.mkdir()
    (folder / "secret.mp4").symlink_to(outside / "secret.mp4")
    with pytest.raises(InputError, match="is a link out of the folder, which is not followed"):
        preview_videos(project, lead, folder, now=NOW)


def test_the_folders_of_the_operator_are_allowed_with_all_below_them(
    project: Project, lead: Person, outside: Path, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(outside)
    for root in (outside, tmp_path / "alias", "../private"):
        served = allowing(project, root)
        assert allowed_folders(served, lead) == [served.folder, outside]
        assert allowed_path(served, lead, str(outside / "season 1")) == outside / "season 1"
        assert preview_videos(served, lead, outside, now=NOW)[0].new == 1
    assert allowed_path(project, lead, "videos") == project.folder / "videos"
    assert allowed_path(project, OPERATOR, "/root") == Path("/root")  # commands read what the machine lets them


def test_a_folder_of_videos_is_allowed_as_long_as_the_operator_names_none(
    project: Project, lead: Person, outside: Path
) -> None:
    register_videos(project, OPERATOR, outside, now=NOW)
    assert allowed_folders(project, lead) == [project.folder, outside]
    assert allowed_path(project, lead, str(outside)) == outside
    with pytest.raises(ProjectError, match=REFUSED):
        allowed_path(allowing(project, project.folder), lead, str(outside))


def test_a_strangers_database_opens_no_folder(project: Project, lead: Person, outside: Path, tmp_path: Path) -> None:
    register_videos(project, OPERATOR, outside, now=NOW)
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.mp4").write_bytes(b"something else")
    with writing(project.store) as db:
        db.conn.execute("UPDATE video SET path = ?", [str(other / "secret.mp4")])
    with pytest.raises(ProjectError, match=REFUSED):
        allowed_path(project, lead, str(other))
