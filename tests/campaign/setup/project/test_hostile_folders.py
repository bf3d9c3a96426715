"""A project folder from a stranger: links out of it, and clips that are links to other files."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from annotate_app.server import lead_routes
from backend.campaign.corpus.captions.name_mapping import propose_cast
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.doctor.database import backup, backup_now, list_backups, migrate, move, restore
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.leaderboard import report_frames
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.places import PLACES
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.serving.server import note_address
from backend.core.errors import NoRoom, ProjectError, VideoUnreadable
from backend.core.locking import locked
from backend.media.clips import ensure as cut_clip
from backend.media.clips import with_room
from backend.media.jobs import SAFE_AGE_S, ClipCache, clip_job, is_cut
from backend.media.probe import probe
from backend.store.connection import writing
from backend.store.files import free
from numbered_videos import write_source
from support import NOW, PARTLY, Judging


@pytest.mark.parametrize("name", ["reelrank.db", "reelrank.toml"])
def test_a_project_whose_files_are_links_out_of_it_is_refused(tmp_path: Path, name: str) -> None:
    init_project(tmp_path / "mine", encoder="minilm").store.close()
    init_project(tmp_path / "theirs", encoder="minilm").store.close()
    file = tmp_path / "theirs" / name
    file.unlink()
    file.symlink_to(tmp_path / "mine" / name)
    with pytest.raises(ProjectError, match=f"{name} is a link to .*, outside the project"):
        open_project(tmp_path / "theirs")
    file.unlink()
    inside = (tmp_path / "mine" / name).rename(tmp_path / "theirs" / f"own-{name}")
    file.symlink_to(inside.name)
    open_project(tmp_path / "theirs").store.close()


@pytest.mark.parametrize("place", [place.replace("*", "db-wal" if "." in place else "x") for place in PLACES])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_project_with_a_link_out_at_any_of_its_places_is_refused(tmp_path: Path, place: str, dangling: bool) -> None:
    init_project(tmp_path / "theirs", encoder="minilm").store.close()
    mine, link = tmp_path / "mine", tmp_path / "theirs" / place
    if not dangling:
        mine.mkdir()
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(mine)
    with pytest.raises(ProjectError, match=f"{link.name} is a link to {mine}, outside the project: .*video-files.md"):
        open_project(tmp_path / "theirs")
    link.unlink()
    (tmp_path / "theirs" / "own").mkdir()
    link.symlink_to(os.path.relpath(tmp_path / "theirs" / "own", link.parent))
    if not link.name.startswith("reelrank."):
        open_project(tmp_path / "theirs").store.close()


def test_a_folder_that_is_named_by_a_link_is_a_project(tmp_path: Path) -> None:
    init_project(tmp_path / "project", encoder="minilm").store.close()
    (tmp_path / "project" / "cache").mkdir()
    (tmp_path / "link").symlink_to("project")
    open_project(tmp_path / "link").store.close()


@pytest.mark.parametrize(
    "act",
    [
        lambda folder, copy: restore(folder, copy, now=NOW),
        lambda folder, copy: migrate(folder),
        lambda folder, copy: move(folder, "file", now=NOW),
        lambda folder, copy: move(folder, "postgresql://nobody@127.0.0.1:1/none", now=NOW),
        lambda folder, copy: init_project(folder, encoder="minilm"),
    ],
    ids=["restore", "migrate", "move back", "move", "init"],
)
def test_no_command_writes_through_a_link_out_of_the_project(
    tmp_path: Path, act: Callable[[Path, Path], object]
) -> None:
    mine = init_project(tmp_path / "mine", encoder="minilm")
    backup(mine, tmp_path / "copy.db")
    mine.store.close()
    before = (tmp_path / "mine" / "reelrank.db").read_bytes()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "reelrank.db").symlink_to(tmp_path / "mine" / "reelrank.db")
    with pytest.raises(ProjectError, match=r"is a link to .*, outside the project"):
        act(tmp_path / "theirs", tmp_path / "copy.db")
    assert (tmp_path / "mine" / "reelrank.db").read_bytes() == before
    assert os.listdir(tmp_path / "theirs") == ["reelrank.db"]


def test_everything_that_lies_in_a_worked_project_is_in_the_list_of_places(judging: Judging) -> None:
    project = judging.project
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    export_release(project, OPERATOR, None, PARTLY, now=NOW)
    backup_now(project, judging.lead, now=NOW)
    propose_cast(project, OPERATOR)
    note_address(project, "http://127.0.0.1:8501")
    project.clips.folder.mkdir(parents=True, exist_ok=True)
    declared = {place.split("/")[0] for place in PLACES}
    there = {name for name in os.listdir(project.folder) if not name.startswith("reelrank.")}
    assert {"served-at.txt", "cast.csv", "cache", "releases", "backups"} <= there <= declared
    assert {f"cache/{name}" for name in os.listdir(project.folder / "cache")} <= {"cache/clips", "cache/embeddings"}
    assert {kind.folder for kind in lead_routes.KINDS.values()} <= declared


def test_a_clip_that_is_a_link_is_no_clip_and_goes(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("nobody's business")
    job = clip_job(ClipCache(tmp_path / "clips"), tmp_path / "a.mp4", 0.0, 1.0, "ab")
    job.path.parent.mkdir()
    job.path.symlink_to(secret)
    assert not is_cut(job)
    assert not job.path.is_symlink()
    assert secret.read_text() == "nobody's business"


def _old_media(folder: Path) -> list[Path]:
    """Files of last year that look like clips and like what a killed process left."""
    folder.mkdir()
    for name in ("old.mp4", "old.mp4.1.2.part", "notes.txt"):
        (folder / name).write_bytes(b"mine" * 100)
        os.utime(folder / name, (NOW - 100 * SAFE_AGE_S,) * 2)
    (folder / ".reelrank-old").mkdir()
    os.utime(folder / ".reelrank-old", (NOW - 100 * SAFE_AGE_S,) * 2)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("link", ["cache", "cache/clips"])
def test_a_link_that_takes_the_place_of_the_clips_later_deletes_nothing(
    judging: Judging, tmp_path: Path, link: str
) -> None:
    (tmp_path / "mine").mkdir()
    there = _old_media(tmp_path / "mine" / "clips")
    place = judging.project.folder / link
    place.parent.mkdir(exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    place.symlink_to(tmp_path / "mine" / ("clips" if place.name == "clips" else ""))

    def full() -> None:
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(NoRoom):
        with_room(judging.project.clips, full, lambda: NOW)
    doctor(judging.project, now=NOW, repair=True)
    assert sorted((tmp_path / "mine" / "clips").iterdir()) == there


def test_links_among_the_clips_and_beside_them_keep_their_targets(judging: Judging, tmp_path: Path) -> None:
    there, folder = _old_media(tmp_path / "mine"), judging.project.clips.folder
    folder.mkdir(parents=True)
    for number, path in enumerate(there):
        (folder / f"{number}{path.suffix}").symlink_to(path)
        os.utime(folder / f"{number}{path.suffix}", (NOW - 100 * SAFE_AGE_S,) * 2, follow_symlinks=False)
    (judging.project.folder / "own").symlink_to(tmp_path / "mine")
    found = doctor(judging.project, now=NOW, repair=True)
    assert {one.check for one in found.findings} == {"clips"}
    assert sorted((tmp_path / "mine").iterdir()) == there
    assert list(folder.iterdir()) == []


def test_a_link_among_the_backups_is_no_backup(judging: Judging, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("nobody's business")
    made = backup_now(judging.project, judging.lead, now=NOW)
    for name in ("theirs.db", "theirs.dump"):
        made.with_name(name).symlink_to(tmp_path / "secret.txt")
    assert [one.file for one in list_backups(judging.project, judging.lead)] == [made]


def test_a_link_to_nowhere_in_the_place_of_a_lock_or_a_kept_database_makes_no_file(tmp_path: Path) -> None:
    for name in ("clip.lock", "kept.db"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with locked(tmp_path / "clip.lock"):
        assert not (tmp_path / "elsewhere").exists()
    assert free(tmp_path / "kept.db") == tmp_path / "kept-2.db"


@pytest.mark.parametrize("known", [True, False])
def test_a_video_elsewhere_is_shown_only_where_its_content_is_the_recorded_one(
    judging: Judging, tmp_path: Path, known: bool
) -> None:
    video = write_source(tmp_path / "private.mp4", range(10), Fraction(1, 25))
    facts = probe(video)
    with writing(judging.project.store) as db:
        corpus.set_video_facts(db, {"v0": facts if known else replace(facts, sha256="0" * 64)})
    assert (report_frames(judging.project, OPERATOR)("v0", 0.0, 0.2) is not None) == known
    job = clip_job(judging.project.clips, video, 0.0, 0.2, facts.sha256 if known else "0" * 64)
    with nullcontext() if known else pytest.raises(VideoUnreadable, match="has changed"):
        cut_clip(job)
    assert job.path.exists() == known
