"""The routes and the guard in front of them, over real HTTP semantics, without Streamlit."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import quick_cutter
from annotate_app.server import answers, routes
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.session.addresses import FORMER_PATHS, PAGE_PATHS
from backend.campaign.desk.clips import clip_for, desk_clips
from backend.campaign.judging.model import SkipKind
from backend.campaign.judging.queue import reported_clips
from backend.campaign.judging.staffing import pause_person, suspend
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import ExamKey
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.setup.people.accounts import new_invitation
from backend.campaign.setup.people.permissions import person_for
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, VideoUnreadable
from backend.core.ids import AnnotatorId, PairKey
from backend.media.jobs import ClipCache, ClipJob
from quick_cutter import CRASHES, NO_ROOM, UNREADABLE
from served import (
    FULL_DISK,
    JSON,
    Browser,
    blocked,
    client,
    clip_of,
    cuts,
    fill_disk,
    held,
    rename_video,
    review,
    select,
    unplug,
    wait_for,
)
from small_project import PASSWORD, SmallProject
from support import NOW

__all__ = ["client", "held"]  # fixtures

ANNOTATOR, COLLEAGUE, LEAD, SUSPENDED = "Ana", "Ben", "Lea", "Cem"


def csrf(client: Browser, path: str = "/session/sign-in") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    assert found
    return found[1]


def sign_in(client: Browser, name: str, password: str, **more: str) -> Any:
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
def test_a_stranger_sees_only_the_sign_in(client: Browser, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    if status == 303:
        assert answer.headers["location"].startswith("/session/sign-in")


def test_only_leads_are_told_what_waits_and_only_on_a_page_of_ours(client: Browser) -> None:
    asked = {"headers": {"X-ReelRank": "1"}}
    assert client.signed_in(ANNOTATOR).get("/lead/waiting", **asked).status_code == 403
    answer = client.signed_in(LEAD).get("/lead/waiting", **asked)
    assert answer.json() == {"at": 5.0, "counts": {"/progress": "7 stuck"}}
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/lead/waiting").status_code == 403
    foreign = {"headers": {"X-ReelRank": "1", "Origin": "http://elsewhere"}}
    assert client.get("/lead/waiting", **foreign).status_code == 403


def test_the_page_asked_for_comes_back_after_signing_in(client: Browser) -> None:
    refused = client.get("/people?x=1")
    assert refused.headers["location"] == "/session/sign-in?next=/people%3Fx%3D1"
    page = client.get(refused.headers["location"])
    assert 'name="next" value="/people?x=1"' in page.text
    answer = sign_in(client, LEAD, PASSWORD, next="/people?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/people?x=1")


@pytest.mark.parametrize("next_path", ["//evil.org", "https://evil.org", "/\\evil.org", "/session/sign-out", "x"])
def test_signing_in_never_leads_to_another_site(client: Browser, next_path: str) -> None:
    answer = sign_in(client, LEAD, PASSWORD, next=next_path)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("token", [None, "wrong", SUSPENDED], ids=["none", "unknown", "suspended"])
def test_the_websocket_is_refused_without_a_session(client: Browser, token: str | None) -> None:
    if token:
        client.signed_in(token)
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect("/_stcore/stream"):
        pass
    assert refused.value.code == 1008


def test_the_websocket_opens_with_a_session(client: Browser) -> None:
    with client.signed_in(ANNOTATOR).websocket_connect("/_stcore/stream") as socket:
        assert socket.receive_text() == "hello"


def test_every_answer_carries_the_security_headers(client: Browser) -> None:
    for path in ("/session/sign-in", "/clips/x.mp4", "/static/x"):
        headers = client.get(path).headers
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_page_brings_the_token_its_sign_out_form_needs(client: Browser) -> None:
    answer = client.signed_in(LEAD).get("/")
    assert "reelrank_csrf=" in answer.headers["set-cookie"]
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert "set-cookie" not in client.get("/").headers


# Sessions


def person_of_cookie(real_project: SmallProject, token: str) -> str | None:
    person = person_for(real_project.project, token, now=NOW)
    return person and person.name


def test_signing_in_sets_a_cookie_no_script_can_read(client: Browser, real_project: SmallProject) -> None:
    answer = sign_in(client, ANNOTATOR, PASSWORD)
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert person_of_cookie(real_project, client.cookies["reelrank_session"]) == ANNOTATOR
    assert cookie.startswith("reelrank_session=")
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert "Secure" not in cookie
    assert client.get("/").text == "streamlit"


def test_the_cookie_is_secure_on_https(client: Browser, real_project: SmallProject) -> None:
    client.base_url = "https://testserver"  # type: ignore[assignment]
    answer = sign_in(client, ANNOTATOR, PASSWORD)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-reelrank_session=")
    assert person_of_cookie(real_project, client.cookies["__Host-reelrank_session"]) == ANNOTATOR
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
    client: Browser, scheme: str, name: str, status: int
) -> None:
    headers = {"Cookie": f"theme=dark; {name}={client.tokens[ANNOTATOR]}"}
    assert client.get(f"{scheme}://testserver/", headers=headers).status_code == status
    socket = {"https": "wss", "http": "ws"}[scheme]
    with ExitStack() as stack:
        if status != 200:
            stack.enter_context(pytest.raises(WebSocketDisconnect))
        stack.enter_context(client.websocket_connect(f"{socket}://testserver/_stcore/stream", headers=headers))


@pytest.mark.parametrize(("scheme", "told"), [("https", "max-age=31536000"), ("http", None)])
def test_browsers_are_told_to_stay_with_https(client: Browser, scheme: str, told: str | None) -> None:
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
def test_a_page_sent_by_another_scheme_is_another_site(client: Browser, scheme: str, origin: str, status: int) -> None:
    name = "__Host-reelrank_session" if scheme == "https" else "reelrank_session"
    headers = {**JSON, "Origin": origin, "Cookie": f"{name}={client.tokens[ANNOTATOR]}"}
    assert client.post(f"{scheme}://testserver/desk/exchange", json={}, headers=headers).status_code == status
    socket = {"https": "wss", "http": "ws"}[scheme]
    with ExitStack() as stack:
        if status != 200:
            stack.enter_context(pytest.raises(WebSocketDisconnect))
        stack.enter_context(client.websocket_connect(f"{socket}://testserver/_stcore/stream", headers=headers))


REFUSED = "Name or password is wrong, or the account is not open. If both are right, ask your lead."


def test_a_wrong_password_is_said_in_words(client: Browser) -> None:
    answer = sign_in(client, '<b>"Ana', "wrong")
    assert answer.status_code == 401
    assert f'<p class="error" role="alert">{REFUSED}</p>' in answer.text
    assert 'value="&lt;b&gt;&quot;Ana"' in answer.text, "the name typed stays, harmless"


def test_a_name_with_nul_is_an_unknown_name(client: Browser) -> None:
    answer = sign_in(client, f"{ANNOTATOR}\0", PASSWORD)
    assert answer.status_code == 401
    assert f'<p class="error" role="alert">{REFUSED}</p>' in answer.text


def test_a_full_disk_at_sign_in_is_said_on_the_page(client: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        fill_disk(patch, "The disk is <full>: make room.")
        answer = sign_in(client, ANNOTATOR, PASSWORD)
    assert answer.status_code == 503
    assert '<p class="error" role="alert">The disk is &lt;full&gt;: make room.</p>' in answer.text
    assert f'value="{ANNOTATOR}"' in answer.text
    assert sign_in(client, ANNOTATOR, PASSWORD).status_code == 303


def invitation(real_project: SmallProject, name: str) -> str:
    """The path of a new one."""
    lead = real_project.person(LEAD)
    _, token = new_invitation(real_project.project, lead, real_project.person(name).annotator_id, now=NOW)
    return f"/session/invitation/{token}"


def test_an_invitation_met_by_a_full_disk_can_be_used_again(
    client: Browser, real_project: SmallProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = invitation(real_project, COLLEAGUE)
    fields = {"password": "long enough", "again": "long enough", "csrf": csrf(client, path)}
    with monkeypatch.context() as patch:
        fill_disk(patch)
        answer = client.post(path, data=fields)
    assert (answer.status_code, FULL_DISK in answer.text) == (503, True)
    assert client.post(path, data=fields).status_code == 303


@pytest.mark.parametrize(("path", "kind"), [("/", "text/html"), ("/desk/exchange", "application/json")])
def test_a_database_that_cannot_be_read_is_said_at_the_door(
    client: Browser, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    unplug(monkeypatch)
    answer = client.signed_in(LEAD).get(path)
    assert answer.status_code == 503
    assert answer.headers["content-type"].startswith(kind)
    assert "not even to be read" in answer.text
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect("/_stcore/stream"):
        pass
    assert refused.value.code == 1013


def test_a_form_of_another_site_is_refused(client: Browser) -> None:
    token = csrf(client)
    fields = {"name": ANNOTATOR, "password": PASSWORD}
    assert client.post("/session/sign-in", data=fields).status_code == 403
    assert client.post("/session/sign-in", data={**fields, "csrf": "guessed"}).status_code == 403
    foreign = {"Origin": "https://evil.org"}
    assert client.post("/session/sign-in", data={**fields, "csrf": token}, headers=foreign).status_code == 403
    client.cookies.delete("reelrank_csrf")
    assert client.post("/session/sign-in", data={**fields, "csrf": ""}).status_code == 403


def test_wrong_passwords_slow_attempts_down_and_say_for_how_long(client: Browser) -> None:
    for _ in range(3):
        assert sign_in(client, ANNOTATOR, "wrong").status_code == 401
    answer = sign_in(client, f"{ANNOTATOR.lower()} ", PASSWORD)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert "Too many attempts. Try again in 1 second." in answer.text
    assert sign_in(client, LEAD, PASSWORD).status_code == 303, "others are not held up"


def test_signing_out_ends_the_session(client: Browser, real_project: SmallProject, held: list[PairKey]) -> None:
    session = client.signed_in(ANNOTATOR).tokens[ANNOTATOR]
    token = csrf(client, "/session/account")
    assert client.post("/session/sign-out", data={"csrf": "wrong"}).status_code == 403
    assert person_of_cookie(real_project, session) == ANNOTATOR
    answer = client.post("/session/sign-out", data={"csrf": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")
    assert person_of_cookie(real_project, session) is None
    assert client.get("/").status_code == 303
    with pytest.raises(NotAllowed):
        clip_for(real_project.project, real_project.person(ANNOTATOR), held[0])


def test_an_invitation_sets_a_password_once(client: Browser, real_project: SmallProject) -> None:
    path = invitation(real_project, COLLEAGUE)
    assert f"Welcome, <b>{COLLEAGUE}</b>. Choose a password." in client.get(path).text
    token = csrf(client, path)
    for password, again, sentence in [
        ("short", "short", "Choose a password of at least 8 characters."),
        (f"{COLLEAGUE}-1234", f"{COLLEAGUE}-1234", "This password is hardly more than your name."),
        ("passwort1", "passwort1", "This is a very common password."),
        ("long enough", "long enuogh", "The two passwords are not the same."),
    ]:
        answer = client.post(path, data={"password": password, "again": again, "csrf": token})
        assert (answer.status_code, sentence in answer.text) == (422, True)
    answer = client.post(path, data={"password": "long enough", "again": "long enough", "csrf": token})
    assert answer.status_code == 303
    assert person_of_cookie(real_project, client.cookies["reelrank_session"]) == COLLEAGUE
    used = client.get(path)
    assert used.status_code == 410
    assert "This invitation was used already" in used.text


def test_a_huge_form_is_refused(client: Browser) -> None:
    assert client.post("/session/sign-in", data={"name": "x" * 20_000}).status_code == 413


def test_the_page_needs_nothing_from_elsewhere(client: Browser) -> None:
    page = client.get("/session/sign-in").text
    for address in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert client.get(address).status_code == 200, address
    assert client.get("/session/routes.py").status_code == 404


# The desk


def exchange(client: Browser, **sent: object) -> Any:
    return client.post("/desk/exchange", json=sent, headers=JSON)


def judged(small: SmallProject) -> list[tuple[object, ...]]:
    """What was judged since the project was made: the pair, the grade, both times in ms."""
    sql = "SELECT pair_key, grade, active_ms, elapsed_ms FROM judgement JOIN pair USING (pair_id) WHERE graded_at >= "
    return select(small, f"{sql}{NOW} ORDER BY judgement_id")


def test_an_exchange_saves_grades_and_brings_the_desk(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    grades = [
        {"pair": held[0], "grade": 3, "key": "k1", "active_ms": 4100},
        {"pair": held[1], "grade": 9, "key": "k2", "active_ms": 1},
    ]
    answer = exchange(client.signed_in(ANNOTATOR), grades=grades)
    assert answer.status_code == 200
    first = {
        "pair": held[0],
        "query": "A man opens a door and laughs",
        "position": 16,
        "total": 18,
        "duration_s": 2.5,
        "grade": None,
        "whole": False,
        "note": "",
    }
    assert answer.json() == {
        "receipts": [
            {"key": "k1", "status": "saved", "message": ""},
            {"key": "k2", "status": "refused", "message": "9 is not a grade: grades are 0 to 4"},
        ],
        "desk": {
            "state": "ready",
            "items": [first | {"pair": pair, "position": nth} for nth, pair in enumerate(held[1:], 17)],
            "previous": first | {"grade": 3},
            "today": 1,
            "in_all": 56,
            "waiting": 0,
            "skipped": 0,
            "replies": 0,
            "warned": False,
            "elsewhere": False,
            "quota_today": None,
            "quota_in_all": None,
            "exam": None,
        },
    }
    assert judged(real_project) == [(held[0], 3, 4100, None)]


def test_an_exchange_brings_a_note_as_it_was_written(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    written = "<script>alert(1)</script> *a* \u202e \U0001f469\u200d\U0001f467 " + "x" * 200
    grade = {"pair": held[0], "grade": 3, "key": "k1", "active_ms": 4100}
    answer = exchange(client.signed_in(ANNOTATOR), grades=[grade | {"note": written}])
    assert answer.json()["receipts"] == [{"key": "k1", "status": "saved", "message": ""}]
    (given,) = review(real_project, held[0]).grades
    assert given.note.text == written
    assert answer.json()["desk"]["previous"]["note"] == written
    exchange(client, grades=[grade | {"key": "k2", "grade": 2}])
    (again,) = review(real_project, held[0]).grades
    assert (again.grade, again.note) == (2, given.note), "a page that says nothing about it leaves what was written"
    assert exchange(client, grades=[grade | {"note": 7}]).status_code == 400


def test_an_exchange_takes_skips_after_grades(client: Browser, real_project: SmallProject, held: list[PairKey]) -> None:
    sent = {
        "grades": [{"pair": held[0], "grade": 3, "key": "k1", "active_ms": 4100, "elapsed_ms": 9000}],
        "skips": [{"pair": held[1], "kind": "cannot_judge", "reason": "too dark", "key": "k2"}],
    }
    answer = exchange(client.signed_in(ANNOTATOR), **sent)
    assert [receipt["key"] for receipt in answer.json()["receipts"]] == ["k1", "k2"]
    assert judged(real_project) == [(held[0], 3, 4100, 9000)]
    (skip,) = review(real_project, held[1]).skips
    assert (skip.annotator, skip.kind, skip.reason) == (ANNOTATOR, SkipKind.CANNOT_JUDGE, "too dark")


def test_what_is_on_screen_is_told_by_itself_or_with_an_exchange_and_answered_with_nothing(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    def shown() -> set[object]:
        sql = "SELECT pair_key FROM seat JOIN pair USING (pair_id) WHERE shown_at IS NOT NULL"
        return {key for (key,) in select(real_project, sql)}

    me, other = (real_project.person(name).annotator_id for name in (ANNOTATOR, COLLEAGUE))
    client.signed_in(ANNOTATOR)
    answer = client.post("/desk/shown", json={"person": me, "pair": held[0]}, headers=JSON)
    assert (answer.status_code, answer.content) == (204, b"")
    assert shown() == {held[0]}
    exchange(client, shown=held[1])
    exchange(client, shown=None)
    assert shown() == {held[0], held[1]}
    assert client.post("/desk/shown", json={"person": other, "pair": held[2]}, headers=JSON).status_code == 401
    assert client.post("/desk/shown", json={"person": me}, headers=JSON).status_code == 400
    assert client.post("/desk/shown", json={"pair": held[2]}).status_code == 403
    client.signed_in(LEAD)
    assert client.post("/desk/shown", json={"pair": held[2]}, headers=JSON).status_code == 403
    assert shown() == {held[0], held[1]}


def test_an_exchange_says_whether_another_window_has_the_desk(client: Browser) -> None:
    def elsewhere(**sent: object) -> bool:
        return bool(exchange(client, **sent).json()["desk"]["elsewhere"])

    client.signed_in(ANNOTATOR)
    assert not elsewhere(window="w", takes=True)
    assert [elsewhere(), elsewhere(window="w"), elsewhere(window="v")] == [False, False, True]
    assert exchange(client, window="w" * 65).status_code == 400


@pytest.mark.parametrize("kind", ["bored", "", None])
def test_a_skip_needs_one_of_three_kinds(
    client: Browser, real_project: SmallProject, held: list[PairKey], kind: str | None
) -> None:
    skips = [{"pair": held[0], "kind": kind, "reason": "x", "key": "k2"}]
    assert exchange(client.signed_in(ANNOTATOR), skips=skips).status_code == 400
    assert review(real_project, held[0]).skips == ()


def test_the_exam_is_begun_and_handed_in_by_whom_the_page_was_made_for(
    client: Browser, real_project: SmallProject
) -> None:
    me = real_project.person(ANNOTATOR)
    set_exam(real_project.project, real_project.lead, queries=1, pairs=2, key=ExamKey.MEDIAN, now=NOW)
    client.signed_in(ANNOTATOR)

    def act(**sent: object) -> Any:
        return client.post("/desk/exam", json=sent, headers=JSON)

    assert exchange(client).json()["desk"]["exam"]["phase"] == "first"
    answer = act(person=me.annotator_id, act="start")
    assert (answer.status_code, answer.json()["receipts"]) == (200, [])
    desk = answer.json()["desk"]
    assert (desk["exam"]["phase"], len(desk["items"])) == ("answering", 2)
    exchange(client, grades=[{"pair": item["pair"], "grade": 3, "key": item["pair"]} for item in desk["items"]])
    for name in ("hand_in", "go_on"):
        assert act(person=me.annotator_id, act=name).json()["desk"]["exam"]["phase"] == "waiting"
    assert act(person=me.annotator_id, act="pass").status_code == 400
    assert act(person=real_project.person(COLLEAGUE).annotator_id, act="start").status_code == 401
    assert client.post("/desk/exam", json={"act": "start"}).status_code == 403
    client.signed_in(LEAD)
    assert act(act="start").status_code == 403


def test_the_result_of_an_exam_comes_without_the_figures_that_leads_read(
    client: Browser, real_project: SmallProject
) -> None:
    set_exam(real_project.project, real_project.lead, queries=1, pairs=2, although="few", now=NOW)
    client.signed_in(ANNOTATOR)

    def act(name: str) -> Any:
        return client.post("/desk/exam", json={"act": name}, headers=JSON)

    items = act("start").json()["desk"]["items"]
    exchange(client, grades=[{"pair": item["pair"], "grade": 0, "key": item["pair"]} for item in items])
    for answer in (act("hand_in"), exchange(client), act("go_on")):
        assert answer.json()["desk"]["exam"]["result"].keys() == {"answers", "missed", "most_missed", "passed"}
        assert b"kappa" not in answer.content


def test_a_full_disk_is_told_to_the_player_which_keeps_its_grades(
    client: Browser, held: list[PairKey], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch)
    for path, sent in (("/desk/exchange", {}), ("/desk/broken", {"pair": held[0]})):
        answer = client.signed_in(ANNOTATOR).post(path, json=sent, headers=JSON)
        assert (answer.status_code, answer.json()) == (503, {"message": FULL_DISK})
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_any_other_error_stays_an_error(real_project: SmallProject) -> None:
    # A bug must look like one: the guard answers for the store only.
    from annotate_app.session.guard import Guard

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        TestClient(Guard(broken, project=lambda: real_project.project)).get("/session/sign-in")


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
    client: Browser, headers: dict[str, str], body: bytes, token: str, status: int, reason: str
) -> None:
    answer = client.signed_in(token).post("/desk/exchange", content=body, headers=headers)
    assert answer.status_code == status, reason
    if status in (400, 401, 403):
        assert answer.json()["message"]


def test_the_clips_of_a_desk_are_cut_ahead_in_order(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    for _ in range(2):
        exchange(client.signed_in(ANNOTATOR))
    wait_for(lambda: len(cuts(real_project)) >= len(held))
    assert client.get(f"/clips/{held[1]}.mp4").status_code == 200
    assert cuts(real_project) == [clip_of(real_project, pair).name for pair in held], (
        "each once, the first of the desk first"
    )


def test_the_clips_of_a_desk_are_those_that_one_may_see(real_project: SmallProject, held: list[PairKey]) -> None:
    """Read together, they are what `clip_for` says of each pair, an error included."""
    project, ana = real_project.project, real_project.person(ANNOTATOR)
    asked = [settled(real_project), *held, PairKey("nobodys"), held[0]]

    def one_by_one(person: Person) -> list[tuple[PairKey, object]]:
        found: list[tuple[PairKey, object]] = []
        for pair in asked:
            with suppress(NotAllowed):
                try:
                    found.append((pair, clip_for(project, person, pair)))
                except VideoUnreadable as error:
                    found.append((pair, str(error)))
        return found

    def together(person: Person) -> list[tuple[PairKey, object]]:
        clips = desk_clips(project, person, asked)
        return [(pair, str(clip) if isinstance(clip, VideoUnreadable) else clip) for pair, clip in clips]

    assert together(ana) == one_by_one(ana)
    assert [pair for pair, _ in together(ana)] == [*held, held[0]]
    assert [pair for pair, _ in together(real_project.lead)] == [settled(real_project), *held, held[0]]
    real_project.sql("UPDATE video SET path = NULL WHERE name = ?", review(real_project, held[1]).video)
    assert together(ana) == one_by_one(ana)
    assert isinstance(dict(together(ana))[held[1]], str)
    pause_person(project, real_project.lead, ana.annotator_id, "a rest", now=NOW)
    assert together(ana) == []
    suspend(project, real_project.lead, ana.annotator_id, True, now=NOW)
    with pytest.raises(NotAllowed):
        desk_clips(project, ana, asked)


def test_only_the_clips_of_pairs_new_to_a_desk_are_looked_for(
    client: Browser, real_project: SmallProject, held: list[PairKey], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[list[PairKey]] = []

    def look(project: Project, person: Person, pairs: Sequence[PairKey]) -> list[tuple[PairKey, Any]]:
        found = desk_clips(project, person, pairs)
        looked.append([*pairs])
        return found

    monkeypatch.setattr(routes, "desk_clips", look)
    app: Any = client.app
    (desks,) = {route.endpoint.__self__ for route in app.routes if getattr(route, "path", "") == "/desk/exchange"}
    exchange(client.signed_in(ANNOTATOR))
    wait_for(lambda: len(cuts(real_project)) == len(held))
    exchange(client)  # finds them cut
    wait_for(lambda: [*desks._there.values()] == [frozenset(held)])
    clip_of(real_project, held[0]).unlink()
    for _ in range(3):
        exchange(client)
        assert client.get(f"/clips/{held[0]}.mp4").status_code == 200, "cut again, because somebody asked for it"
    assert looked == [held, held]


def test_a_clip_broken_in_the_browser_is_one_persons_report(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    body = {"pair": held[0], "what": "MEDIA_ERR_DECODE"}
    answer = client.signed_in(ANNOTATOR).post("/desk/broken", json=body, headers=JSON)
    desk = answer.json()["desk"]
    assert (desk["state"], held[0] in {item["pair"] for item in desk["items"]}) == ("ready", False)
    client.post("/desk/broken", json={"pair": settled(real_project), "what": "x"}, headers=JSON)
    wait_for(lambda: clip_of(real_project, held[0]).name in cuts(real_project))
    (reported,) = reported_clips(real_project.project, real_project.lead)
    assert (reported.pair, reported.by, reported.reason) == (held[0], ANNOTATOR, "MEDIA_ERR_DECODE")
    assert held[0] not in blocked(real_project), "the server can make the clip: nobody else loses it"


@pytest.mark.parametrize("how", ["skip", "browser"])
def test_the_server_tries_what_is_reported_as_broken_and_keeps_back_what_it_cannot_make(
    client: Browser, real_project: SmallProject, held: list[PairKey], how: str
) -> None:
    broken, well = held[:2]
    client.signed_in(ANNOTATOR)
    rename_video(real_project, broken, UNREADABLE)
    if how == "browser":
        client.post("/desk/broken", json={"pair": broken, "what": "x"}, headers=JSON)
    else:
        skip = {"kind": "broken_clip", "reason": "black"}
        exchange(client, skips=[{"pair": broken, "key": "a", **skip}, {"pair": well, "key": "b", **skip}])
        wait_for(lambda: clip_of(real_project, well).name in cuts(real_project))
    wait_for(lambda: review(real_project, broken).fault == f"{UNREADABLE} is not a video file")
    assert well not in blocked(real_project)


def settled(small: SmallProject) -> PairKey:
    """A pair that lies on nobody's desk."""
    return small.pair(1, 1).pair


