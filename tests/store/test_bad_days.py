"""Full disk, read-only folder, foreign locks, a clock that jumps: a wait or a clear message, and nothing lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk
from backend.campaign.doctor.database import backup, restore
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import ReceiptStatus
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import ProjectError, ReelRankError, StoreUnavailable
from backend.store import connection, sqlite
from support import NOW, Judging

LEASE_S = 15 * 60
NOBODY = 65534
FULL = "the disk is full: make room. Then try again. Saved work is safe"


def stored(judging: Judging) -> dict[str, int]:
    """Every grade in the database, by the key of its key press."""
    rows = judging.project.store.db.conn.execute("SELECT event_key, grade FROM judgement")
    return {row[0]: row[1] for row in rows}


def grade_until_it_fails(judging: Judging, limit: int) -> tuple[dict[str, int], str]:
    """Grade pair after pair, correcting over and over; (what was acknowledged, what the failure said)."""
    keys = [pair.pair for pair in judging.pairs()]
    saved: dict[str, int] = {}
    for n in range(limit):
        event = f"press-{n}"
        try:
            receipt = judging.grade(0, keys[n % len(keys)], n // len(keys) % 5, key=event)
        except StoreUnavailable as error:
            return saved, str(error)
        assert receipt.status is ReceiptStatus.SAVED
        saved[event] = n // len(keys) % 5
    pytest.fail("the disk never got full")


def require_all_saved_and_well(judging: Judging, saved: dict[str, int]) -> None:
    assert saved
    assert stored(judging) == saved
    assert doctor(judging.project, now=NOW).findings == ()


def elsewhere(judging: Judging, folder: Path) -> Judging:
    """The same project in another folder."""
    judging.project.store.close()
    shutil.copytree(judging.project.folder, folder, dirs_exist_ok=True)
    return replace(judging, project=open_project(folder))


# -- full disk -------------------------------------------------------------------------------------------------------


def test_a_database_that_may_not_grow_keeps_all_that_was_saved_and_goes_on_when_there_is_room(judging: Judging) -> None:
    db = judging.project.store.db.conn
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages + 3}")
    saved, told = grade_until_it_fails(judging, 2000)
    assert FULL in told
    assert str(judging.project.folder / "reelrank.db") in told
    require_all_saved_and_well(judging, saved)
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        judging.grade(2, judging.pairs()[-1].pair, 0)
    db.execute("PRAGMA max_page_count = 1073741823")
    assert judging.grade(1, judging.pairs()[0].pair, 3, key="after").status is ReceiptStatus.SAVED
    require_all_saved_and_well(judging, {**saved, "after": 3})


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB; only root may have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a small disk here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Use up what is left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return filler


def test_a_full_disk_keeps_all_that_was_saved_and_work_goes_on_when_there_is_room(
    judging: Judging, small_disk: Path
) -> None:
    judging = elsewhere(judging, small_disk / "project")
    filler = fill(small_disk)
    os.truncate(filler, filler.stat().st_size - 100_000)  # room for a few grades
    saved, told = grade_until_it_fails(judging, 2000)
    assert FULL in told
    require_all_saved_and_well(judging, saved)
    filler.unlink()
    assert judging.grade(1, judging.pairs()[0].pair, 3, key="after").status is ReceiptStatus.SAVED
    require_all_saved_and_well(judging, {**saved, "after": 3})
    judging.project.store.close()
    reopened = replace(judging, project=open_project(small_disk / "project"))
    require_all_saved_and_well(reopened, {**saved, "after": 3})
    reopened.project.store.close()


def test_a_new_database_that_does_not_fit_leaves_nothing_and_can_be_made_when_there_is_room(small_disk: Path) -> None:
    filler = fill(small_disk)
    os.truncate(filler, filler.stat().st_size - 100_000)
    with pytest.raises(StoreUnavailable, match=r"reelrank.db cannot be used: the disk is full: make room"):
        connection.create(small_disk / "reelrank.db")
    assert list(small_disk.iterdir()) == [filler]
    filler.unlink()
    connection.create(small_disk / "reelrank.db").close()


def test_a_backup_that_does_not_fit_says_so_and_leaves_nothing(judging: Judging, small_disk: Path) -> None:
    filler = fill(small_disk)
    with pytest.raises(StoreUnavailable, match=r"monday.db cannot be written .*full.*: make room"):
        backup(judging.project, small_disk / "monday.db")
    assert list(small_disk.iterdir()) == [filler]
    filler.unlink()
    backup(judging.project, small_disk / "monday.db")


def test_a_restore_that_does_not_fit_changes_nothing(judging: Judging, small_disk: Path, tmp_path: Path) -> None:
    judging = elsewhere(judging, small_disk / "project")
    backup(judging.project, tmp_path / "monday.db")
    judging.grade(0, judging.pairs()[0].pair, 3, key="later")
    judging.project.store.close()
    fill(small_disk)
    with pytest.raises(StoreUnavailable, match=r"cannot be written .*: make room"):
        restore(small_disk / "project", tmp_path / "monday.db", now=NOW)
    (small_disk / "filler").unlink()
    assert {path.name for path in (small_disk / "project").iterdir()} >= {"reelrank.db", "reelrank.toml"}
    assert not [*(small_disk / "project").glob("*.part*"), *(small_disk / "project").glob(".reelrank-*")]
    require_all_saved_and_well(judging, {"later": 3})
    judging.project.store.close()


# -- read-only folder ------------------------------------------------------------------------------------------------


@contextmanager
def as_nobody() -> Iterator[None]:
    """Permissions do not stop root, so be somebody else for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only(judging: Judging) -> Iterator[Judging]:
    """A project in a folder that may be looked at but not written to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    moved = elsewhere(judging, folder / "project")
    moved.grade(0, moved.pairs()[0].pair, 3, key="before")
    moved.project.store.close()
    for path in (folder / "project").iterdir():
        path.chmod(0o444)
    (folder / "project").chmod(0o555)
    yield moved
    (folder / "project").chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "act",
    [
        lambda judging: init_project(judging.project.folder / "new", encoder="minilm"),
        lambda judging: open_project(judging.project.folder),
        lambda judging: judging.grade(1, "some pair", 3),
        lambda judging: desk(judging.project, judging.annotators[0], now=NOW),
        lambda judging: backup(judging.project, judging.project.folder / "copy.db"),
        lambda judging: restore(judging.project.folder, Path(__file__).with_name("m001.sql"), now=NOW),
    ],
    ids=["init", "open", "grade", "desk", "backup", "restore"],
)
def test_a_folder_that_cannot_be_written_is_named_and_nothing_changes(
    read_only: Judging, act: Callable[[Judging], object]
) -> None:
    there = {path.name for path in read_only.project.folder.iterdir()}
    with as_nobody(), pytest.raises(ReelRankError) as told:
        act(read_only)
    assert isinstance(told.value, ProjectError)
    assert str(read_only.project.folder) in str(told.value)
    assert any(word in str(told.value) for word in ("writable", "cannot write", "cannot be written"))
    assert {path.name for path in read_only.project.folder.iterdir()} == there
    read_only.project.folder.chmod(0o700)  # the doctor would name what others may read
    require_all_saved_and_well(read_only, {"before": 3})


# -- foreign locks ---------------------------------------------------------------------------------------------------

LOCK = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
"""


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Another program keeps the database locked for so long."""
    command = [sys.executable, "-c", LOCK, str(path), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        yield
        process.kill()


def test_a_grade_waits_up_to_30_s_for_another_program_and_is_saved(judging: Judging) -> None:
    """The lock lasts a moment here, and the limit is read from the connection."""
    keys = [pair.pair for pair in judging.pairs()]
    receipts: list[ReceiptStatus] = []
    limits_ms: list[int] = []
    begun = threading.Barrier(4)

    def work(who: int) -> None:
        begun.wait()
        receipts.append(judging.grade(who, keys[who], 3, key=f"press-{who}").status)
        limits_ms.append(judging.project.store.db.conn.execute("PRAGMA busy_timeout").fetchone()[0])
        judging.project.store.close()

    with locked(judging.project.folder / "reelrank.db", 60):
        threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        assert len(judging.pairs()) == 60  # whoever only looks does not wait
        time.sleep(0.5)
        assert receipts == []
    for thread in threads:
        thread.join()
    assert receipts == [ReceiptStatus.SAVED] * 3
    assert limits_ms == [30_000] * 3
    require_all_saved_and_well(judging, {f"press-{who}": 3 for who in range(3)})


def test_a_lock_that_lasts_too_long_is_told_in_words_and_nothing_is_written(
    judging: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.5)
    key = judging.pairs()[0].pair
    judging.project.store.close()  # so that the next connection has the short patience
    with locked(judging.project.folder / "reelrank.db", 60):
        for act in (
            lambda: judging.grade(0, key, 3, key="press"),
            lambda: desk(judging.project, judging.annotators[0], now=NOW),
        ):
            with pytest.raises(StoreUnavailable) as told:
                act()
            assert "another program has kept it locked" in str(told.value)
            assert "database is locked" not in str(told.value)
    assert stored(judging) == {}
    judging.grade(0, key, 3, key="press")
    require_all_saved_and_well(judging, {"press": 3})


def test_a_thread_of_this_process_that_writes_too_long_is_told_of_in_the_same_words(
    judging: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.2)
    key = judging.pairs()[0].pair
    told: list[str] = []

    def work() -> None:
        try:
            judging.grade(0, key, 3)
        except StoreUnavailable as error:
            told.append(str(error))
        judging.project.store.close()

    with connection.writing(judging.project.store):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(told) == 1
    assert "cannot be used: another program has kept it locked" in told[0]


def test_a_read_that_was_open_too_long_is_no_reason_to_lose_a_grade(judging: Judging) -> None:
    reader = sqlite3.connect(judging.project.folder / "reelrank.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM judgement").fetchone()[0] == 0
    judging.grade(0, judging.pairs()[0].pair, 3, key="press")
    assert reader.execute("SELECT count(*) FROM judgement").fetchone()[0] == 0
    reader.close()
    require_all_saved_and_well(judging, {"press": 3})


# -- a clock that is set back ----------------------------------------------------------------------------------------

AN_HOUR_AGO = NOW - 3600


def test_after_the_clock_was_set_back_undo_still_reopens_the_newest_grade(judging: Judging) -> None:
    first, second = (item.pair for item in desk(judging.project, judging.annotators[0], now=NOW).items[:2])
    judging.grade(0, first, 1, key="before")
    judging.grade(0, second, 2, key="after", at=AN_HOUR_AGO)
    previous = desk(judging.project, judging.annotators[0], now=AN_HOUR_AGO + 5).previous
    assert previous is not None
    assert (previous.pair, previous.grade) == (second, 2)
    judging.grade(0, second, 4, key="corrected", at=AN_HOUR_AGO + 6)
    assert [grade.grade for grade in judging.state(second).grades] == [4]
    judging.grade(0, first, 3, key="corrected too", at=AN_HOUR_AGO + 7)
    assert [grade.grade for grade in judging.state(first).grades] == [3]
    assert stored(judging) == {"before": 1, "after": 2, "corrected": 4, "corrected too": 3}


def test_after_the_clock_was_set_back_the_seats_of_somebody_absent_come_back_after_one_lease(judging: Judging) -> None:
    absent, present = judging.annotators[:2]
    held = {item.pair for item in desk(judging.project, absent, now=NOW).items}
    assert len(held) == 7
    assert {finding.check for finding in doctor(judging.project, now=AN_HOUR_AGO).findings} == {"leases"}
    desk(judging.project, present, now=AN_HOUR_AGO)
    assert doctor(judging.project, now=AN_HOUR_AGO).findings == ()

    def still_absent() -> int:
        row = judging.project.store.db.conn.execute(
            "SELECT count(*) FROM seat WHERE annotator_id = ? AND lease_until >= ?",
            [absent.annotator_id, AN_HOUR_AGO + LEASE_S + 1],
        ).fetchone()
        return int(row[0])

    assert still_absent() == 0
    # Two others can grade everything, the seven pairs included, one lease later.
    for who in (1, 2):
        at = AN_HOUR_AGO + LEASE_S + 2
        while items := desk(judging.project, judging.annotators[who], now=at).items:
            judging.grade(who, items[0].pair, 3, at=at)
    graded = {pair.pair: {grade.annotator for grade in pair.grades} for pair in judging.pairs()}
    assert all(graded[key] == {"Boris", "Carla"} for key in held)
    assert doctor(judging.project, now=at).findings == ()
