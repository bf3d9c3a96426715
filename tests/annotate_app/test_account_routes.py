"""The account: another password, signing out everywhere, over real HTTP semantics, without Streamlit."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parent))
import fake_api

ANNOTATOR, LEAD = "token-of-Ana", "token-of-Lea"
NEW = "a longer password"
Clock = list[float]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def client(project: fake_api.Project) -> Iterator[TestClient]:
    from annotate_app.session.guard import Guard
    from annotate_app.session.routes import Sessions

    app = Starlette(
        routes=Sessions(lambda: project).routes(),  # type: ignore[arg-type,return-value]
        middleware=[Middleware(Guard, project=lambda: project)],
    )
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as found:
        found.cookies.set("reelrank_session", ANNOTATOR)
        yield found


def csrf(client: TestClient) -> str:
    tokens = set(re.findall(r'name="csrf" value="([^"]+)"', client.get("/session/account").text))
    assert len(tokens) == 1, "both forms carry the same token"
    return tokens.pop()


def change(client: TestClient, old: str = fake_api.PASSWORD, new: str = NEW, **more: str) -> Any:
    fields = {"old": old, "password": new, "again": new, "csrf": csrf(client), **more}
    return client.post("/session/password", data=fields)


def test_the_account_says_whose_it_is_and_leads_back(client: TestClient) -> None:
    page = client.get("/session/account")
    assert "Signed in as <b>Ana</b>, annotator." in page.text
    assert '<a href="/">Back to grading</a>' in page.text
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("token", [None, "unknown", "token-of-Cem"], ids=["none", "unknown", "suspended"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/session/account"), ("POST", "/session/password"), ("POST", "/session/sign-out-everywhere")],
)
def test_nobody_without_a_session_gets_an_account(
    client: TestClient, token: str | None, method: str, path: str
) -> None:
    client.cookies.delete("reelrank_session")
    if token:
        client.cookies.set("reelrank_session", token)
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")


def test_a_new_password_ends_all_sessions_but_this_one(client: TestClient, project: fake_api.Project) -> None:
    project.sessions["other browser"] = "Ana"
    answer = change(client)
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/account?changed")
    assert "reelrank_session=new-token-of-Ana" in answer.headers["set-cookie"]
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert {token for token, who in project.sessions.items() if who == "Ana"} == {"new-token-of-Ana"}
    assert LEAD in project.sessions, "others go on"
    assert 'role="status">Your password is changed.' in client.get(answer.headers["location"]).text


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"old": "wrong"}, 401, "The present password is wrong."),
        ({"new": "short"}, 422, "Choose a password of at least 8 characters."),
        ({"again": "something else"}, 422, "The two passwords are not the same."),
        ({"new": fake_api.PASSWORD}, 422, "The new password is the present one: choose another."),
        ({"csrf": "guessed"}, 403, "This page was open for too long."),
    ],
)
def test_a_password_that_is_not_changed_says_why(
    client: TestClient, project: fake_api.Project, fields: dict[str, str], status: int, sentence: str
) -> None:
    answer = change(client, **fields)
    assert (answer.status_code, sentence in answer.text) == (status, True)
    assert "set-cookie" not in answer.headers
    assert ANNOTATOR in project.sessions


def test_a_full_disk_is_said_and_the_password_stays(client: TestClient, project: fake_api.Project) -> None:
    project.unavailable = "The disk is full: make room."
    answer = change(client)
    assert (answer.status_code, "The disk is full: make room." in answer.text) == (503, True)
    assert ANNOTATOR in project.sessions


def test_the_present_password_cannot_be_guessed_without_end(client: TestClient) -> None:
    for _ in range(3):
        assert change(client, old="wrong").status_code == 401
    answer = change(client)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_signing_out_everywhere_ends_every_session_of_the_person(client: TestClient, project: fake_api.Project) -> None:
    project.sessions["other browser"] = "Ana"
    token = csrf(client)
    assert client.post("/session/sign-out-everywhere", data={"csrf": "wrong"}).status_code == 403
    foreign = {"Origin": "https://evil.org"}
    assert client.post("/session/sign-out-everywhere", data={"csrf": token}, headers=foreign).status_code == 403
    assert "other browser" in project.sessions
    answer = client.post("/session/sign-out-everywhere", data={"csrf": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")
    assert "Ana" not in project.sessions.values()
    assert LEAD in project.sessions
