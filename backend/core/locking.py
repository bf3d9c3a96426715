"""Lock files between processes and threads, on one machine or on a shared disk."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file, which is removed when the lock is released.

    A file that a killed process left behind is not locked.

    Args:
        path: the lock file; its folder has to exist.
        wait: whether to wait until others release the lock.

    Raises:
        BlockingIOError: somebody else holds the lock, and `wait` is False.
    """
    while True:
        if path.is_symlink():  # not made here: opening it would create its target
            path.unlink(missing_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder removed the file that it had locked, so another process may be locking a new one.
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
    """Take a shared lock on an existing file, which lasts until the returned file descriptor is closed.

    A program that replaces this process by `exec` keeps the lock.

    Raises:
        OSError: the file does not exist, or it is a link.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    fcntl.flock(handle, fcntl.LOCK_SH)
    os.set_inheritable(handle, True)
    return handle


def is_held(handle: int) -> bool:
    """Return whether somebody else has locked an open file, with `share` or `locked`."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False


def is_free(path: Path) -> bool | None:
    """Return whether nobody holds an existing lock file; None if there is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return not is_held(handle)
    finally:
        os.close(handle)
