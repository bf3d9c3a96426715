"""Events: each is declared once, where it happens; all are found, told and recorded."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from backend.core.events import Event, EventGroup, by_kind, find_events

BACKEND = Path(__file__).parents[2] / "backend"
TREES = {
    ".".join(file.relative_to(BACKEND.parent).with_suffix("").parts): ast.parse(file.read_text(encoding="utf-8"))
    for file in sorted(BACKEND.rglob("*.py"))
}


def declarations() -> Iterator[tuple[str, str, str]]:
    """Each module with the names of its events, and the docstring below each."""
    for module, tree in TREES.items():
        for statement, following in zip(tree.body, [*tree.body[1:], ast.Pass()], strict=True):
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("Event"))):
                    match following:
                        case ast.Expr(ast.Constant(str(holds))):
                            yield module, name, holds
                        case _:
                            raise AssertionError(f"{module}.{name} does not say what its payload holds")


def test_every_declaration_is_found() -> None:
    made = [
        node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id == "Event"
    ]  # fmt: skip
    found = [getattr(import_module(module), name) for module, name, _ in declarations()]
    assert len(made) == len(found), "each is a constant of its module, with its payload told below it"
    assert by_kind(found) == find_events()
    assert list(find_events()) == sorted(event.kind for event in found)
    assert {name for _, name, _ in declarations()} == {kind.upper() for kind in find_events()}


def test_every_declared_event_is_recorded_somewhere() -> None:
    """Rows and lists of settings ask for events that happened; other modules record them."""
    used = {
        node.id
        for module, tree in TREES.items()
        if not re.search(r"\.rows\b|\.setting_lines$", module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert [name for _, name, _ in declarations() if name not in used] == []


def test_every_recorded_event_is_a_declared_one() -> None:
    recorded = set()
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Attribute(ast.Name("events"), "record" | "note"), [_, ast.Name(name), *_]):
                    if name.isupper():
                        recorded.add(getattr(import_module(module), name))
    assert len(recorded) > 40
    assert recorded <= set(find_events().values())


@pytest.mark.parametrize(("module", "name", "holds"), list(declarations()))
def test_words_name_nothing_that_an_event_does_not_hold(module: str, name: str, holds: str) -> None:
    words = getattr(import_module(module), name).words
    if isinstance(words, str):
        assert [value for value in re.findall(r"{(\w+)}", words) if not re.search(rf"\b{value}\b", holds)] == []


def test_a_kind_is_declared_once() -> None:
    first, second = (Event("found", EventGroup.DESK, words) for words in ("found", "found again"))
    assert by_kind([first, first]) == {"found": first}
    with pytest.raises(ValueError, match="found is declared twice"):
        by_kind([first, second])
