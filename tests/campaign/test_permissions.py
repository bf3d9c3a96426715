"""Every verb lets in whom its decorator names, whoever else asks, and whatever they say of themselves."""

import ast
import inspect
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from traceback import walk_tb
from typing import Any

import pytest

from backend.campaign.desk.clips import why_not_shown
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import OPERATOR, Operator, Person, Role
from backend.campaign.review.status import review_counts
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import NotAllowed, VideoUnreadable
from backend.core.ids import AnnotatorId
from backend.store.connection import writing
from support import NOW, Judging
from verbs import VERBS, Verb, arguments, permission, taking_a_project

ROOT = Path(__file__).resolve().parents[2]
LEAD, ANNOTATOR, OF_THE_MACHINE = "a lead", "an annotator", "the operator"
NOBODY, SUSPENDED, FORMER, CLAIMS = "nobody", "somebody suspended", "a former lead", "an annotator who claims to lead"
ALLOWED = {
    "lead_only": {LEAD},
    "annotator_only": {ANNOTATOR, FORMER, CLAIMS},
    "signed_in": {LEAD, ANNOTATOR, FORMER, CLAIMS},
    "in_charge": {LEAD, OF_THE_MACHINE},
}
ASKS_SOMEBODY = [name for name, verb in VERBS.items() if permission(verb) in ALLOWED]


@dataclass(frozen=True)
class Asked:
    """A project and everybody who may ask something of it."""

    project: Project
    people: dict[str, Person | Operator]


@pytest.fixture(scope="module")
def asked(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    place = shutil.copytree(judging_made.project.folder, tmp_path_factory.mktemp("asked") / "project")
    project = open_project(place)
    lead, (annotator, suspended, former, _) = judging_made.lead, judging_made.annotators
    suspend(project, lead, suspended.annotator_id, True, now=NOW)
    yield Asked(
        project,
        {
            LEAD: lead,
            ANNOTATOR: annotator,
            OF_THE_MACHINE: OPERATOR,
            NOBODY: Person(AnnotatorId(999), "Nobody", Role.LEAD),
            SUSPENDED: suspended,
            FORMER: replace(former, role=Role.LEAD),
            CLAIMS: replace(annotator, role=Role.LEAD),
        },
    )
    project.store.close()


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a verb would write at "no such file" lies in no folder of ours."""
    monkeypatch.chdir(tmp_path)


def lets_in(verb: Verb, project: Project, who: Person | Operator, given: dict[str, Any]) -> bool:
    """Whether a verb's own code ran, whatever it found wrong with what it was given."""
    own = inspect.unwrap(verb).__code__
    refusal: Exception | None = None
    try:
        verb(project, who, **given)
    except Exception as error:
        refusal = error
    if refusal is None or any(frame.f_code is own for frame, _ in walk_tb(refusal.__traceback__)):
        return True
    assert isinstance(refusal, NotAllowed), refusal
    return False


@pytest.mark.parametrize("name", ASKS_SOMEBODY)
def test_a_verb_lets_in_whom_it_says(asked: Asked, name: str) -> None:
    verb = VERBS[name]
    given, allowed = arguments(verb), ALLOWED[str(permission(verb))]
    refused = {who for who, person in asked.people.items() if who not in allowed}
    assert {who for who in refused if lets_in(verb, asked.project, asked.people[who], given)} == set()
    first = next(who for who in asked.people if who in allowed)
    assert lets_in(verb, asked.project, asked.people[first], given)


def test_a_check_lets_in_everybody_whom_it_names(asked: Asked) -> None:
    checks = {
        "lead_only": permissions.require_lead,
        "annotator_only": permissions.require_annotator,
        "signed_in": permissions.require_signed_in,
        "in_charge": permissions.require_in_charge,
    }
    for name, check in checks.items():
        for who, person in asked.people.items():
            if who in ALLOWED[name]:
                check(asked.project.store, person)  # type: ignore[operator]
            else:
                with pytest.raises(NotAllowed):
                    check(asked.project.store, person)  # type: ignore[operator]


def imported_by(folder: str) -> set[str]:
    """What the modules below a folder import of the back end, by its full name, and through its module."""
    found = set()
    for file in sorted((ROOT / folder).rglob("*.py")):
        tree, modules = ast.parse(file.read_text(encoding="utf-8")), dict[str, str]()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    modules[one.asname or one.name] = f"{node.module}.{one.name}"
        found |= set(modules.values())
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                found.add(f"{modules[node.value.id]}.{node.attr}")
    return found


def test_what_pages_and_commands_call_says_who_may_call_it() -> None:
    unchecked = {name for name, function in taking_a_project() if not permission(function)}
    used = imported_by("annotate_app") | imported_by("backend/cli") | imported_by("backend/api")
    assert unchecked & used == set()


def test_pages_routes_and_operations_call_nothing_that_is_for_commands() -> None:
    used = imported_by("annotate_app")
    for_commands = {name for name, verb in VERBS.items() if permission(verb) == "commands_only"}
    assert for_commands & (used | imported_by("backend/api")) == set()
    assert "backend.campaign.nouns.OPERATOR" not in used
    assert len(used & VERBS.keys()) > 100


def test_only_leads_read_which_file_cannot_be_shown(asked: Asked) -> None:
    error = VideoUnreadable("dog.mp4 is not a video file")
    lead, *others = (asked.people[who] for who in (LEAD, ANNOTATOR, CLAIMS))
    assert isinstance(lead, Person)
    assert why_not_shown(asked.project, lead, error) == str(error)
    for who in others:
        assert isinstance(who, Person)
        assert "dog" not in why_not_shown(asked.project, who, error)


def test_who_stopped_to_lead_does_so_at_once(judging: Judging) -> None:
    with writing(judging.project.store) as db:
        db.execute("UPDATE annotator SET role = 'annotator' WHERE annotator_id = ?", [judging.lead.annotator_id])
    with pytest.raises(NotAllowed, match="only leads may do this; Lea is signed in as annotator"):
        review_counts(judging.project, judging.lead)


def test_nothing_but_the_checks_makes_a_lead_or_an_annotator() -> None:
    made = {
        file.relative_to(ROOT).as_posix()
        for file in sources("backend", "annotate_app")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Lead", "Annotator")
    }
    assert made == {"backend/campaign/setup/people/permissions.py"}


def test_pages_and_routes_decide_nothing_by_a_role() -> None:
    """They show by it (a menu, a badge, a word); whether somebody may do something is the checks' to say."""
    found = {
        (file.relative_to(ROOT).as_posix(), ast.unparse(node))
        for file in sources("annotate_app/server", "annotate_app/session", "annotate_app/screens")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare) and "Role." in ast.unparse(node)
    }
    assert found == {
        ("annotate_app/session/auth.py", "person.role is not Role.ANNOTATOR"),  # whose scripts wait for their turn
        ("annotate_app/session/plain_pages.py", "person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/people/__init__.py", "person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/people/__init__.py", "person.role is Role.LEAD"),
        ("annotate_app/screens/people/__init__.py", "review.person.role is Role.LEAD"),
        ("annotate_app/screens/captions/describing_choice.py", "review.person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/people/__init__.py", "review.person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/settings/__init__.py", "one.person.role is Role.ANNOTATOR"),
    }


def sources(*folders: str) -> list[Path]:
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
