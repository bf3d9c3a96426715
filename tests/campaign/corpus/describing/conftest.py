"""A project in which people describe."""

import pytest

from describing import opened
from support import Judging


@pytest.fixture
def describing(judging: Judging) -> Judging:
    """Describing is open for everybody, in six videos of 60 s."""
    return opened(judging)
