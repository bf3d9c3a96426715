"""What the server says to transactions that run beside one another, and what nobody notices of it."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from backend.campaign.judging.locks import locks
from backend.campaign.monitoring.webhooks import rows as webhooks
from backend.core.ids import AnnotatorId
from backend.store.connection import Database, sharing
from backend.store.engine import run_later
from backend.store.postgresql import PostgresStore
from support import Judging


@pytest.fixture
def engine() -> str:
    return "postgresql"


@pytest.fixture
def store(judging: Judging) -> PostgresStore:
    found = judging.project.store
    assert isinstance(found, PostgresStore)
    return found


def test_a_deadlock_is_counted_and_noticed_by_nobody(judging: Judging, store: PostgresStore) -> None:
    first, second = (person.annotator_id for person in judging.annotators[:2])
    with store.writing() as db:
        for me in (first, second):
            db.conn.execute("INSERT INTO gold_rhythm (annotator_id, next_at) VALUES (?, 0)", [me])
    both, tried = threading.Barrier(2), list[AnnotatorId]()

    def add(mine: AnnotatorId, others: AnnotatorId) -> None:
        def act(db: Database) -> None:
            for nth, row in enumerate((mine, others)):
                db.conn.execute("UPDATE gold_rhythm SET next_at = next_at + 1 WHERE annotator_id = ?", [row])
                if nth == 0 and tried.count(mine) == 0:
                    tried.append(mine)
                    both.wait(30)

        sharing(store, locks(mine), act)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add, (first, second), (second, first)))
    assert store.overtaken >= 1  # the one that begins again may lose once more
    rows = store.conn.execute("SELECT next_at FROM gold_rhythm").fetchall()
    assert [row[0] for row in rows] == [2, 2]


def test_what_a_lead_changes_waits_for_annotators_and_they_wait_for_it(judging: Judging, store: PostgresStore) -> None:
    me = judging.annotators[0].annotator_id
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    ended = list[str]()

    def lead() -> None:
        with store.writing():
            ended.append("lead")

    def annotator(db: Database) -> None:
        db.conn.execute("SELECT 1")
        thread = threading.Thread(target=lead)
        thread.start()
        with psycopg.connect(store.address, autocommit=True) as server:
            while server.execute(waits).fetchall()[0][0] == 0:
                assert thread.is_alive()
        ended.append("annotator")

    sharing(store, locks(me), annotator)
    with store.writing():  # gets its turn after the lead
        assert ended == ["annotator", "lead"]


def test_a_row_with_a_lower_id_that_arrives_late_changes_the_version(store: PostgresStore) -> None:
    event = "INSERT INTO event (at, actor, kind, subject, payload) VALUES (0, NULL, 'skipped', 'pair:1', '{}')"
    with psycopg.connect(store.address) as late, psycopg.connect(store.address) as early:
        late.execute(event)
        early.execute(event)
        early.commit()
        before = webhooks.last_change(store.db)
        late.commit()
    assert webhooks.last_change(store.db) != before


def test_a_nested_transaction_that_fails_takes_only_its_own_changes_with_it(
    judging: Judging, store: PostgresStore
) -> None:
    first, second = (person.annotator_id for person in judging.annotators[:2])
    sql = "INSERT INTO gold_rhythm (annotator_id, next_at) VALUES (?, 0)"

    def act(db: Database) -> None:
        run_later(db, sql, [first])
        with suppress(ZeroDivisionError), store.writing() as inner:
            run_later(inner, sql, [second])
            raise ZeroDivisionError

    sharing(store, locks(first), act)
    rows = store.conn.execute("SELECT annotator_id FROM gold_rhythm").fetchall()
    assert [row[0] for row in rows] == [first]


def test_an_error_in_what_was_to_run_later_undoes_all(judging: Judging, store: PostgresStore) -> None:
    me = judging.annotators[0].annotator_id

    def act(db: Database) -> None:
        run_later(db, "INSERT INTO gold_rhythm (annotator_id, next_at) VALUES (?, 0)", [me])
        run_later(db, "INSERT INTO gold_rhythm (annotator_id, next_at) VALUES (?, 0)", [999_999])

    with pytest.raises(sqlite3.IntegrityError):
        sharing(store, locks(me), act)
    assert store.conn.execute("SELECT count(*) FROM gold_rhythm").fetchall()[0][0] == 0
