"""The routes and the guard in front of them, over real HTTP semantics, without Streamlit."""

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.judging.model import SkipKind

ANNOTATOR, LEAD = "token-of-Ana", "token-of-Lea"
JSON = {"X-ReelRank": "1"}


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def client(project: fake_api.Project) -> Iterator[TestClient]:
    from annotate_app.server.clip_worker import ClipWorker
    from annotate_app.server.routes import own_routes
    from annotate_app.session.guard import Guard

    clips: ClipWorker[fake_api.ClipJob] = ClipWorker(fake_api.cut_clip)

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        yield
        clips.stop()

    async def anything(request: Any) -> PlainTextResponse:
        return PlainTextResponse("streamlit")

    async def stream(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    app = Starlette(
        routes=[
            *own_routes(lambda: project, clips, lambda project, lead: {"at": 5.0, "counts": {"/progress": "7 stuck"}}),
            WebSocketRoute("/_stcore/stream", stream),
            Route("/{path:path}", anything),
        ],
        middleware=[Middleware(Guard, project=lambda: project)],
        lifespan=lifespan,
    )
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as found:
        yield found


def signed_in(client: TestClient, token: str) -> TestClient:
    client.cookies.set("reelrank_session", token)
    return client


def csrf(client: TestClient, path: str = "/session/sign-in") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    assert found
    return found[1]


def sign_in(client: TestClient, name: str, password: str, **more: str) -> Any:
    fields = {"name": name, "password": password, "csrf": csrf(client), **more}
    return client.post("/session/sign-in", data=fields)


# The guard


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 303),
        ("/people", 303),
        ("/clips/pair7.mp4", 401),
        ("/media/abc", 401),
        ("/lead/waiting", 401),
        ("/_stcore/bidi-components/x", 401),
        ("/_stcore/agent/openapi.json", 404),
        ("/static/js/main.js", 200),
        ("/_stcore/health", 200),
        ("/favicon.png", 200),
        ("/session/sign-in", 200),
    ],
)
def test_a_stranger_sees_only_the_sign_in(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    if status == 303:
        assert answer.headers["location"].startswith("/session/sign-in")


def test_only_leads_are_told_what_waits_and_only_on_a_page_of_ours(client: TestClient) -> None:
    asked = {"headers": {"X-ReelRank": "1"}}
    assert signed_in(client, "token-of-Ana").get("/lead/waiting", **asked).status_code == 403
    answer = signed_in(client, "token-of-Lea").get("/lead/waiting", **asked)
    assert answer.json() == {"at": 5.0, "counts": {"/progress": "7 stuck"}}
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/lead/waiting").status_code == 403
    foreign = {"headers": {"X-ReelRank": "1", "Origin": "http://elsewhere"}}
    assert client.get("/lead/waiting", **foreign).status_code == 403


def test_the_page_asked_for_comes_back_after_signing_in(client: TestClient) -> None:
    refused = client.get("/people?x=1")
    assert refused.headers["location"] == "/session/sign-in?next=/people%3Fx%3D1"
    page = client.get(refused.headers["location"])
    assert 'name="next" value="/people?x=1"' in page.text
    answer = sign_in(client, "Lea", fake_api.PASSWORD, next="/people?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/people?x=1")


@pytest.mark.parametrize("next_path", ["//evil.org", "https://evil.org", "/\\evil.org", "/session/sign-out", "x"])
def test_signing_in_never_leads_to_another_site(client: TestClient, next_path: str) -> None:
    answer = sign_in(client, "Lea", fake_api.PASSWORD, next=next_path)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("token", [None, "wrong", "token-of-Cem"], ids=["none", "unknown", "suspended"])
def test_the_websocket_is_refused_without_a_session(client: TestClient, token: str | None) -> None:
    if token:
        signed_in(client, token)
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect("/_stcore/stream"):
        pass
    assert refused.value.code == 1008


def test_the_websocket_opens_with_a_session(client: TestClient) -> None:
    with signed_in(client, ANNOTATOR).websocket_connect("/_stcore/stream") as socket:
        assert socket.receive_text() == "hello"


def test_every_answer_carries_the_security_headers(client: TestClient) -> None:
    for path in ("/session/sign-in", "/clips/x.mp4", "/static/x"):
        headers = client.get(path).headers
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_page_brings_the_token_its_sign_out_form_needs(client: TestClient) -> None:
    answer = signed_in(client, LEAD).get("/")
    assert "reelrank_csrf=" in answer.headers["set-cookie"]
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert "set-cookie" not in client.get("/").headers


# Sessions


def test_signing_in_sets_a_cookie_no_script_can_read(client: TestClient) -> None:
    answer = sign_in(client, "Ana", fake_api.PASSWORD)
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "reelrank_session=token-of-Ana" in cookie
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert "Secure" not in cookie
    assert client.get("/").text == "streamlit"


def test_the_cookie_is_secure_on_https(client: TestClient) -> None:
    client.base_url = "https://testserver"  # type: ignore[assignment]
    answer = sign_in(client, "Ana", fake_api.PASSWORD)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-reelrank_session=token-of-Ana;")
    assert {"Secure", "HttpOnly", "Path=/"} <= {*cookie.split("; ")}
    assert "domain" not in cookie.lower(), "a browser takes the prefix only from a cookie of one host"
    assert {*client.cookies} == {f"__Host-reelrank_{name}" for name in ("session", "csrf", "browser")}
    assert client.get("/").text == "streamlit"
    assert client.post("/session/sign-out", data={"csrf": csrf(client, "/session/account")}).status_code == 303
    assert "__Host-reelrank_session" not in client.cookies


@pytest.mark.parametrize(
    ("scheme", "name", "status"),
    [
        ("https", "__Host-reelrank_session", 200),
        ("https", "reelrank_session", 303),
        ("https", "\x0breelrank_session", 303),
        ("http", "reelrank_session", 200),
        ("http", "__Host-reelrank_session", 303),
    ],
)
def test_a_session_counts_under_the_name_of_its_scheme_alone(
    client: TestClient, scheme: str, name: str, status: int
) -> None:
    headers = {"Cookie": f"theme=dark; {name}={ANNOTATOR}"}
    assert client.get(f"{scheme}://testserver/", headers=headers).status_code == status
    socket = {"https": "wss", "http": "ws"}[scheme]
    with ExitStack() as stack:
        if status != 200:
            stack.enter_context(pytest.raises(WebSocketDisconnect))
        stack.enter_context(client.websocket_connect(f"{socket}://testserver/_stcore/stream", headers=headers))


@pytest.mark.parametrize(("scheme", "told"), [("https", "max-age=31536000"), ("http", None)])
def test_browsers_are_told_to_stay_with_https(client: TestClient, scheme: str, told: str | None) -> None:
    for path in ("/session/sign-in", "/people", "/static/js/main.js", "/no-such-page"):
        assert client.get(f"{scheme}://testserver{path}").headers.get("strict-transport-security") == told


@pytest.mark.parametrize(
    ("scheme", "origin", "status"),
    [
        ("http", "http://testserver", 200),
        ("http", "https://testserver", 403),
        ("https", "https://testserver", 200),
        ("https", "http://testserver", 403),
    ],
)
def test_a_page_sent_by_another_scheme_is_another_site(
    client: TestClient, scheme: str, origin: str, status: int
) -> None:
    name = "__Host-reelrank_session" if scheme == "https" else "reelrank_session"
    headers = {**JSON, "Origin": origin, "Cookie": f"{name}={ANNOTATOR}"}
    assert client.post(f"{scheme}://testserver/desk/exchange", json={}, headers=headers).status_code == status
    socket = {"https": "wss", "http": "ws"}[scheme]
    with ExitStack() as stack:
        if status != 200:
            stack.enter_context(pytest.raises(WebSocketDisconnect))
        stack.enter_context(client.websocket_connect(f"{socket}://testserver/_stcore/stream", headers=headers))


def test_a_wrong_password_is_said_in_words(client: TestClient) -> None:
    answer = sign_in(client, '<b>"Ana', "wrong")
    assert answer.status_code == 401
    assert '<p class="error" role="alert">Name or password is wrong.</p>' in answer.text
    assert 'value="&lt;b&gt;&quot;Ana"' in answer.text, "the name typed stays, harmless"


def test_a_name_with_nul_is_an_unknown_name(client: TestClient) -> None:
    answer = sign_in(client, "Ana\0", fake_api.PASSWORD)
    assert answer.status_code == 401
    assert '<p class="error" role="alert">Name or password is wrong.</p>' in answer.text


def test_a_full_disk_at_sign_in_is_said_on_the_page(client: TestClient, project: fake_api.Project) -> None:
    project.unavailable = "The disk is <full>: make room."
    answer = sign_in(client, "Ana", fake_api.PASSWORD)
    assert answer.status_code == 503
    assert '<p class="error" role="alert">The disk is &lt;full&gt;: make room.</p>' in answer.text
    assert 'value="Ana"' in answer.text
    project.unavailable = ""
    assert sign_in(client, "Ana", fake_api.PASSWORD).status_code == 303


def test_an_invitation_met_by_a_full_disk_can_be_used_again(client: TestClient, project: fake_api.Project) -> None:
    project.invitations["secret"] = "Ben"
    path = "/session/invitation/secret"
    fields = {"password": "long enough", "again": "long enough", "csrf": csrf(client, path)}
    project.unavailable = "The disk is full: make room."
    answer = client.post(path, data=fields)
    assert (answer.status_code, "The disk is full: make room." in answer.text) == (503, True)
    project.unavailable = ""
    assert client.post(path, data=fields).status_code == 303


@pytest.mark.parametrize(("path", "kind"), [("/", "text/html"), ("/desk/exchange", "application/json")])
def test_a_database_that_cannot_be_read_is_said_at_the_door(
    client: TestClient, project: fake_api.Project, path: str, kind: str
) -> None:
    project.unavailable = "not even to be read"
    answer = signed_in(client, LEAD).get(path)
    assert answer.status_code == 503
    assert answer.headers["content-type"].startswith(kind)
    assert "not even to be read" in answer.text
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect("/_stcore/stream"):
        pass
    assert refused.value.code == 1013


def test_a_form_of_another_site_is_refused(client: TestClient) -> None:
    token = csrf(client)
    fields = {"name": "Ana", "password": fake_api.PASSWORD}
    assert client.post("/session/sign-in", data=fields).status_code == 403
    assert client.post("/session/sign-in", data={**fields, "csrf": "guessed"}).status_code == 403
    foreign = {"Origin": "https://evil.org"}
    assert client.post("/session/sign-in", data={**fields, "csrf": token}, headers=foreign).status_code == 403
    client.cookies.delete("reelrank_csrf")
    assert client.post("/session/sign-in", data={**fields, "csrf": ""}).status_code == 403


def test_wrong_passwords_slow_attempts_down_and_say_for_how_long(client: TestClient) -> None:
    for _ in range(3):
        assert sign_in(client, "Ana", "wrong").status_code == 401
    answer = sign_in(client, "ana ", fake_api.PASSWORD)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert "Too many attempts. Try again in 1 second." in answer.text
    assert sign_in(client, "Lea", fake_api.PASSWORD).status_code == 303, "others are not held up"


def test_signing_out_ends_the_session(client: TestClient, project: fake_api.Project) -> None:
    signed_in(client, ANNOTATOR)
    token = csrf(client, "/session/account")
    assert client.post("/session/sign-out", data={"csrf": "wrong"}).status_code == 403
    assert ANNOTATOR in project.sessions
    answer = client.post("/session/sign-out", data={"csrf": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")
    assert ANNOTATOR not in project.sessions
    assert client.get("/").status_code == 303


def test_an_invitation_sets_a_password_once(client: TestClient, project: fake_api.Project) -> None:
    project.invitations["secret"] = "Ben"
    path = "/session/invitation/secret"
    assert "Choose a password for <b>Ben</b>" in client.get(path).text
    token = csrf(client, path)
    for password, again, sentence in [
        ("short", "short", "Choose a password of at least 8 characters."),
        ("long enough", "long enuogh", "The two passwords are not the same."),
    ]:
        answer = client.post(path, data={"password": password, "again": again, "csrf": token})
        assert (answer.status_code, sentence in answer.text) == (422, True)
    answer = client.post(path, data={"password": "long enough", "again": "long enough", "csrf": token})
    assert answer.status_code == 303
    assert "reelrank_session=token-of-Ben" in answer.headers["set-cookie"]
    used = client.get(path)
    assert used.status_code == 410
    assert "This invitation was used already" in used.text


def test_a_huge_form_is_refused(client: TestClient) -> None:
    assert client.post("/session/sign-in", data={"name": "x" * 20_000}).status_code == 413


def test_the_page_needs_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/session/sign-in").text
    for address in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert client.get(address).status_code == 200, address
    assert client.get("/session/routes.py").status_code == 404


# The desk


def test_an_exchange_saves_grades_and_brings_the_desk(client: TestClient, project: fake_api.Project) -> None:
    grades = [
        {"pair": "pair6", "grade": 3, "key": "k1", "active_ms": 4100},
        {"pair": "pair6", "grade": 9, "key": "k2", "active_ms": 1},
    ]
    answer = signed_in(client, ANNOTATOR).post("/desk/exchange", json={"grades": grades}, headers=JSON)
    assert answer.status_code == 200
    assert answer.json() == {
        "receipts": [
            {"key": "k1", "status": "saved", "message": ""},
            {"key": "k2", "status": "refused", "message": "A grade is 0 to 4."},
        ],
        "desk": {
            "state": "ready",
            "items": [
                {
                    "pair": f"pair{position}",
                    "query": "A woman puts a cup down",
                    "position": position,
                    "total": 20,
                    "duration_s": 8.2,
                    "grade": None,
                    "whole": False,
                    "note": "",
                }
                for position in (7, 8)
            ],
            "previous": None,
            "today": 6,
            "in_all": 106,
            "waiting": 0,
            "skipped": 0,
            "replies": 0,
            "warned": False,
            "elsewhere": False,
            "exam": None,
        },
    }
    assert project.graded["k1"].grade == 3


def test_an_exchange_brings_a_note_as_it_was_written(client: TestClient, project: fake_api.Project) -> None:
    written = "<script>alert(1)</script> *a* \u202e \U0001f469\u200d\U0001f467 " + "x" * 5000
    grade = {"pair": "pair6", "grade": 3, "key": "k1", "active_ms": 4100}
    answer = signed_in(client, ANNOTATOR).post(
        "/desk/exchange", json={"grades": [grade | {"note": written}]}, headers=JSON
    )
    assert answer.json()["receipts"] == [{"key": "k1", "status": "saved", "message": ""}]
    assert project.graded["k1"].note == written
    assert written not in answer.text
    client.post("/desk/exchange", json={"grades": [grade | {"key": "k2"}]}, headers=JSON)
    assert project.graded["k2"].note is None, "a page that says nothing about it leaves what was written"
    assert client.post("/desk/exchange", json={"grades": [grade | {"note": 7}]}, headers=JSON).status_code == 400


def test_an_exchange_takes_skips_after_grades(client: TestClient, project: fake_api.Project) -> None:
    sent = {
        "grades": [{"pair": "pair6", "grade": 3, "key": "k1", "active_ms": 4100, "elapsed_ms": 9000}],
        "skips": [{"pair": "pair7", "kind": "cannot_judge", "reason": "too dark", "key": "k2"}],
    }
    answer = signed_in(client, ANNOTATOR).post("/desk/exchange", json=sent, headers=JSON)
    assert [receipt["key"] for receipt in answer.json()["receipts"]] == ["k1", "k2"]
    assert project.graded["k1"].elapsed_ms == 9000
    skip = project.skips["k2"]
    assert (skip.pair, skip.kind, skip.reason) == ("pair7", SkipKind.CANNOT_JUDGE, "too dark")


def test_what_is_on_screen_is_told_by_itself_or_with_an_exchange_and_answered_with_nothing(
    client: TestClient, project: fake_api.Project
) -> None:
    signed_in(client, ANNOTATOR)
    answer = client.post("/desk/shown", json={"person": 2, "pair": "pair7"}, headers=JSON)
    assert (answer.status_code, answer.content) == (204, b"")
    client.post("/desk/exchange", json={"shown": "pair8"}, headers=JSON)
    client.post("/desk/exchange", json={"shown": None}, headers=JSON)
    assert project.shown == [("Ana", "pair7"), ("Ana", "pair8")]
    client.post("/desk/exchange", json={"window": "w", "takes": True}, headers=JSON)
    assert project.windows == [("Ana", "", False), ("Ana", "", False), ("Ana", "w", True)]
    assert client.post("/desk/exchange", json={"window": "w" * 65}, headers=JSON).status_code == 400
    assert client.post("/desk/shown", json={"person": 3, "pair": "pair7"}, headers=JSON).status_code == 401
    assert client.post("/desk/shown", json={"person": 2}, headers=JSON).status_code == 400
    assert client.post("/desk/shown", json={"pair": "pair7"}).status_code == 403
    signed_in(client, LEAD)
    assert client.post("/desk/shown", json={"pair": "pair7"}, headers=JSON).status_code == 403
    assert len(project.shown) == 2


@pytest.mark.parametrize("kind", ["bored", "", None])
def test_a_skip_needs_one_of_three_kinds(client: TestClient, project: fake_api.Project, kind: str | None) -> None:
    sent = {"skips": [{"pair": "pair7", "kind": kind, "reason": "x", "key": "k2"}]}
    assert signed_in(client, ANNOTATOR).post("/desk/exchange", json=sent, headers=JSON).status_code == 400
    assert project.skips == {}


def test_the_exam_is_begun_and_handed_in_by_whom_the_page_was_made_for(
    client: TestClient, project: fake_api.Project
) -> None:
    signed_in(client, ANNOTATOR)
    for act in ("start", "hand_in", "go_on"):
        answer = client.post("/desk/exam", json={"person": 2, "act": act}, headers=JSON)
        assert (answer.status_code, answer.json()["receipts"]) == (200, [])
        assert answer.json()["desk"]["exam"] is None
    assert project.exam_asked == [("start", "Ana"), ("hand_in", "Ana"), ("go_on", "Ana")]
    assert client.post("/desk/exam", json={"person": 2, "act": "pass"}, headers=JSON).status_code == 400
    assert client.post("/desk/exam", json={"person": 3, "act": "start"}, headers=JSON).status_code == 401
    assert client.post("/desk/exam", json={"act": "start"}).status_code == 403
    signed_in(client, LEAD)
    assert client.post("/desk/exam", json={"act": "start"}, headers=JSON).status_code == 403
    assert len(project.exam_asked) == 3


def test_a_full_disk_is_told_to_the_player_which_keeps_its_grades(
    client: TestClient, project: fake_api.Project
) -> None:
    project.unavailable = "The disk is full: make room."
    for path, sent in (("/desk/exchange", {}), ("/desk/broken", {"pair": "pair7"})):
        answer = signed_in(client, ANNOTATOR).post(path, json=sent, headers=JSON)
        assert (answer.status_code, answer.json()) == (503, {"message": "The disk is full: make room."})
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_any_other_error_stays_an_error(project: fake_api.Project, monkeypatch: pytest.MonkeyPatch) -> None:
    # A bug must look like one: the guard answers for the store only.
    from annotate_app.session.guard import Guard

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        TestClient(Guard(broken, project=lambda: project)).get("/session/sign-in")


@pytest.mark.parametrize(
    ("headers", "body", "token", "status", "reason"),
    [
        ({}, b"{}", ANNOTATOR, 403, "no header of our own"),
        ({**JSON, "Origin": "https://evil.org"}, b"{}", ANNOTATOR, 403, "foreign origin"),
        ({**JSON, "Sec-Fetch-Site": "cross-site"}, b"{}", ANNOTATOR, 403, "cross-site"),
        (JSON, b"{}", LEAD, 403, "leads do not grade"),
        (JSON, b"{}", "unknown", 401, "signed out"),
        (JSON, b'{"person": 999}', ANNOTATOR, 401, "somebody else signed in since"),
        (JSON, b"not json", ANNOTATOR, 400, "no json"),
        (JSON, b'{"grades": [{"pair": "p"}]}', ANNOTATOR, 400, "fields missing"),
        (JSON, b" " * 2_000_000, ANNOTATOR, 413, "too large"),
        ({**JSON, "Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}, b"{}", ANNOTATOR, 200, "own"),
    ],
)
def test_who_and_what_an_exchange_accepts(
    client: TestClient, headers: dict[str, str], body: bytes, token: str, status: int, reason: str
) -> None:
    answer = signed_in(client, token).post("/desk/exchange", content=body, headers=headers)
    assert answer.status_code == status, reason
    if status in (400, 401, 403):
        assert answer.json()["message"]


def cuts(project: fake_api.Project) -> list[str]:
    """The pairs whose clips were cut, in order."""
    log = project.folder / "clips" / "cuts.log"
    return log.read_text().split() if log.exists() else []


def wait_for(done: Callable[[], bool]) -> None:
    """What the server does behind its answer is done."""
    until = time.monotonic() + 60
    while not done() and time.monotonic() < until:
        time.sleep(0.02)
    assert done()


def test_the_clips_of_a_desk_are_cut_ahead_in_order(client: TestClient, project: fake_api.Project) -> None:
    for _ in range(2):
        signed_in(client, ANNOTATOR).post("/desk/exchange", content=b"{}", headers=JSON)
    wait_for(lambda: len(cuts(project)) >= 2)
    assert client.get("/clips/pair8.mp4").status_code == 200
    assert cuts(project) == ["pair7", "pair8"], "each once, the first of the desk first"


def test_a_clip_broken_in_the_browser_is_one_persons_report(client: TestClient, project: fake_api.Project) -> None:
    body = {"pair": "pair7", "what": "MEDIA_ERR_DECODE"}
    answer = signed_in(client, ANNOTATOR).post("/desk/broken", json=body, headers=JSON)
    assert answer.json()["desk"]["state"] == "ready"
    client.post("/desk/broken", json={"pair": "not-mine", "what": "x"}, headers=JSON)
    wait_for(lambda: cuts(project).count("pair7") == 1)
    assert project.broken == [("pair7", "MEDIA_ERR_DECODE")]
    assert project.reported == [], "the server can make the clip: nobody else loses it"


@pytest.mark.parametrize("how", ["skip", "browser"])
def test_the_server_tries_what_is_reported_as_broken_and_keeps_back_what_it_cannot_make(
    client: TestClient, project: fake_api.Project, how: str
) -> None:
    project.desk = replace(project.desk, items=())
    if how == "browser":
        signed_in(client, ANNOTATOR).post("/desk/broken", json={"pair": fake_api.BROKEN, "what": "x"}, headers=JSON)
    else:
        skip = {"kind": "broken_clip", "reason": "black"}
        skips = [{"pair": fake_api.BROKEN, "key": "a", **skip}, {"pair": "pair7", "key": "b", **skip}]
        signed_in(client, ANNOTATOR).post("/desk/exchange", json={"skips": skips}, headers=JSON)
        wait_for(lambda: "pair7" in cuts(project))
    wait_for(lambda: project.reported == [(fake_api.BROKEN, "friends_s01.mp4 is not a video file")])


# Clips


def test_a_full_disk_is_no_fault_of_a_clip(client: TestClient, project: fake_api.Project) -> None:
    """The pair stays on the desk and is not blocked; people are not told where the project lies."""
    project.desk = replace(project.desk, items=(replace(project.desk.items[0], pair=fake_api.FULL),))
    signed_in(client, ANNOTATOR).post("/desk/exchange", content=b"{}", headers=JSON)
    for path in ("/clips/full.mp4", "/clips/full.mp4?context=1"):
        answer = client.get(path)
        assert answer.status_code == 507
        assert answer.json()["message"].startswith("The server's disk is full, so this clip cannot be made just now.")
        assert "/srv" not in answer.text
    assert project.reported == []


def test_a_clip_is_served_by_range(client: TestClient) -> None:
    signed_in(client, ANNOTATOR)
    whole = client.get("/clips/pair7.mp4")
    assert whole.status_code == 200
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["cache-control"].startswith("private")
    part = client.get("/clips/pair7.mp4", headers={"Range": "bytes=256-511"})
    assert part.status_code == 206
    assert part.headers["content-range"] == f"bytes 256-511/{len(whole.content)}"
    assert part.content == bytes(range(256))


def test_a_clip_kept_by_a_browser_is_shown_again_only_after_the_session_was_asked_for(client: TestClient) -> None:
    signed_in(client, ANNOTATOR)
    whole = client.get("/clips/pair7.mp4")
    assert whole.headers["cache-control"] == "private, no-cache"
    etag = whole.headers["etag"]
    for asked in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = client.get("/clips/pair7.mp4", headers={"If-None-Match": asked})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert again.headers["cache-control"] == "private, no-cache"
    changed = client.get("/clips/pair7.mp4", headers={"If-None-Match": '"other"'})
    assert (changed.status_code, changed.content) == (200, whole.content)
    client.cookies.clear()
    assert client.get("/clips/pair7.mp4", headers={"If-None-Match": etag}).status_code == 401


def test_a_part_of_a_clip_is_sent_only_of_the_clip_that_the_browser_has(client: TestClient) -> None:
    signed_in(client, ANNOTATOR)
    etag = client.get("/clips/pair7.mp4").headers["etag"]
    part = client.get("/clips/pair7.mp4", headers={"Range": "bytes=256-511", "If-Range": etag})
    assert (part.status_code, len(part.content), part.headers["etag"]) == (206, 256, etag)
    for other in ('"other"', f"W/{etag}", "Thu, 26 Nov 2026 08:00:00 GMT"):  # strong validators only
        whole = client.get("/clips/pair7.mp4", headers={"Range": "bytes=256-511", "If-Range": other})
        assert whole.status_code == 200
        assert len(whole.content) > 256


@pytest.mark.parametrize("path", ["/clips/pair7.mp4", "/clips/pair7.mp4?context=1", "/clips/pair7.webp"])
def test_no_header_tells_when_others_had_a_clip(client: TestClient, path: str) -> None:
    """Using a clip touches its file, so its time tells whether others graded the pair before."""
    answer = signed_in(client, ANNOTATOR).get(path)
    assert answer.status_code == 200
    assert {name for name in answer.headers if not name.startswith("x-reelrank")} & {
        *("last-modified", "content-disposition", "date", "age", "expires")
    } == set()


def test_signing_out_clears_what_the_browser_keeps(client: TestClient) -> None:
    for path, who in (("/session/sign-out", LEAD), ("/session/sign-out-everywhere", ANNOTATOR)):
        token = csrf(signed_in(client, who), "/session/account")
        assert client.post(path, data={"csrf": token}).headers["clear-site-data"] == '"cache"'
        assert "clear-site-data" not in client.get("/session/sign-in").headers


def test_only_their_own_clips_are_shown_to_annotators(client: TestClient) -> None:
    assert signed_in(client, ANNOTATOR).get("/clips/key101.mp4").status_code == 403
    assert signed_in(client, LEAD).get("/clips/key101.mp4").status_code == 200


def test_the_context_of_a_moment_is_another_clip_that_tells_where_the_moment_lies(
    client: TestClient, project: fake_api.Project
) -> None:
    (project.folder / "clips").mkdir()
    (project.folder / "clips" / "pair7.mp4").write_bytes(b"the moment")
    (project.folder / "clips" / "pair7-around.mp4").write_bytes(b"two seconds, the moment, two seconds")
    signed_in(client, ANNOTATOR)
    wide = client.get("/clips/pair7.mp4?context=1")
    assert (wide.status_code, wide.content) == (200, b"two seconds, the moment, two seconds")
    assert {name for name in wide.headers if "reelrank" in name} == {"x-reelrank-before", "x-reelrank-after"}
    assert (float(wide.headers["x-reelrank-before"]), float(wide.headers["x-reelrank-after"])) == (1.25, 2.0)
    assert wide.headers["cache-control"].startswith("private")
    narrow = client.get("/clips/pair7.mp4")
    assert narrow.content == b"the moment"
    assert not [name for name in narrow.headers if "reelrank" in name]
    assert narrow.headers["etag"] != wide.headers["etag"]


def test_the_context_is_cut_when_asked_for_and_shown_to_whom_the_clip_is(client: TestClient) -> None:
    assert client.get("/clips/key101.mp4?context=1").status_code == 401
    assert signed_in(client, ANNOTATOR).get("/clips/key101.mp4?context=1").status_code == 403
    assert signed_in(client, LEAD).get("/clips/key101.mp4?context=1").status_code == 200


def test_a_storyboard_is_made_when_asked_for_and_shown_to_whom_the_clip_is(client: TestClient) -> None:
    assert client.get("/clips/key101.webp").status_code == 401
    assert signed_in(client, ANNOTATOR).get("/clips/key101.webp").status_code == 403
    answer = signed_in(client, LEAD).get("/clips/key101.webp")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert answer.headers["cache-control"].startswith("private")


@pytest.mark.parametrize(
    ("suffix", "kind"), [("mp4", "video/mp4"), ("webm", "video/webm"), ("webp", "image/webp"), ("gif", "image/gif")]
)
def test_an_answer_says_what_it_is_whatever_its_address_ends_in(tmp_path: Path, suffix: str, kind: str) -> None:
    from annotate_app.server.clips import clip_response

    job = fake_api.ClipJob(fake_api.BROKEN, tmp_path / f"a.{suffix}")
    assert clip_response(job).headers["content-type"] == kind


def test_a_moment_is_saved_as_a_gif_by_leads_alone(client: TestClient) -> None:
    assert client.get("/clips/pair7.gif").status_code == 401
    assert signed_in(client, ANNOTATOR).get("/clips/pair7.gif").status_code == 403
    answer = signed_in(client, LEAD).get("/clips/pair7.gif")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/gif")
    assert client.get("/clips/broken.gif").json() == {"message": "friends_s01.mp4 is not a video file"}


def test_thumbnails_are_for_leads_and_missing_ones_are_no_error(client: TestClient) -> None:
    path = "/moments.webp?video=friends_s01&start=1.5&end=4"
    assert client.get(path).status_code == 401
    assert signed_in(client, ANNOTATOR).get(path).status_code == 403
    answer = signed_in(client, LEAD).get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert client.get("/moments.webp?video=lost&start=1.5&end=4").status_code == 204
    assert client.get("/moments.webp?video=friends_s01&start=4&end=x").status_code == 400


def test_a_storyboard_that_cannot_be_made_blocks_no_pair(client: TestClient, project: fake_api.Project) -> None:
    answer = signed_in(client, LEAD).get("/clips/broken.webp")
    assert (answer.status_code, answer.json()) == (404, {"message": "friends_s01.mp4 is not a video file"})
    assert project.reported == []


def test_a_context_that_cannot_be_cut_blocks_no_pair(client: TestClient, project: fake_api.Project) -> None:
    answer = signed_in(client, LEAD).get("/clips/broken.mp4?context=1")
    assert (answer.status_code, answer.json()) == (404, {"message": "friends_s01.mp4 is not a video file"})
    assert project.reported == []


def test_a_clip_that_cannot_be_cut_is_reported(client: TestClient, project: fake_api.Project) -> None:
    answer = signed_in(client, LEAD).get("/clips/broken.mp4")
    assert answer.status_code == 404
    assert answer.json() == {"message": "friends_s01.mp4 is not a video file"}
    assert project.reported == [("broken", "friends_s01.mp4 is not a video file")]


@pytest.mark.parametrize("path", ["broken.mp4", "broken.mp4?context=1", "broken.webp"])
def test_an_annotator_does_not_learn_the_file_of_a_clip_that_cannot_be_cut(
    client: TestClient, project: fake_api.Project, path: str
) -> None:
    first = project.desk.items[0]
    project.desk = replace(project.desk, items=(replace(first, pair=fake_api.BROKEN),))
    answer = signed_in(client, ANNOTATOR).get(f"/clips/{path}")
    assert (answer.status_code, "friends" in answer.text) == (404, False)
    assert "cannot be shown" in answer.json()["message"]


@pytest.mark.long
def test_a_cutter_that_dies_is_replaced(client: TestClient, project: fake_api.Project) -> None:
    signed_in(client, LEAD)
    answer = client.get("/clips/crashing.mp4")
    assert answer.status_code == 404
    assert "The clip cutter stopped twice" in project.reported[0][1]
    assert client.get("/clips/key102.mp4").status_code == 200


def test_leads_see_any_moment_of_a_video_and_annotators_none(client: TestClient) -> None:
    path = "/moments.mp4?video=friends_s01&start=1.5&end=4"
    assert client.get(path).status_code == 401
    assert signed_in(client, ANNOTATOR).get(path).status_code == 403
    answer = signed_in(client, LEAD).get(path, headers={"Range": "bytes=0-9"})
    assert (answer.status_code, answer.headers["content-type"]) == (206, "video/mp4")


@pytest.mark.parametrize("span", ["", "start=1", "start=a&end=2", "start=2&end=2", "start=-1&end=2", "start=0&end=inf"])
def test_a_moment_that_is_none_is_refused(client: TestClient, span: str) -> None:
    assert signed_in(client, LEAD).get(f"/moments.mp4?video=friends_s01&{span}").status_code == 400


def test_a_moment_of_an_unknown_video_says_so(client: TestClient) -> None:
    answer = signed_in(client, LEAD).get("/moments.mp4?video=dinner&start=0&end=2")
    assert (answer.status_code, answer.json()) == (404, {"message": "the project has no file of the video dinner"})


def test_a_clip_asked_twice_is_cut_once_and_the_awaited_one_goes_first(tmp_path: Path) -> None:
    from annotate_app.server.clip_queue import Priority
    from annotate_app.server.clip_worker import ClipWorker

    jobs = {name: fake_api.ClipJob(fake_api.PairKey(name), tmp_path / "clips" / f"{name}.mp4") for name in "abcd"}

    async def work() -> None:
        clips = ClipWorker(fake_api.cut_clip)
        ana = fake_api.AnnotatorId(1)
        ahead = [clips.ask(jobs[name], ana, Priority.AHEAD) for name in "abcd"]
        assert clips.ask(jobs["a"], ana, Priority.AHEAD) is ahead[0]
        assert clips.ask(jobs["c"], ana, Priority.DESK) is ahead[2]
        await asyncio.wait_for(asyncio.gather(*ahead), 20)
        clips.stop()

    asyncio.run(work())
    assert (tmp_path / "clips" / "cuts.log").read_text().split() == ["a", "c", "b", "d"]


def test_only_leads_may_upload_files(client: TestClient) -> None:
    """Streamlit takes an upload before any page has asked for one; files may be large."""
    refused = signed_in(client, ANNOTATOR).put("/_stcore/upload_file/session/file", content=b"x")
    assert (refused.status_code, refused.json()["message"]) == (403, "only leads may do this")
    assert signed_in(client, LEAD).put("/_stcore/upload_file/session/file", content=b"x").status_code != 403


# Addresses that lead nowhere


@pytest.mark.parametrize(
    ("token", "button", "leads_to"),
    [(LEAD, "Back to the project", "/"), (ANNOTATOR, "Back to grading", "/"), (None, "Sign in", "/session/sign-in")],
)
def test_an_unknown_address_gives_a_page_of_our_own(
    client: TestClient, token: str | None, button: str, leads_to: str
) -> None:
    """Streamlit gives its front page and the status 200 for any address."""
    if token:
        signed_in(client, token)
    for path in ("/nonsense", "/queries/nonsense", "/index.html", "/session/nonsense", "/<script>"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "No such page" in answer.text
        assert f">{button}</button>" in answer.text
        assert "<script" not in answer.text
    answer = client.get("/nonsense")
    assert "Nothing is at <b>/nonsense</b>." in answer.text
    assert f'<form method="get" action="{leads_to}">' in answer.text
    assert f">{button}</button>" in answer.text


def test_every_page_is_at_an_address_that_the_guard_knows(client: TestClient) -> None:
    signed_in(client, LEAD)
    for path in ("/", "/my-work", "/leaderboard", "/exam/"):
        assert client.get(path).text == "streamlit"


# Who is signed in already


def test_the_sign_in_form_is_not_shown_to_somebody_signed_in(client: TestClient) -> None:
    assert 'name="password"' in client.get("/session/sign-in").text
    signed_in(client, LEAD)
    for query, leads_to in (("", "/"), ("?next=/release%3Fx%3D1", "/release?x=1"), ("?next=//evil.org", "/")):
        answer = client.get(f"/session/sign-in{query}")
        assert (answer.status_code, answer.headers["location"]) == (303, leads_to)


def test_who_finds_another_person_signed_in_gets_the_form(client: TestClient) -> None:
    """The player of an old tab asks for it: its grades are kept for the person it was opened by."""
    page = signed_in(client, LEAD).get("/session/sign-in?other&next=%2Fgrade")
    assert page.status_code == 200
    assert 'name="next" value="/grade"' in page.text


def test_a_session_that_is_over_gets_the_form(client: TestClient) -> None:
    assert signed_in(client, "unknown").get("/session/sign-in?next=/release").status_code == 200
