"""The threat model names the tests that hold it, and they are there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("security.md", "hostile-files.md"))
LINES = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| threat |", "| ---"))]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")


@cache
def functions_of(file: str) -> set[str]:
    """The names of a file's tests, those of a class after its name."""
    found = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        inside = [(f"{node.name}::", node.body)] if isinstance(node, ast.ClassDef) else [("", [node])]
        for before, body in inside:
            found |= {before + one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split("|")[1].strip())
def test_every_threat_is_held_by_tests_that_exist(line: str) -> None:
    named = NAMED.findall(line)
    assert named
    assert [f"{file}::{name}" for file, name in named if name not in functions_of(file)] == []


def test_there_are_threats() -> None:
    assert len(LINES) > 30
