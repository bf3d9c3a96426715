"""A command that was killed while it created a project goes on with it, but never with anybody's work."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import filling, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import Overtaken, ProjectError
from support import NOW


def created(folder: Path, scale: str | None = "matches") -> list[str]:
    """The project's grades once it is there."""
    project = init_project(folder, encoder="minilm", scale=scale)
    labels = [meaning.label for meaning in project.campaign.scale.meanings]
    project.store.close()
    return labels


@pytest.mark.parametrize("reached", ["settings", "an empty file", "a file without tables", "no scale", "all"])
def test_a_killed_command_is_completed_by_the_next_one(tmp_path: Path, reached: str) -> None:
    wanted, folder = created(tmp_path / "undisturbed" / "mine"), tmp_path / "mine"
    created(folder, None if reached == "no scale" else "matches")
    settings = (folder / "reelrank.toml").read_text()
    command = "from backend.core.leftovers import temporary_prefix; print(temporary_prefix(), end='')"
    prefix = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True).stdout
    (folder / f"{prefix}settings").mkdir()  # of a process that has ended
    if reached not in ("no scale", "all"):
        for file in folder.glob("reelrank.db*"):
            file.unlink()
    if reached == "an empty file":
        (folder / "reelrank.db").touch()
    elif reached == "a file without tables":
        with closing(sqlite3.connect(folder / "reelrank.db")) as db:
            db.execute("PRAGMA journal_mode = wal")
    assert created(folder) == wanted
    assert (folder / "reelrank.toml").read_text() == settings
    assert {file.name for file in folder.iterdir()} <= {"reelrank.toml", "reelrank.db"}


@pytest.mark.parametrize("has", ["a person", "other settings", "another scale", "a damaged file", "only a file"])
def test_another_project_is_refused_and_stays(tmp_path: Path, has: str) -> None:
    folder = tmp_path / "mine"
    created(folder, None if has == "another scale" else "matches")
    path, settings, scale = folder / "reelrank.db", folder / "reelrank.toml", "matches"
    if has == "a person":
        project = open_project(folder)
        add_person(project, OPERATOR, "Lea", Role.LEAD, now=NOW)
        project.store.close()
    elif has == "other settings":
        settings.write_text(settings.read_text().replace("lease_minutes = 15", "lease_minutes = 16"))
    elif has == "another scale":
        created(tmp_path / "other" / "mine")
        path.write_bytes((tmp_path / "other" / "mine" / "reelrank.db").read_bytes())
        scale = None
    elif has == "a damaged file":
        path.write_bytes(path.read_bytes()[:10_000])
    else:
        settings.unlink()
    before = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
    with pytest.raises(ProjectError, match="is a project already"):
        created(folder, scale)
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_two_commands_that_fill_one_project_at_a_time_do_not_harm_each_other(tmp_path: Path) -> None:
    first, second = (init_project(tmp_path / "mine", encoder="minilm") for _ in range(2))
    with filling(first) as db:
        db.conn.execute("INSERT INTO video (name, duration_s) VALUES ('v', 1)")
    with pytest.raises(Overtaken, match="is a project already"), filling(second):
        pytest.fail("filled twice")
    assert [row[0] for row in first.store.db.conn.execute("SELECT name FROM video")] == ["v"]
    other = init_project(tmp_path / "other", encoder="minilm")
    with pytest.raises(MemoryError), filling(other):
        raise MemoryError
    assert [*other.folder.iterdir()] == []
    first.store.close()
    second.store.close()
