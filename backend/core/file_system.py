"""Detect links and network file systems, and keep project files private to the user who runs ReelRank.

A path may be a link that leads out of its folder, or lie on a network file system. Projects hold files with
permissions 0600 and folders with 0700, whatever that user's umask is, unless `REELRANK_UMASK` says otherwise.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from backend.core.errors import InputError, ProjectError
from backend.core.messages import said


def leads_out(path: Path, folder: Path) -> bool:
    """Return whether a path inside a folder leads out of it through a symbolic link.

    The link may be any part of the path below the folder; the folder itself may be a link. Hard links and mounted
    folders do not count.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     (Path(folder) / "a.txt").symlink_to("/etc/hostname")
    ...     (Path(folder) / "b.txt").symlink_to("c.txt")
    ...     [leads_out(Path(folder) / name, Path(folder)) for name in ("a.txt", "b.txt", "c.txt")]
    [True, False, False]
    """
    # os.path.realpath, because Path.resolve raises an error for links in a circle.
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def require_own(path: Path, folder: Path) -> Path:
    """Return a path of a file in a folder unless it is a link that leads out of the folder.

    Otherwise a folder from somebody else could bring in a private file of the person who reads it.

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
    r"""Return the type of the file system that holds an absolute path; "" if no mount holds it.

    The innermost mount counts. Of two mounts at the same folder, the one listed later counts.

    Args:
        path: the absolute path.
        listed: the text of `/proc/self/mounts`.

    >>> kind_of(Path("/srv/my lab/p"), "/dev/sda1 / ext4 rw 0 0\nnas:/lab /srv/my\\040lab nfs4 rw 0 0\n")
    'nfs4'
    """
    kind, depth = "", 0
    for line in listed.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(_ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), fields[1]))
        if path.is_relative_to(mount) and len(mount.parts) >= depth:
            kind, depth = fields[2], len(mount.parts)
    return kind


UMASK_VARIABLE = "REELRANK_UMASK"
"""Environment variable for sharing projects: "007" with the group of their folder, "077" (the default) with nobody."""


def private_umask() -> int:
    """Return the permission bits that files and folders of a project must not have.

    Raises:
        ProjectError: `REELRANK_UMASK` is not three octal digits of which the first is 0.
    """
    setting = os.environ.get(UMASK_VARIABLE) or "077"
    if not re.fullmatch("0[0-7]{2}", setting):
        raise ProjectError.said(
            '{variable} is {given}: write three digits, such as "077" (this user alone) or "007" (the group, too)',
            variable=UMASK_VARIABLE,
            given=setting,
        )
    return int(setting, 8)


def make_private_folder(folder: Path) -> None:
    """Make a private folder and its missing parents; existing folders stay as they are.

    Raises:
        OSError: the folder cannot be made.
    """
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        # Keep bits that new folders inherit from the parent, such as setgid.
        with suppress(PermissionError):
            folder.chmod((folder.stat().st_mode & 0o7000) | (0o777 & ~private_umask()))


def make_private(file: Path) -> None:
    """Give a new file of a project its private permissions.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    with suppress(PermissionError):  # the disk may not support permissions, which `reelrank doctor` reports
        file.chmod(0o666 & ~private_umask())


def make_private_file(file: Path) -> None:
    """Make an empty private file, so that programs that fill it later keep its permissions.

    Raises:
        OSError: the file exists already, or cannot be made.
    """
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    make_private(file)


def open_to_others(path: Path) -> bool:
    """Return whether a path has permissions that `REELRANK_UMASK` forbids; False for links and missing paths."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISLNK(mode) and bool(mode & private_umask())


def close_to_others(path: Path) -> None:
    """Remove the permissions that `open_to_others` reports, if this user may."""
    with suppress(PermissionError):
        path.chmod(path.stat().st_mode & 0o7777 & ~private_umask())
