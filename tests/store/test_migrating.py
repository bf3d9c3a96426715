"""A PostgreSQL database of any earlier schema is upgraded in place: as SQLite's, whole or not at all, nobody losing."""

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from backend.campaign.desk import exchange
from backend.campaign.doctor.database import former_databases, migrate, remove_former_databases
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import GradeEvent, ReceiptStatus
from backend.campaign.nouns import Person
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.settings_text import template
from backend.core.errors import BeingUpgraded, ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.store import creating
from backend.store.connection import writing
from backend.store.dialect import Raw
from backend.store.engine import Database, SqliteDatabase
from backend.store.files import SECRET_TABLE
from backend.store.postgresql import PostgresStore
from backend.store.schema import migrations
from old_schemas import NAMES, lower, to_postgresql
from postgres import Cluster
from store.test_migrated_rows import OLD_ROWS
from store.test_migrations import M001
from support import NOW, Judging

LAST = NAMES[-1]
KNEW_POSTGRESQL = "m038_practice_order"
BY_DEFAULT = ("m002_campaign", KNEW_POSTGRESQL, LAST)
"""The first release, the first that knew PostgreSQL, the one before this."""
PRACTICE = """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (7, 'Anna', 'annotator', 1);
INSERT INTO video (video_id, name, duration_s) VALUES (7, 'v', 60.125);
INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (7, 7, 0, 5);
INSERT INTO practice VALUES
  (1, 'p', 'She waves.', 7, 3, 'so', NULL, 5, NULL), (2, 'q', 'He sits.', 7, 0, 'no', NULL, 5, NULL);
INSERT INTO practice_answer VALUES (2, 7, 1, 9, 'zz'), (1, 7, 3, 9, 'b'), (2, 7, 0, 9, 'a')
"""
"""Three answers of one instant: only the order in which they came tells which is the newest."""
KEPT = """
INSERT INTO campaign_secret VALUES (1, 'a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1');
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (1, 'Lea', 'lead', 0.1);
INSERT INTO kept_run VALUES (1, 'mine', 'r.json', 'ab', 5.25, 1, 1, 1, '["q"]', '["v"]', '{}',
  x'0000000000000000', x'00000000000000000100000000000000', x'00000000', x'000000000000f03f', x'0000000000000040',
  x'00000000', x'9a9999999999b93f');
INSERT INTO personal_token VALUES (1, 1, 'abcdefghijkl',
  'a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1a0b1', 'mine', 'read', 5, 6, NULL);
INSERT INTO event (at, kind, subject, payload) VALUES (7.5, 'kept', 'ätzend % ''quoted''', '{"a": [1, 2.50]}')
"""
"""What a copy must not have, bytes, and texts that a statement could be confused by."""
ROWS = {**OLD_ROWS, KNEW_POSTGRESQL: PRACTICE, LAST: KEPT}
EVERY = "REELRANK_KILLS" in os.environ
LEVELS = [name for n, name in enumerate(NAMES[1:]) if EVERY or name >= KNEW_POSTGRESQL or name in ROWS or n % 3 == 0]
"""What `make test-long` tries is every level; `make test-all` leaves out two of three that no server ever had."""


class Cut(Exception):
    """The process ends here."""


def project_in(folder: Path) -> Path:
    folder.mkdir()
    settings = folder / "reelrank.toml"
    settings.write_text(template().format(name='"old"', encoder='"minilm"', encoder_kind='"minilm"', cast=""))
    settings.chmod(0o600)
    return folder


@pytest.fixture
def twins(tmp_path: Path, cluster: Cluster, first: str) -> tuple[Path, Path]:
    """Two projects with the same rows of the schema before `first`: one in a file, one in PostgreSQL."""
    file, server = project_in(tmp_path / "file"), project_in(tmp_path / "server")
    with closing(SqliteDatabase(sqlite3.connect(file / "reelrank.db"), execute_plugins=False)) as db:
        if first in ROWS:
            migrations.apply(db, stop_before=first)
            for statement in ROWS[first].strip().split(";\n"):
                db.conn.execute(statement)
        else:
            db.conn.executescript(M001.read_text())
            migrations.apply(db, stop_before=first)
        db.conn.commit()
    (file / "reelrank.db").chmod(0o600)
    shutil.copy(file / "reelrank.db", server)
    to_postgresql(server, cluster.address(cluster.new()))
    return file, server


def dump(file: Path) -> list[str]:
    """All statements that make a file, but for the moment at which migrations ran."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE _sqlite_migrations SET applied_at = ''")
        return sorted(db.iterdump())


def in_server(folder: Path, to: Path, before: str | None = None) -> list[str]:
    """The same of a project's database in PostgreSQL, whatever its schema."""
    store = PostgresStore(address_of(folder))
    store.copy_to(to, before)
    store.close()
    return dump(to)


