"""A server over an empty folder: its one-time link and nothing else, until the first lead is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from annotate_app.session import auth
from annotate_app.session.addresses import BasePath
from annotate_app.session.first_project import FirstProject
from annotate_app.session.guard import Guard
from annotate_app.session.routes import Sessions
from backend.campaign.setup.project.folder import open_project

OWN = "http://testserver"
TOKEN = "a-token-of-the-terminal"
LINK = f"/session/new-project/{TOKEN}"
FORM = {
    **{"project": "Kitchen", "scale": "", "encoder": "minilm"},
    **{"name": "Lea", "password": "correct horse", "again": "correct horse"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    found = tmp_path / "new"
    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(found))
    auth._open.cache_clear()
    yield found
    auth._open.cache_clear()


@pytest.fixture
def app(folder: Path) -> Starlette:
    async def page(_request: Request) -> Response:
        return PlainTextResponse("the app")

    async def stream(_socket: object) -> None:
        raise AssertionError("nothing is streamed before there is a project")

    return Starlette(
        routes=[
            *Sessions(auth.project).routes(),
            WebSocketRoute("/_stcore/stream", stream),
            Route("/{path:path}", page),
        ],
        middleware=[
            Middleware(FirstProject, project=auth.project, own=OWN, link=OWN + LINK),
            Middleware(Guard, project=auth.project),
        ],
    )


def browser(app: Starlette) -> TestClient:
    return TestClient(app, base_url=OWN, follow_redirects=False)


def csrf(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(LINK).text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "path", ["/", "/grade", "/session/sign-in", "/session/account", "/_stcore/health", "/static/js/main.js", "/clips/a"]
)
def test_nothing_else_is_served_before(app: Starlette, folder: Path, path: str) -> None:
    answer = browser(app).get(path)
    assert answer.status_code == 503
    assert "This server has no project yet." in answer.text
    assert answer.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not folder.exists()


def test_what_looks_after_the_server_is_answered(app: Starlette) -> None:
    client = browser(app)
    assert client.get("/healthz").text == "ok\n"
    assert (client.get("/readyz").status_code, client.get("/readyz").text) == (503, "not ready: project\n")
    assert client.get("/session/sign_in.css").headers["content-type"].startswith("text/css")
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect("/_stcore/stream"):
        pass
    assert refused.value.code == 1013


def test_another_link_is_none(app: Starlette, folder: Path) -> None:
    client = browser(app)
    token = csrf(client)
    answer = client.post("/session/new-project/guessed", data={**FORM, "csrf": token})
    assert answer.status_code == 410
    assert not folder.exists()


def test_the_link_makes_the_project_and_signs_its_lead_in(app: Starlette, folder: Path) -> None:
    client = browser(app)
    answer = client.post(LINK, data={**FORM, "csrf": csrf(client)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.get("/").text == "the app"
    project = open_project(folder)
    assert (project.name, project.settings.public_address) == ("Kitchen", "")
    later = Starlette(routes=Sessions(auth.project).routes())  # as after a new start of the server
    for one in (app, later):
        again = browser(one).get(LINK)
        assert (again.status_code, "This link was used" in again.text) == (410, True)


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"password": "short", "again": "short"}, 422, "at least 8 characters"),
        ({"again": "something else"}, 422, "The two passwords are not the same."),
        ({"project": " "}, 422, "The name of a project needs 1 to 80 visible characters."),
        ({"name": "\u200b"}, 422, "remove the character U+200B"),
        ({"csrf": "guessed"}, 403, "This page was open for too long."),
    ],
)
def test_what_is_refused_is_said_and_what_was_typed_stays(
    app: Starlette, folder: Path, fields: dict[str, str], status: int, sentence: str
) -> None:
    client = browser(app)
    sent = {**FORM, "scale": "matches", "csrf": csrf(client), **fields}
    answer = client.post(LINK, data=sent)
    assert (answer.status_code, sentence in answer.text) == (status, True)
    assert '<option value="matches" selected>' in answer.text
    assert "correct horse" not in answer.text
    assert not folder.exists()


def test_the_second_of_two_browsers_is_told(app: Starlette, folder: Path) -> None:
    first, second = browser(app), browser(app)
    tokens = csrf(first), csrf(second)
    assert first.post(LINK, data={**FORM, "csrf": tokens[0]}).status_code == 303
    answer = second.post(LINK, data={**FORM, "name": "Eve", "csrf": tokens[1]})
    assert (answer.status_code, "This link was used" in answer.text) == (410, True)
    assert "set-cookie" not in answer.headers
    names = open_project(folder).store.db.conn.execute("SELECT name FROM annotator").fetchall()
    assert [row[0] for row in names] == ["Lea"]


def test_below_a_base_path_the_form_and_what_follows_stay_there(app: Starlette, folder: Path) -> None:
    address = "https://lab.example.org/annotate"
    inner = FirstProject(app, project=auth.project, own=OWN, link=address + LINK)
    client = TestClient(BasePath(inner, "/annotate"), base_url="https://lab.example.org", follow_redirects=False)
    page = client.get(f"/annotate{LINK}").text
    assert f'action="/annotate{LINK}"' in page
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token is not None
    answer = client.post(f"/annotate{LINK}", data={**FORM, "csrf": token[1]}, headers={"Host": "lab.example.org"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/annotate/")
    assert open_project(folder).settings.public_address == address
