"""A project's database in PostgreSQL, for a campaign that more than one machine serves.

It takes the same statements as SQLite (see `dialect`) and gives the same values: numbers for truths, rows that are read
by place and by name. One writer at a time, as there: whoever begins to write waits for a lock of the database, which
ends with the transaction; whatever holds because writers queue holds here too, however many servers there are.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from backend.core.errors import InputError, ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.core.messages import said
from backend.store import sqlite
from backend.store.address import dump, shown, without_password
from backend.store.definitions import dangling, differences, parts, table_names
from backend.store.dialect import Raw, configure, cursor_for, named_rows, translated
from backend.store.engine import Cursor, Database, Parameters, SqliteDatabase, checked
from backend.store.schema import migrations

WRITER = 0x5265656C
"""The advisory lock that writers queue for."""
CONNECTIONS = 20
"""At most so many of one process; who comes then waits for a turn."""
WAIT_S = 30.0
GONE_S = 2.0
"""For how long connections that were closed may still be counted by the server."""
OTHERS = """
  SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend'
"""
RETRY_S = 1.0
"""So often a way to the server is looked for while somebody waits for it."""
BEGIN_WRITING = f"BEGIN; SELECT pg_advisory_xact_lock({WRITER})"
# Read committed: a snapshot taken before the lock was had would be of the time before the last writer.
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
Answer = TypeVar("Answer")
LEVEL = "SELECT name FROM _sqlite_migrations ORDER BY id"


class PostgresStore:
    """The database of one project at an address; threads of this process share its connections."""

    def __init__(self, address: str) -> None:
        """Nothing is asked of the server yet.

        Raises:
            InputError: the address has a part that PostgreSQL does not know.
        """
        self.address = address
        try:
            self._password = str(conninfo_to_dict(address).get("password") or "")
        except psycopg.ProgrammingError as error:
            raise InputError.single(
                "the address of the database",
                said("{address} cannot be read as an address: {error}", address=shown(address), error=error),
            ) from None
        self.conn = PostgresConnection(self)
        self._own = threading.local()
        self._opening = threading.Lock()
        self._pool: ConnectionPool[Raw] | None = None

    @property
    def db(self) -> Database:
        """What runs statements: on the connection of this thread's transaction, or on any."""
        return self

    @property
    def place(self) -> str:
        """The address, without its password."""
        return shown(self.address)

    @property
    def has_project(self) -> bool:
        """Whether the tables of a project are there; one that cannot be reached is told of at once.

        Later a connection that is lost is waited for, so that a server may be started anew while people work.
        """
        with self.told(), psycopg.connect(self.address, autocommit=True) as first:
            found = first.execute("SELECT 1 FROM pg_catalog.pg_tables WHERE tablename = '_sqlite_migrations'")
            return found.fetchone() is not None

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""
        return str(self.conn.execute(LEVEL).fetchall()[-1][0])

    def writing(self) -> AbstractContextManager[Database]:
        """See `connection.writing`."""
        return self.atomic() if self.taken else self._transaction(BEGIN_WRITING)

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """See `connection.reading`."""
        if self.taken:
            yield self
            return
        with self._transaction(BEGIN_READING) as db:
            yield db

    @contextmanager
    def atomic(self) -> Iterator[Database]:
        """What is undone as one if it fails, inside of a larger transaction or by itself."""
        if self.taken is None:
            with self._transaction("BEGIN"):
                yield self
            return
        with self.told(), self.taken.transaction():
            yield self

    def others(self) -> int:
        """Connections to the database beside those of this process."""
        self.close()
        with self.told(), psycopg.connect(self.address, autocommit=True) as own:
            until = time.monotonic() + GONE_S
            while (found := own.execute(OTHERS).fetchone()) and found[0] and time.monotonic() < until:
                time.sleep(GONE_S / 40)  # ours that were closed just now leave the server a moment later
        return int(found[0]) if found else 0

    def damaged_pages(self) -> list[str]:
        """Nothing: that is the server's own business (`pg_amcheck`)."""
        return []

    def dangling(self) -> list[str]:
        """Rows that point to rows which do not exist."""
        with self.told(), self.one() as raw:
            return dangling(raw)

    def texts_with_nul(self) -> list[str]:
        """None: PostgreSQL refuses them."""
        return []

    def schema_differences(self) -> list[str]:
        """Tables, indexes, triggers and views that are not as the migrations make them."""
        with self.told(), self.one() as raw:
            return differences(raw)

    def copy_to(self, part: Path) -> None:
        """Everything as it is at this instant, into a new file of SQLite's."""
        with (
            closing(sqlite.fresh()) as made,
            closing(SqliteDatabase(part, execute_plugins=False)) as target,
            self.reading(),
        ):
            for kind in ("table", "index", "view", "trigger"):
                for _, statement in parts(made, kind):
                    target.conn.execute(statement)
                for name in table_names(made) if kind == "table" else ():
                    columns = [column.name for column in made.table(name).columns]
                    quoted = ", ".join(f'"{column}"' for column in columns)
                    rows = self.conn.execute(f'SELECT {quoted} FROM "{name}"')
                    target.conn.executemany(
                        f'INSERT INTO "{name}" ({quoted}) VALUES ({", ".join("?" * len(columns))})', rows
                    )
            target.conn.commit()

    def dump_to(self, part: Path) -> None:
        """Everything as it is at this instant, as `pg_dump` writes it."""
        dump(self.address, part)

    def close(self) -> None:
        """End the connections of this process that nobody uses; those in use go on, new ones come when needed."""
        with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    @property
    def taken(self) -> Raw | None:
        """The connection that this thread's transaction runs on."""
        found: Raw | None = getattr(self._own, "taken", None)
        return found

    def run(self, ask: Callable[[Raw], Answer]) -> Answer:
        """Ask something on this thread's connection in a transaction, or on any, where it has to do no more than read.

        Whoever writes does it in a transaction (see `writing`).
        """
        if self.taken is not None:
            return ask(self.taken)
        with self._lent(ask) as (_, answer):
            return answer

    @contextmanager
    def one(self) -> Iterator[Raw]:
        """This thread's connection in a transaction, or any."""
        if self.taken is not None:
            yield self.taken
            return
        with self._lent(ConnectionPool.check_connection) as (raw, _):
            yield raw

    @contextmanager
    def _lent(self, first: Callable[[Raw], Answer]) -> Iterator[tuple[Raw, Answer]]:
        """Any connection, and what is asked on it first: that tells whether the server is still at its other end.

        If it is not, nothing has happened, and the next one is asked; so many may have lain here at most.
        """
        lying = CONNECTIONS
        while True:
            pool = self._connections()
            try:
                raw = pool.getconn()
            except PoolClosed:  # by another thread that was done, just now
                continue
            try:
                try:
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
    def told(self) -> Iterator[None]:
        """Turn what is wrong with the database, or with the way to it, into words for a person.

        A row that breaks a rule raises what it raises with SQLite: whoever catches it need not know the engine.
        """
        try:
            yield
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
        # Not kept as others are: several statements in one message cannot be.
        with self.told(), self._lent(lambda raw: raw.execute(begin.encode(), prepare=False)) as (raw, _):
            self._own.taken = raw
            try:
                yield self
                raw.execute("COMMIT")
            finally:
                self._own.taken = None
                if not raw.closed and raw.info.transaction_status is not TransactionStatus.IDLE:
                    raw.execute("ROLLBACK")

    def _connections(self) -> "ConnectionPool[Raw]":
        with self._opening:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self.address,
                    kwargs={"autocommit": True, "row_factory": named_rows},
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
    """Look for a way to the server anew, if anybody waits for one.

    Left to itself the pool tries after 1, 2, 4, ... seconds: a server that was away for two minutes and is back would
    not be found for two more. A request is what makes it begin again at once.
    """
    if pool.get_stats()["requests_waiting"]:
        with suppress(PoolTimeout, PoolClosed):
            pool.putconn(pool.getconn(timeout=0.001))