def address_of(folder: Path) -> str:
    line = next(line for line in (folder / "reelrank.toml").read_text().splitlines() if line.startswith("database = "))
    return line.partition('"')[2].rstrip('"')


def without(lines: list[str], *tables: str) -> list[str]:
    return [line for line in lines if not line.startswith(tuple(f'INSERT INTO "{table}"' for table in tables))]


@pytest.mark.parametrize(
    "first", [name if name in BY_DEFAULT else pytest.param(name, marks=pytest.mark.long) for name in LEVELS]
)
def test_every_row_is_as_after_the_migration_of_a_file_and_the_old_ones_are_kept(
    twins: tuple[Path, Path], first: str, tmp_path: Path
) -> None:
    file, server = twins
    old = dump(file / "reelrank.db")
    applied, _ = migrate(file)
    assert applied == NAMES[NAMES.index(first) :]
    assert migrate(server) == (applied, server / f"reelrank.before-{first}.db")
    expected, found = dump(file / "reelrank.db"), in_server(server, tmp_path / "new.db")
    assert found == expected
    (kept,) = former_databases(server)
    assert dump(kept.file) == without(old, SECRET_TABLE, "personal_token")
    assert kept.file.stat().st_mode & 0o777 == 0o600
    assert migrate(server) == ([], None)
    opened, alike = open_project(server), open_project(file)
    assert opened.store.schema_differences() == []
    assert doctor(opened, now=NOW).findings == doctor(alike, now=NOW).findings
    with writing(opened.store) as db:
        db.conn.execute("INSERT INTO event (at, kind, subject, payload) VALUES (1, 'x', '', '{}')")
    with writing(opened.store) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.conn.execute("DELETE FROM event")
    for project in (opened, alike):
        project.store.close()
    assert [one.file for one in remove_former_databases(server, days=0, now=time.time() + 1)] == [kept.file]
    assert not kept.file.exists()


@pytest.mark.parametrize("first", ["m038_practice_order"])
def test_answers_that_had_no_number_keep_their_order(twins: tuple[Path, Path]) -> None:
    migrate(twins[1])
    project = open_project(twins[1])
    answers = project.store.db.conn.execute("SELECT event_key FROM practice_answer ORDER BY answer_id").fetchall()
    assert [row[0] for row in answers] == ["zz", "b", "a"]
    project.store.close()