# Clips


def test_a_full_disk_is_no_fault_of_a_clip(client: Browser, real_project: SmallProject, held: list[PairKey]) -> None:
    """The pair stays on the desk and is not blocked; people are not told where the project lies."""
    for pair in held:
        rename_video(real_project, pair, NO_ROOM)
    exchange(client.signed_in(ANNOTATOR))
    for path in (f"/clips/{held[0]}.mp4", f"/clips/{held[0]}.mp4?context=1"):
        answer = client.get(path)
        assert answer.status_code == 507
        assert answer.json()["message"].startswith("The server's disk is full, so this clip cannot be made just now.")
        assert str(real_project.folder) not in answer.text
    assert not blocked(real_project) & {*held}


def test_a_clip_is_served_by_range(client: Browser, held: list[PairKey]) -> None:
    client.signed_in(ANNOTATOR)
    whole = client.get(f"/clips/{held[0]}.mp4")
    assert whole.status_code == 200
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["cache-control"].startswith("private")
    part = client.get(f"/clips/{held[0]}.mp4", headers={"Range": "bytes=256-511"})
    assert part.status_code == 206
    assert part.headers["content-range"] == f"bytes 256-511/{len(whole.content)}"
    assert part.content == bytes(range(256))


@pytest.mark.parametrize("whole_bytes", [0, answers.WHOLE_BYTES], ids=["in pieces", "at once"])
def test_a_clip_is_the_same_in_pieces_or_at_once(
    client: Browser, real_project: SmallProject, held: list[PairKey], monkeypatch: pytest.MonkeyPatch, whole_bytes: int
) -> None:
    monkeypatch.setattr(answers, "WHOLE_BYTES", whole_bytes)
    content = bytes(range(256)) * 2048  # 512 KiB
    clip = clip_of(real_project, held[0])
    clip.parent.mkdir(parents=True, exist_ok=True)
    clip.write_bytes(content)
    path = f"/clips/{held[0]}.mp4"
    whole = client.signed_in(ANNOTATOR).get(path)
    assert (whole.status_code, whole.content, whole.headers["content-length"]) == (200, content, str(len(content)))
    assert {"etag", "accept-ranges", "cache-control", "content-type"} <= {*whole.headers}
    head = client.head(path)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(content)))


