"""Read and write `reelrank.toml`, and find the database: a file in the folder, or an address in PostgreSQL."""

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
from backend.store.address import hide_password, is_valid_address, without_password
from backend.store.files import atomic_file

OLD_BATCH_SIZES = (20, 40)
"""The batch sizes that an old `reelrank.toml` can name."""

BATCH_SIZE = "batch_size"
"""The key of the batch size in an old `reelrank.toml`. It is in the database now."""
MOVED = "# The batch size stands in the database now; `reelrank candidates --batch-size` sets it before lists exist."


def read_settings(folder: Path) -> ProjectSettings:
    """Read and check `reelrank.toml`.

    Raises:
        InputError: the file is not valid. Or it is an old file that still sets the batch size, which is now in the
            database.
    """
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
    """The settings of a project folder, read again whenever its `reelrank.toml` has changed.

    While the file cannot be read or is not valid, the last valid settings stay in use.
    """

    def __init__(self, folder: Path) -> None:
        """Read the settings of a project folder; raise `InputError` if its file is not valid."""
        self._folder = folder
        self._read = (self._version(), read_settings(folder))

    @property
    def current(self) -> ProjectSettings:
        """The newest valid settings; the file is read again if it has changed."""
        version, settings = self._read
        with suppress(ReelRankError, OSError):
            if (now := self._version()) != version:
                self._read = (now, settings)  # an invalid file is not read again until it changes
                self._read = (now, read_settings(self._folder))
        return self._read[1]

    def _version(self) -> tuple[int, int, int]:
        try:
            stat = os.stat(self._folder / SETTINGS_FILE)
        except OSError:
            return 0, 0, 0
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def why_read_only(folder: Path) -> str:
    """Return why this process cannot edit `reelrank.toml`, as a sentence; an empty text if it can."""
    path = folder / SETTINGS_FILE
    if path.stat().st_mode & 0o222 and os.access(path, os.W_OK) and os.access(folder, os.W_OK):
        return ""
    return said("{file} is read-only on the server: ask whoever runs it to change the setting.", file=SETTINGS_FILE)


def old_batch_size(folder: Path) -> int | None:
    """Return the batch size that an old `reelrank.toml` sets; None if the file sets none.

    The batch size is how many pairs of a query are handed out together. Today it is stored in the database.

    Raises:
        InputError: the value is not a batch size, or the file cannot be read as TOML.
    """
    path = folder / SETTINGS_FILE
    if not path.exists():
        return None
    size: object = read_toml(path).get(BATCH_SIZE)
    if size not in (None, *OLD_BATCH_SIZES):
        raise InputError.single(path, said("{batch_size} is {size}: write 20 or 40", batch_size=BATCH_SIZE, size=size))
    return size if isinstance(size, int) else None


def retire_batch_size(folder: Path) -> None:
    """Replace the batch size in an old `reelrank.toml` by a comment that says where it is stored now."""
    replace_lines(folder, {BATCH_SIZE: MOVED})


def replace_lines(folder: Path, lines: dict[str, str]) -> None:
    """Replace lines of `reelrank.toml`. `lines` maps the key of each top-level setting to its new line.

    If no line sets the key yet, the new line is added at the top of the file. All other lines stay as they are.
    """
    path = folder / SETTINGS_FILE
    content = path.read_text(encoding="utf-8").splitlines()
    for key, line in lines.items():
        places = [n for n, old in enumerate(content) if re.match(rf"{key}\s*=", old)]
        if places:
            content[places[0]] = line
        else:
            content.insert(0, line)
    text = "\n".join(content) + "\n"
    msgspec.toml.decode(text, type=ProjectSettings)  # never write what cannot be read back
    write_whole(path, text)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file, unchecked.

    Raises:
        ProjectError: the file does not exist.
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
    """Write a file atomically. A server never reads a half-written file, even after a power failure."""
    with atomic_file(path) as part:
        part.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, part)


ADDRESS_VARIABLE = DATABASE.key


def database_address(folder: Path) -> str:
    """Return the address of a project's database in PostgreSQL; empty if the database is the file in the folder.

    The environment variable `REELRANK_DATABASE` overrides `reelrank.toml`, so that no file needs to contain a password.

    Raises:
        InputError: the value is not an address.
    """
    address = os.environ.get(ADDRESS_VARIABLE, "")
    if address:
        require_address(ADDRESS_VARIABLE, address)
    return address or written_address(folder)


def written_address(folder: Path) -> str:
    """Return the database address in `reelrank.toml`, ignoring environment variables; empty if there is none.

    Raises:
        InputError: the value is not an address.
    """
    if not (folder / SETTINGS_FILE).exists():
        return ""
    address = str(read_toml(folder / SETTINGS_FILE).get("database", ""))
    if address:
        require_address(folder / SETTINGS_FILE, address)
    return address


def require_database(folder: Path) -> None:
    """Refuse a project folder that has neither a database file nor the address of a database.

    Raises:
        ProjectError: the folder has no database; the message names possible causes, and what to do.
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
    """Raise an error if the database of a project is in PostgreSQL instead of in the project's folder.

    Raises:
        ProjectError: the database is in PostgreSQL.
    """
    if database_address(folder):
        raise ProjectError(
            said(
                "{folder} has its database in PostgreSQL: move it back with `reelrank move {folder} file` first",
                folder=folder,
            )
        )


def require_elsewhere(folder: Path, target: str) -> None:
    """Refuse to move a project's database to the address `target` if it is in PostgreSQL already.

    Raises:
        ProjectError: the database is in PostgreSQL already, or `REELRANK_DATABASE` names another address than `target`.
            Every command would then look for the database at that other address.
    """
    from_environment = os.environ.get(ADDRESS_VARIABLE, "")
    current = written_address(folder) or ("" if (folder / DATABASE_FILE).exists() else from_environment)
    if current:
        raise ProjectError(
            said(
                "{folder} has its database at {there}: move it back into its file first",
                folder=folder,
                there=hide_password(current),
            )
        )
    if from_environment and without_password(from_environment) != without_password(target):
        raise ProjectError(
            said(
                "{variable} names {address}, so every command would look for the database there: unset "
                "it, or move the database to that address",
                variable=ADDRESS_VARIABLE,
                address=hide_password(from_environment),
            )
        )


def require_address(place: Path | str, address: str) -> None:
    """Refuse a text that is not a valid address of a PostgreSQL database.

    Args:
        place: the file or environment variable that contains the text, for the error message.
        address: the text; the message does not show its password.

    Raises:
        InputError: the text is not an address.
    """
    if not address.startswith(("postgresql://", "postgres://")):
        raise InputError.single(
            place,
            said(
                'the database is "{address}": write an address such as "postgresql://user@host/name", or '
                "remove it to use the file {file} in the folder",
                address=hide_password(address),
                file=DATABASE_FILE,
            ),
        )
    if not is_valid_address(address):
        raise InputError.single(
            place,
            said(
                'the database is "{address}": in a name or a password write @ as %40, / as %2F, % as %25',
                address=hide_password(address),
            ),
        )


def set_database(folder: Path, address: str) -> None:
    """Write the address of the database into `reelrank.toml`, without its password.

    An empty address stands for the database file in the folder. If the file has an address that differs only in the
    password, it stays as it is.
    """
    bare, current = without_password(address), read_toml(folder / SETTINGS_FILE).get("database")
    if (address or current is not None) and (current is None or without_password(str(current)) != bare):
        replace_lines(folder, {"database": f"database = {toml_value(bare)}"})
