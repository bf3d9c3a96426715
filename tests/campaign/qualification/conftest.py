"""Campaigns whose clips can be shown."""

import pytest

from exam_rounds import Round
from support import Judging


@pytest.fixture
def videos(judging: Judging) -> None:
    """Every video has a file, as far as the database knows."""
    judging.give_videos_files()


@pytest.fixture
def fresh(judging: Judging) -> Round:
    """Before anything is settled."""
    return Round(judging.give_videos_files())
