"""The page about mutants: no module of rules or measures is forgotten, every reason is told."""

import ast
import re
from pathlib import Path

from tools.mutants.judging import judged
from tools.mutants.rooms import ROOMS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/quality.md").read_text(encoding="utf-8")


def modules() -> set[str]:
    """What decides which grade a pair gets and which number a paper prints."""
    backend = ROOT / "backend"
    places = ["scoring/measures/*.py", "scoring/matching/*.py", "campaign/**/rules.py", "campaign/**/rules/*.py"]
    places += ["scoring/statistics/agreement.py", "scoring/statistics/bootstrap.py", "core/events.py"]
    found = [file for place in places for file in backend.glob(place) if file.name != "__init__.py"]
    # In a small feature the rules stand beside its values.
    found += [
        file for file in backend.glob("campaign/**/model.py") if re.search(r"^def [a-z]", file.read_text("utf-8"), re.M)
    ]
    return {str(file.relative_to(backend)) for file in found}


def named(lines: list[str]) -> set[str]:
    return {path for line in lines for path in re.findall(r"`((?:campaign|core|scoring)/[\w/]+\.py)`", line)}


def test_every_module_is_in_the_table() -> None:
    """A new measure has no row before `make mutants` is run: a measure takes its module and its test, no more."""
    table = named([line for line in PAGE.splitlines() if line.startswith("| `")])
    assert table <= modules()
    assert [module for module in modules() - table if not module.startswith("scoring/measures/")] == []


def test_the_sums_are_those_of_the_table() -> None:
    cells = [line.split("|")[2:6] for line in PAGE.splitlines() if re.match(r"\| `(campaign|core|scoring)/", line)]
    mutants, killed, unended, survive = (sum(map(int, column)) for column in zip(*cells, strict=True))
    told = f"Of {mutants:,} mutants in {len(cells)} modules {killed:,} are killed, {unended} did not end, and {survive}"
    assert f"{told} survive" in " ".join(PAGE.split())
    assert mutants == killed + unended + survive


def test_what_was_tried_has_a_room_and_its_tests() -> None:
    table = named([line for line in PAGE.splitlines() if line.startswith("| `")])
    tried = {module.removeprefix("backend/") for room in ROOMS for module in room.modules()}
    assert table <= tried <= modules()
    assert modules() - table <= tried
    assert all((ROOT / "tests" / test).exists() for room in ROOMS for test in room.tests)


def test_every_judged_survivor_is_of_a_function_that_exists_and_its_reason_is_told() -> None:
    reasons = set(re.findall(r"^- \*\*(\w+)\*\*:", PAGE, re.MULTILINE))
    for (of, _), group in judged().items():
        module, function = _place(of)
        tree = ast.parse((ROOT / "backend" / f"{module}.py").read_text(encoding="utf-8"))
        assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, of
        assert group in reasons, group


def _place(of: str) -> tuple[str, str]:
    """The module that a function is in, and its name; methods have the name of their class before theirs."""
    parts = of.split(".")
    length = next(n for n in range(len(parts), 0, -1) if (ROOT / "backend" / f"{'/'.join(parts[:n])}.py").exists())
    return "/".join(parts[:length]), parts[-1]
