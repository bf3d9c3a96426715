"""What the code imports is what installing ReelRank, or an extra of it, brings along: no less and no more."""

import ast
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from backend.core import extras
from installing import PROJECT, ROOT, closure, plain, recorded_bytes, requirements

OURS = {"annotate_app", "backend", "reelrank"}
NOT_IMPORTED = {"authlib"}
"""Streamlit's login looks for it by itself."""
ELSEWHERE = {"flair"}
"""Run by a Python of its own: it wants an older transformers than all else here, so no one environment holds both."""
CORE_MEGABYTES = 200
COMPILED = 1.2
"""pip writes .pyc files, which add about a fifth. To compile takes seconds; test_pythons.py measures what pip wrote."""
EXTRAS = set(PROJECT["optional-dependencies"])


def third_party(*places: str) -> dict[str, str]:
    """Each foreign module that files import, also late, with one file that does."""
    found: dict[str, str] = {}
    for file in (file for place in places for file in ROOT.glob(place)):
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                # `google` is a folder of several distributions.
                top = ".".join(name.split(".")[: 2 if name.startswith("google.") else 1])
                found.setdefault(top, str(file.relative_to(ROOT)))
    return {name: file for name, file in found.items() if name not in OURS | ELSEWHERE | sys.stdlib_module_names}


ALL = third_party("reelrank/*.py", "backend/**/*.py", "annotate_app/**/*.py")


@cache
def modules_here() -> Mapping[str, list[str]]:
    """The distributions of each module of this environment; it takes seconds to find them."""
    return packages_distributions()


def homes(module: str) -> set[str]:
    """The distributions that bring a module."""
    if module == "google.protobuf":
        return {"protobuf"}
    return {plain(home) for home in modules_here().get(module, [module])}


def names(extra: str = "") -> set[str]:
    return {plain(one.name) for one in requirements(extra)}


def test_the_packages_import_what_is_declared_and_nothing_else() -> None:
    declared = names().union(*map(names, EXTRAS))
    imported = {home: f"{module} in {file}" for module, file in ALL.items() for home in homes(module)}
    assert {home: where for home, where in imported.items() if home not in declared} == {}
    assert declared - set(imported) == NOT_IMPORTED


def test_scoring_and_the_command_line_import_the_core_and_pandas_for_frames() -> None:
    found = third_party(
        "reelrank/*.py", "backend/scoring/**/*.py", "backend/cli/**/*.py", "backend/_*.py", "backend/api/*.py"
    )
    assert {module for module in found if not homes(module) <= names()} == {"pandas"}


def test_a_missing_module_is_told_with_the_extra_that_brings_it() -> None:
    expected = {extra: {module for module in ALL if homes(module) <= names(extra)} for extra in EXTRAS}
    assert {extra: modules for extra, modules in expected.items() if modules} == extras.MODULES


@pytest.mark.parametrize("extra", sorted(EXTRAS - {"app", "train", "pandas", "dask"}))
def test_an_extra_that_only_the_app_uses_brings_the_app(extra: str) -> None:
    assert "reelrank[app]" in PROJECT["optional-dependencies"][extra]


def test_nothing_is_required_twice() -> None:
    for extra in EXTRAS - {"train", "pandas", "features"}:
        assert names() & names(extra) == set()


def test_the_core_is_small() -> None:
    ours = [*ROOT.glob("reelrank/**/*"), *ROOT.glob("annotate_app/**/*"), *ROOT.glob("backend/**/*")]
    sizes = {name: recorded_bytes(one) / 1e6 for name, one in closure(requirements()).items()}
    sizes["reelrank"] = sum(
        file.stat().st_size / 1e6
        for file in [*ours, *ROOT.glob("assets/demo/*")]
        if file.is_file() and file.suffix != ".pyc"
    )
    assert all(sizes.values())
    assert sum(sizes.values()) * COMPILED <= CORE_MEGABYTES, sizes
