"""The database opens only as it should be, and its records cannot be changed."""

import sqlite3
from pathlib import Path

import pytest

from backend.core.errors import ProjectError, SchemaOutOfDate
from backend.store import connection
from backend.store.schema import migrations
from support import Judging


@pytest.mark.parametrize(("pragma", "value"), connection.PRAGMAS.items())
def test_every_pragma_holds_on_a_fresh_connection(tmp_path: Path, pragma: str, value: object) -> None:
    store = connection.create(tmp_path / "reelrank.db")
    store.close()
    assert connection.open_store(store.path).db.conn.execute(f"PRAGMA {pragma}").fetchone()[0] == value


@pytest.mark.parametrize("table", ["judgement", "event"])
@pytest.mark.parametrize(
    "act", ["UPDATE {} SET rowid = rowid + 100", "DELETE FROM {}", "REPLACE INTO {0} SELECT * FROM {0}"]
)
def test_records_are_append_only(judging: Judging, table: str, act: str) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    with pytest.raises(sqlite3.IntegrityError, match=f"{table} is append-only"):
        judging.project.store.db.conn.execute(act.format(table))


def test_a_judgement_without_a_seat_cannot_be_written(judging: Judging) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        judging.project.store.db.conn.execute(
            "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) "
            "VALUES (1, 1, 2, 1, 3, 0, 'x')"
        )


def test_a_third_seat_of_the_first_round_has_no_number(judging: Judging) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        judging.project.store.db.conn.execute("INSERT INTO seat (pair_id, seat_no) VALUES (1, 5)")


def test_a_database_newer_than_the_code_is_refused_by_name(tmp_path: Path) -> None:
    store = connection.create(tmp_path / "reelrank.db")
    store.db.conn.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('reelrank', 'm999_future', '2030')"
    )
    store.close()
    with pytest.raises(SchemaOutOfDate, match=r"newer ReelRank \(it has m999_future\): update ReelRank"):
        connection.open_store(store.path)


def test_an_older_database_asks_for_migrate_and_migrate_keeps_the_old_state(tmp_path: Path) -> None:
    path = tmp_path / "reelrank.db"
    connection.Store(path).db.conn.execute("CREATE TABLE scribble (x)")
    first = migrations._migrations[0].name
    with pytest.raises(SchemaOutOfDate, match=f"{first} missing.*run `reelrank migrate"):
        connection.open_store(path)
    applied, copy = connection.migrate(path)
    assert applied[0] == first
    assert copy is not None
    assert sqlite3.connect(copy).execute("SELECT name FROM sqlite_master").fetchall() == [("scribble",)]
    assert connection.migrate(path) == ([], None)
    connection.open_store(path)


def test_a_text_file_is_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "reelrank.db"
    path.write_text("hello " * 500)
    with pytest.raises(ProjectError, match="is not a ReelRank database"):
        connection.open_store(path)


def test_backup_holds_everything_and_never_overwrites(judging: Judging, tmp_path: Path) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    connection.backup(judging.project.store, tmp_path / "copy.db")
    copy = connection.open_store(tmp_path / "copy.db")
    assert copy.db.conn.execute("SELECT grade FROM judgement").fetchall()[0][0] == 3
    with pytest.raises(ProjectError, match="never overwrites"):
        connection.backup(judging.project.store, tmp_path / "copy.db")


def test_an_error_inside_writing_leaves_nothing(judging: Judging) -> None:
    store = judging.project.store

    def half_done() -> None:
        with connection.writing(store) as db:
            db.conn.execute("DELETE FROM seat")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_done()
    assert store.db.conn.execute("SELECT count(*) FROM seat").fetchone()[0] == 120
