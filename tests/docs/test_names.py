"""One name, one thing: two public classes of one name would each be taken for the other."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = ("ModelOptions", "LossOptions")
"""Each system has its own tables of settings, under the names by which the training loop asks for them."""


def public_classes(source: Path) -> list[str]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def test_no_two_public_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for package in ("backend", "annotate_app"):
        for source in sorted((ROOT / package).rglob("*.py")):
            for name in public_classes(source):
                homes.setdefault(name, []).append(str(source.relative_to(ROOT)))
    for table in TABLES:
        homes[table] = [home for home in homes.get(table, []) if "systems/learning/systems/" not in home]
    assert len(homes) > 100
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
