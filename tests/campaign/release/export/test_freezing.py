"""Where a release may go: refused before any work, and nothing of anybody's is touched."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release, write_pseudo_train
from backend.core.errors import ProjectError
from backend.encoders import sentence
from support import NOW, PARTLY, Judging


@pytest.fixture
def settled(judging: Judging) -> Judging:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    return judging


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def idle(settled: Judging, monkeypatch: pytest.MonkeyPatch) -> Judging:
    """A project whose encoder would say that work has begun."""

    def begin(spec: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr(sentence, "load", begin)
    return settled


@pytest.mark.parametrize("out", [".", "../here", "sub/.."])
def test_the_working_folder_is_refused_at_once(idle: Judging, here: Path, out: str) -> None:
    """`reelrank export DIR .` worked for minutes and then ended in a traceback."""
    with pytest.raises(ProjectError, match="is the current folder: name a new one"):
        export_release(idle.project, OPERATOR, Path(out), PARTLY, now=NOW)


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("full", "exists already and is not empty"),
        ("file", "is a file: name a new folder"),
        ("file/below", "file is not a folder"),
        ("/proc/nowhere/release", "/proc cannot be written"),
        ("x" * 300, "cannot be written: File name too long"),
        ("project", "exists already and is not empty"),
        ("project/cache/clips/release", "is reserved for the project itself"),
        ("project/reelrank.db-wal", "is reserved for the project itself"),
    ],
)
def test_what_cannot_be_a_new_folder_is_refused_at_once(idle: Judging, tmp_path: Path, out: str, why: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ProjectError, match=why):
        export_release(idle.project, OPERATOR, tmp_path / out, PARTLY, now=NOW)
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_to_release_is_said_at_once(judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: pytest.fail("work was begun"))
    with pytest.raises(ProjectError, match="no pair is settled yet"):
        export_release(judging.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)


def test_a_folder_that_only_looks_like_ours_is_left_alone(settled: Judging, tmp_path: Path) -> None:
    """A folder OUT.part of the user's was deleted without a word."""
    mine = tmp_path / "release.part" / "notes.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    (tmp_path / "release").mkdir()  # empty: as good as none
    export_release(settled.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    assert mine.read_text() == "mine"
    assert (tmp_path / "release" / "manifest.json").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"release", "release.part", "project", "moments.jsonl"}
    assert os.stat(tmp_path / "release").st_mode == os.stat(tmp_path / "release.part").st_mode


def test_a_release_into_folders_that_are_not_there_yet(settled: Judging, tmp_path: Path) -> None:
    export_release(settled.project, OPERATOR, tmp_path / "a" / "b", PARTLY, now=NOW)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_training_sets_are_refused_at_once_and_come_whole(
    settled: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "train"
    write_pseudo_train(settled.project, out, tops=[1, 20])
    assert {path.name for path in out.iterdir()} == {"train_top01.json", "train_top20.json"}
    before = (out / "train_top20.json").read_bytes()
    monkeypatch.setattr(sentence, "load", lambda spec: pytest.fail("work was begun"))
    with pytest.raises(ProjectError, match=r"train_top20\.json exists already"):
        write_pseudo_train(settled.project, out, tops=[20, 40])
    with pytest.raises(ProjectError, match="/proc cannot be written"):
        write_pseudo_train(settled.project, Path("/proc/nowhere"), tops=[1])
    assert {path.name for path in out.iterdir()} == {"train_top01.json", "train_top20.json"}
    assert (out / "train_top20.json").read_bytes() == before
