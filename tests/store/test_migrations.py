"""An older database has a road forward, with its rows: the state before is kept, and being cut off does no harm."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk
from backend.campaign.doctor.database import migrate
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.settings_text import template
from backend.core.errors import InputError, SchemaOutOfDate, StoreUnavailable
from backend.store import connection, sqlite, upkeep
from backend.store.engine import SqliteDatabase as Database
from backend.store.schema import migrations
from support import NOW, person_of

M001 = Path(__file__).with_name("m001.sql")
"""A small project, as the code of the release with schema `m001_initial` left it: rows in every table."""


class Cut(Exception):
    """The process ends here."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project folder with that database."""
    (tmp_path / "reelrank.toml").write_text(
        template()
        .format(name='"old"', encoder='"minilm"', encoder_kind='"minilm"', cast="")
        .replace("\nlease_minutes", "\nbatch_size = 40\nlease_minutes")
    )
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "v0.mp4").touch()
    with closing(sqlite3.connect(tmp_path / "reelrank.db")) as db:
        db.executescript(M001.read_text())
        db.execute("PRAGMA journal_mode = wal")
    return tmp_path


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the tables that m001 has, in the columns that m001 has."""
    with closing(sqlite3.connect(":memory:")) as first:
        first.executescript(M001.read_text())
        tables = [row[0] for row in first.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {
            name: ", ".join(f'"{row[1]}"' for row in first.execute(f'PRAGMA table_info("{name}")')) for name in tables
        }
    with closing(sqlite3.connect(path)) as db:
        return {
            name: db.execute(f'SELECT {columns[name]} FROM "{name}" ORDER BY 1, 2').fetchall()
            for name in tables
            if name not in ("_sqlite_migrations", "sqlite_sequence")
        }


def shape(path: Path) -> dict[str, object]:
    """What SQLite makes of the schema: columns, keys, indexes of every table."""
    with closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        return {
            name: (
                db.execute(f'PRAGMA table_xinfo("{name}")').fetchall(),
                sorted(row[1:] for row in db.execute(f'PRAGMA index_list("{name}")')),
                sorted(row[2:] for row in db.execute(f'PRAGMA foreign_key_list("{name}")')),
            )
            for name in tables
        }


def test_every_table_of_the_old_database_has_rows(old: Path) -> None:
    assert len(rows(old / "reelrank.db")) >= 16
    assert all(rows(old / "reelrank.db").values())


def test_an_older_database_is_not_opened(old: Path) -> None:
    missing = ", ".join(migration.name for migration in migrations._migrations[1:])
    assert missing.startswith("m002_campaign, m003_desk, ")
    with pytest.raises(SchemaOutOfDate, match=rf"older schema \({missing} missing\)"):
        open_project(old)


def test_a_migrated_database_has_the_schema_of_a_new_one(old: Path, tmp_path: Path) -> None:
    applied, _ = migrate(old)
    assert applied == [migration.name for migration in migrations._migrations[1:]]
    fresh = connection.create(tmp_path / "fresh.db")
    assert migrate(old) == ([], None)
    migrated = open_project(old).store
    assert sqlite.schema(migrated.db) == sqlite.schema(fresh.db)
    assert shape(migrated.path) == shape(fresh.path)


def test_every_row_is_still_there_and_the_state_before_is_kept(old: Path) -> None:
    before = rows(old / "reelrank.db")
    _, kept = migrate(old)
    assert rows(old / "reelrank.db") == before
    assert kept == old / "reelrank.before-m002_campaign.db"
    assert rows(kept) == before
    with closing(sqlite3.connect(kept)) as db:
        assert db.execute("SELECT name FROM _sqlite_migrations").fetchall() == [("m001_initial",)]
    assert sorted(path.name for path in old.glob("reelrank.*")) == [
        *("reelrank.before-m002_campaign.db", "reelrank.db", "reelrank.toml")
    ]


def test_a_migrated_project_is_well_and_goes_on(old: Path) -> None:
    migrate(old)
    project = open_project(old)
    report = doctor(project, now=NOW + 1000)
    assert report.findings == ()
    # By hand from the rows: both queries still have pairs that nobody has graded, the first one a fourth grade to give.
    held = project.store.db.conn.execute("SELECT batch_id, nearest FROM agenda ORDER BY nearest DESC").fetchall()
    assert [tuple(row)[1] for row in held] == [4, 1]
    carla = person_of(project, "Carla")
    assert desk(project, carla, now=NOW + 5000).items


def test_releases_of_before_are_listed_by_a_name(old: Path) -> None:
    migrate(old)
    made = rows(old / "reelrank.db")["release"]
    found = list_releases(open_project(old), OPERATOR)
    assert [one.name for one in found] == [f"release-{row[0]}" for row in reversed(made)]
    assert {one.file for one in found} == {None}


@pytest.mark.parametrize(
    ("told", "opened", "expected"), [(40, 20, 20), (20, 40, 40), (40, None, 40), (20, None, 20), (None, None, 20)]
)
def test_the_batch_size_of_the_settings_moves_into_the_database_unless_the_batches_show_another(
    tmp_path: Path, told: int | None, opened: int | None, expected: int
) -> None:
    settings = tmp_path / "reelrank.toml"
    said = "" if told is None else f"batch_size = {told}\n"
    settings.write_text(f'name = "old"\nencoder = "minilm"\nencoder_kind = "minilm"\n{said}[cast]\n"Al" = "a man"\n')
    if opened is None:
        store = sqlite.SqliteStore(tmp_path / "reelrank.db")
        migrations.apply(store.db, stop_before="m007_campaign")
        store.close()
    else:
        with closing(sqlite3.connect(tmp_path / "reelrank.db")) as db:
            db.executescript(M001.read_text())
            db.execute("UPDATE pair SET rank = ? WHERE rank = 20", [opened])
            db.commit()
    migrate(tmp_path)
    project = open_project(tmp_path)
    assert project.campaign.batch_size == expected
    assert project.settings.cast == {"Al": "a man"}
    remark = (
        "# The batch size stands in the database now; `reelrank candidates --batch-size` sets it before lists exist."
    )
    assert settings.read_text().splitlines()[3:-2] == [remark] * (told is not None)


def test_a_batch_size_that_none_can_be_is_refused_before_anything_is_migrated(old: Path) -> None:
    settings = old / "reelrank.toml"
    settings.write_text(settings.read_text().replace("batch_size = 40", "batch_size = 25"))
    with pytest.raises(InputError, match=r"reelrank\.toml: batch_size is 25: write 20 or 40"):
        migrate(old)
    with pytest.raises(SchemaOutOfDate):
        open_project(old)


def test_a_migration_that_fails_half_way_leaves_the_old_database_and_can_be_run_again(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(old / "reelrank.db")

    def cut(db: Database) -> None:
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(candidates_rows, "rebuild_agenda", cut)
        with pytest.raises(Cut):
            migrate(old)
    with pytest.raises(SchemaOutOfDate):
        open_project(old)
    assert rows(old / "reelrank.db") == before
    assert not [*old.glob("*.part*"), *old.glob(".reelrank-*")]
    _, kept = migrate(old)
    assert kept == old / "reelrank.before-m002_campaign.db"  # no second copy of the same state
    assert [file.name for file in old.glob("*.before-*")] == [kept.name]
    assert rows(old / "reelrank.db") == before
    assert doctor(open_project(old), now=NOW + 1000).findings == ()


def test_a_migration_cut_off_before_it_was_noted_down_starts_again(old: Path) -> None:
    """As a kill between the change of the tables and the record of it leaves a database."""
    before = rows(old / "reelrank.db")
    store = sqlite.SqliteStore(old / "reelrank.db")
    migrations._migrations[1].fn(store.db)
    store.close()
    with pytest.raises(SchemaOutOfDate):
        open_project(old)
    migrate(old)
    assert rows(old / "reelrank.db") == before
    assert doctor(open_project(old), now=NOW + 1000).findings == ()


def test_the_migration_of_queries_cut_off_before_it_was_noted_down_starts_again(old: Path) -> None:
    before = rows(old / "reelrank.db")
    store = sqlite.SqliteStore(old / "reelrank.db")
    migrations.apply(store.db, stop_before="m012_queries")
    remade = next(migration for migration in migrations._migrations if migration.name == "m012_queries")
    remade.fn(store.db)
    store.close()
    migrate(old)
    assert rows(old / "reelrank.db") == before
    project = open_project(old)
    assert doctor(project, now=NOW + 1000).findings == ()
    assert {row[0] for row in project.store.db.conn.execute("SELECT source FROM query")} == {""}
    with pytest.raises(sqlite3.IntegrityError, match="a project is one campaign"):
        project.store.db.conn.execute("DELETE FROM campaign")


def test_tables_are_changed_in_one_transaction(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off inside the migration itself: nothing of it stays, and references are looked at again."""
    store = sqlite.SqliteStore(old / "reelrank.db")
    before = sqlite.schema(store.db)
    script = "backend.store.schema.m002_campaign.CAMPAIGN"
    monkeypatch.setattr(script, "CREATE INDEX pair_batch ON pair (batch_id);\nCREATE INDEX nonsense ON nowhere (x)")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrations._migrations[1].fn(store.db)
    assert sqlite.schema(store.db) == before
    assert store.db.conn.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_a_project_in_use_is_not_migrated(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "ALONE_TIMEOUT_S", 0.1)
    server = sqlite.SqliteStore(old / "reelrank.db")
    assert server.db.conn.execute("SELECT count(*) FROM pair").fetchone()[0] == 40
    with pytest.raises(StoreUnavailable, match="is in use: stop its server"):
        migrate(old)
    server.close()
    assert migrate(old)[0]


