"""Whoever reads German is refused in German, over real projects; the sentence is the one of the catalogue, filled."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from annotate_app import language
from annotate_app.language import as_json, tr, translate_message
from annotate_app.session import auth
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import Overtaken
from backend.core.messages import joined, said, said_n
from reading import read
from served import browsing
from support import NOW, Judging

GERMAN = {"accept-language": "de-DE,de;q=0.9"}


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pages and calls of this test are for somebody who reads German."""
    monkeypatch.setattr(language, "chosen", lambda *_: "de")
    language.use("de")
    yield
    language.use(None)


@pytest.fixture
def client(judging: Judging) -> Iterator[TestClient]:
    from annotate_app.session.routes import Sessions

    with browsing(judging.project, Sessions(lambda: judging.project).routes()) as found:
        yield found


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        (GERMAN, "Name oder Passwort ist falsch, oder das Konto ist nicht offen."),
        ({}, "Name or password is wrong, or the account is not open."),
    ],
    ids=["German", "English"],
)
def test_a_wrong_password(client: TestClient, headers: dict[str, str], told: str) -> None:
    [token] = re.findall(r'name="csrf" value="([^"]+)"', client.get("/session/sign-in").text)[:1]
    fields = {"name": "Ana", "password": "not hers", "csrf": token}
    answer = client.post("/session/sign-in", data=fields, headers=headers)
    assert answer.status_code == 401
    assert told in answer.text


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty one."""
    return init_project(tmp_path / "project", encoder="minilm")


@pytest.fixture
def set_up_page(
    open_screen: Callable[..., AppTest], at_once: None, monkeypatch: pytest.MonkeyPatch, project: Project
) -> AppTest:
    """The page Set up of an empty project, whose work is done before the page goes on."""
    lead: Person = people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    monkeypatch.setattr(auth, "current", lambda: lead)
    return open_screen("set_up")


def test_a_bad_file(german: None, set_up_page: AppTest, project: Project) -> None:
    file = project.folder / "moments.csv"
    file.write_text("video,start,end,caption,duration\na,1,3,A dog runs.,9\na,4,2,A cat sits.,9\na,-1,2,,9\n")
    set_up_page.text_input(key="set_up_file").set_value(str(file))
    set_up_page.button(key="look_at_file").click().run()
    [told] = [read(error.value) for error in set_up_page.error]
    assert "moments.csv, Zeile 3: Ende 2.0 liegt nicht nach Start 4.0" in told
    assert "moments.csv, Zeile 4: der Bildtext ist leer" in told
    assert "moments.csv, Zeile 4: Start -1.0 ist negativ" in told
    assert " row " not in told


def test_an_overtaken_decision(german: None, judging: Judging) -> None:
    max_ = people.add(judging.project.store, OPERATOR, "Max", Role.LEAD, now=NOW)
    pair = judging.pairs()[0].pair
    adjudicate(judging.project, max_, pair, 2, "All of it.", seen=0, now=NOW)
    with pytest.raises(Overtaken) as refused:
        adjudicate(judging.project, judging.lead, pair, 1, "A part.", seen=0, now=NOW + 250)
    assert str(refused.value) == (
        "Max decided this pair 4 minutes ago: relevance 2 (“All of it.”). To replace that, decide "
        "again; both stay on record"
    )
    assert translate_message(refused.value) == (
        "Dieses Paar wurde vor 4 Minuten von Max entschieden: Relevanz 2 („All of it.“). Entscheiden Sie noch einmal, "
        "wenn Ihre gelten soll; beides bleibt im Protokoll"
    )


def test_sentences_in_sentences_and_in_json_are_told_too(german: None) -> None:
    problem = said("{file}, row {row}: {message}", file="a.csv", row=7, message=said("the caption is empty"))
    told = "a.csv, Zeile 7: der Bildtext ist leer"
    assert translate_message(problem) == told
    assert translate_message(joined("\n", [problem, "Ana"])) == f"{told}\nAna"
    assert translate_message(said_n("{n} minute ago", "{n} minutes ago", 1)) == "vor 1 Minute"
    assert tr("{what}: {done:,} of {total:,}", what=problem, done=1, total=2) == f"{told}: 1 von 2"
    assert as_json({"message": problem}) == b'{"message":"' + told.encode() + b'"}'


def test_what_the_catalogue_lacks_stays_english_and_a_plain_text_as_it_is(german: None) -> None:
    assert translate_message(said("nobody ever said {this}", this="so")) == "nobody ever said so"
    assert translate_message("the caption is empty") == "the caption is empty", "people may have written it"
    assert translate_message(joined(", ", [])) == ""