class PostgresConnection:
    """Runs our statements as SQLite's connections do."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside one."""
        return self._store.taken is not None

    def execute(self, statement: str, parameters: Parameters = (), /) -> Cursor:
        """Run one statement; its rows are here when it returns."""
        translation = translated(statement).encode()
        checked(parameters)
        with self._store.told():
            return self._store.run(lambda raw: cursor_for(raw, parameters).execute(translation, parameters))

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Cursor:
        """Run one statement for each of these; `rowcount` counts the rows of all."""
        translation, many = translated(statement).encode(), [*map(checked, parameters)]
        with self._store.told(), self._store.one() as raw:
            cursor = raw.cursor()
            cursor.executemany(translation, many)
            return cursor


def open_store(address: str, folder: Path) -> PostgresStore:
    """The database of a project, refusing one that this code does not fully understand.

    Raises:
        ProjectError: there is no project.
        SchemaOutOfDate: it is older or newer than this code.
        StoreUnavailable: it cannot be reached.
    """
    store = PostgresStore(address)
    try:
        if not store.has_project:
            raise ProjectError.said(
                "{address} has no project: check the address. `reelrank init` makes a new project there, "
                "`reelrank move {folder} {url}` moves one there",
                address=shown(address),
                folder=folder,
                url=without_password(address),
            )
        applied = {str(row[0]) for row in store.conn.execute(LEVEL)}
        known = {migration.name for migration in migrations._migrations}
        if applied - known:
            newer = ", ".join(sorted(applied - known))
            raise SchemaOutOfDate.said(
                "{address} was written by a newer ReelRank (it has {newer}): update ReelRank to open it",
                address=shown(address),
                newer=newer,
            )
        if known - applied:
            older = ", ".join(sorted(known - applied))
            raise SchemaOutOfDate.said(
                "{address} has an older schema ({older} missing): move it into a file with the ReelRank that "
                "wrote it, run `reelrank migrate {folder}` there, and move it back",
                address=shown(address),
                older=older,
                folder=folder,
            )
    except BaseException:
        store.close()
        raise
    return store
