"""Find the database of a project: the file in its folder, or an address in PostgreSQL."""

import os
from pathlib import Path

from backend.campaign.setup.project.places import DATABASE_FILE, SETTINGS_FILE
from backend.campaign.setup.project.settings.model import DATABASE
from backend.campaign.setup.project.settings.registry import toml_value
from backend.campaign.setup.project.settings_file import read_toml, replace_lines
from backend.core.errors import InputError, ProjectError
from backend.core.messages import said
from backend.store.address import shown, understood, without_password

ADDRESS_VARIABLE = DATABASE.key


def database_address(folder: Path) -> str:
    """Where a project's database is in PostgreSQL; empty where it is the file in the folder.

    The environment goes before `reelrank.toml`: a password need not stand in a file.

    Raises:
        InputError: what stands there is no address.
    """
    given = os.environ.get(ADDRESS_VARIABLE, "")
    if given:
        require_address(ADDRESS_VARIABLE, given)
    return given or written_address(folder)


def written_address(folder: Path) -> str:
    """What `reelrank.toml` says of where the database is, whatever the environment says."""
    if not (folder / SETTINGS_FILE).exists():
        return ""
    told = str(read_toml(folder / SETTINGS_FILE).get("database", ""))
    if told:
        require_address(folder / SETTINGS_FILE, told)
    return told


def require_database(folder: Path) -> None:
    """Refuse a folder whose database is neither in it nor at an address that is known.

    Raises:
        ProjectError: it has no database; what it may be, and what to do.
    """
    if (folder / SETTINGS_FILE).exists() and not (folder / DATABASE_FILE).exists():
        raise ProjectError(
            said(
                "{folder} has {settings}, but neither {file} nor an address of its database: if it is "
                'in PostgreSQL, set {variable}, or write database = "postgresql://user@host/name" at the top '
                "of {path}; if the file is lost, run `reelrank restore {folder} FILE` with a backup",
                folder=folder,
                settings=SETTINGS_FILE,
                file=DATABASE_FILE,
                variable=ADDRESS_VARIABLE,
                path=folder / SETTINGS_FILE,
            )
        )


def require_file(folder: Path) -> None:
    """Refuse a project whose database is not the file in its folder.

    Raises:
        ProjectError: it is at an address.
    """
    if database_address(folder):
        raise ProjectError(
            said(
                "{folder} has its database in PostgreSQL: bring it back with `reelrank move {folder} file` first",
                folder=folder,
            )
        )


def require_elsewhere(folder: Path, target: str) -> None:
    """Refuse to bring a database to an address where it is, or where the environment would not look for it.

    Raises:
        ProjectError: it is at an address already, or `REELRANK_DATABASE` names another one.
    """
    given = os.environ.get(ADDRESS_VARIABLE, "")
    there = written_address(folder) or ("" if (folder / DATABASE_FILE).exists() else given)
    if there:
        raise ProjectError(
            said(
                "{folder} has its database at {there} already: move it into its file first",
                folder=folder,
                there=shown(there),
            )
        )
    if given and without_password(given) != without_password(target):
        raise ProjectError(
            said(
                "{variable} names {address}, where every command would look for the database: unset it, or move "
                "to that address",
                variable=ADDRESS_VARIABLE,
                address=shown(given),
            )
        )


def require_address(place: Path | str, given: str) -> None:
    """Refuse what is no address of PostgreSQL.

    Args:
        place: where it was written.
        given: what stands there; its password is not shown.

    Raises:
        InputError: it is none.
    """
    if not given.startswith(("postgresql://", "postgres://")):
        raise InputError.single(
            place,
            said(
                'the database is "{address}": write an address such as "postgresql://user@host/name", or none for the '
                "file {file} in the folder",
                address=shown(given),
                file=DATABASE_FILE,
            ),
        )
    if not understood(given):
        raise InputError.single(
            place,
            said(
                'the database is "{address}": in a name or a password write @ as %40, / as %2F, % as %25',
                address=shown(given),
            ),
        )


def set_database(folder: Path, address: str) -> None:
    """Write into `reelrank.toml` where the database is; empty for the file in the folder.

    A password stays out: only the person writes one into a file. What stands there already and leads to the same
    database stays as it was written.
    """
    bare, there = without_password(address), read_toml(folder / SETTINGS_FILE).get("database")
    if (address or there is not None) and (there is None or without_password(str(there)) != bare):
        replace_lines(folder, {"database": f"database = {toml_value(bare)}"})
