"""The examples in the docstrings of modules that load torch, which are not collected as the others are."""

import doctest
from types import ModuleType

import pytest

from backend.systems.learning import hard_negatives, matching, moment_map


@pytest.mark.parametrize("module", [hard_negatives, matching, moment_map], ids=lambda module: module.__name__)
def test_examples(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
