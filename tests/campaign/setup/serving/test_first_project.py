"""A project and its first lead, made together in an empty folder."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.people.permissions import person_for
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.serving import first_project
from backend.campaign.setup.serving.first_project import create_first_project, is_complete, may_begin
from backend.campaign.setup.serving.server import invitation_link, served_at
from backend.core.errors import Overtaken, ProjectError
from support import NOW

OWN = "http://127.0.0.1:8501/annotate"
USUAL = {"name": "Küche", "scale": "", "encoder": "minilm", "lead": "Lea", "password": "correct horse"}


def made(folder: Path, **other: str) -> str:
    values: dict[str, Any] = {**USUAL, **other}
    return create_first_project(folder, OWN, **values, now=NOW)


def test_the_first_lead_is_signed_in_and_links_name_where_it_is_served(tmp_path: Path) -> None:
    folder = tmp_path / "lab" / "kitchen"
    assert (may_begin(folder), is_complete(folder)) == (True, False)
    token = made(folder)
    assert (may_begin(folder), is_complete(folder)) == (False, True)
    project = open_project(folder)
    person = person_for(project, token, now=NOW)
    assert person is not None
    assert (project.name, person.name, person.role) == ("Küche", "Lea", Role.LEAD)
    assert len(project.campaign.scale.meanings) == 5
    assert served_at(folder) == OWN
    assert invitation_link(project, OPERATOR, "t") == f"{OWN}/session/invitation/t"
    assert not (folder / first_project.LOCK_FILE).exists()


def test_scale_and_public_address_are_those_that_were_asked_for(tmp_path: Path) -> None:
    made(tmp_path / "new", scale="matches", public_address="https://grade.example.org")
    project = open_project(tmp_path / "new")
    assert len(project.campaign.scale.meanings) == 2
    assert invitation_link(project, OPERATOR, "t") == "https://grade.example.org/session/invitation/t"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "\u200b"}, "visible characters"),
        ({"name": "a" * 81}, "1 to 80"),
        ({"lead": " "}, "a name cannot be empty"),
        ({"password": "short"}, "password"),
        ({"scale": "../../etc/passwd"}, "from the lists"),
        ({"encoder": "/root/model"}, "from the lists"),
    ],
)
def test_nothing_is_made_of_what_is_refused(tmp_path: Path, wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ProjectError, match=message):
        made(tmp_path / "new", **wrong)
    assert not (tmp_path / "new").exists()


def test_nothing_stays_of_a_project_whose_lead_could_not_be_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ProjectError("the disk is full")

    monkeypatch.setattr(first_project, "add_person_with_password", refuse)
    with pytest.raises(ProjectError, match="the disk is full"):
        made(tmp_path / "new")
    assert may_begin(tmp_path / "new")


def test_of_many_at_once_one_makes_the_project(tmp_path: Path) -> None:
    def tried(number: int) -> bool:
        try:
            made(tmp_path / "new", lead=f"Lead {number}")
        except Overtaken:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(tried, range(4))) == [False, False, False, True]
    assert len(list_people(open_project(tmp_path / "new"), OPERATOR, now=NOW)) == 1


def test_a_folder_with_other_files_is_no_place_for_a_project(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    assert not may_begin(tmp_path)
    with pytest.raises(ProjectError, match=r"has other files, such as notes\.txt"):
        made(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["notes.txt"]
