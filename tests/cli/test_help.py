"""What `--help` shows: every command in its section, with its whole description and an example."""

import ast
import inspect
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup

from backend import cli
from backend.campaign.setup.project.folder import Project
from backend.cli import commands
from cli.conftest import Run


def tree(group: TyperGroup, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every group and command below a group, with its path."""
    for name, command in group.commands.items():
        yield (*before, name), command
        if isinstance(command, TyperGroup):
            yield from tree(command, (*before, name))


ROOT = Path(__file__).parents[2]
TREE = dict(tree(cli.command()))
GROUPS = [path for path, command in TREE.items() if isinstance(command, TyperGroup)]


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_every_command_and_group_has_help_with_an_example_of_itself(reelrank: Run, path: tuple[str, ...]) -> None:
    assert f"Example: reelrank {' '.join(path)} " in " ".join(reelrank.out(*path, "--help").split()) + " "


def test_the_help_fits_on_a_page_and_lists_every_command_once_under_a_heading(reelrank: Run) -> None:
    _, out, _ = reelrank("--help")
    lines = out.splitlines()[1:]  # below the usage, which names the program
    assert len(lines) < 64
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(":")] == [f"{section}:" for section in commands.SECTIONS]
    listed = re.findall(r"^  ([a-z-]+)  +\S", out, re.MULTILINE)
    assert Counter(listed) == Counter(path[0] for path in TREE if len(path) == 1)


@pytest.mark.parametrize("path", [(), *GROUPS], ids=" ".join)
def test_no_description_is_cut_off(reelrank: Run, path: tuple[str, ...]) -> None:
    """The documented sentence of each command stands whole on the line that starts with its name."""
    _, out, _ = reelrank(*path, "--help")
    assert "..." not in out.partition("\n")[2]
    for below, command in TREE.items():
        if below[:-1] == path:
            sentence = " ".join(command.help.partition("\n\n")[0].split())  # type: ignore[attr-defined]
            (line,) = re.findall(rf"^  {below[-1]}  .+$", out, re.MULTILINE)
            assert line.split(maxsplit=1)[1] == sentence.partition(". ")[0].removesuffix(".") + "."
            assert len(line) <= 80


def test_a_former_name_is_the_same_command_and_is_listed_nowhere(reelrank: Run) -> None:
    context = cli.command().make_context("reelrank", [], resilient_parsing=True)
    for former, name in commands.FORMER_NAMES.items():
        assert cli.command().get_command(context, former) is TREE[tuple(name.split())]
        assert (former,) not in TREE
        assert re.match(rf"Usage: \S.* {former} \[OPTIONS\]", reelrank(former, "--help")[1])


def test_a_command_that_does_not_exist_is_no_former_name(reelrank: Run) -> None:
    assert reelrank("nonsense")[0] == 2
    assert reelrank("clips", "nonsense")[0] == 1  # a folder that is not there


def test_a_group_runs_its_default_command_also_in_a_folder_named_like_another(
    reelrank: Run, corpus_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = corpus_project.folder
    monkeypatch.chdir(folder.parent)
    folder.rename("log")
    whole = reelrank("status", "show", "log", "--json")
    assert whole[0] == 0
    assert reelrank("status", "log", "--json") == reelrank("status", "./log", "--json") == whole
    assert '"entries"' in reelrank("status", "log", "log", "--json")[1]
    assert reelrank("status", "log", "log", "--json") == reelrank("log", "log", "--json")


def unknown_commands(text: str) -> list[str]:
    """What a text names as a command of `reelrank` that is none."""
    root, found = cli.command(), []
    for name, below in re.findall(r"(?<![\w/])reelrank ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?(?![\w/.=-])", text):
        group = root.commands.get(name)
        if name not in root.commands and name not in commands.FORMER_NAMES:
            found.append(f"{name} {below}".strip())
        elif isinstance(group, TyperGroup) and below and below not in group.commands and not group.default:  # type: ignore[attr-defined]
            found.append(f"{name} {below}")
    return found


def test_what_names_no_command_is_found() -> None:
    assert unknown_commands("run `reelrank frobnicate DIR`, `reelrank users invent` or reelrank evaluate") == [
        *("frobnicate", "users invent"),
    ]


@pytest.mark.parametrize("path", [(), *TREE], ids=" ".join)
def test_no_help_names_a_command_that_does_not_exist(reelrank: Run, path: tuple[str, ...]) -> None:
    text = " ".join(reelrank.out(*path, "--help").split())
    assert unknown_commands(text) == []


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_the_options_of_every_example_exist(path: tuple[str, ...]) -> None:
    for part in inspect.cleandoc(TREE[path].help).split("\n\n"):  # type: ignore[attr-defined]
        if part.startswith("Example: "):
            command, words = cli.command(), shlex.split(part)[2:]
            while isinstance(command, TyperGroup) and words[0] in command.commands:
                command = command.commands[words.pop(0)]  # type: ignore[assignment]
            if isinstance(command, TyperGroup):
                command = command.commands[command.default]  # type: ignore[attr-defined]
            known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, part


def test_no_message_names_a_command_that_does_not_exist() -> None:
    """Every text of the program, whoever says it."""
    wrong = []
    for folder in ("backend", "annotate_app", "reelrank"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    wrong += [(path.name, node.lineno, name) for name in unknown_commands(node.value)]
    assert wrong == []


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_no_page_names_a_command_that_does_not_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for block in re.findall(r"`[^`]+`", text) for name in unknown_commands(block)] == []
