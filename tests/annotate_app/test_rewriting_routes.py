"""The routes of the rewrite queue over a real project: leads only, refusals in words, the queue with every answer."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotate_app.server.lead_routes import Rewriting
from backend.campaign.corpus.captions.decisions import waiting_rewrites
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from served import browsing
from support import NOW

HEADERS = {"X-ReelRank": "1"}
PASSWORD = "long enough for everybody"


@pytest.fixture
def project(corpus_project: Project) -> Project:
    """Rewritten; what names Dev, of whom a cast of three knows nothing, waits. A lead and an annotator."""
    with (corpus_project.folder / "reelrank.toml").open("a") as file:
        file.write('"Anna" = "a woman"\n"Boris" = "a man"\n"Carla" = "a woman"\n')
    project = open_project(corpus_project.folder)
    (project.folder / "more.jsonl").write_text(
        '{"video": "new", "start": 1, "end": 2, "duration": 9, "caption": "Then Dev waves."}'
    )
    import_corpus(project, OPERATOR, project.folder / "more.jsonl", "jsonl", now=NOW)
    rewrite_captions(project, OPERATOR, now=NOW)
    for name, role in (("Lea", Role.LEAD), ("Uma", Role.ANNOTATOR)):
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=NOW)
    return project


@pytest.fixture
def client(project: Project) -> Iterator[TestClient]:
    with browsing(project, Rewriting(lambda: project, clock=lambda: NOW).routes()) as found:
        yield found


def enter(client: TestClient, project: Project, name: str) -> None:
    client.cookies.set("reelrank_session", sign_in(project, name, PASSWORD, now=time.time()))


def decide(client: TestClient, caption: int, text: str | None, **more: Any) -> Any:
    return client.post("/rewriting/decision", json={"caption": caption, "text": text, **more}, headers=HEADERS)


def test_a_lead_decides_and_takes_back(client: TestClient, project: Project) -> None:
    enter(client, project, "Lea")
    nothing = client.post("/rewriting/undo", json={}, headers=HEADERS).json()
    assert nothing["message"] == "you have no decision to take back"
    first, second = nothing["queue"]["items"][:2]
    refused = decide(client, first["caption_id"], "Anna waves.")
    assert (refused.status_code, refused.json()["message"]) == (200, "the rewrite still has a name: Anna")
    assert refused.json()["queue"] == nothing["queue"]
    taken = decide(client, first["caption_id"], "A man waves.").json()
    assert (taken["message"], taken["queue"]["items"][0]) == ("", second)
    assert taken["queue"]["last"]["text"] == "A man waves."
    back = client.post("/rewriting/undo", json={}, headers=HEADERS).json()
    assert back["taken_back"] == taken["queue"]["last"]
    assert back["queue"] == nothing["queue"]


def test_an_annotator_and_a_stranger_do_nothing(client: TestClient, project: Project) -> None:
    before = waiting_rewrites(project)
    assert decide(client, 1, None).status_code == 401
    enter(client, project, "Uma")
    for path, body in (("/rewriting/decision", {"caption": 1, "text": None}), ("/rewriting/undo", {})):
        answer = client.post(path, json=body, headers=HEADERS)
        assert (answer.status_code, "only leads may do this" in answer.json()["message"]) == (403, True)
    assert waiting_rewrites(project) == before


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ({"caption": 1, "text": None}, {}, 403),
        ({"caption": 1}, HEADERS, 400),
        ({"caption": "one", "text": None}, HEADERS, 400),
        ({"caption": 1, "text": None, "person": 999}, HEADERS, 401),
    ],
)
def test_what_no_page_of_that_lead_sends_is_refused(
    client: TestClient, project: Project, body: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    enter(client, project, "Lea")
    before = waiting_rewrites(project)
    assert client.post("/rewriting/decision", json=body, headers=headers).status_code == status
    assert waiting_rewrites(project) == before