def test_rewrites_that_commands_took_by_hand_are_decided_and_others_wait(tmp_path: Path) -> None:
    store = sqlite.SqliteStore(tmp_path / "reelrank.db")
    migrations.apply(store.db, stop_before="m011_rewrite_decisions")
    store.db.conn.executescript(
        "INSERT INTO video (video_id, name, duration_s) VALUES (1, 'v', 9);"
        "INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (1, 1, 0, 1);"
        "INSERT INTO caption (caption_id, moment_id, text, kind) VALUES (1, 1, 'Al nods.', 'published'),"
        " (2, 1, 'Bo nods.', 'published');"
        "INSERT INTO caption (moment_id, text, kind, source_caption_id, rule_version, accepted) VALUES"
        " (1, 'A man nods.', 'rewritten', 1, 'by-hand', 1), (1, 'Bo nods.', 'rewritten', 2, 'rules-1+cast-0', 0);"
        "INSERT INTO event (at, kind, subject, payload) VALUES"
        " (7, 'captions_rewritten', 'captions', '{\"rule_version\":\"rules-1+cast-0\"}'),"
        " (8, 'captions_rewritten', 'captions', '{\"rule_version\":\"by-hand\"}'),"
        " (9, 'captions_rewritten', 'captions', '{\"rule_version\":\"rules-1+cast-0\"}')"
    )
    migrations.apply(store.db)
    columns = "text, accepted, decided_at, decided_by, proposal"
    found = store.db.conn.execute(
        f"SELECT {columns} FROM caption WHERE kind = 'rewritten' ORDER BY caption_id"
    ).fetchall()
    assert [tuple(row) for row in found] == [("A man nods.", 1, 8.0, None, None), ("Bo nods.", 0, None, None, None)]
    store.close()


