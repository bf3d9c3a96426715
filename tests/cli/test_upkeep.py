"""backup, restore, doctor: the copy is whole, the state before is kept, and nobody is disturbed or lost."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path

import pytest

from backend.campaign.doctor.database import backup, restore
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import ReceiptStatus
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import AlreadyDone, ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.store import connection, upkeep
from cli.conftest import Run
from support import NOW, Judging

OWN_FOLDER = """
import sys, time
from pathlib import Path
from backend.core.atomic_output import own_folder

with own_folder(Path(sys.argv[1])) as own:
    (own / "half").write_bytes(bytes(2_000_000))
    print(".", end="", flush=True)
    time.sleep(600)
"""
ROOT = Path(__file__).parents[2]
M001 = ROOT / "tests" / "store" / "m001.sql"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def judgements(database: Path) -> int:
    with closing(sqlite3.connect(database)) as db:
        count: int = db.execute("SELECT count(*) FROM judgement").fetchone()[0]
    return count


def as_project(judging: Judging, database: Path, folder: Path) -> Project:
    """A project folder around a copy of the database."""
    folder.mkdir()
    shutil.copy(judging.project.folder / "reelrank.toml", folder)
    shutil.copy(database, folder / "reelrank.db")
    return open_project(folder)


@pytest.fixture
def saved(judging: Judging, tmp_path: Path) -> Path:
    """A backup with one grade, of a project that has three by now and is not open any more."""
    keys = [pair.pair for pair in judging.pairs()[:3]]
    judging.grade(0, keys[0], 3)
    backup(judging.project, tmp_path / "monday.db")
    for key in keys[1:]:
        judging.grade(0, key, 2)
    judging.project.store.close()
    return tmp_path / "monday.db"


# -- backup ----------------------------------------------------------------------------------------------------------


def test_a_backup_while_four_people_write_is_whole_and_has_all_that_was_saved_before_it(
    judging: Judging, tmp_path: Path
) -> None:
    keys = [pair.pair for pair in judging.pairs()]
    judging.project.store.close()
    done = threading.Event()
    saved: list[str] = []

    def work(who: int) -> None:
        for n, key in enumerate(cycle(keys)):  # corrections, once all are graded
            if judging.grade(who, key, (n + who) % 5, key=f"{who}-{n}").status is ReceiptStatus.SAVED:
                saved.append(f"{who}-{n}")
            if done.is_set():
                break
        judging.project.store.close()

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    between = []
    try:
        for n in range(3):
            while len(saved) < 20 * (n + 1):
                time.sleep(0.001)
            before = list(saved)
            between.append(len(before))
            backup(judging.project, tmp_path / f"{n}.db")
            copy = as_project(judging, tmp_path / f"{n}.db", tmp_path / f"copy-{n}")
            there = {row[0] for row in copy.store.db.conn.execute("SELECT event_key FROM judgement")}
            assert set(before) <= there
            assert doctor(copy, now=NOW).findings == ()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert len(between) == len(set(between)) == 3, "nothing was written between the backups"
    assert not [*tmp_path.glob("*.part*"), *tmp_path.glob(".reelrank-*")]


def test_backup_never_overwrites_and_names_a_folder_that_is_not_there(
    reelrank: Run, judging: Judging, tmp_path: Path
) -> None:
    assert reelrank.out("backup", judging.project.folder, tmp_path / "copy.db").startswith(f"{tmp_path / 'copy.db'}: ")
    before = (tmp_path / "copy.db").read_bytes()
    assert reelrank.out("backup", judging.project.folder, tmp_path / "copy.db").startswith("This was done at ")
    (tmp_path / "copy.db.part").write_text("mine")
    judging.grade(0, judging.pairs()[0].pair, 1)
    code, _, err = reelrank("backup", judging.project.folder, tmp_path / "copy.db")
    assert (tmp_path / "copy.db.part").read_text() == "mine"
    assert (code, (tmp_path / "copy.db").read_bytes()) == (1, before)
    assert "a backup never overwrites" in err
    assert f"{tmp_path / 'no'} is not a folder" in reelrank.refusal(
        "backup", judging.project.folder, tmp_path / "no" / "copy.db"
    )


def test_a_file_that_only_looks_like_a_leftover_of_ours_is_left_alone(judging: Judging, tmp_path: Path) -> None:
    """A file FILE.part of the user's was deleted without a word."""
    folder = tmp_path / "copies"
    folder.mkdir()
    for name in ("copy.db.part", "copy.db.part-wal"):
        (folder / name).write_text("mine")
    backup(judging.project, folder / "copy.db")
    assert names(folder) == {"copy.db", "copy.db.part", "copy.db.part-wal"}
    assert (folder / "copy.db.part").read_text() == (folder / "copy.db.part-wal").read_text() == "mine"