def test_a_clip_kept_by_a_browser_is_shown_again_only_after_the_session_was_asked_for(
    client: Browser, held: list[PairKey]
) -> None:
    client.signed_in(ANNOTATOR)
    whole = client.get(f"/clips/{held[0]}.mp4")
    assert whole.headers["cache-control"] == "private, no-cache"
    etag = whole.headers["etag"]
    for asked in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = client.get(f"/clips/{held[0]}.mp4", headers={"If-None-Match": asked})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert again.headers["cache-control"] == "private, no-cache"
    changed = client.get(f"/clips/{held[0]}.mp4", headers={"If-None-Match": '"other"'})
    assert (changed.status_code, changed.content) == (200, whole.content)
    client.cookies.clear()
    assert client.get(f"/clips/{held[0]}.mp4", headers={"If-None-Match": etag}).status_code == 401


def test_a_part_of_a_clip_is_sent_only_of_the_clip_that_the_browser_has(client: Browser, held: list[PairKey]) -> None:
    client.signed_in(ANNOTATOR)
    etag = client.get(f"/clips/{held[0]}.mp4").headers["etag"]
    part = client.get(f"/clips/{held[0]}.mp4", headers={"Range": "bytes=256-511", "If-Range": etag})
    assert (part.status_code, len(part.content), part.headers["etag"]) == (206, 256, etag)
    for other in ('"other"', f"W/{etag}", "Thu, 26 Nov 2026 08:00:00 GMT"):  # strong validators only
        whole = client.get(f"/clips/{held[0]}.mp4", headers={"Range": "bytes=256-511", "If-Range": other})
        assert whole.status_code == 200
        assert len(whole.content) > 256


