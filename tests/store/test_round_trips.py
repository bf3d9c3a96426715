"""How often one grade and the next desk cross to a server: a count, which no busy machine changes."""

import re
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
from backend.campaign.judging.model import Assignment, GradeEvent
from backend.campaign.judging.staffing import assign
from backend.campaign.nouns import Split
from backend.campaign.review.model import ReviewList
from backend.campaign.review.status import review_counts
from backend.store import postgresql
from backend.store.dialect import Raw
from backend.store.postgresql import PostgresStore
from support import NOW, Judging

MOST, MOST_UNDER_LOCK = 8, 4
"""So often one exchange waits for an answer of the server; and so often of these while it has locked something."""
MOSTLY, MOSTLY_UNDER_LOCK = 5, 2
"""The same where the desk need not be filled."""
KNOWN, EXCHANGES = 4, 12
"""After so many a connection knows the statements, each of which it is told in a turn of its own; all of one query."""
TAKE = "pg_advisory_xact_lock("
"""What takes a lock that nobody else may have, of the campaign, a person or a batch."""
PARSED = re.compile(r'F\t\d+\tParse\t "(\w*)" "(.*)"', re.DOTALL)
BOUND = re.compile(r'F\t\d+\tBind\t "\w*" "(\w*)"')


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

        takes: dict[tuple[int, str], bool] = {}

        def count() -> tuple[int, int]:
            total = under_lock = 0
            for number, note in enumerate(notes):
                locked = False
                for line in note.read().splitlines():
                    if parsed := PARSED.match(line):
                        takes[number, parsed[1]] = TAKE in parsed[2]
                    bound = BOUND.match(line)
                    locked |= bool(bound and takes[number, bound[1]]) or (
                        line.startswith("F") and "\tQuery\t" in line and TAKE in line
                    )
                    if "\tReadyForQuery\t" in line:
                        total, under_lock = total + 1, under_lock + locked
                        locked &= not line.endswith(" I")
            return total, under_lock

        monkeypatch.setattr(postgresql, "configure", noting)
        yield count
        judging.project.store.close()


@pytest.mark.parametrize("assigned", [False, True], ids=["any pair", "an assignment"])
def test_an_exchange_waits_for_few_answers_and_for_fewer_while_it_locks_anything(
    judging: Judging, turns: Callable[[], tuple[int, int]], assigned: bool
) -> None:
    found = []
    for who in (0, 1):
        if assigned:
            me = judging.annotators[who].annotator_id
            assign(judging.project, judging.lead, [me], Assignment(split=Split.VAL, in_all=30), now=NOW)
        desk = exchange.desk(judging.project, judging.annotators[who], now=NOW)
        for turn in range(EXCHANGES):
            grade = 4 if who == 0 else turn % 2 * 3  # pairs stay open, are agreed on, or disputed
            event = GradeEvent(desk.items[0].pair, grade, f"key press {who} {turn}", 900, 2_000, note="Why not?")
            on_screen = desk.items[1].pair
            turns()
            receipts, desk = exchange.exchange(
                judging.project,
                judging.annotators[who],
                [event],
                [],
                now=NOW + 100 * who + 2 * turn,
                shown=on_screen if turn % 2 else None,
                window="a window",
                takes=turn == 0,
            )
            assert receipts[0].status == "saved"
            if turn >= KNOWN:
                found.append(turns())
    assert review_counts(judging.project, judging.lead)[ReviewList.ESCALATED]
    totals, under_lock = zip(*found, strict=True)
    assert 2 <= max(under_lock) <= MOST_UNDER_LOCK
    assert max(under_lock) < max(totals) <= MOST
    assert found.count((MOSTLY, MOSTLY_UNDER_LOCK)) >= EXCHANGES // 3


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
