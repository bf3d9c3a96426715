"""The documents cannot lie: commands, tables, options and links are compared with the code."""

import re
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry

import commands_page
import schema_page
import settings_table
from annotate_app.server.monitoring import Counts
from backend import __version__, cli
from backend.cli.commands import FORMER_NAMES, CommandGroup
from backend.scoring.measures import MEASURES
from backend.scoring.presets import OPTION_VALUES, READERS

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")), *(ROOT / "docs").rglob("*.md")]
)


def commands() -> list[str]:
    names: list[str] = []
    for name, command in cli.command().commands.items():
        inner = getattr(command, "commands", None)
        names += [f"{name} {sub}" for sub in inner] if inner else [name]
    return names


def unknown_commands(text: str, former: Collection[str] = ()) -> list[str]:
    """The commands that a text names and `reelrank --help` does not; `former` names are fine, too."""
    known = cli.command().commands
    unknown = []
    for name, below in re.findall(r"(?:^|[`(> \"'])reelrank ([a-z][a-z-]*)(?: ([a-z][a-z|-]*)(?![\w./]))?", text, re.M):
        group = known.get(name)
        if group is None:
            unknown += [] if name in former else [name]
        elif isinstance(group, CommandGroup) and below and not group.default:
            unknown += [f"{name} {one}" for one in below.split("|") if one not in group.commands]
    return unknown


def test_the_schema_page_is_what_the_migrations_make() -> None:
    assert schema_page.PAGE.read_text(encoding="utf-8") == schema_page.page(), "run `make docs`"


def test_the_page_of_commands_tells_every_option() -> None:
    assert commands_page.PAGE.read_text(encoding="utf-8") == commands_page.page(), "run `make docs`"
    assert len(re.findall("^### `", commands_page.page(), re.MULTILINE)) == len(commands())


def test_the_tables_of_settings_are_those_of_the_registry() -> None:
    assert settings_table.PAGE.read_text(encoding="utf-8") == settings_table.page(), "run `make docs`"


@pytest.mark.parametrize("command", commands())
def test_every_command_is_told_of(command: str) -> None:
    name, _, below = command.partition(" ")
    if below == getattr(cli.command().commands[name], "default", ""):
        command = name
    pages = ("README", *(f"docs/{page}" for page in ("pipeline", "importing", "candidates", "releases")))
    assert any(f"reelrank {command}" in (ROOT / f"{page}.md").read_text() for page in pages)


def test_documents_and_messages_name_only_commands_that_exist() -> None:
    """No document but the changelog uses the former name of a command."""
    sources = [path for package in ("backend", "annotate_app", "assets") for path in (ROOT / package).rglob("*.py")]
    unknown = {}
    for path in [*DOCUMENTS, *sources]:
        former = FORMER_NAMES if path.name == "CHANGELOG.md" else ()
        unknown[str(path.relative_to(ROOT))] = unknown_commands(path.read_text(encoding="utf-8"), former)
    assert {path: names for path, names in unknown.items() if names} == {}


@pytest.mark.parametrize("option", {**OPTION_VALUES, **READERS})
def test_every_option_of_the_evaluation_is_explained(option: str) -> None:
    assert f"`{option}=" in (ROOT / "docs/metrics.md").read_text()


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_is_explained(measure: str) -> None:
    """On the page of measures; one that has to be asked for may be explained in its module alone, which it names."""
    page = (ROOT / "docs/metrics.md").read_text()
    assert "`backend/scoring/measures/`" in page
    if not MEASURES[measure].usual:
        page += str(sys.modules[MEASURES[measure].compute.__module__].__doc__)
    form = re.escape(MEASURES[measure].signature.partition(",")[0])
    assert re.search(rf"{form}\b", page, re.IGNORECASE)