@pytest.mark.parametrize("form", ["mp4", "mp4?context=1", "webp"])
def test_no_header_tells_when_others_had_a_clip(client: Browser, held: list[PairKey], form: str) -> None:
    """Using a clip touches its file, so its time tells whether others graded the pair before."""
    answer = client.signed_in(ANNOTATOR).get(f"/clips/{held[0]}.{form}")
    assert answer.status_code == 200
    assert {name for name in answer.headers if not name.startswith("x-reelrank")} & {
        *("last-modified", "content-disposition", "date", "age", "expires")
    } == set()


def test_signing_out_clears_what_the_browser_keeps(client: Browser) -> None:
    for path, who in (("/session/sign-out", LEAD), ("/session/sign-out-everywhere", ANNOTATOR)):
        token = csrf(client.signed_in(who), "/session/account")
        assert client.post(path, data={"csrf": token}).headers["clear-site-data"] == '"cache"'
        assert "clear-site-data" not in client.get("/session/sign-in").headers


@pytest.mark.parametrize("form", ["mp4", "mp4?context=1", "webp"])
def test_only_their_own_clips_are_shown_to_annotators(client: Browser, real_project: SmallProject, form: str) -> None:
    path = f"/clips/{settled(real_project)}.{form}"
    assert client.get(path).status_code == 401
    assert client.signed_in(ANNOTATOR).get(path).status_code == 403
    answer = client.signed_in(LEAD).get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == ("image/webp" if form == "webp" else "video/mp4")
    assert answer.headers["cache-control"].startswith("private")


