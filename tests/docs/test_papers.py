"""docs/papers.md has a line for everything that the papers number, and names only commands and options that exist."""

import re
from pathlib import Path
from typing import Any

import pytest

from backend import cli

PAGE = (Path(__file__).parents[2] / "docs" / "papers.md").read_text("utf-8")
SECTIONS = {title: text for title, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)}

NUMBERED = {
    "TVR-Ranking": {"Table": 8, "Figure": 7, "Equation": 1},
    "MVMR": {"Table": 3, "Figure": 9, "Equation": 13},
    "AxIoU": {"Figure": 8, "Equation": 8, "Axiom": 2},
    "AxIoU, supplement": {"Figure": 2, "Equation": 13, "Property": 8},
}
"""The number of the last table, figure and so on of each paper, read in the papers."""


def numbers(text: str, noun: str) -> set[int]:
    """The numbers that stand after a noun: `Table 3`, `Figures 4 and 7`, `Equations 2, 3 and 6`, `Axioms 1 to 8`."""
    plural = "Properties" if noun == "Property" else f"{noun}s"
    found: set[int] = set()
    for listed in re.findall(rf"(?:{noun}|{plural}) (\d+(?:(?:, | and | to )\d+)*)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", listed):
            found |= set(range(int(first), int(last or first) + 1))
    return found


def rows(section: str) -> list[list[str]]:
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("paper", NUMBERED)
def test_everything_that_a_paper_numbers_has_a_line(paper: str) -> None:
    first_cells = "\n".join(row[0] for row in rows(paper))
    for noun, count in NUMBERED[paper].items():
        assert numbers(first_cells, noun) == set(range(1, count + 1)), noun


@pytest.mark.parametrize("paper", NUMBERED)
def test_each_line_says_where_and_what_differs(paper: str) -> None:
    assert [row for row in rows(paper) if len(row) != 3 or not all(row)] == []


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(reelrank [^`]+)`", PAGE))))
def test_each_command_and_each_of_its_options_exists(named: str) -> None:
    words = named.split()[1:]
    command: Any = cli.command()
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    assert not getattr(command, "commands", None), f"{named}: no such command"
    options = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]}
    assert {word for word in words if word.startswith("--")} <= options


def test_options_that_stand_alone_exist() -> None:
    every = {
        option
        for group in cli.command().commands.values()
        for command in getattr(group, "commands", {"": group}).values()
        for parameter in command.params
        for option in parameter.opts
    }
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= every
