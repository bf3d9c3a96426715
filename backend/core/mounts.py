"""Tell which file system holds a path, from Linux's list of mounts; other systems have none."""

import re
from pathlib import Path

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
