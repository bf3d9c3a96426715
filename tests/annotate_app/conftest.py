"""What tests of the pages share."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def packages_are_searched_once() -> Iterator[None]:
    """Streamlit searches all installed packages for components before each page that is tested: 0.3 s of nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield
