"""Tell links that lead out of a folder from everything else in it."""

import os
from pathlib import Path

from backend.core.errors import InputError
from backend.core.messages import said


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a path inside a folder ends up outside of it because the path, or a part of it, is a symbolic link.

    The folder itself may be a link. Hard links and mounted folders are not links in this sense.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     (Path(folder) / "a.txt").symlink_to("/etc/hostname")
    ...     (Path(folder) / "b.txt").symlink_to("c.txt")
    ...     [leads_out(Path(folder) / name, Path(folder)) for name in ("a.txt", "b.txt", "c.txt")]
    [True, False, False]
    """
    # os.path.realpath, because Path.resolve raises where links run in a circle.
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def require_own(path: Path, folder: Path) -> Path:
    """Return a file of a folder that somebody handed on, which could otherwise bring in a private file of the reader.

    Raises:
        InputError: it is a link out of the folder.
    """
    if path.is_symlink() and leads_out(path, folder):
        name = path.relative_to(folder).as_posix()
        raise InputError.single(
            name, said("is a link out of the folder, which is not followed: put the file itself there")
        )
    return path
