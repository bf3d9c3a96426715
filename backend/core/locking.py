"""Lock files, among all processes and threads, on one machine or a shared disk."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock file `path`; it is removed with the lock.

    A file that was left by a killed process is nobody's lock.

    Args:
        path: the file, in a folder that is there.
        wait: until others are done; else refuse.

    Raises:
        BlockingIOError: somebody holds it, and nobody waits.
    """
    while True:
        if path.is_symlink():  # no lock of ours: opening it would make its target
            path.unlink(missing_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before us removed the file it had locked: a later comer may be locking a new one.
            try:
                current = os.stat(path).st_ino == os.fstat(handle).st_ino
            except FileNotFoundError:
                current = False
            if not current:
                continue
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
        finally:
            os.close(handle)


def share(path: Path) -> int:
    """Hold a file that is there together with others, until the returned file descriptor is closed.

    A program that takes the place of this process by `exec` goes on holding it.

    Raises:
        OSError: there is no such file, or it is a link.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    fcntl.flock(handle, fcntl.LOCK_SH)
    os.set_inheritable(handle, True)
    return handle


def is_held(handle: int) -> bool:
    """Whether somebody else holds an open file, by `share` or `locked`."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False


def is_free(path: Path) -> bool | None:
    """Whether nobody holds a lock file that was left behind; None if there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return not is_held(handle)
    finally:
        os.close(handle)
