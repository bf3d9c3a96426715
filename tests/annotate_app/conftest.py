"""What tests of the pages share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def quick_pages(packages_are_searched_once: None) -> None:
    """Every file here tests pages."""
