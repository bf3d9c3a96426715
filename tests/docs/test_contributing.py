"""The recipes of CONTRIBUTING are true: each file exists and holds the example, and the heading counts them rightly."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = re.compile(
    r"^### Add a (?P<kind>[^:\n]+): (?P<count>\d+) files\n\nExample: `(?P<example>\w+)`(?P<body>.+?)(?=^##|\Z)",
    re.M | re.S,
)
RECIPES = list(RECIPE.finditer((ROOT / "CONTRIBUTING.md").read_text("utf-8")))
AT_MOST = {
    "corpus format": 4,
    "measure": 2,
    "benchmark": 4,
    "form of published files": 3,
    "lead's page": 7,
    "setting": 5,
    "column": 6,
}
"""What a change may cost, in files."""


def test_the_changes_people_make_most_have_a_recipe() -> None:
    assert {recipe["kind"]: int(recipe["count"]) for recipe in RECIPES} == AT_MOST


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe["kind"])
def test_a_recipe_names_its_files_and_each_holds_the_example(recipe: re.Match[str]) -> None:
    files = re.findall(r"^\| `([\w./-]+)` \|", recipe["body"], re.MULTILINE)
    assert len(set(files)) == int(recipe["count"])
    example = re.compile(recipe["example"].replace("_", "[_ ]?"), re.IGNORECASE)
    lacking = [file for file in files if not example.search(Path(file).stem + (ROOT / file).read_text("utf-8"))]
    assert lacking == []
