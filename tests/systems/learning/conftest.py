"""What all tests of training share."""

from collections.abc import Iterator

import pytest

import learnable


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """See there."""
    with learnable.one_thread():
        yield