def test_the_context_of_a_moment_is_another_clip_that_tells_where_the_moment_lies(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    real_project.sql(
        "UPDATE moment SET start_s = 1.25, end_s = 3 WHERE moment_id = (SELECT moment_id FROM pair WHERE pair_key = ?)",
        held[0],
    )
    around = clip_for(real_project.project, real_project.person(ANNOTATOR), held[0], context=True)
    around.path.parent.mkdir(parents=True)
    clip_of(real_project, held[0]).write_bytes(b"the moment")
    around.path.write_bytes(b"two seconds, the moment, two seconds")
    client.signed_in(ANNOTATOR)
    wide = client.get(f"/clips/{held[0]}.mp4?context=1")
    assert (wide.status_code, wide.content) == (200, b"two seconds, the moment, two seconds")
    assert {name for name in wide.headers if "reelrank" in name} == {"x-reelrank-before", "x-reelrank-after"}
    assert (wide.headers["x-reelrank-before"], wide.headers["x-reelrank-after"]) == ("1.200", "2.000")
    assert wide.headers["cache-control"].startswith("private")
    narrow = client.get(f"/clips/{held[0]}.mp4")
    assert narrow.content == b"the moment"
    assert not [name for name in narrow.headers if "reelrank" in name]
    assert narrow.headers["etag"] != wide.headers["etag"]


@pytest.mark.parametrize(
    ("suffix", "kind"), [("mp4", "video/mp4"), ("webm", "video/webm"), ("webp", "image/webp"), ("gif", "image/gif")]
)
def test_an_answer_says_what_it_is_whatever_its_address_ends_in(tmp_path: Path, suffix: str, kind: str) -> None:
    from annotate_app.server.answers import clip_response

    job = ClipJob(tmp_path / "video.mp4", "", 0, 1, tmp_path / f"a.{suffix}", ClipCache(tmp_path))
    assert clip_response(job).headers["content-type"] == kind


def test_a_moment_is_saved_as_a_gif_by_leads_alone(
    client: Browser, real_project: SmallProject, held: list[PairKey]
) -> None:
    assert client.get(f"/clips/{held[0]}.gif").status_code == 401
    assert client.signed_in(ANNOTATOR).get(f"/clips/{held[0]}.gif").status_code == 403
    answer = client.signed_in(LEAD).get(f"/clips/{held[0]}.gif")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/gif")
    rename_video(real_project, held[1], UNREADABLE)
    assert client.get(f"/clips/{held[1]}.gif").json() == {"message": f"{UNREADABLE} is not a video file"}


def test_thumbnails_are_for_leads_and_missing_ones_are_no_error(client: Browser) -> None:
    path = "/moments.webp?video=v1&start=1.5&end=4"
    assert client.get(path).status_code == 401
    assert client.signed_in(ANNOTATOR).get(path).status_code == 403
    answer = client.signed_in(LEAD).get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert client.get("/moments.webp?video=lost&start=1.5&end=4").status_code == 204
    assert client.get("/moments.webp?video=v1&start=4&end=x").status_code == 400


@pytest.mark.parametrize(("form", "is_reported"), [("mp4", True), ("mp4?context=1", False), ("webp", False)])
def test_a_clip_that_cannot_be_cut_is_reported_and_its_context_and_pictures_block_no_pair(
    client: Browser, real_project: SmallProject, held: list[PairKey], form: str, is_reported: bool
) -> None:
    rename_video(real_project, held[0], UNREADABLE)
    answer = client.signed_in(LEAD).get(f"/clips/{held[0]}.{form}")
    assert (answer.status_code, answer.json()) == (404, {"message": f"{UNREADABLE} is not a video file"})
    assert review(real_project, held[0]).fault == (f"{UNREADABLE} is not a video file" if is_reported else "")


@pytest.mark.parametrize("form", ["mp4", "mp4?context=1", "webp"])
def test_an_annotator_does_not_learn_the_file_of_a_clip_that_cannot_be_cut(
    client: Browser, real_project: SmallProject, held: list[PairKey], form: str
) -> None:
    rename_video(real_project, held[0], UNREADABLE)
    answer = client.signed_in(ANNOTATOR).get(f"/clips/{held[0]}.{form}")
    assert (answer.status_code, "friends" in answer.text) == (404, False)
    assert "cannot be shown" in answer.json()["message"]


@pytest.mark.long
def test_a_cutter_that_dies_is_replaced(client: Browser, real_project: SmallProject, held: list[PairKey]) -> None:
    rename_video(real_project, held[0], CRASHES)
    answer = client.signed_in(LEAD).get(f"/clips/{held[0]}.mp4")
    assert answer.status_code == 404
    assert "The clip cutter stopped twice" in review(real_project, held[0]).fault
    assert client.get(f"/clips/{held[1]}.mp4").status_code == 200


def test_leads_see_any_moment_of_a_video_and_annotators_none(client: Browser) -> None:
    path = "/moments.mp4?video=v1&start=1.5&end=4"
    assert client.get(path).status_code == 401
    assert client.signed_in(ANNOTATOR).get(path).status_code == 403
    answer = client.signed_in(LEAD).get(path, headers={"Range": "bytes=0-9"})
    assert (answer.status_code, answer.headers["content-type"]) == (206, "video/mp4")


@pytest.mark.parametrize("span", ["", "start=1", "start=a&end=2", "start=2&end=2", "start=-1&end=2", "start=0&end=inf"])
def test_a_moment_that_is_none_is_refused(client: Browser, span: str) -> None:
    assert client.signed_in(LEAD).get(f"/moments.mp4?video=v1&{span}").status_code == 400


def test_a_moment_of_an_unknown_video_says_so(client: Browser) -> None:
    answer = client.signed_in(LEAD).get("/moments.mp4?video=dinner&start=0&end=2")
    assert (answer.status_code, answer.json()) == (404, {"message": "the project has no file of the video dinner"})


def test_a_clip_asked_twice_is_cut_once_and_the_awaited_one_goes_first(tmp_path: Path) -> None:
    cache, video = ClipCache(tmp_path / "clips"), tmp_path / "video.mp4"
    jobs = {name: ClipJob(video, "", 0, 1, cache.folder / f"{name}.mp4", cache) for name in "abcd"}

    async def work() -> None:
        clips = ClipWorker(quick_cutter.cut)
        ana = AnnotatorId(1)
        ahead = [clips.ask(jobs[name], ana, Priority.AHEAD) for name in "abcd"]
        assert clips.ask(jobs["a"], ana, Priority.AHEAD) is ahead[0]
        assert clips.ask(jobs["c"], ana, Priority.DESK) is ahead[2]
        await asyncio.wait_for(asyncio.gather(*ahead), 20)
        clips.stop()

    asyncio.run(work())
    assert (cache.folder / "cuts.log").read_text().split() == ["a.mp4", "c.mp4", "b.mp4", "d.mp4"]


def test_only_leads_may_upload_files(client: Browser) -> None:
    """Streamlit takes an upload before any page has asked for one; files may be large."""
    refused = client.signed_in(ANNOTATOR).put("/_stcore/upload_file/session/file", content=b"x")
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        "only leads may do this; Ana is signed in as annotator",
    )
    assert client.signed_in(LEAD).put("/_stcore/upload_file/session/file", content=b"x").status_code != 403


