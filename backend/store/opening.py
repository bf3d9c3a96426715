"""Open a project's database in PostgreSQL, if its schema fits this code."""

from pathlib import Path

from backend.core.errors import ProjectError, SchemaOutOfDate
from backend.store import upgrade_lock
from backend.store.address import without_password
from backend.store.postgresql import LEVEL, PostgresStore
from backend.store.schema import migrations


def open_store(address: str, folder: Path) -> PostgresStore:
    """Open a project's database in PostgreSQL, and refuse one whose schema is older or newer than this code.

    `folder` is the project's folder, which error messages name.

    Raises:
        ProjectError: there is no project at the address.
        SchemaOutOfDate: the schema is older or newer than this code.
        StoreUnavailable: the database cannot be reached, or is being upgraded.
    """
    store, pending = open_any(address, folder)
    if pending:
        store.close()
        raise SchemaOutOfDate.said(
            "{path} has an older schema ({pending} missing): run `reelrank migrate {parent}`",
            path=store.place,
            pending=", ".join(pending),
            parent=folder,
        )
    store.opened_with = migrations._migrations[-1].name
    return store


def open_any(address: str, folder: Path) -> tuple[PostgresStore, list[str]]:
    """Return a project's database, whose schema may be older than this code, and the migrations that it lacks.

    Raises:
        ProjectError: there is no project at the address.
        SchemaOutOfDate: the schema is newer than this code.
        StoreUnavailable: the database cannot be reached, or is being upgraded.
    """
    store = PostgresStore(address)
    try:
        if not store.has_project:
            raise ProjectError.said(
                "{address} has no project: check the address. `reelrank init` makes a new project there, "
                "`reelrank move {folder} {url}` moves one there",
                address=store.place,
                folder=folder,
                url=without_password(address),
            )
        with store.explain_errors(), store.one() as raw:
            upgrade_lock.require_same_schema(raw, "")
        return store, pending_in(store)
    except BaseException:
        store.close()
        raise


def pending_in(store: PostgresStore) -> list[str]:
    """Return the names of the migrations that a database lacks, in their order.

    Raises:
        SchemaOutOfDate: it has migrations that this code does not know.
    """
    applied = {str(row[0]) for row in store.conn.execute(LEVEL)}
    known = [migration.name for migration in migrations._migrations]
    if newer := applied - set(known):
        raise SchemaOutOfDate.said(
            "{path} was written by a newer ReelRank (it has {unknown}): update ReelRank to open it",
            path=store.place,
            unknown=", ".join(sorted(newer)),
        )
    return [name for name in known if name not in applied]
