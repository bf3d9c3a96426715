"""A project's database in PostgreSQL, for a campaign that more than one machine serves.

It takes the same statements as SQLite (see `dialect`) and gives the same values: numbers for truths, rows that are read
by place and by name. One writer at a time, as there: whoever begins to write waits for a lock of the database, which
ends with the transaction; whatever holds because writers queue holds here too, however many servers there are.
"""

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import psycopg
from psycopg import ClientCursor
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from backend.ground.errors import ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.store import sqlite
from backend.store.definitions import parts, table_names
from backend.store.dialect import translated
from backend.store.engine import Cursor, Database, Parameters, SqliteDatabase
from backend.store.schema import migrations
from backend.store.values import Raw, configure, named_rows

WRITER = 0x5265656C
"""The advisory lock that writers queue for."""
CONNECTIONS = 20
"""At most so many of one process; who comes then waits for a turn."""
WAIT_S = 30.0
BEGIN_WRITING = ("BEGIN", f"SELECT pg_advisory_xact_lock({WRITER})")
# Read committed: a snapshot taken before the lock was had would be of the time before the last writer.
BEGIN_READING = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)
LEVEL = "SELECT name FROM _sqlite_migrations ORDER BY id"
THINGS = """
  SELECT 'table', tablename FROM pg_catalog.pg_tables WHERE schemaname = 'public'
  UNION ALL SELECT 'view', viewname FROM pg_catalog.pg_views WHERE schemaname = 'public'
  UNION ALL SELECT 'trigger', tgname FROM pg_catalog.pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'index', c.relname FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'i' AND n.nspname = 'public'
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conindid = c.oid)
"""


class PostgresStore:
    """The database of one project at an address; threads of this process share its connections."""

    def __init__(self, address: str) -> None:
        self.address = address
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
        return self.atomic() if self.taken else self._transaction(*BEGIN_WRITING)

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """See `connection.reading`."""
        if self.taken:
            yield self
            return
        with self._transaction(*BEGIN_READING) as db:
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
            found = own.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'"
            ).fetchone()
        return int(found[0]) if found else 0

    def damaged_pages(self) -> list[str]:
        """Nothing: that is the server's own business (`pg_amcheck`)."""
        return []

    def dangling(self) -> list[str]:
        """Nothing: references are checked whenever a row is written, and cannot be switched off."""
        return []

    def schema_differences(self) -> list[str]:
        """Tables, indexes, triggers and views that are not as the migrations make them."""
        with closing(sqlite.fresh()) as made:
            wanted = {(kind, name) for kind, name, _ in sqlite.schema(made)}
        with self.told(), self.one() as raw:
            there = {(row[0], row[1]) for row in raw.execute(THINGS)}
        return sorted(f"{kind} {name}" for kind, name in wanted ^ there)

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

    @contextmanager
    def one(self) -> Iterator[Raw]:
        """This thread's connection in a transaction, or any for the time of one statement."""
        if self.taken is not None:
            yield self.taken
            return
        while True:
            pool = self._connections()
            try:
                raw = pool.getconn()
                break
            except PoolClosed:  # by another thread that was done, just now
                continue
        try:
            yield raw
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
            raise StoreUnavailable(
                f"The database {shown(self.address)} cannot be used ({str(error).splitlines()[0]}): see that its "
                "server runs and can be reached. Then try again; what was saved before is still there, what was to be "
                "saved now is not."
            ) from error

    @contextmanager
    def _transaction(self, *begin: str) -> Iterator[Database]:
        with self.told(), self.one() as raw:
            self._own.taken = raw
            try:
                for statement in begin:
                    raw.execute(statement.encode())
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
                    kwargs={"autocommit": True, "cursor_factory": ClientCursor, "row_factory": named_rows},
                    min_size=0,
                    max_size=CONNECTIONS,
                    timeout=WAIT_S,
                    open=True,
                    configure=configure,
                    check=ConnectionPool.check_connection,
                )
            return self._pool


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
        with self._store.told(), self._store.one() as raw:
            return raw.execute(translated(statement).encode(), parameters)

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> Cursor:
        """Run one statement for each of these; `rowcount` counts the rows of all."""
        translation, many = translated(statement).encode(), list(parameters)
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
            raise ProjectError(
                f"{shown(address)} has no project: run `reelrank init {folder}` to begin one there, or `reelrank move "
                f"{folder} {shown(address)}` to bring one there"
            )
        applied = {str(row[0]) for row in store.conn.execute(LEVEL)}
        known = {migration.name for migration in migrations._migrations}
        if applied - known:
            newer = ", ".join(sorted(applied - known))
            raise SchemaOutOfDate(
                f"{shown(address)} was written by a newer ReelRank (it has {newer}): update ReelRank to open it"
            )
        if known - applied:
            older = ", ".join(sorted(known - applied))
            raise SchemaOutOfDate(
                f"{shown(address)} has an older schema ({older} missing): move it into a file with the ReelRank that "
                f"wrote it, run `reelrank migrate {folder}` there, and move it back"
            )
    except BaseException:
        store.close()
        raise
    return store


def shown(address: str) -> str:
    """An address without its password.

    >>> shown("postgresql://reelrank:secret@db.lab/campaign")
    'postgresql://reelrank:***@db.lab/campaign'
    """
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", address)