def test_whoever_graded_before_the_guideline_had_versions_knows_the_first_and_others_are_new(old: Path) -> None:
    migrate(old)
    db = open_project(old).store.db.conn
    ((version, since, words),) = db.execute("SELECT version, since, words FROM guideline_version").fetchall()
    assert (version, since) == (1, None)
    kept = json.loads(words)
    meanings = [tuple(one.values()) for one in kept["scale"]["meanings"]]
    assert meanings == [tuple(row) for row in db.execute("SELECT * FROM scale ORDER BY grade")]
    assert [one["title"] for one in kept["questions"]] == [
        row[0] for row in db.execute("SELECT title FROM guideline WHERE kind = 'question' ORDER BY position")
    ]
    graded = {row[0] for row in db.execute("SELECT annotator_id FROM judgement WHERE NOT imported")}
    assert graded
    assert {row[0] for row in db.execute("SELECT annotator_id FROM guideline_seen WHERE version = 1")} == graded
    with pytest.raises(sqlite3.IntegrityError, match="a version of the guideline is never changed"):
        db.execute("UPDATE guideline_version SET words = '{}'")


def test_moments_of_before_were_imported(old: Path) -> None:
    migrate(old)
    db = open_project(old).store.db.conn
    origins = [row[0] for row in db.execute("SELECT origin FROM moment")]
    assert origins == ["imported"] * len(rows(old / "reelrank.db")["moment"])
    assert db.execute("SELECT count(*) FROM shot").fetchone()[0] == 0


def test_clips_that_were_blocked_before_were_reported_by_people_and_no_video_was_looked_at(old: Path) -> None:
    with closing(sqlite3.connect(old / "reelrank.db")) as db, db:
        db.execute("INSERT OR IGNORE INTO clip_fault (moment_id, reason, reported_at) VALUES (1, 'too dark', 5)")
    before = rows(old / "reelrank.db")["clip_fault"]
    migrate(old)
    db = open_project(old).store.db.conn
    assert [row[0] for row in db.execute("SELECT found_by FROM clip_fault")] == ["person"] * len(before) != []
    assert db.execute("SELECT count(*) FROM video_check").fetchone()[0] == 0
    assert [one.trouble for one in video_states(open_project(old), OPERATOR)] == [None] * len(
        rows(old / "reelrank.db")["video"]
    )


def test_names_of_videos_are_composed_unless_another_has_that_name(old: Path) -> None:
    taken, free = ("caf\u00e9", "cafe\u0301"), "u\u0308bung"
    with closing(sqlite3.connect(old / "reelrank.db")) as db:
        db.executemany("INSERT INTO video (name, duration_s) VALUES (?, 9)", [(name,) for name in (*taken, free)])
        db.commit()
    migrate(old)
    with closing(sqlite3.connect(old / "reelrank.db")) as db:
        names = {row[0] for row in db.execute("SELECT name FROM video")}
    assert names >= {*taken, "\u00fcbung"}
    assert free not in names
