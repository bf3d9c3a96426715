"""Tell what lies behind a path, and keep what a project holds to the user who runs ReelRank.

Behind a path may be a link that leads out of a folder, or a network file system. What a project holds has the
permissions 0600 (files) and 0700 (folders), whatever that user's umask is.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from backend.core.errors import InputError, ProjectError
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


MOUNTS = Path("/proc/self/mounts")
_NETWORK = re.compile(
    "9p|afs|ceph|cifs|coda|gpfs|lustre|ncpfs|nfs4?|orangefs|pvfs2|smb[23]|smbfs|sshfs"
    "|(fuse[.])?(beegfs|ceph(-fuse)?|davfs2?|gcsfuse|glusterfs|goofys|nfs|rclone|s3fs|smbnetfs|sshfs)"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path) -> str:
    """Return the type of the network file system that holds a path, such as `nfs4`; "" for a local or unknown one."""
    try:
        listed = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        kind = kind_of(path.resolve(), listed)
    except OSError:
        return ""
    return kind if _NETWORK.fullmatch(kind) else ""


def kind_of(path: Path, listed: str) -> str:
    r"""Return the type of the innermost mount above an absolute path; of two at one place the later one is on top.

    >>> kind_of(Path("/srv/my lab/p"), "/dev/sda1 / ext4 rw 0 0\nnas:/lab /srv/my\\040lab nfs4 rw 0 0\n")
    'nfs4'
    """
    found, depth = "", 0
    for line in listed.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(_ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), fields[1]))
        if path.is_relative_to(mount) and len(mount.parts) >= depth:
            found, depth = fields[2], len(mount.parts)
    return found


UMASK_VARIABLE = "REELRANK_UMASK"
"""Environment variable that shares projects: "007" with the group of their folder, "077" (as if unset) with nobody."""


def private_umask() -> int:
    """Return the permission bits that files and folders of a project lack.

    Raises:
        ProjectError: `REELRANK_UMASK` is not three octal digits of which the first is 0.
    """
    given = os.environ.get(UMASK_VARIABLE) or "077"
    if not re.fullmatch("0[0-7]{2}", given):
        raise ProjectError.said(
            '{variable} is {given}: write three digits, such as "077" (this user alone) or "007" (the group, too)',
            variable=UMASK_VARIABLE,
            given=given,
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
