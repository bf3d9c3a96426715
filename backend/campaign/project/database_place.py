"""Where the database of a project is: the file in its folder, or an address in PostgreSQL."""

import os
from pathlib import Path

from backend.campaign.project.settings_file import SETTINGS_FILE, read_toml, replace_lines, toml_text
from backend.ground.errors import InputError, ProjectError
from backend.store.address import shown, understood, without_password

DATABASE_FILE = "reelrank.db"
ADDRESS_VARIABLE = "REELRANK_DATABASE"


def database_address(folder: Path) -> str:
    """Where a project's database is in PostgreSQL; empty where it is the file in the folder.

    The environment goes before `reelrank.toml`: a password need not stand in a file.

    Raises:
        InputError: what stands there is no address.
    """
    said = os.environ.get(ADDRESS_VARIABLE, "")
    if said:
        require_address(ADDRESS_VARIABLE, said)
    return said or written_address(folder)


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
            f"{folder} has {SETTINGS_FILE}, but neither {DATABASE_FILE} nor an address of its database: if it is in "
            f'PostgreSQL, set {ADDRESS_VARIABLE}, or write database = "postgresql://user@host/name" at the top of '
            f"{folder / SETTINGS_FILE}; if the file is lost, run `reelrank restore {folder} FILE` with a backup"
        )


def require_file(folder: Path) -> None:
    """Refuse a project whose database is not the file in its folder.

    Raises:
        ProjectError: it is at an address.
    """
    if database_address(folder):
        raise ProjectError(
            f"{folder} has its database in PostgreSQL: bring it back with `reelrank move {folder} file` first"
        )


def require_elsewhere(folder: Path, target: str) -> None:
    """Refuse to bring a database to an address where it is, or where the environment would not look for it.

    Raises:
        ProjectError: it is at an address already, or `REELRANK_DATABASE` names another one.
    """
    said = os.environ.get(ADDRESS_VARIABLE, "")
    there = written_address(folder) or ("" if (folder / DATABASE_FILE).exists() else said)
    if there:
        raise ProjectError(f"{folder} has its database at {shown(there)} already: move it into its file first")
    if said and without_password(said) != without_password(target):
        raise ProjectError(
            f"{ADDRESS_VARIABLE} names {shown(said)}, where every command would look for the database: unset it, or "
            f"move to that address"
        )


def require_address(place: Path | str, said: str) -> None:
    """Refuse what is no address of PostgreSQL.

    Args:
        place: where it was written.
        said: what stands there; its password is not shown.

    Raises:
        InputError: it is none.
    """
    if not said.startswith(("postgresql://", "postgres://")):
        raise InputError.single(
            place,
            f'the database is "{shown(said)}": write an address such as "postgresql://user@host/name", or none for '
            f"the file {DATABASE_FILE} in the folder",
        )
    if not understood(said):
        raise InputError.single(
            place,
            f'the database is "{shown(said)}": in a name or a password write @ as %40, / as %2F, % as %25',
        )


def set_database(folder: Path, address: str) -> None:
    """Write into `reelrank.toml` where the database is; empty for the file in the folder.

    A password stays out: only the person writes one into a file. What stands there already and leads to the same
    database stays as it was written.
    """
    bare, there = without_password(address), read_toml(folder / SETTINGS_FILE).get("database")
    if (address or there is not None) and (there is None or without_password(str(there)) != bare):
        replace_lines(folder, {"database": f"database = {toml_text(bare)}"})
