"""How often one grade and the next desk cross to a server: a count, which no busy machine changes."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier
from typing import TextIO

import psycopg
import pytest
from psycopg.pq import Trace

from backend.campaign.desk import exchange
from backend.campaign.judging.model import GradeEvent
from backend.store import postgresql
from backend.store.dialect import Raw
from backend.store.postgresql import PostgresStore
from support import NOW, Judging

MOST, MOST_UNDER_LOCK = 47, 35
"""So often one exchange waits for an answer of the server; and so often of these while nobody else can write. One of
them asks how much time was credited to this person before: it has to see what their other requests wrote."""
KNOWN, EXCHANGES = 4, 12
"""After so many a connection knows the statements, each of which it is told in a turn of its own; all of one query."""


@pytest.fixture
def engine() -> str:
    return "postgresql"


@pytest.fixture
def turns(judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], tuple[int, int]]]:
    """How many answers have come since it was last asked, and under the lock; by what libpq itself notes down."""
    judging.project.store.close()
    configure, notes = postgresql.configure, list[TextIO]()
    with ExitStack() as opened:

        def noting(raw: Raw) -> None:
            file = tmp_path / f"{len(notes)}.trace"
            raw.pgconn.trace(opened.enter_context(file.open("wb")).fileno())
            raw.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            notes.append(opened.enter_context(file.open()))
            configure(raw)

        def count() -> tuple[int, int]:
            total = under_lock = 0
            for note in notes:
                locked = False
                for line in note.read().splitlines():
                    locked |= line.startswith("F") and "pg_advisory_xact_lock" in line
                    if "\tReadyForQuery\t" in line:
                        total, under_lock = total + 1, under_lock + locked
                        locked &= not line.endswith(" I")
            return total, under_lock

        monkeypatch.setattr(postgresql, "configure", noting)
        yield count
        judging.project.store.close()


def test_an_exchange_waits_for_few_answers_and_for_fewer_while_nobody_else_can_write(
    judging: Judging, turns: Callable[[], tuple[int, int]]
) -> None:
    desk = exchange.desk(judging.project, judging.annotators[0], now=NOW)
    found = []
    for turn in range(EXCHANGES):
        event = GradeEvent(desk.items[0].pair, 3, f"key press {turn}", 900)
        on_screen = desk.items[1].pair
        turns()
        receipts, desk = exchange.exchange(
            judging.project,
            judging.annotators[0],
            [event],
            [],
            now=NOW + 2 * turn,
            shown=on_screen,
            window="a window",
            takes=turn == 0,
        )
        found.append(turns())
        assert receipts[0].status == "saved"
    steady = found[KNOWN:]
    assert 10 < max(under_lock for _, under_lock in steady) <= MOST_UNDER_LOCK
    assert max(total for total, _ in steady) <= MOST


def test_no_statement_is_compiled(judging: Judging) -> None:
    """Just after a campaign of 100,000 pairs was moved, each exchange compiled for 4 of its 5 seconds."""
    assert judging.project.store.db.conn.execute("SELECT current_setting('jit')").fetchone()[0] == "off"


def test_connections_that_ended_while_they_lay_are_noticed_by_nobody(judging: Judging) -> None:
    store = judging.project.store
    assert isinstance(store, PostgresStore)
    several = Barrier(5)

    def use(_: int) -> None:
        with store.reading():
            several.wait(10)

    with ThreadPoolExecutor(5) as threads:
        list(threads.map(use, range(5)))
    with psycopg.connect(store.address, autocommit=True) as server:
        (ended,) = server.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchall()
    assert ended[0] >= 5
    desk = exchange.desk(judging.project, judging.annotators[0], now=NOW)
    assert judging.grade(0, desk.items[0].pair, 3).status == "saved"
