"""Name temporary files and folders after the process that makes them, and remove those whose process is gone.

A process that is killed cannot remove its temporary files. Their names tell the next command whose they were: the
machine, the process id, and when that process started, because process ids are used again.
"""

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from socket import gethostname

from backend.core.days import lasts

OURS = ".reelrank-"
"""The beginning of the names of temporary folders and of files that stand beside what they become."""
PART = ".part"
"""The ending of the names of temporary files in folders that ReelRank alone writes to."""
UNTOUCHED_S = 3600.0
"""Something of another machine's process that was not written to for this long (seconds) is no longer being made."""

_OWNER = r"([0-9a-f]{8})-([1-9]\d{0,6})-(\d+)-"
_NAME = re.compile(rf"{re.escape(OURS)}{_OWNER}.*|.*\.{_OWNER}\d+{re.escape(PART)}", re.DOTALL)


@dataclass(slots=True)
class Freed:
    """How many temporary files and folders of ended processes were removed, and their bytes."""

    number: int = 0
    size: int = 0


freed = Freed()
"""What this process has removed since somebody was last told."""


def temporary_prefix() -> str:
    """Return the beginning of a temporary name of this process; what makes the name unique has to follow."""
    return f"{OURS}{_owner()}"


def part_of(out: Path) -> Path:
    """Return a temporary name beside `out` for an unfinished file, unique to this process and thread."""
    return out.with_name(f"{out.name}.{_owner()}{threading.get_ident()}{PART}")


def abandoned(path: Path, now: float, untouched_s: float = UNTOUCHED_S) -> bool:
    """Return whether nobody makes a temporary file or folder any more.

    If the name tells a process of this machine, that process has ended. Anything else was not written to for
    `untouched_s` seconds before `now`, in seconds since 1970, or is from before the clock was set back.
    """
    owner = _NAME.fullmatch(path.name)
    if owner and sys.platform != "win32":  # there, asking for a process by a signal would end it
        machine, pid, started = (part for part in owner.groups() if part is not None)
        if machine == _machine():
            return not _lives(int(pid), started)
    return not lasts(last_written(path), untouched_s, now=now)


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Remove temporary files and folders of ended processes from folders, and count them in `freed`.

    Only names that this module makes are considered, and never a link. What cannot be removed stays.
    """
    now = time.time()
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name) and not entry.is_symlink() and abandoned(Path(entry), now):
                    _remove(Path(entry))


def last_written(own: Path) -> float:
    """Return when a temporary path was last written to, in seconds since 1970, skipping files removed meanwhile."""
    newest = 0.0
    for path in (own, *own.rglob("*")):
        with suppress(FileNotFoundError):
            newest = max(newest, path.lstat().st_mtime)
    return newest


def _remove(path: Path) -> None:
    size = sum(file.lstat().st_size for file in (path, *path.rglob("*")) if not file.is_dir())
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    freed.number += 1
    freed.size += size


def _owner() -> str:
    return f"{_machine()}-{os.getpid()}-{_started(os.getpid()) or 0}-"


@cache
def _machine() -> str:
    """Return eight digits for where process ids are valid: this machine since it was started, or this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        place = f"{boot}{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        place = gethostname()
    return sha256(place.encode()).hexdigest()[:8]


def _lives(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return _started(pid) in (None, started)


def _started(pid: int) -> str | None:
    """Return when a process started, in clock ticks since the machine did; "" if it has ended, None if untold."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return "" if state in "ZX" else fields[18]