# Addresses that lead nowhere


@pytest.mark.parametrize(
    ("token", "button", "leads_to"),
    [(LEAD, "Back to the project", "/"), (ANNOTATOR, "Back to grading", "/"), (None, "Sign in", "/session/sign-in")],
)
def test_an_unknown_address_gives_a_page_of_our_own(
    client: Browser, token: str | None, button: str, leads_to: str
) -> None:
    """Streamlit gives its front page and the status 200 for any address."""
    if token:
        client.signed_in(token)
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


def test_every_page_is_at_an_address_that_the_guard_knows(client: Browser) -> None:
    client.signed_in(LEAD)
    for path in ("/", "/my-work", "/leaderboard", "/exam/"):
        assert client.get(path).text == "streamlit"


def test_a_former_address_leads_to_what_it_is_now_with_what_it_asked_for(client: Browser) -> None:
    for path, (now_at, asks) in FORMER_PATHS.items():
        assert path not in PAGE_PATHS
        assert now_at in PAGE_PATHS
        answer = client.get(f"{path}?show=notes&q=a%26b%20c")
        asked = "&".join(filter(None, (asks, "show=notes&q=a%26b%20c")))
        assert (answer.status_code, answer.headers["location"]) == (308, f"{now_at}?{asked}")
        assert client.get(f"{path}/").headers["location"] == now_at + (f"?{asks}" if asks else "")
    assert client.get("/exam?trial=a%20b&tab=Items").headers["location"] == "/calibration?trial=a%20b&tab=Items"


# Who is signed in already


def test_the_sign_in_form_is_not_shown_to_somebody_signed_in(client: Browser) -> None:
    assert 'name="password"' in client.get("/session/sign-in").text
    client.signed_in(LEAD)
    for query, leads_to in (("", "/"), ("?next=/release%3Fx%3D1", "/release?x=1"), ("?next=//evil.org", "/")):
        answer = client.get(f"/session/sign-in{query}")
        assert (answer.status_code, answer.headers["location"]) == (303, leads_to)


def test_who_finds_another_person_signed_in_gets_the_form(client: Browser) -> None:
    """The player of an old tab asks for it: its grades are kept for the person it was opened by."""
    page = client.signed_in(LEAD).get("/session/sign-in?other&next=%2Fgrade")
    assert page.status_code == 200
    assert 'name="next" value="/grade"' in page.text


def test_a_session_that_is_over_gets_the_form(client: Browser) -> None:
    assert client.signed_in("unknown").get("/session/sign-in?next=/release").status_code == 200
