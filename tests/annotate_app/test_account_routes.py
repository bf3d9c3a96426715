"""The account: another password, signing out everywhere, over real HTTP semantics, without Streamlit."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from backend.campaign.setup.people.permissions import sign_in
from served import FULL_DISK, browsing, fill_disk
from small_project import PASSWORD, SmallProject
from support import NOW

NEW = "a longer password"


@pytest.fixture
def client(real_project: SmallProject) -> Iterator[TestClient]:
    from annotate_app.session.routes import Sessions

    routes = Sessions(lambda: real_project.project).routes()
    with browsing(real_project.project, routes, real_project.tokens["Ana"]) as found:
        yield found


def csrf(client: TestClient) -> str:
    tokens = set(re.findall(r'name="csrf" value="([^"]+)"', client.get("/session/account").text))
    assert len(tokens) == 1, "both forms carry the same token"
    return tokens.pop()


def change(client: TestClient, old: str = PASSWORD, new: str = NEW, **more: str) -> Any:
    fields = {"old": old, "password": new, "again": new, "csrf": csrf(client), **more}
    return client.post("/session/password", data=fields)


def sign_in_elsewhere(real_project: SmallProject) -> str:
    """A session of Ana's in another browser."""
    return sign_in(real_project.project, "Ana", PASSWORD, now=NOW)


def test_the_account_says_whose_it_is_and_leads_back(client: TestClient) -> None:
    page = client.get("/session/account")
    assert "Signed in as <b>Ana</b>, annotator." in page.text
    assert '<a href="/">Back to grading</a>' in page.text
    assert page.headers["cache-control"] == "no-store"


def test_a_new_password_ends_all_sessions_but_this_one(client: TestClient, real_project: SmallProject) -> None:
    mine, elsewhere = real_project.tokens["Ana"], sign_in_elsewhere(real_project)
    answer = change(client)
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/account?changed")
    assert "HttpOnly" in answer.headers["set-cookie"]
    new = client.cookies["reelrank_session"]
    assert [real_project.signed_in(token) for token in (mine, elsewhere, new)] == [None, None, "Ana"]
    assert real_project.signed_in(real_project.tokens["Lea"]) == "Lea", "others go on"
    assert 'role="status">Your password is changed.' in client.get(answer.headers["location"]).text


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"old": "wrong"}, 401, "The current password is wrong."),
        ({"new": "short"}, 422, "Choose a password of at least 8 characters."),
        ({"again": "something else"}, 422, "The two passwords are not the same."),
        ({"new": PASSWORD}, 422, "The new password is the same as the current one: choose another."),
        ({"csrf": "guessed"}, 403, "This page was open for too long."),
    ],
)
def test_a_password_that_is_not_changed_says_why(
    client: TestClient, real_project: SmallProject, fields: dict[str, str], status: int, sentence: str
) -> None:
    answer = change(client, **fields)
    assert (answer.status_code, sentence in answer.text) == (status, True)
    assert "set-cookie" not in answer.headers
    assert real_project.signed_in(real_project.tokens["Ana"]) == "Ana"


def test_a_full_disk_is_said_and_the_password_stays(
    client: TestClient, real_project: SmallProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch)
    answer = change(client)
    assert (answer.status_code, FULL_DISK in answer.text) == (503, True)
    assert real_project.signed_in(real_project.tokens["Ana"]) == "Ana"


def test_the_present_password_cannot_be_guessed_without_end(client: TestClient) -> None:
    for _ in range(3):
        assert change(client, old="wrong").status_code == 401
    answer = change(client)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_signing_out_everywhere_ends_every_session_of_the_person(
    client: TestClient, real_project: SmallProject
) -> None:
    mine, elsewhere = real_project.tokens["Ana"], sign_in_elsewhere(real_project)
    token = csrf(client)
    assert client.post("/session/sign-out-everywhere", data={"csrf": "wrong"}).status_code == 403
    foreign = {"Origin": "https://evil.org"}
    assert client.post("/session/sign-out-everywhere", data={"csrf": token}, headers=foreign).status_code == 403
    assert real_project.signed_in(elsewhere) == "Ana"
    answer = client.post("/session/sign-out-everywhere", data={"csrf": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")
    assert [real_project.signed_in(one) for one in (mine, elsewhere)] == [None, None]
    assert real_project.signed_in(real_project.tokens["Lea"]) == "Lea"