def anchors(document: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_pictures_lead_somewhere(document: Path) -> None:
    for name, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", document.read_text(encoding="utf-8")):
        if not name.startswith("http"):
            target = document.parent / name if name else document
            assert target.exists(), f"{document.name}: {name}"
            assert not anchor or anchor in anchors(target), f"{document.name}: {name}#{anchor}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_a_page_is_short_says_what_for_and_is_in_the_index(page: Path) -> None:
    if page.name in ("README.md", "schema.md", "commands.md"):
        return  # the index itself, and two pages that are generated
    text = page.read_text(encoding="utf-8")
    assert text.count("\n") < 200
    assert re.search(r"[Aa]fter(wards| this page)", text.split("\n\n")[1])
    assert f"({page.name})" in (ROOT / "docs/README.md").read_text(encoding="utf-8")


DECISIONS = sorted(path for path in (ROOT / "docs/decisions").glob("*.md") if path.stem not in ("README", "rejected"))


@pytest.mark.parametrize("document", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_context_decision_and_consequences(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Consequences"))
    assert text.startswith(f"# {int(document.stem[:3])}. ")
    assert len(re.findall(r"\w\S*", text)) < 310, "half a page"
    assert not [line for line in text.splitlines() if len(line) > 120 and line[0] != "|"]


def test_the_index_of_decisions_lists_each_with_its_title() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(\d+)\]\((.+)\): (.+)$", index, re.MULTILINE)
    titles = {path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in DECISIONS}
    assert sorted((name, f"# {number}. {title}") for number, name, title in listed) == sorted(titles.items())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_lead_somewhere(document: Path) -> None:
    named = re.findall(
        r"`((?:backend|annotate_app|deploy|tests|tools|assets|docs)/[\w./-]*)`", document.read_text("utf-8")
    )
    assert document.name == "CHANGELOG.md" or [path for path in named if not (ROOT / path).exists()] == []


def test_the_map_fits_one_screen_and_shows_every_room() -> None:
    drawn = (ROOT / "docs/concepts.md").read_text(encoding="utf-8").split("```")[1]
    assert drawn.count("\n") < 40
    rooms = [f.parent for package in ("backend", "annotate_app") for f in (ROOT / package).glob("*/__init__.py")]
    rooms += [
        f.parent for product in ("scoring", "campaign") for f in (ROOT / "backend" / product).glob("*/__init__.py")
    ]
    assert [str(room.relative_to(ROOT)) for room in rooms if f"{room.name}/" not in drawn] == []


def test_the_glossary_stays_short() -> None:
    page = (ROOT / "docs/concepts.md").read_text(encoding="utf-8")
    rows = page.partition("## Glossary")[2].partition("| --- | --- |\n")[2].splitlines()
    terms = [row for row in rows if not row.startswith("| **")]
    assert page.count("\n") < 200
    assert 40 < len(terms) <= 60


def test_each_stage_names_folders_that_exist() -> None:
    """The column `where` of the pipeline's table: features of a campaign, or paths of the back end."""
    page = (ROOT / "docs/pipeline.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.partition("| stage | where ")[2].partition("\n\n")[0].splitlines()[2:]]
    named = [path for row in rows for path in re.findall(r"`([^`]+)`", row[1])]
    assert len(named) > 50
    assert [path for path in named if not any((ROOT / at / path).exists() for at in ("", "backend/campaign"))] == []


def test_every_extra_stands_with_its_size() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    listed = re.findall(
        r"^\| `([a-z]+)` \| .* \| [\d.,]+ \|$", (ROOT / "docs/install.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(extras)


def test_every_option_of_serving_is_told_of() -> None:
    serve = cli.command().commands["serve"]  # type: ignore[attr-defined]
    told = (ROOT / "docs/serving.md").read_text("utf-8")
    assert [name for one in serve.params for name in one.opts if name[:2] == "--" and f"{name} " not in told] == []


def test_every_figure_of_a_server_is_told_of() -> None:
    registry = CollectorRegistry()
    Counts(registry)
    told = (ROOT / "docs/serving.md").read_text("utf-8")
    assert [found.name for found in registry.collect() if f"| `{found.name}" not in told] == []


# What GitHub's forms know, of what is used here.
FIELDS = {
    "input": {"label", "description"},
    "textarea": {"label", "description", "render"},
    "checkboxes": {"label", "options"},
}


@pytest.mark.parametrize("form", ["bug", "feature", "corpus"])
def test_a_form_for_issues_is_one_that_github_shows(form: str) -> None:
    found = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{form}.yml").read_text("utf-8"))
    assert {"name", "description", "body"} <= set(found) <= {"name", "description", "body", "labels"}
    for field in found["body"]:
        assert set(field) <= {"type", "id", "attributes", "validations"}
        assert "label" in field["attributes"]
        assert set(field["attributes"]) <= FIELDS[field["type"]]
    ids = [field["id"] for field in found["body"]]
    assert len(ids) == len(set(ids))


def test_the_citation_names_this_version() -> None:
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
