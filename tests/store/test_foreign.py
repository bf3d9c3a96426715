"""A database from a stranger: what acts by itself in it and is not ours is refused before anything is read."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from backend.core.errors import ProjectError
from backend.store import foreign, sqlite, upkeep
from backend.store.schema import DIGESTS, migrations

HARM = {
    "a trigger that rewrites grades": (
        "CREATE TRIGGER kind_help AFTER INSERT ON judgement BEGIN UPDATE judgement SET grade = 4; END",
        "trigger kind_help",
    ),
    "a trigger that hides behind SQLite's name": (
        "CREATE TRIGGER sqlitex AFTER INSERT ON event BEGIN SELECT 1; END",
        "trigger sqlitex",
    ),
    "a trigger of ours made to say nothing": (
        "DROP TRIGGER judgement_no_update; "
        "CREATE TRIGGER judgement_no_update BEFORE UPDATE ON judgement BEGIN SELECT 1; END",
        "trigger judgement_no_update",
    ),
    "a view in the place of a table": (
        "DROP TABLE draft; CREATE VIEW draft AS SELECT 1",
        "view draft",
    ),
    "a view that never ends": (
        "CREATE VIEW nice AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
        "view nice",
    ),
    "a computed column": ("CREATE TABLE more (a INT, b INT GENERATED ALWAYS AS (a + 1))", "table more"),
    "a virtual table": ("CREATE VIRTUAL TABLE words USING fts5(text)", "table words"),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    sqlite.create(tmp_path / "reelrank.db").close()
    return tmp_path / "reelrank.db"


def harm(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)


@pytest.mark.parametrize("what", HARM)
def test_what_acts_by_itself_is_refused_when_opened_restored_or_migrated(place: Path, what: str) -> None:
    script, named = HARM[what]
    harm(place, script)
    good = place.with_name("good.db")
    sqlite.create(good).close()
    acts: list[Callable[[], object]] = [
        lambda: sqlite.open_store(place),
        lambda: upkeep.restore(good, place, now=0.0),
        lambda: upkeep.migrate(place, derive=lambda db: None),
    ]
    for act in acts:
        with pytest.raises(ProjectError, match=rf"never made.*: {named}"):
            act()
    assert sqlite.open_store(good).schema_level == migrations._migrations[-1].name


def test_the_list_of_migrations_may_not_be_a_view(place: Path) -> None:
    harm(
        place,
        "ALTER TABLE _sqlite_migrations RENAME TO hidden; "
        "CREATE VIEW _sqlite_migrations AS SELECT * FROM hidden WHERE abs(1) = 1",
    )
    with pytest.raises(ProjectError):
        sqlite.open_store(place)


def test_what_is_missing_or_harmless_is_left_to_the_doctor(place: Path) -> None:
    harm(place, "DROP TRIGGER judgement_no_update; CREATE INDEX mine ON video (name); CREATE TABLE notes (text)")
    store = sqlite.open_store(place)
    assert store.schema_differences() == ["index mine", "table notes", "trigger judgement_no_update"]
    store.close()


def test_an_older_database_is_compared_with_the_schema_of_then(place: Path) -> None:
    older = migrations._migrations[9].name
    place.unlink()
    with closing(sqlite3.connect(place)) as db, closing(sqlite.fresh()) as made:
        made.conn.execute("SELECT 1")
        for kind in ("table", "index", "view", "trigger"):
            for one, name, sql in foreign.objects_up_to(older):
                if one == kind and name != "sqlite_sequence" and sql:
                    db.execute(sql)
        for one in migrations._migrations[:10]:
            db.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('reelrank', ?, '')",
                [one.name],
            )
        db.commit()
        foreign.require_known(db, place)
        db.execute("CREATE TRIGGER odd AFTER INSERT ON event BEGIN SELECT 1; END")
        with pytest.raises(ProjectError, match="trigger odd"):
            foreign.require_known(db, place)


def test_the_digests_that_are_written_down_are_those_of_the_migrations() -> None:
    newest = migrations._migrations[-1].name
    expected = {name: foreign.digest(foreign.objects_up_to(name)) for name in {*DIGESTS, newest}}
    assert expected == DIGESTS, "write SCHEMA_DIGEST of the newest into its file: opening is quicker then"
