"""Tell what lies behind a path: a link that leads out of a folder, a network file system."""

import os
import re
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
