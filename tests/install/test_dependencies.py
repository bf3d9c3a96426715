"""What the code imports is what installing ReelRank brings along, no less and no more."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = {"annotate_app", "backend", "reelrank"}
NOT_IMPORTED = {"authlib"}
"""Streamlit's login looks for it by itself."""
ELSEWHERE = {"flair"}
"""Run by a Python of its own: it wants an older transformers than all else here, so no one environment holds both."""


def third_party() -> dict[str, str]:
    """Each foreign top-level module that is imported anywhere in the packages, also late, with one file that does."""
    found: dict[str, str] = {}
    for file in [*ROOT.glob("reelrank/*.py"), *ROOT.glob("backend/**/*.py"), *ROOT.glob("annotate_app/**/*.py")]:
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                found.setdefault(name.partition(".")[0], str(file.relative_to(ROOT)))
    return {name: file for name, file in found.items() if name not in OURS | ELSEWHERE | sys.stdlib_module_names}


def plain(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def test_the_packages_import_what_is_declared_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {plain(requirement) for requirement in project["dependencies"]}
    optional = {plain(name) for extra in project["optional-dependencies"].values() for name in extra}
    homes = packages_distributions()
    imported = {
        plain(home): f"{module} in {file}"
        for module, file in third_party().items()
        for home in homes.get(module, [module])
    }
    assert {home: where for home, where in imported.items() if home not in required | optional} == {}
    assert (required | optional) - set(imported) == NOT_IMPORTED