@pytest.mark.parametrize("first", [LAST])
@pytest.mark.parametrize("how", ["an error", "its connection is lost"])
def test_a_migration_that_is_cut_off_leaves_the_old_database_whole_and_can_be_run_again(
    twins: tuple[Path, Path], how: str, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = twins[1]
    before = in_server(server, tmp_path / "1.db", first)
    fill = creating.fill

    def cut(store: PostgresStore, raw: Raw, source: SqliteDatabase, check: Callable[[object], object]) -> None:
        fill(store, raw, source, check)
        if how == "an error":
            raise Cut
        raw.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with monkeypatch.context() as patch:
        patch.setattr(creating, "fill", cut)
        with pytest.raises((Cut, StoreUnavailable)):
            migrate(server)
    with pytest.raises(SchemaOutOfDate, match=rf"older schema \({LAST} missing\): run `reelrank migrate"):
        open_project(server)
    assert in_server(server, tmp_path / "2.db", first) == before
    assert [path.name for path in server.glob(".reelrank-*")] == []
    assert migrate(server) == ([LAST], server / f"reelrank.before-{LAST}.db")  # no second copy of the same state
    open_project(server).store.close()


@pytest.mark.parametrize("first", [LAST])
def test_what_is_not_of_reelrank_is_named_and_nothing_is_lost(twins: tuple[Path, Path], first: str) -> None:
    server = twins[1]
    address = address_of(server)
    with psycopg.connect(address) as own:
        own.execute("ALTER TABLE pair ADD COLUMN mine text")
        own.execute("CREATE VIEW report AS SELECT count(*) FROM pair")
    with pytest.raises(ProjectError, match=r"would lose what is different: table pair, view report\."):
        migrate(server)
    with psycopg.connect(address) as own:
        own.execute("DROP VIEW report")
        own.execute("ALTER TABLE pair DROP COLUMN mine")
        own.execute("CREATE SCHEMA reports")
        own.execute("CREATE VIEW reports.pairs AS SELECT count(*) FROM pair")
    with pytest.raises(ProjectError, match=r"different: view reports\.pairs depends on table pair\."):
        migrate(server)
    with psycopg.connect(address) as own:
        own.execute("DROP VIEW reports.pairs")
        own.execute("CREATE VIEW reports.one AS SELECT 1")
    assert migrate(server)[0] == [LAST]
    with psycopg.connect(address) as own:
        assert own.execute("SELECT * FROM reports.one").fetchone() == (1,)


@pytest.mark.parametrize("first", [LAST])
def test_a_user_who_may_not_replace_the_tables_is_refused(twins: tuple[Path, Path], first: str) -> None:
    server, address = twins[1], address_of(twins[1])
    with psycopg.connect(address) as own:
        own.execute("CREATE ROLE reader LOGIN")
        own.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO reader")
    settings = server / "reelrank.toml"
    settings.write_text(settings.read_text().replace("://postgres@", "://reader@"))
    with pytest.raises(ProjectError, match=r"cannot be upgraded by the user .*must be owner of view"):
        migrate(server)
    settings.write_text(settings.read_text().replace("://reader@", "://postgres@"))
    assert migrate(server)[0] == [LAST]


@pytest.mark.parametrize("first", [LAST])
def test_others_who_cannot_be_told_to_wait_are_named_and_nobody_is_disturbed(twins: tuple[Path, Path]) -> None:
    server = twins[1]
    front_end = older_front_end(server)
    with psycopg.connect(address_of(server), application_name="a report") as stranger:
        assert stranger.execute("SELECT count(*) FROM pair").fetchone()
        with pytest.raises(StoreUnavailable, match=r"in use by 1 connections that cannot be told to wait \(a report\)"):
            migrate(server)
        assert front_end.schema_level == NAMES[-2]
    front_end.close()
    assert migrate(server)[0] == [LAST]


def older_front_end(folder: Path) -> PostgresStore:
    """The database as a process has it that runs the release before this one."""
    store = PostgresStore(address_of(folder))
    store.opened_with = NAMES[-2]
    assert store.schema_level == NAMES[-2]
    return store


@pytest.mark.parametrize("first", [LAST])
def test_front_ends_are_told_to_wait_and_afterwards_that_they_are_too_old(
    twins: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = twins[1]
    front_end, reads = older_front_end(server), threading.Event()
    told: list[str] = []

    def read() -> None:
        with pytest.raises(StoreUnavailable):
            read_on()

    def read_on() -> None:
        with front_end.reading():
            reads.set()
            while front_end.schema_level:
                pass

    reader = threading.Thread(target=read)
    reader.start()
    reads.wait()

    def meanwhile(db: Database) -> None:
        reader.join()  # its transaction was ended
        for ask in (lambda: front_end.schema_level, lambda: front_end.writing().__enter__(), lambda: migrate(server)):
            with pytest.raises(BeingUpgraded) as refusal:
                ask()
            told.append(str(refusal.value))
        with pytest.raises(BeingUpgraded, match="is being upgraded"):
            open_project(server)

    monkeypatch.setattr(candidates_rows, "rebuild_agenda", meanwhile)
    assert migrate(server)[0] == [LAST]
    assert told == ["ReelRank is being upgraded. Wait a few minutes. What was saved is safe."] * 3
    for _ in range(2):
        with pytest.raises(BeingUpgraded, match="this server still runs the older version"):
            assert front_end.schema_level
    front_end.close()
    open_project(server).store.close()


def test_no_grade_is_lost_or_doubled_that_people_give_during_a_migration(
    judging: Judging, cluster: Cluster, tmp_path: Path
) -> None:
    """As a browser does it: what has no receipt is sent again, until the front end is restarted with the new code."""
    folder = Path(shutil.copytree(judging.project.folder, tmp_path / "moved"))
    judging.project.store.close()
    lower(folder / "reelrank.db", LAST)
    to_postgresql(folder, cluster.address(cluster.new()))
    front_end = PostgresStore(address_of(folder))
    front_end.opened_with = NAMES[-2]
    older = Project(folder, judging.project.live, front_end, judging.project.secret)
    restarted, begun = threading.Event(), threading.Barrier(5)
    saved: dict[str, str] = {}
    waits: list[str] = []

    def work(person: Person) -> None:
        project = older
        pairs = [item.pair for item in exchange.desk(older, person, now=NOW).items]
        begun.wait()
        for turn, pair in enumerate(pairs):
            event = GradeEvent(pair, turn % 5, f"{person.name}-{turn}", 900)
            while event.key not in saved:
                try:
                    (receipt,), _ = exchange.exchange(project, person, [event], [], now=NOW)
                    assert receipt.status is ReceiptStatus.SAVED
                    saved[event.key] = pair
                except StoreUnavailable as error:
                    waits.append(type(error).__name__)
                    if restarted.wait(0.01):
                        project = newer[0]

    threads = [threading.Thread(target=work, args=(person,)) for person in judging.annotators]
    newer: list[Project] = []
    for thread in threads:
        thread.start()
    begun.wait()
    assert migrate(folder)[0] == [LAST]
    newer.append(open_project(folder))
    restarted.set()
    for thread in threads:
        thread.join()
    rows = newer[0].store.db.conn.execute("SELECT event_key, revision FROM judgement").fetchall()
    assert sorted((row[0], row[1]) for row in rows) == sorted((key, 1) for key in saved)
    assert len(saved) >= 4
    assert "BeingUpgraded" in waits
    assert doctor(newer[0], now=NOW).findings == ()
    newer[0].store.close()
    front_end.close()
