"""The database opens only as it should be, and its records cannot be changed."""

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.core.errors import ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.store import connection, sqlite
from support import Judging


@pytest.mark.parametrize(("pragma", "value"), sqlite.PRAGMAS.items())
def test_every_pragma_holds_on_a_fresh_connection(tmp_path: Path, pragma: str, value: object) -> None:
    store = connection.create(tmp_path / "reelrank.db")
    store.close()
    assert connection.open_store(tmp_path / "reelrank.db").db.conn.execute(f"PRAGMA {pragma}").fetchone()[0] == value


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


def test_a_seat_beyond_the_sixth_has_no_number(judging: Judging) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        judging.project.store.db.conn.execute("INSERT INTO seat (pair_id, seat_no) VALUES (1, 7)")


def test_a_database_newer_than_the_code_is_refused_by_name(tmp_path: Path) -> None:
    store = connection.create(tmp_path / "reelrank.db")
    store.db.conn.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('reelrank', 'm999_future', '2030')"
    )
    store.close()
    with pytest.raises(SchemaOutOfDate, match=r"newer ReelRank \(it has m999_future\): update ReelRank"):
        connection.open_store(tmp_path / "reelrank.db")


def test_a_text_file_is_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "reelrank.db"
    path.write_text("hello " * 500)
    with pytest.raises(ProjectError, match="or not a ReelRank database"):
        connection.open_store(path)


def flip(path: Path, table: str) -> None:
    """Turn the bits of the first bytes of a table's tree."""
    with closing(sqlite3.connect(path)) as db:
        found = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
        page = found[0] if found else 1
        size = db.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        start = (page - 1) * size or 100  # the first page begins with the file's header
        file.seek(start)
        flipped = bytes(byte ^ 0xFF for byte in file.read(16))
        file.seek(start)
        file.write(flipped)


def damage(path: Path, how: str) -> None:
    """Really break a file that nobody has open."""
    if how == "half of it is gone":
        os.truncate(path, path.stat().st_size // 2)
    elif how == "its header is overwritten":
        with path.open("r+b") as file:
            file.write(b"\0" * 100)
    else:
        flip(path, how.removeprefix("bits flipped in "))


DAMAGES = [
    *(f"bits flipped in {table}" for table in ("seat", "judgement", "moment", "_sqlite_migrations", "sqlite_master")),
    "half of it is gone",
    "its header is overwritten",
]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_database_is_not_opened_and_says_what_to_do(judging: Judging, how: str) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    path = judging.project.folder / "reelrank.db"
    judging.project.store.close()
    damage(path, how)
    with pytest.raises(StoreUnavailable) as told:
        connection.open_store(path)
    assert str(told.value).startswith(f"{path} is damaged, or not a ReelRank database (")
    assert f"Stop the server, then run `reelrank restore {path.parent} " in str(told.value)


def test_text_that_is_no_text_any_more_is_told_in_words(judging: Judging) -> None:
    path = judging.project.folder / "reelrank.db"
    judging.project.store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    at = judging.project.store.db.conn.execute("SELECT applied_at FROM _sqlite_migrations").fetchone()[0].encode()
    judging.project.store.close()
    path.write_bytes(path.read_bytes().replace(at, at[:-4] + b"\xff\xfe\xff\xfe"))
    with pytest.raises(ProjectError, match="is damaged"):
        connection.open_store(path)


def test_bits_flipped_anywhere_are_told_in_words_or_do_no_harm_to_the_structure(judging: Judging) -> None:
    """SQLite keeps no checksums: what only changes a text or a number is not noticed, and no test can ask for it."""
    path = judging.project.folder / "reelrank.db"
    judging.project.store.close()
    intact = path.read_bytes()
    told = 0
    for n in range(200):
        rng = random.Random(n)
        place = rng.randrange(100) if n % 4 == 0 else rng.randrange(len(intact) - 8)
        flipped = bytes(byte ^ rng.randrange(1, 256) for byte in intact[place : place + 8])
        path.write_bytes(intact[:place] + flipped + intact[place + 8 :])
        try:
            connection.open_store(path).close()
        except ProjectError:
            told += 1
    assert told > 50


def test_an_error_inside_writing_leaves_nothing(judging: Judging) -> None:
    store = judging.project.store

    def half_done() -> None:
        with connection.writing(store) as db:
            db.conn.execute("DELETE FROM seat")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_done()
    assert store.db.conn.execute("SELECT count(*) FROM seat").fetchone()[0] == 120
