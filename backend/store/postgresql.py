"""Keep a project's database in PostgreSQL, for a campaign that several machines serve.

It accepts the same statements as SQLite (see `dialect`) and returns the same values: numbers for truth values, and rows
that are read by index and by name. As with SQLite, one transaction of `writing` writes at a time, whatever the number
of servers: it holds an advisory lock of the database until it ends. Those of `sharing` hold the same lock in shared
mode, and lock what they touch (see `shared_writing`).
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow, tuple_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from backend.core.errors import InputError, StoreUnavailable
from backend.core.messages import said
from backend.store import shared_writing, sqlite, upgrade_lock
from backend.store.address import dump, hide_password
from backend.store.definitions import dangling, differences, parts, table_names
from backend.store.dialect import Raw, configure, cursor_for, named_rows, translated
from backend.store.engine import Cursor, Database, Lock, Parameters, Select, ServerDatabase, checked

WRITER = 0x5265656C
"""The key of the advisory lock that every writer takes."""
CONNECTIONS = 8
"""The most connections of one process; further threads wait for a free one. More would take more of the server's CPU,
because each connection makes plans and fills caches of its own."""
WAIT_S = 30.0
GONE_S = 2.0
"""Seconds for which the server may still count closed connections."""
OTHERS = """
  SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend'
