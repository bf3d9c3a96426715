"""What people may be called, on both engines; the characters by hand from Unicode's chart."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import Role
from backend.campaign.setup.people.accounts import (
    accept_invitation,
    add_person,
    add_person_with_password,
    new_invitation,
)
from backend.campaign.setup.people.permissions import sign_in
from backend.core import typed_text as rules
from backend.core.errors import ProjectError, SignInRefused
from postgres import SQLITE_FIRST
from support import NOW, Judging

UNSEEN = [
    "\n",
    "\t",
    "\0",
    "\x1b",
    "\u200b",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\u2028",
    "\ue000",
    "\ud800",
    "\ufe0f",
    "\u3164",
]


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("char", UNSEEN, ids=ascii)
def test_a_name_has_visible_characters_only(char: str) -> None:
    for name in (f"Le{char}a", f"Lea{char}", f"{char}Lea"):
        with pytest.raises(ProjectError, match="visible characters: remove the character U"):
            rules.person_name(name)


def test_a_name_has_a_length_and_is_composed() -> None:
    assert rules.person_name("x" * 80) == "x" * 80
    for name, why in (("x" * 81, "at most 80 characters; this one has 81"), ("  ", "cannot be empty")):
        with pytest.raises(ProjectError, match=why):
            rules.person_name(name)
    assert rules.person_name("\u00a0Ame\u0301lie   O'Neil-Søren ") == "Am\u00e9lie O'Neil-Søren"


def test_joiners_are_kept_where_scripts_need_them() -> None:
    assert rules.person_name("\u0645\u06cc\u200c\u0631") == "\u0645\u06cc\u200c\u0631"
    for name in ("Le\u200ca", "\u200d\u0645", "\u0645\u200c"):
        with pytest.raises(ProjectError):
            rules.person_name(name)


def test_nobody_takes_a_name_that_looks_like_somebodys(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    add_person_with_password(project, lead, "L\u00e9a Stra\u00dfe", Role.ANNOTATOR, "a long password", now=NOW)
    for name in ("L\u00c9A STRASSE", "Le\u0301a  Stra\u00dfe", "\uff2c\u00e9a Strasse"):
        with pytest.raises(ProjectError, match="there is already somebody named L\u00e9a Stra\u00dfe"):
            add_person(project, lead, name, Role.ANNOTATOR, now=NOW)
        assert sign_in(project, name, "a long password", now=NOW)
    for name in ("L\u00e9a\0", "Lea Strasse"):
        with pytest.raises(SignInRefused):
            sign_in(project, name, "a long password", now=NOW)


def test_of_people_added_at_once_one_gets_the_name(judging: Judging) -> None:
    def add(name: str) -> bool:
        try:
            add_person(judging.project, judging.lead, name, Role.ANNOTATOR, now=NOW)
        except ProjectError:
            return False
        finally:
            judging.project.store.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(add, ["Zo\u00eb", "ZO\u00cb", "Zoe\u0308", "zo\u00eb"])) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_names_of_an_earlier_release_go_on_and_the_doctor_names_them(judging: Judging) -> None:
    first, second = (person.annotator_id for person in judging.annotators[:2])
    for who, name in ((first, "L\u00e9a"), (second, "L\u00c9A\u200b")):
        link = new_invitation(judging.project, judging.lead, who, now=NOW)[1]
        accept_invitation(judging.project, link, "a long password", now=NOW)
        judging.project.store.db.conn.execute("UPDATE annotator SET name = ? WHERE annotator_id = ?", [name, who])
        assert sign_in(judging.project, name, "a long password", now=NOW)
    with pytest.raises(SignInRefused):
        sign_in(judging.project, "l\u00e9a", "a long password", now=NOW)
    (finding,) = doctor(judging.project, now=NOW).findings
    assert finding.check == "names"
    with pytest.raises(ProjectError, match="cannot tell these names apart"):
        rules.require_told_apart(["Ann", "L\u00e9a", "L\u00c9A"])
    assert any("'L\u00e9a' and 'L\\xc9A\\u200b'" in example for example in finding.examples)
