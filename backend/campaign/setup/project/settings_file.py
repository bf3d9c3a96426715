"""Read and write `reelrank.toml`, and find the database: the file in the folder, or an address in PostgreSQL."""

import os
import re
import shutil
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.setup.project.places import DATABASE_FILE, SETTINGS_FILE
from backend.campaign.setup.project.setting_entries import DATABASE
from backend.campaign.setup.project.settings import ProjectSettings
from backend.campaign.setup.project.settings_text import toml_value
from backend.core.errors import InputError, ProjectError, ReelRankError
from backend.core.messages import said
from backend.core.reading import UNDECODABLE
from backend.store.address import shown, understood, without_password
from backend.store.files import arriving

OLD_BATCH_SIZES = (20, 40)
"""Those that `reelrank.toml` could name."""

BATCH_SIZE = "batch_size"
"""Stood in the file before the database had a row for it."""
MOVED = "# The batch size stands in the database now; `reelrank candidates --batch-size` sets it before lists exist."


def read_settings(folder: Path) -> ProjectSettings:
    """Read and check `reelrank.toml`."""
    path = folder / SETTINGS_FILE
    if BATCH_SIZE in read_toml(path):
        message = said(
            "{batch_size} is in the database now: remove the line, or run `reelrank migrate {folder}`",
            batch_size=BATCH_SIZE,
            folder=folder,
        )
        raise InputError.single(path, message)
    try:
        return msgspec.toml.decode(path.read_bytes(), type=ProjectSettings)
    except UNDECODABLE as error:
        raise InputError.single(path, str(error)) from error


class LiveSettings:
    """The settings of a project folder, read anew once the file has changed.

    While the file cannot be read or understood, those stay in force that were read last.
    """

    def __init__(self, folder: Path) -> None:
        """Raises `InputError` if the file is not understood."""
        self._folder = folder
        self._read = (self._version(), read_settings(folder))

    @property
    def current(self) -> ProjectSettings:
        """The settings in force."""
        version, settings = self._read
        with suppress(ReelRankError, OSError):
            if (now := self._version()) != version:
                self._read = (now, settings)  # a file that cannot be understood is not tried again
                self._read = (now, read_settings(self._folder))
        return self._read[1]

    def _version(self) -> tuple[int, int, int]:
        try:
            found = os.stat(self._folder / SETTINGS_FILE)
        except OSError:
            return 0, 0, 0
        return found.st_mtime_ns, found.st_size, found.st_ino


def why_fixed(folder: Path) -> str:
    """Return why `reelrank.toml` cannot be edited here, as a sentence; an empty text if it can."""
    path = folder / SETTINGS_FILE
    if path.stat().st_mode & 0o222 and os.access(path, os.W_OK) and os.access(folder, os.W_OK):
        return ""
    return said("{file} is read-only on the server: ask whoever runs it to change the setting.", file=SETTINGS_FILE)


def old_batch_size(folder: Path) -> int | None:
    """The batch size in a `reelrank.toml` of before it stood in the database; None if it says none.

    Raises:
        InputError: it is no batch size, or the file cannot be read as TOML.
    """
    path = folder / SETTINGS_FILE
    if not path.exists():
        return None
    size: object = read_toml(path).get(BATCH_SIZE)
    if size not in (None, *OLD_BATCH_SIZES):
        raise InputError.single(path, said("{batch_size} is {size}: write 20 or 40", batch_size=BATCH_SIZE, size=size))
    return size if isinstance(size, int) else None


def retire_batch_size(folder: Path) -> None:
    """Put a remark in the place of the batch size in `reelrank.toml`; the database has it now."""
    replace_lines(folder, {BATCH_SIZE: MOVED})


def replace_lines(folder: Path, lines: dict[str, str]) -> None:
    """Write these lines in the place of those that set a key, leaving every other line as the person wrote it."""
    path = folder / SETTINGS_FILE
    there = path.read_text(encoding="utf-8").splitlines()
    for key, line in lines.items():
        places = [n for n, old in enumerate(there) if re.match(rf"{key}\s*=", old)]
        if places:
            there[places[0]] = line
        else:
            there.insert(0, line)
    text = "\n".join(there) + "\n"
    msgspec.toml.decode(text, type=ProjectSettings)  # never write what cannot be read back
    write_whole(path, text)


def read_toml(path: Path) -> dict[str, Any]:
    """What the file says, unchecked.

    Raises:
        ProjectError: it is not there.
        InputError: it cannot be read as TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = said(
            "{parent} has no {settings}: restore the file, or run `reelrank init` in another folder",
            parent=path.parent,
            settings=SETTINGS_FILE,
        )
        raise ProjectError(hint) from error
    except UNDECODABLE as error:
        raise InputError.single(path, str(error)) from error


def write_whole(path: Path, text: str) -> None:
    """Whole or not at all: a server may read the file at this moment, and the power may fail."""
    with arriving(path) as part:
        part.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, part)


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
                "{folder} has {settings}, but neither {file} nor an address of its database. If it is in "
                'PostgreSQL, set {variable}, or write database = "postgresql://user@host/name" at the '
                "top of {path}. If the file is lost, run `reelrank restore {folder} FILE` with a backup",
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
                "{folder} has its database in PostgreSQL: move it back with `reelrank move {folder} file` first",
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
                "{folder} has its database at {there}: move it back into its file first",
                folder=folder,
                there=shown(there),
            )
        )
    if given and without_password(given) != without_password(target):
        raise ProjectError(
            said(
                "{variable} names {address}, so every command would look for the database there: unset "
                "it, or move the database to that address",
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
                'the database is "{address}": write an address such as "postgresql://user@host/name", or '
                "remove it to use the file {file} in the folder",
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
