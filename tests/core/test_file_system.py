"""Network file systems, as Linux lists them in /proc/self/mounts (proc(5): blanks are octal escapes)."""

from pathlib import Path

import pytest

from backend.core import file_system

LISTED = r"""sysfs /sys sysfs rw,nosuid 0 0
/dev/nvme0n1p2 / ext4 rw,relatime 0 0
nas:/export /mnt/nas nfs4 rw,vers=4.2 0 0
/dev/sdb1 /mnt/nas/local xfs rw 0 0
//box/share /mnt/with\040blank cifs rw,vers=3.0 0 0
anna@host:/home /home/anna/far fuse.sshfs rw,user_id=1000 0 0
gluster:/volume /mnt/gluster fuse.glusterfs rw 0 0
host_share /mnt/9p 9p rw,trans=virtio 0 0
portal /run/user/1000/doc fuse.portal rw 0 0
/dev/fuse /mnt/ntfs fuseblk rw 0 0
nas:/old /mnt/covered nfs rw 0 0
tmpfs /mnt/covered tmpfs rw 0 0
short
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/nas/project", "nfs4"),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nas/local/project", ""),
        ("/mnt/nas2/project", ""),
        ("/mnt/with blank/project", "cifs"),
        ("/home/anna/far/project", "fuse.sshfs"),
        ("/home/anna/near", ""),
        ("/mnt/gluster/p", "fuse.glusterfs"),
        ("/mnt/9p/p", "9p"),
        ("/run/user/1000/doc/p", ""),
        ("/mnt/ntfs/p", ""),
        ("/mnt/covered/p", ""),
    ],
)
def test_which_file_system_is_on_the_network(
    path: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mounts").write_text(LISTED)
    monkeypatch.setattr(file_system, "MOUNTS", tmp_path / "mounts")
    assert file_system.network_file_system(Path(path)) == kind


def test_where_nobody_lists_mounts_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_system, "MOUNTS", tmp_path / "missing")
    assert file_system.network_file_system(Path("/mnt/nas")) == ""
