"""A lock file has one holder; what a killed process left behind holds nobody up."""

from pathlib import Path

import pytest

from backend.core.locking import locked


def test_one_holder_at_a_time_and_nothing_left(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with locked(lock, wait=False):
        with pytest.raises(BlockingIOError), locked(lock, wait=False):
            pass
        with pytest.raises(BlockingIOError), locked(lock, wait=False):  # the refused one has not let go of it
            pass
    with locked(lock, wait=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_left_is_nobodys_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    with locked(tmp_path / "lock", wait=False):
        pass
    assert not (tmp_path / "lock").exists()
