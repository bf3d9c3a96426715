"""Refusals that somebody can meet in the browser are made of a text and values, so that a page can say them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from backend.core import errors

BACK_END = Path(__file__).parents[2] / "backend"
PAGES = BACK_END.parent / "annotate_app"
REFUSALS = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.ReelRankError)
} | {"Problem"}
COMMANDS_ONLY = {
    *("scoring/requested_values.py", "scoring/evaluate.py", "scoring/presets.py", "scoring/run_files.py"),
    "scoring/result.py",
    *("scoring/scoreboard.py", "scoring/scored_files.py", "scoring/benchmarks", "scoring/pools", "scoring/report"),
    *("scoring/statistics", "scoring/studies", "systems", "training.py", "cli", "encoders/search.py"),
    *(
        "campaign/demo.py",
        "campaign/doctor/examination.py",
        "campaign/doctor/database.py",
        "campaign/doctor/inspections.py",
        "campaign/release/earlier",
        "campaign/selection/pools",
        "campaign/release/statistics",
        "campaign/release/planning.py",
        "campaign/release/replay",
    ),
    *(
        "campaign/selection/pools/checking.py",
        "campaign/release/export/importing.py",
        "campaign/release/export/validating.py",
    ),
    "campaign/release/export/exporting.py",
    *("campaign/release/export/rules", "campaign/review/queries.py"),
    *("campaign/release/board/baselines.py", "core/cluster.py", "media/together.py"),
    *("store/creating.py", "store/migrating.py", "store/moving.py", "store/schema"),
}
"""What only the command line calls, which speaks English: see decision 101."""


def bare(call: ast.Call) -> Iterator[ast.expr]:
    """The texts of a refusal that are written where it is raised, and not as `said(...)`."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "single":
        name = "InputError.single"
    place = {"Problem": 2, "InputError.single": 1}.get(name, 0 if name in REFUSALS else None)
    if place is None or len(call.args) <= place:
        return
    found = [call.args[place]]
    while found:
        match one := found.pop():
            case ast.JoinedStr() | ast.Constant(value=str()) | ast.BinOp():
                yield one
            case ast.IfExp(body=body, orelse=other):
                found += [body, other]
            case ast.Call(func=ast.Attribute(attr="join")):
                yield one


def test_no_page_tells_a_result_in_a_toast_which_goes_by_itself() -> None:
    assert [file.name for file in PAGES.rglob("*.py") if "st.toast(" in file.read_text(encoding="utf-8")] == []


def unsaid(source: str) -> list[int]:
    return [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and any(bare(node))]


def test_a_refusal_that_a_page_can_meet_is_said() -> None:
    met = [
        path
        for path in BACK_END.rglob("*.py")
        if not any(path.is_relative_to(BACK_END / place) for place in COMMANDS_ONLY)
    ]
    assert len(met) > 300
    found = {path.relative_to(BACK_END).as_posix(): unsaid(path.read_text(encoding="utf-8")) for path in met}
    assert {path: lines for path, lines in found.items() if lines} == {}, "make it with said(...) of core.messages"


def test_what_only_commands_meet_is_there() -> None:
    assert [place for place in COMMANDS_ONLY if not (BACK_END / place).exists()] == []


def test_a_bare_text_is_seen() -> None:
    source = """
raise ProjectError(f"no {name}")
raise Overtaken(said("gone"))
found = Problem("a.csv", 1, "is empty" if text else said("is full"))
raise InputError.single("a.csv", "; ".join(faults))
raise errors.Unrelated("fine")
raise PairLocked(why)
"""
    assert unsaid(source) == [2, 4, 5]