"""
RETRY_S = 1.0
"""For how many seconds at most a pool keeps trying to connect before it gives up (see `_again`)."""
# What leads and commands ask may need another plan for other values, or whole tables; see `configure` for all else.
_PLANS = "SET LOCAL plan_cache_mode = auto; SET LOCAL enable_seqscan = on"
BEGIN = f"BEGIN; {_PLANS}"
BEGIN_WRITING = f"{BEGIN}; SELECT pg_advisory_xact_lock({WRITER})"
# Writers stay at read committed: a snapshot from before the lock would miss what the previous writer wrote.
BEGIN_READING = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_PLANS}"
Answer = TypeVar("Answer")
LEVEL = "SELECT name FROM _sqlite_migrations ORDER BY id"


class PostgresStore(ServerDatabase):
    """The database of one project in PostgreSQL. Threads of this process share its connections."""

    most_connections = CONNECTIONS

    def __init__(self, address: str) -> None:
        """Prepare a store for the PostgreSQL database at an address; no connection is made yet.

        Raises:
            InputError: the address has a part that PostgreSQL does not know.
        """
        self.address = address
        try:
            self._password = str(conninfo_to_dict(address).get("password") or "")
        except psycopg.ProgrammingError as error:
            raise InputError.single(
                "the address of the database",
                said("{address} cannot be read as an address: {error}", address=hide_password(address), error=error),
            ) from None
        self.conn = PostgresConnection(self)
        self._own = threading.local()
        self._opening = threading.Lock()
        self._pool: ConnectionPool[Raw] | None = None
        self.opened_with = ""
        """The newest migration when the project was opened. Connections are refused once the schema is another one."""
        self._checked: WeakSet[Raw] = WeakSet()
        self.overtaken = 0
        """How many transactions of `sharing` the server ended because another was in their way. Each began again."""

    @property
    def db(self) -> Database:
        """The object through which this thread runs statements.

        Inside a transaction it uses the transaction's connection, otherwise any free one.
        """
        return self

    @property
    def place(self) -> str:
        """The address of the database, without its password."""
        return hide_password(self.address)

    @property
    def has_project(self) -> bool:
        """True if the database has the tables of a project.

        An unreachable server raises an error at once, but only here. Later statements wait for a lost connection, so
        that the server can restart while people work.
        """
        with self.explain_errors(), self._connect() as first:
            cursor = first.execute("SELECT 1 FROM pg_catalog.pg_tables WHERE tablename = '_sqlite_migrations'")
            return cursor.fetchone() is not None

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""
        return str(self.conn.execute(LEVEL).fetchall()[-1][0])

    def writing(self) -> AbstractContextManager[Database]:
        """Open a transaction for all writes of one action; see the function `backend.store.connection.writing`."""
        return self.atomic() if self.own_connection else self._transaction(BEGIN_WRITING)

    def sharing(self, locks: Sequence[Lock], act: Callable[[Database], Answer]) -> Answer:
        """Return the result of `act` in a transaction; see the function `backend.store.connection.sharing`."""
        if self.own_connection:
            with self.atomic() as db:
                return act(db)
        with self.explain_errors():
            return shared_writing.share(self, WRITER, locks, act)

    def fetch_together(self, selects: Sequence[Select[Any]]) -> None:
        """Fetch the rows of several SELECTs in one round trip."""
        with self.explain_errors():
            shared_writing.fetch_together(self, selects)

    def run_later(self, sql: str, parameters: Parameters) -> None:
        """Run a statement with the next one whose result is needed, or at once outside a transaction of `sharing`."""
        if self.own_queue is None:
            self.conn.execute(sql, parameters)
        else:
            self.own_queue.add(translated(sql).encode(), checked(parameters))

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Open a transaction in which all reads see the same state of the database."""
        if self.own_connection:
            yield self
            return
        with self._transaction(BEGIN_READING) as db:
            yield db

    @contextmanager
    def atomic(self) -> Iterator[Database]:
        """Open a transaction, or a nested one within the current transaction; if it fails, all of it is undone."""
        if self.own_connection is None:
            with self._transaction(BEGIN):
                yield self
            return
        queue = self.own_queue
        with self.explain_errors(), queue.nested() if queue else self.own_connection.transaction():
            yield self

    def others(self) -> int:
        """Return how many connections to this database other clients have; this process closes its own first."""
        self.close()
        with self.explain_errors(), self._connect() as own:
            until = time.monotonic() + GONE_S
            while (row := own.execute(OTHERS).fetchone()) and row[0] and time.monotonic() < until:
                time.sleep(GONE_S / 40)  # the server drops our own closed connections a moment later
        return int(row[0]) if row else 0

    def damaged_pages(self) -> list[str]:
        """Return an empty list: PostgreSQL's own tool `pg_amcheck` checks the stored data."""
        return []

    def dangling(self) -> list[str]:
        """Return a description of each row with a broken foreign key: the row to which it refers does not exist."""
        with self.explain_errors(), self.one() as raw:
            return dangling(raw)

    def texts_with_nul(self) -> list[str]:
        """Return an empty list: PostgreSQL does not store texts with a NUL character."""
        return []

    def schema_differences(self) -> list[str]:
        """Return the tables, indexes, triggers and views that differ from those that the migrations create.

        Those that are missing or unexpected are included.
        """
        with self.explain_errors(), self.one() as raw:
            return differences(raw)

    def copy_to(self, part: Path, before: str | None = None) -> None:
        """Copy all tables and rows as they are now into a new SQLite file.

        The tables are those of this code, or those of an older schema, which has all migrations before `before`.
        """
        with (
            closing(sqlite.fresh(before)) as made,
            closing(sqlite3.connect(part)) as target,
            self.reading(),
            self.one() as raw,
        ):
            target.execute("PRAGMA synchronous = off")  # who keeps the file writes it to the disk once it is whole
            for kind in ("table", "index", "view", "trigger"):
                for _, statement in parts(made, kind):
                    target.execute(statement)
                for name in table_names(made) if kind == "table" else ():
                    columns = [column.name for column in made.table(name).columns]
                    quoted = ", ".join(f'"{column}"' for column in columns)
                    rows = raw.cursor(row_factory=tuple_row).execute(f'SELECT {quoted} FROM "{name}"'.encode())
                    target.executemany(
                        f'INSERT INTO "{name}" ({quoted}) VALUES ({", ".join("?" * len(columns))})', rows
                    )
            target.commit()

    def dump_to(self, part: Path) -> None:
        """Dump the database as it is now with `pg_dump`."""
        dump(self.address, part)

    def close(self) -> None:
        """Close this process's idle connections; those in use close later. New ones are opened when needed."""
        with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    @property
    def own_connection(self) -> Raw | None:
        """The connection of this thread's transaction; None outside a transaction."""
        raw: Raw | None = getattr(self._own, "connection", None)
        return raw

    @property
    def own_queue(self) -> shared_writing.StatementQueue | None:
        """The statements that wait in this thread's transaction of `sharing`; None outside one."""
        queue: shared_writing.StatementQueue | None = getattr(self._own, "queue", None)
        return queue

    @contextmanager
    def uses(self, raw: Raw, queue: shared_writing.StatementQueue | None = None) -> Iterator[None]:
        """Let this thread run all its statements over one connection, as one transaction."""
        self._own.connection, self._own.queue = raw, queue
        try:
            yield
        finally:
            self._own.connection = self._own.queue = None

    @contextmanager
    def lent(self) -> Iterator[Raw]:
        """Provide a free connection, which may turn out to be broken."""
        with self._lent(lambda _: None) as (raw, _):
            yield raw

    def run(self, ask: Callable[[Raw], Answer]) -> Answer:
        """Return the result of `ask`, called with the connection of this thread's transaction, or with any free one.

        Outside a transaction `ask` may only read; writes need a transaction (see `writing`).
        """
        if self.own_connection is not None:
            return ask(self.own_connection)
        with self._lent(ask) as (_, answer):
            return answer

    @contextmanager
    def one(self) -> Iterator[Raw]:
        """Provide the connection of this thread's transaction, or else any free one that was checked to work."""
        if self.own_connection is not None:
            yield self.own_connection
            return
        with self._lent(ConnectionPool.check_connection) as (raw, _):
            yield raw

    @contextmanager
    def _lent(self, first: Callable[[Raw], Answer]) -> Iterator[tuple[Raw, Answer]]:
        """Borrow a connection from the pool, call `first` with it, and provide (connection, result of `first`).

        If the connection turns out to be broken, nothing was changed, and another one is tried. This is repeated at
        most as often as the pool may have connections.
        """
        lying = CONNECTIONS
        while True:
            pool = self._connections()
            try:
                raw = pool.getconn()
            except PoolClosed:  # another thread has just called `close`
                continue
            try:
                try:
                    if self.opened_with and raw not in self._checked:
                        upgrade_lock.require_same_schema(raw, self.opened_with)
                        self._checked.add(raw)
                    answer = first(raw)
                except psycopg.OperationalError:
                    if raw.closed and lying:
                        lying -= 1
                        continue
                    raise
                yield raw, answer
                return
            finally:
                pool.putconn(raw)

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Turn errors of the database, or of the connection to it, into ReelRank's errors, which say what to do.

        A row that violates a constraint raises `sqlite3.IntegrityError` as in SQLite, so callers need not know the
        engine.
        """
        begins_again = shared_writing.OVERTAKEN if self.own_queue else ()
        try:
            yield
        except begins_again:
            raise
        except psycopg.IntegrityError as error:
            raise sqlite3.IntegrityError(str(error)) from error
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
            fault = str(error).splitlines()[0]
            if self._password:
                fault = fault.replace(self._password, "***")
            secret = said(", and that PGPASSWORD, ~/.pgpass or the address have the right password")
            raise StoreUnavailable.said(
                "The database {place} cannot be used ({fault}). Check that its server runs and can be "
                "reached{secret}, then try again. Saved work is safe; this change was not saved.",
                place=self.place,
                fault=fault,
                secret=secret if "password" in fault else "",
            ) from error

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Database]:
        # Not prepared, because several statements in one message cannot be.
        with self.explain_errors(), self._lent(lambda raw: raw.execute(begin.encode(), prepare=False)) as (raw, _):
            try:
                with self.uses(raw):
                    yield self
                    raw.execute("COMMIT")
            finally:
                if not raw.closed and raw.info.transaction_status is not TransactionStatus.IDLE:
                    raw.execute("ROLLBACK")

    def _connect(self) -> psycopg.Connection[TupleRow]:
        """Return a new connection beside the pool."""
        return psycopg.connect(self.address, autocommit=True, application_name=upgrade_lock.APPLICATION)

    def _connections(self) -> "ConnectionPool[Raw]":
        with self._opening:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self.address,
                    kwargs={
                        "autocommit": True,
                        "row_factory": named_rows,
                        "application_name": upgrade_lock.APPLICATION,
                    },
                    min_size=0,
                    max_size=CONNECTIONS,
                    timeout=WAIT_S,
                    reconnect_timeout=RETRY_S,
                    reconnect_failed=_again,
                    open=True,
                    configure=configure,
                )
            return self._pool


def _again(pool: "ConnectionPool[Raw]") -> None:
    """Make the pool try to connect again at once, if any thread waits for a connection.

    By itself the pool tries after 1, 2, 4, ... seconds. If the server was away for two minutes, the pool may notice its
    return up to two minutes late. A new request makes the pool try again at once.
    """
    if pool.get_stats()["requests_waiting"]:
        with suppress(PoolTimeout, PoolClosed):
            pool.putconn(pool.getconn(timeout=0.001))


class PostgresConnection:
    """Run SQLite statements on PostgreSQL, with the interface of SQLite's connections."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    @property
    def in_transaction(self) -> bool:
        """True while this thread is in a transaction."""
        return self._store.own_connection is not None

    def execute(self, statement: str, parameters: Parameters = (), /) -> Cursor:
        """Run one statement, and fetch all its rows."""
        translation = translated(statement).encode()
        checked(parameters)
        with self._store.explain_errors():
            if queue := self._store.own_queue:
                return queue.send(translation, parameters)
            return self._store.run(lambda raw: cursor_for(raw, parameters).execute(translation, parameters))

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Cursor:
        """Run one statement once for each set of parameters; `rowcount` is the total of all."""
        translation, many = translated(statement).encode(), [*map(checked, parameters)]
        with self._store.explain_errors(), self._store.one() as raw:
            if queue := self._store.own_queue:
                queue.flush()
            cursor = raw.cursor()
            cursor.executemany(translation, many)
            return cursor
