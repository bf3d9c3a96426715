"""Back up, restore, migrate and move the database of a project.

*Reads* and *writes* the database as a whole, the copies beside it, and the address of the database in
`reelrank.toml`.
"""

from datetime import UTC, datetime
from pathlib import Path

from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.queries import rows as query_rows
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import DAY_S, commands_only, in_charge, lead_only
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import places
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project import settings_file as files
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import require_inside
from backend.core import typed_text
from backend.core.errors import AlreadyDone, ProjectError
from backend.core.file_system import make_private_folder
from backend.core.messages import said
from backend.store import connection, copies, upkeep
from backend.store.address import DUMP_ENDING, RESTORING, hide_password, without_password
from backend.store.connection import Database
from backend.store.copies import Backup
from backend.store.files import ensure_secret
from backend.store.upkeep import Restored


def restore(folder: Path, file: Path, *, now: float) -> Restored:
    """Replace a project's database by the backup in `file`.

    The current database may be damaged or missing. It is kept beside the restored one.

    Raises:
        AlreadyDone: `file` was restored last, and nothing has changed since.
        ProjectError: the database is in PostgreSQL, `file` is a dump of PostgreSQL, or a symbolic link in
            the project leads out of its folder.
    """
    require_inside(folder)
    if file.suffix == DUMP_ENDING:
        raise ProjectError(
            f"{file} is a dump of PostgreSQL: make an empty database, run `{RESTORING}`, and write its "
            f"address into {folder / places.SETTINGS_FILE} (database = ...). Nothing was changed."
        )
    files.require_file(folder)
    return upkeep.restore(folder / places.DATABASE_FILE, file, now=now)


def migrate(folder: Path) -> tuple[list[str], Path | None]:
    """Bring a project's database up to the schema of this version of ReelRank.

    An old `reelrank.toml` may contain the batch size (how many candidates of a query are handed out together). This
    setting is moved into the database, unless batches exist already.

    Returns:
        The names of the migrations applied, and the path of the copy of the old database (None if there was nothing to
        do).
    """
    require_inside(folder)
    path, address = folder / places.DATABASE_FILE, files.database_address(folder)
    if not address:
        files.require_database(folder)
    size = files.old_batch_size(folder)

    def derive(db: Database) -> None:
        if size is not None and not query_rows.any_batch(db):
            project_rows.set_batch_size(db, size)
        candidates_rows.rebuild_agenda(db)
        ensure_secret(db)

    if address:
        with connection.driver():
            from backend.store import migrating
        done = migrating.migrate(address, path, derive=derive)
    else:
        done = upkeep.migrate(path, derive=derive)
    if size is not None:
        files.retire_batch_size(folder)
    return done


def move(folder: Path, target: str, *, now: float) -> tuple[dict[str, int], Path | None]:
    """Move a project's database into PostgreSQL, or back into its file.

    Args:
        folder: the project's folder.
        target: the address of an empty PostgreSQL database, or "file".
        now: seconds since 1970.

    Returns:
        The number of rows by table, and the path of the former database file (None if the target is "file").

    Raises:
        AlreadyDone: the database is there already.
        ProjectError: somebody has the project open, or the target is not empty. Nothing has changed then.
    """
    require_inside(folder)
    path, address = folder / places.DATABASE_FILE, files.database_address(folder)
    if target == "file":
        if not address:
            files.require_database(folder)
            raise AlreadyDone(f"{folder} has its database in {path.name} already: nothing is left to do.")
        projects.open_project(folder).store.close()  # refuses, with a message, a project that cannot be opened
        from backend.store import moving

        return moving.into_file(address, path, lambda: files.set_database(folder, "")), None
    files.require_address("the address", target)
    if path.exists() and without_password(files.written_address(folder)) == without_password(target):
        with connection.driver():
            from backend.store import moving
        return moving.finish(path, now=now)  # a move was killed after it had written the address
    if without_password(address) == without_password(target) and not path.exists():
        projects.open_project(folder).store.close()  # refuses, with a message, a project that cannot be opened
        raise AlreadyDone(f"{folder} has its database at {hide_password(target)} already: nothing is left to do.")
    files.require_elsewhere(folder, target)
    files.require_database(folder)
    store = connection.open_store(path)  # refuses a file that is no project or has another schema
    names = people.names(store.db)
    store.close()
    typed_text.require_told_apart(names)
    files.read_settings(folder)
    with connection.driver():
        from backend.store import moving
    return moving.into_postgresql(path, target, lambda: files.set_database(folder, target), now=now)


BACKUPS = "backups"
"""Name of the project's subfolder for backups that leads make in the browser."""


@commands_only
def backup(project: Project, file: Path) -> None:
    """Write a consistent, checked copy of the database to `file`, even while people work.

    If the file's name ends with `.dump`, `pg_dump` writes the copy.

    Raises:
        ProjectError: the file exists already, or cannot be written; see `backend.store.upkeep.backup`.
    """
    upkeep.backup(project.store, file)


@lead_only
def backup_now(project: Project, lead: Lead, *, now: float) -> Path:
    """Write a consistent copy of the database into the project's folder `backups`, and return its path.

    People can go on working meanwhile.

    Raises:
        ProjectError: the copy cannot be made (the disk is full, the folder read-only); no file is left behind.
    """
    file = project.folder / BACKUPS / datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S.db")
    try:
        make_private_folder(file.parent)
    except OSError as error:
        raise ProjectError(
            said("cannot make the folder {parent}: {strerror}", parent=file.parent, strerror=error.strerror)
        ) from error
    upkeep.backup(project.store, file)
    return file


@in_charge
def list_backups(project: Project, by: Lead | Operator) -> list[Backup]:
    """Return the backups in the project's folder `backups`, the newest first."""
    return copies.backups(project.folder / BACKUPS)


def former_databases(folder: Path) -> list[Backup]:
    """Return the copies of former states that `restore`, `migrate` and `move` kept in a project, newest first."""
    return copies.backups(folder, f"{Path(places.DATABASE_FILE).stem}.before-*")


def remove_former_databases(folder: Path, *, days: float, now: float) -> list[Backup]:
    """Remove copies of former states of a project's database, and return those removed.

    Args:
        folder: the project's folder.
        days: the least age of a copy to remove.
        now: seconds since 1970.
    """
    require_inside(folder)
    old = [copy for copy in former_databases(folder) if copy.made_at <= now - days * DAY_S]
    for copy in old:
        for file in (copy.file, *copies.companions(copy.file)):
            file.unlink(missing_ok=True)
    return old
