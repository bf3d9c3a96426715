"""Keep what a project holds to the user who runs ReelRank: files 0600, folders 0700, whatever that user's umask is."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from backend.core.errors import ProjectError
from backend.core.messages import said

UMASK_VARIABLE = "REELRANK_UMASK"
"""Environment variable that shares projects: "007" with the group of their folder, "077" (as if unset) with nobody."""


def private_umask() -> int:
    """Return the permission bits that files and folders of a project lack.

    Raises:
        ProjectError: `REELRANK_UMASK` is not three octal digits of which the first is 0.
    """
    given = os.environ.get(UMASK_VARIABLE) or "077"
    if not re.fullmatch("0[0-7]{2}", given):
        raise ProjectError(
            said(
                '{variable} is {given}: write three digits, such as "077" (this user alone) or "007" (the group, too)',
                variable=UMASK_VARIABLE,
                given=given,
            )
        )
    return int(given, 8)


def make_private_folder(folder: Path) -> None:
    """Make a folder of a project, and those above it that are missing; one that is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        # Bits of the parent that new folders inherit, such as setgid, stay.
        with suppress(PermissionError):
            folder.chmod((folder.stat().st_mode & 0o7000) | (0o777 & ~private_umask()))


def make_private(file: Path) -> None:
    """Give a new file of a project its permissions.

    Raises:
        FileNotFoundError: it is not there.
    """
    with suppress(PermissionError):  # of a disk that knows no permissions; the doctor tells
        file.chmod(0o666 & ~private_umask())


def make_private_file(file: Path) -> None:
    """Make an empty file of a project, so that whatever opens and fills it keeps its permissions.

    Raises:
        OSError: it is there already, or cannot be made.
    """
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    make_private(file)


def open_to_others(path: Path) -> bool:
    """Whether others than `REELRANK_UMASK` says may use a file or folder; never for a link, or where nothing is."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISLNK(mode) and bool(mode & private_umask())


def close_to_others(path: Path) -> None:
    """Take from others what `open_to_others` finds, where this user may."""
    with suppress(PermissionError):
        path.chmod(path.stat().st_mode & 0o7777 & ~private_umask())
