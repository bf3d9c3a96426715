"""Let several transactions write to one PostgreSQL database at a time, if they touch different things.

Most writers lock the whole database (see `postgresql`). Those that come with every key press lock it in shared mode,
and then what they touch, exclusively: first the person, then the batches. The order is fixed, so that two of them never
wait for each other. Should they do so after all, the server ends one, which begins again without anybody noticing.

A transaction here sends its statements together wherever it does not need an answer in between: opening, locking and
the first SELECTs are one round trip, and so are all changes with the COMMIT.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

import msgspec
import psycopg
from psycopg import RawCursor
from psycopg.errors import DeadlockDetected, SerializationFailure, UniqueViolation
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from backend.store.dialect import Raw, cursor_for, joined
from backend.store.engine import Database, Lock, Parameters, Select, checked

T = TypeVar("T")
MOST_TRIES = 10
"""How often a transaction is tried that the server ends for the sake of another one."""
BEGIN = b"BEGIN"
SHARE = b"SELECT pg_advisory_xact_lock_shared(%s)"
# The rows are sorted before the outer SELECT takes a lock for each.
TAKE = (
    b"SELECT pg_advisory_xact_lock(kind::int, id::int) FROM "
    b"(SELECT kind, id FROM unnest(%s::bigint[], %s::bigint[]) AS t (kind, id) ORDER BY kind, id) AS ordered"
)
OVERTAKEN = (DeadlockDetected, SerializationFailure, UniqueViolation)
"""What the server says to a transaction that another one has overtaken. It has changed nothing."""


class StatementQueue:
    """Statements that wait to be sent together over one connection."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.answered = False
        """Whether the server has answered anything: until then, a lost connection has changed nothing, not even at
        the COMMIT, which is sent later."""
        self._waiting: list[tuple[bytes, Parameters]] = []

    def add(self, statement: bytes, parameters: Parameters = ()) -> None:
        """Add a statement, which is sent later."""
        self._waiting.append((statement, parameters))

    def send(self, statement: bytes, parameters: Parameters = ()) -> "psycopg.Cursor[Any]":
        """Send what waits and this statement, and return the result of this one.

        Raises:
            psycopg.Error: what the first statement raises that fails; those after it were not run.
        """
        if not self._waiting:
            return cursor_for(self.raw, parameters).execute(statement, parameters)
        self.add(statement, parameters)
        return self.flush()

    def flush(self) -> "psycopg.Cursor[Any]":
        """Send what waits, and return the result of the last statement; see `send` for errors."""
        with self.raw.pipeline():
            cursor = self.start()
        self.answered = True
        return cursor

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Open a transaction within the current one; if it fails, its statements are undone or never sent."""
        self.flush()
        with self.raw.transaction():
            try:
                yield
                self.flush()
            finally:
                self._waiting = []

    def start(self) -> "psycopg.Cursor[Any]":
        """Send what waits, in a pipeline, and return the cursor of the last statement."""
        waiting, self._waiting = self._waiting, []
        cursor: psycopg.Cursor[Any] = self.raw.cursor()
        for statement, parameters in waiting:
            cursor = cursor_for(self.raw, parameters).execute(statement, parameters)
        return cursor


class Server(Database, Protocol):
    """What is needed here of the store (see `postgresql`)."""

    overtaken: int
    """How often a transaction began again."""
    most_connections: int

    @property
    def own_queue(self) -> StatementQueue | None:
        """The statements that wait in this thread's transaction; None outside one."""

    def lent(self) -> AbstractContextManager[Raw]:
        """Provide a free connection, which may turn out to be broken."""

    def uses(self, raw: Raw, queue: StatementQueue, /) -> AbstractContextManager[None]:
        """Let this thread run all its statements over one connection, as one transaction."""

    def run(self, ask: Callable[[Raw], T], /) -> T:
        """Return the result of `ask`, called with this thread's connection or any free one."""


def share(store: Server, writer: int, locks: Sequence[Lock], act: Callable[[Database], T]) -> T:
    """Return the result of `act` in a transaction that locks these things, and the database in shared mode.

    `act` runs again, from the beginning, if another transaction overtakes it. `writer` is the key of the lock of the
    whole database.
    """
    tries, lost = MOST_TRIES, 0
    while True:
        queue = None
        try:
            with store.lent() as raw:
                queue = _begun(raw, writer, locks)
                return _run(store, queue, act)
        except OVERTAKEN:
            store.overtaken += 1
            tries -= 1
            if not tries:
                raise
        except psycopg.OperationalError:
            lost += 1
            if queue is None or queue.answered or not queue.raw.closed or lost > store.most_connections:
                raise


def _begun(raw: Raw, writer: int, locks: Sequence[Lock]) -> StatementQueue:
    queue = StatementQueue(raw)
    queue.add(BEGIN)
    queue.add(SHARE, [writer])
    kinds, ids = zip(*((lock.kind, number) for lock in locks for number in lock.ids), strict=True)
    queue.add(TAKE, [[*kinds], [*ids]])
    return queue


def _run(store: Server, queue: StatementQueue, act: Callable[[Database], T]) -> T:
    raw = queue.raw
    with store.uses(raw, queue):
        try:
            result = act(store)
            if not queue.answered:  # a connection lost from here on may have changed something
                queue.flush()
            queue.send(b"COMMIT")
        finally:
            if not raw.closed and raw.info.transaction_status is not TransactionStatus.IDLE:
                raw.execute("ROLLBACK")
    return result


def fetch_together(store: Server, selects: Sequence[Select[Any]]) -> None:
    """Fetch the rows of several SELECTs by one statement."""
    statement, names = joined(tuple(select.sql for select in selects))
    parameters = [selects[number].parameters[name] for number, name in names]
    checked(parameters)
    rows = store.run(lambda raw: _fetched(store.own_queue, raw, statement, parameters))
    for select, text in zip(selects, rows, strict=True):
        select.take(msgspec.json.decode(text))


def _fetched(queue: StatementQueue | None, raw: Raw, statement: bytes, parameters: Parameters) -> Sequence[str]:
    cursor = RawCursor(raw, row_factory=tuple_row)
    if queue is None:
        cursor.execute(statement, parameters)
    else:
        with raw.pipeline():
            queue.start()
            cursor.execute(statement, parameters)
        queue.answered = True
    row: Sequence[str] = cursor.fetchall()[0]
    return row