def test_a_damaged_database_is_not_taken_for_a_backup(judging: Judging, tmp_path: Path) -> None:
    store = judging.project.store
    page = store.db.conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'seat'").fetchone()[0]
    store.close()
    with store.path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 16)
    with pytest.raises(StoreUnavailable, match=r"is damaged.*reelrank restore"):
        backup(judging.project, tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy.db*"))


# -- restore ---------------------------------------------------------------------------------------------------------


def test_restore_puts_the_copy_in_place_keeps_the_state_before_and_tells_of_it(
    reelrank: Run, judging: Judging, saved: Path
) -> None:
    folder = judging.project.folder
    out = reelrank.out("restore", folder, saved)
    assert ["judgement", "3", "1"] in [line.split() for line in out.splitlines()]
    kept = next(folder.glob("reelrank.before-restore-*.db"))
    assert str(kept) in out
    assert (judgements(folder / "reelrank.db"), judgements(kept), judgements(saved)) == (1, 3, 1)
    assert not {"reelrank.db-wal", "reelrank.db-shm", "reelrank.db.part"} & names(folder)
    project = open_project(folder)
    assert doctor(project, now=NOW).findings == ()
    event = project.store.db.conn.execute("SELECT kind, subject, payload FROM event ORDER BY event_id DESC").fetchone()
    assert tuple(event) == (
        "restored",
        "project",
        json.dumps({"file": "monday.db", "kept": kept.name}, separators=(",", ":")),
    )


def test_a_project_that_lost_its_database_is_restored_and_a_log_left_over_is_not_played_into_it(
    judging: Judging, saved: Path
) -> None:
    folder = judging.project.folder
    judging.grade(0, judging.pairs()[5].pair, 3)
    log = (folder / "reelrank.db-wal").read_bytes()
    judging.project.store.close()
    (folder / "reelrank.db").unlink()
    (folder / "reelrank.db-wal").write_bytes(log)
    report = restore(folder, saved, now=NOW)
    assert (report.kept, report.before, report.after["judgement"]) == (None, None, 1)
    assert doctor(open_project(folder), now=NOW).findings == ()
    assert judgements(folder / "reelrank.db") == 1


@pytest.mark.parametrize("how", ["a page", "the schema", "half a file", "no header"])
def test_a_damaged_database_is_kept_and_replaced(judging: Judging, saved: Path, how: str) -> None:
    path = judging.project.folder / "reelrank.db"
    if how == "half a file":
        os.truncate(path, path.stat().st_size // 2)
    else:
        with closing(sqlite3.connect(path)) as db:
            page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'judgement'").fetchone()[0]
        with path.open("r+b") as file:
            file.seek({"a page": (page - 1) * 4096, "the schema": 100, "no header": 0}[how])
            file.write(b"\xff" * 16)
    before = path.read_bytes()
    report = restore(path.parent, saved, now=NOW)
    assert report.kept == path.with_name("reelrank.before-restore-20260921-141320.db")
    # Byte by byte, but for what SQLite counts in the header of a file that it still can open.
    assert report.kept.read_bytes()[100:] == before[100:]
    assert judgements(path) == 1
    assert doctor(open_project(path.parent), now=NOW).findings == ()


def test_what_was_kept_is_never_overwritten(judging: Judging, saved: Path) -> None:
    kept = set()
    for number in range(3):
        judging.rows(f"UPDATE video SET duration_s = {50 + number}")
        kept.add(restore(judging.project.folder, saved, now=NOW).kept)
    assert len(kept) == 3


def test_restoring_once_more_what_is_there_keeps_no_second_copy_and_notes_no_second_event(
    judging: Judging, saved: Path
) -> None:
    """As somebody does whose command was killed after its work."""
    kept = restore(judging.project.folder, saved, now=NOW).kept
    for number in (1, 2):
        with pytest.raises(AlreadyDone, match=r"^This was done at 14:13 UTC by the command line: nothing"):
            restore(judging.project.folder, saved, now=NOW + number)
        open_project(judging.project.folder).store.close()
    assert [*judging.project.folder.glob("*.before-*")] == [kept]
    assert judging.rows("SELECT count(*) FROM event WHERE kind = 'restored'") == [(1,)]


def test_copies_are_counted_by_status_and_old_ones_removed_by_the_doctor(
    reelrank: Run, judging: Judging, saved: Path
) -> None:
    folder = judging.project.folder
    kept = restore(folder, saved, now=NOW).kept
    assert kept is not None
    size = f"{kept.stat().st_size / 1e6:.1f} MB"
    assert f"1 replaced database is kept, {size}: {kept.name}. `reelrank doctor" in reelrank.out("status", folder)
    other = folder / "reelrank.before-m052.db"
    other.touch()
    os.utime(other, (time.time() - 31 * 86400,) * 2)
    (folder / f"{other.name}-wal").touch()
    assert reelrank.out("doctor", folder, "--remove-copies", "30").startswith("Removed 1 replaced database (0.0 MB).")
    assert [file.name for file in folder.glob("*.before-*")] == [kept.name]


def test_the_next_command_removes_what_a_killed_one_left_and_says_how_much(reelrank: Run, judging: Judging) -> None:
    folder = judging.project.folder
    gone, lives = (subprocess.Popen([sys.executable, "-c", OWN_FOLDER, folder / "x"], stdout=-1) for _ in range(2))
    for process in (gone, lives):
        assert process.stdout
        assert process.stdout.read(1) == b"."
    gone.kill()
    gone.wait()
    assert len(list(folder.glob(".reelrank-*"))) == 2
    code, _, err = reelrank("status", folder)
    assert (code, err) == (0, "Removed 1 unfinished file or folder of killed commands: 2.0 MB freed.\n")
    (left,) = folder.glob(".reelrank-*")
    lives.kill()
    lives.wait()
    assert doctor(open_project(folder), now=NOW).findings[-1].examples == (left.name,)
    assert "2.0 MB freed" in reelrank("backup", folder, folder.parent / "copy.db")[2]
    assert not list(folder.glob(".reelrank-*"))


def test_an_older_copy_is_restored_and_asks_for_migrate(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    judging.project.store.close()
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript(M001.read_text())
    folder = judging.project.folder
    assert f"reelrank migrate {folder}" in reelrank.out("restore", folder, tmp_path / "old.db")
    assert reelrank("migrate", folder)[0] == 0
    assert status_counts(open_project(folder), OPERATOR)["judgements"] == 30


def test_a_copy_made_by_hand_brings_its_log(judging: Judging, tmp_path: Path) -> None:
    path = judging.project.folder / "reelrank.db"
    judging.grade(0, judging.pairs()[0].pair, 3)
    for end in ("", "-wal"):
        shutil.copy(path.with_name(path.name + end), tmp_path / f"by-hand.db{end}")
    judging.project.store.close()
    assert restore(path.parent, tmp_path / "by-hand.db", now=NOW).after["judgement"] == 1


@pytest.mark.parametrize("wrong", ["a text", "another database", "a damaged copy", "a newer one", "itself", "nothing"])
def test_what_is_not_an_intact_copy_is_refused_and_nothing_changes(
    judging: Judging, saved: Path, wrong: str, tmp_path: Path
) -> None:
    folder = judging.project.folder
    file = tmp_path / "wrong.db"
    refusal: type[ProjectError] = ProjectError
    if wrong == "a text":
        file.write_text("hello " * 500)
    elif wrong == "another database":
        with closing(sqlite3.connect(file)) as db:
            db.execute("CREATE TABLE scribble (x)")
    elif wrong == "a damaged copy":
        shutil.copy(saved, file)
        os.truncate(file, file.stat().st_size // 2)
    elif wrong == "a newer one":
        refusal = SchemaOutOfDate
        shutil.copy(saved, file)
        with closing(sqlite3.connect(file)) as db:
            db.execute("INSERT INTO _sqlite_migrations VALUES (99, 'reelrank', 'm999_future', '2030')")
            db.commit()
    elif wrong == "itself":
        file = folder / "reelrank.db"
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(refusal, match=str(file)):
        restore(folder, file, now=NOW)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


SERVER = """
import sys
from pathlib import Path
from backend.store.sqlite import SqliteStore as Store
store = Store(Path(sys.argv[1]))
print(store.db.conn.execute("SELECT count(*) FROM judgement").fetchone()[0], flush=True)
sys.stdin.read()
"""


@contextmanager
def server(path: Path) -> Iterator[None]:
    """Another process that has the project open and does nothing."""
    command = [sys.executable, "-c", SERVER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"3\n"
        yield
        process.kill()


@pytest.mark.parametrize("state", ["intact", "damaged", "gone", "damaged and without its companions"])
def test_a_project_that_another_process_has_open_is_not_restored(
    judging: Judging, saved: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "ALONE_TIMEOUT_S", 0.2)
    path = judging.project.folder / "reelrank.db"
    with server(path):
        if "damaged" in state:
            with path.open("r+b") as file:
                file.write(b"\xff" * 16)
        if state == "gone":
            path.unlink()
        if "without" in state:
            path.with_name("reelrank.db-wal").unlink()
            path.with_name("reelrank.db-shm").unlink()
        there = names(path.parent)
        with pytest.raises(StoreUnavailable, match=f"The project {path.parent} is in use: stop its server"):
            restore(path.parent, saved, now=NOW)
        assert names(path.parent) == there
    restore(path.parent, saved, now=NOW)
    assert judgements(path) == 1


RESTORE = """
import sys
from pathlib import Path
from backend.store import upkeep
check = upkeep.damage_of
def told(file):
    wrong = check(file)
    print("checked", flush=True)
    return wrong
upkeep.damage_of = told
print("go", flush=True)
upkeep.restore(Path(sys.argv[1]), Path(sys.argv[2]), now=1790000000.0)
print("done", flush=True)
"""
FROM_THE_BEGINNING, FROM_PUTTING_IN_PLACE = 1, 3  # lines that it has written by then


def restore_killed(path: Path, file: Path, phase: int, delay_s: float | None) -> float:
    """Restore in a process of its own, killed so long after a phase began (None: not at all); how long that took."""
    with subprocess.Popen(
        [sys.executable, "-c", RESTORE, str(path), str(file)], cwd=ROOT, stdout=subprocess.PIPE
    ) as it:
        assert it.stdout is not None
        for _ in range(phase):
            assert it.stdout.readline()
        start = time.perf_counter()
        if delay_s is None:
            assert b"done\n" in it.stdout  # reads on until then, or to the end of what it wrote
        else:
            time.sleep(delay_s)
            it.send_signal(signal.SIGKILL)
        return time.perf_counter() - start


@pytest.mark.long
def test_a_restore_killed_at_any_moment_leaves_the_old_database_or_the_new_one(judging: Judging, saved: Path) -> None:
    path = judging.project.folder / "reelrank.db"
    for database, what in ((path, "old"), (saved, "new")):  # something to write, so that there is a middle
        with closing(sqlite3.connect(database)) as db:
            db.executemany(
                "INSERT INTO event (at, kind, subject, payload) VALUES (1, 'x', 'y', ?)",
                ((json.dumps({what: random.Random(n).randbytes(500).hex()}),) for n in range(6000)),
            )
            db.commit()
    original = path.parent / "original.db"
    shutil.copy(path, original)
    found = []

    def put_back() -> None:
        for left in path.parent.glob("reelrank.db*"):
            left.unlink()
        shutil.copy(original, path)

    for phase in (FROM_THE_BEGINNING, FROM_PUTTING_IN_PLACE):
        put_back()
        whole_s = restore_killed(path, saved, phase, None)
        for n in range(8):
            put_back()
            restore_killed(path, saved, phase, whole_s * (n + 0.5) / 8)
            store = connection.open_store(path)
            there = store.db.conn.execute(
                "SELECT (SELECT count(*) FROM judgement), (SELECT count(*) FROM event WHERE kind = 'restored'), "
                "(SELECT count(*) FROM event WHERE payload LIKE '{\"old%'), "
                "(SELECT count(*) FROM event WHERE payload LIKE '{\"new%')"
            ).fetchone()
            store.close()
            assert tuple(there) in ((3, 0, 6000, 0), (1, 1, 0, 6000))
            found.append(there[0])
    assert 3 in found


# -- doctor ----------------------------------------------------------------------------------------------------------


def test_doctor_is_silent_about_nothing_and_leaves_with_0(reelrank: Run, judging: Judging) -> None:
    assert "checks, nothing found" in reelrank.out("doctor", judging.project.folder)


def test_doctor_says_what_it_found_and_leaves_with_1_until_it_is_repaired(reelrank: Run, judging: Judging) -> None:
    judging.project.store.db.conn.execute("DELETE FROM agenda WHERE batch_id = 2")
    code, out, _ = reelrank("doctor", judging.project.folder)
    assert code == 1
    assert "agenda: 1 found: batch 2" in out
    assert "--repair computes it again" in out
    code, out, _ = reelrank("doctor", judging.project.folder, "--json")
    found = json.loads(out)
    assert (code, found["well"]) == (1, False)
    assert [(f["check"], f["count"], f["examples"], f["repaired"]) for f in found["findings"]] == [
        ("agenda", 1, ["batch 2"], False)
    ]
    assert "Repaired." in reelrank.out("doctor", judging.project.folder, "--repair")
    assert reelrank("doctor", judging.project.folder, "--json", "--repair")[0] == 0


def test_a_damaged_database_is_one_message_of_every_command(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder = judging.project.folder
    judging.project.store.close()
    os.truncate(folder / "reelrank.db", 20_000)
    for command in (["status", folder], ["doctor", folder], ["backup", folder, tmp_path / "b.db"], ["serve", folder]):
        err = reelrank.refusal(*command)
        assert err.startswith(f"reelrank: {folder / 'reelrank.db'} is damaged")
        assert f"`reelrank restore {folder} BACKUP`" in err
        assert "Traceback" not in err
