"""Whose a temporary file is, told by its name: what ended processes left goes, and nothing that anybody makes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.core import leftovers
from backend.core.atomic_output import new_files, own_folder
from backend.core.leftovers import OURS, UNTOUCHED_S, abandoned, part_of, remove_leftovers, temporary_prefix


@pytest.fixture(autouse=True)
def _nothing_was_told() -> Iterator[None]:
    leftovers.freed.number = leftovers.freed.size = 0
    yield
    leftovers.freed.number = leftovers.freed.size = 0


def named(pid: int, started: str = "1", machine: str = "") -> str:
    """A temporary name of another process."""
    own = temporary_prefix().removeprefix(OURS).split("-")[0]
    return f"{OURS}{machine or own}-{pid}-{started}-abc"


def left(folder: Path, name: str, age_s: float = 0.0) -> Path:
    """A folder of that name with a file of 1000 bytes, last written to `age_s` seconds ago."""
    file = folder / name / "half"
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(1000))
    for path in (file, file.parent):
        os.utime(path, (time.time() - age_s,) * 2)
    return file.parent


@pytest.fixture
def ended() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_an_ended_process_left_is_removed_at_once_and_counted(tmp_path: Path, ended: int) -> None:
    left(tmp_path, named(ended))
    file = tmp_path / part_of(Path("a.mp4")).name.replace(f"-{os.getpid()}-", f"-{ended}-")
    file.write_bytes(bytes(500))
    remove_leftovers([tmp_path, tmp_path / "missing"])
    assert list(tmp_path.iterdir()) == []
    assert (leftovers.freed.number, leftovers.freed.size) == (2, 1500)


def test_a_process_id_that_was_used_again_is_another_process(tmp_path: Path) -> None:
    left(tmp_path, named(os.getpid(), "1"))  # this process did not start with the machine
    remove_leftovers([tmp_path])
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ended_and_whose_parent_has_not_asked_is_gone(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    started = leftovers._started(child) or "1"
    deadline = time.monotonic() + 10
    while leftovers._started(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert abandoned(left(tmp_path, named(child, started)), time.time())
    os.waitpid(child, 0)


def test_what_a_living_process_makes_stays_however_old_it_is(tmp_path: Path) -> None:
    with own_folder(tmp_path / "out") as own:
        part = part_of(tmp_path / "a.mp4")
        part.touch()
        for path in (own, part):
            os.utime(path, (time.time() - 100 * UNTOUCHED_S,) * 2)
        remove_leftovers([tmp_path])
        with new_files(tmp_path):
            pass
        assert {*tmp_path.iterdir()} == {own, part}


def test_what_another_machine_makes_stays_for_an_hour(tmp_path: Path, ended: int) -> None:
    young = left(tmp_path, named(ended, "5", "01234567"), UNTOUCHED_S - 60)
    left(tmp_path, named(os.getpid(), "6", "01234567"), UNTOUCHED_S + 60)
    remove_leftovers([tmp_path])
    assert list(tmp_path.iterdir()) == [young]


def test_names_that_are_not_made_here_and_links_are_never_touched(tmp_path: Path, ended: int) -> None:
    folder, theirs = tmp_path / "folder", left(tmp_path, "theirs", 100 * UNTOUCHED_S)
    kept = [
        left(folder, name, 100 * UNTOUCHED_S)
        for name in (f"{OURS}mine", f"{OURS}{ended}-1-a", "a.part", f"x{named(ended)}", f"a.{ended}.1.part")
    ]
    (folder / named(ended)).symlink_to(theirs)
    remove_leftovers([folder])
    assert sorted(folder.iterdir()) == sorted([*kept, folder / named(ended)])
    assert list(theirs.iterdir())


def test_the_next_to_write_in_a_folder_removes_what_a_killed_one_left_there(tmp_path: Path, ended: int) -> None:
    left(tmp_path, named(ended))
    with new_files(tmp_path) as part:
        (part / "a.txt").write_text("a")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
