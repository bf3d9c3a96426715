"""The whole app in this process, Streamlit's part included, as somebody who means harm meets it: docs/security.md."""

import base64
import hashlib
import logging
import platform
import re
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.metrics_util import Installation
from streamlit.web.server.starlette.starlette_server import _get_uvicorn_config_kwargs

from annotate_app.session import auth, guard, websocket
from annotate_app.session.addresses import HEALTH_PATH, READY_PATH
from annotate_app.session.routes import Sessions
from backend.campaign.judging.staffing import sign_out
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.queries import list_queries
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.model import Delay
from backend.core.errors import NotAllowed
from support import NOW, Judging, have_read

PASSWORD = "a long password"
OURS = {"X-ReelRank": "1"}
ORIGIN = "http://testserver"


@dataclass
class Whole:
    """The app, a client of its server, and the sessions of a lead and an annotator."""

    app: Any
    client: TestClient
    project: Project
    lead: str
    annotator: str

    def call(self, token: str, method: str, path: str, **more: Any) -> Any:
        self.client.cookies.clear()
        if token:
            self.client.cookies.set("reelrank_session", token)
        return self.client.request(method, path, **more)

    def page(self, token: str, origin: str = ORIGIN, resumes: str = "") -> WebSocketTestSession:
        """What a page talks through; one that lost its connection resumes its session."""
        cookie = {"Cookie": f"reelrank_session={token}"} if token else {}
        self.client.cookies.clear()
        headers = {"Origin": origin, **cookie}
        protocols = ["streamlit", "no-token", resumes] if resumes else ["streamlit"]
        return self.client.websocket_connect("/_stcore/stream", subprotocols=protocols, headers=headers)


@pytest.fixture(scope="module")
def whole(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    folder = Path(shutil.copytree(judging_made.project.folder, tmp_path_factory.mktemp("threats") / "project"))
    project = open_project(folder)
    for name, role in (("Lou", Role.LEAD), ("Ada", Role.ANNOTATOR)):
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=NOW)
    have_read(project)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REELRANK_PROJECT", str(folder))
        patch.setattr("time.time", lambda: NOW)
        # A default value is bound when its module is first imported, perhaps by another test, with the real clock: a
        # sign-in by that clock ends all sessions that are over by then, those of this fixture with them.
        patch.setattr(Sessions.__init__, "__defaults__", (lambda: NOW, anyio.sleep))
        # These tests ask as fast as they can; those of the limits are elsewhere.
        patch.setattr(websocket, "LIMITS", dict.fromkeys(Role, websocket.LIMITS[Role.LEAD]))
        patch.setattr("backend.core.processes.end_all", lambda: None)  # this process goes on after the app
        tokens = [sign_in(project, name, PASSWORD, now=NOW) for name in ("Lou", "Ada")]
        from annotate_app.shared import waiting

        auth._open.cache_clear()
        before = [*waiting.MORE_COUNTS]
        sys.modules.pop("annotate_app.asgi", None)
        import annotate_app.asgi as asgi

        with TestClient(asgi.app, base_url=ORIGIN, follow_redirects=False, raise_server_exceptions=False) as client:
            yield Whole(asgi.app, client, project, *tokens)
    waiting.MORE_COUNTS[:] = before
    sys.modules.pop("annotate_app.asgi", None)
    auth._open.cache_clear()
    Runtime._instance = None
    project.store.close()


_TO_THE_END = ForwardMsg.FINISHED_SUCCESSFULLY
ANYTHING = re.compile(r"\{[^}]*\}")


def routes(whole: Whole) -> list[tuple[str, str]]:
    """Every (method, path) that the app answers, Streamlit's with it."""
    found: set[tuple[str, str]] = set()
    for route in whole.app._starlette_app.routes:
        if isinstance(route, Route):
            found |= {(method, ANYTHING.sub("1", route.path)) for method in route.methods or ()}
        else:
            assert isinstance(route, Mount | WebSocketRoute), route
    return sorted(found)


def drawn(page: WebSocketTestSession, url_path: str = "", page_hash: str = "", most: int = 400) -> list[ForwardMsg]:
    """What one run of the app's script brings to a page, and those before it that a switch to another page ended."""
    page.send_bytes(
        BackMsg(rerun_script=ClientState(page_name=url_path, page_script_hash=page_hash)).SerializeToString()
    )
    found = []
    for _ in range(most):
        found.append(ForwardMsg.FromString(page.receive_bytes()))
        if found[-1].WhichOneof("type") == "script_finished" and found[-1].script_finished == _TO_THE_END:
            return found
    raise AssertionError("the script did not end")


def text_of(messages: Iterable[ForwardMsg]) -> str:
    return "\n".join(str(message.delta) for message in messages if message.WhichOneof("type") == "delta")


def test_a_stranger_gets_nothing_from_any_route(whole: Whole) -> None:
    everything = routes(whole)
    assert len(everything) > 50
    ways_in = ("/session/", "/auth/login", "/oauth2callback", "/_stcore/health", "/_stcore/host-config")
    ways_in = (*ways_in, HEALTH_PATH, READY_PATH)
    for token in ("", "made-up", whole.lead[:-1]):
        for method, path in everything:
            if path.startswith(ways_in):
                continue
            answer = whole.call(token, method, path, headers=OURS)
            assert (answer.status_code in (401, 404)) or answer.headers["location"].startswith("/session/"), path
            assert b"Signed in" not in answer.content


@pytest.mark.parametrize(
    ("who", "method", "path"),
    [
        *[
            ("annotator", "GET", path)
            for path in (
                *("/lead/waiting", "/moments.mp4?video=v&start=0&end=1", "/moments.webp?video=v&start=0&end=1"),
                *("/clips/pair.gif", "/clips/pair.mp4", "/lead/uploads/videos/a.mp4?size=1"),
            )
        ],
        *[("annotator", "POST", path) for path in ("/rewriting/undo",)],
        *[("annotator", method, "/_stcore/upload_file/session/file") for method in ("PUT", "DELETE")],
        ("annotator", "PUT", "/lead/uploads/videos/a.mp4"),
        *[("lead", "POST", path) for path in ("/desk/exchange", "/describe/exchange")],
        ("lead", "GET", "/describe/work"),
    ],
)
def test_each_role_gets_nothing_from_the_others_routes(whole: Whole, who: str, method: str, path: str) -> None:
    more = {"content": b"{}"} if method == "POST" else {}
    answer = whole.call(getattr(whole, who), method, path, headers=OURS, **more)
    assert answer.status_code == 403
    assert {*answer.json()} == {"message"}


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/interact"])
def test_streamlits_own_doors_are_closed_to_everybody(whole: Whole, path: str) -> None:
    for token in ("", whole.annotator, whole.lead):
        for method in ("GET", "POST"):
            answer = whole.call(token, method, path)
            assert (answer.status_code, "Nothing is at" in answer.text) == (404, True)


def test_a_page_of_another_site_cannot_act_for_somebody(whole: Whole) -> None:
    for more in ({"Origin": "https://evil.org"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("/_stcore/upload_file/a/b", "/lead/uploads/videos/a.mp4"):
            answer = whole.call(whole.lead, "PUT", path, headers=OURS | more)
            assert answer.status_code == 403
            assert answer.json()["message"] == "This request did not come from a page of this server."
        assert whole.call(whole.annotator, "POST", "/desk/exchange", headers=OURS | more).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.org", "http://localhost:9999", "null"])
def test_a_page_of_another_site_gets_no_websocket(whole: Whole, origin: str) -> None:
    with pytest.raises(WebSocketDisconnect) as refused, whole.page(whole.lead, origin):
        pass
    assert refused.value.code == 1008


def test_a_forged_page_hash_shows_an_annotator_no_page_of_a_lead(whole: Whole) -> None:
    query = list_queries(whole.project, OPERATOR)[0].query
    with whole.page(whole.lead) as page:
        assert query in text_of(drawn(page, "queries"))
    with whole.page(whole.annotator) as page:
        (told,) = [one.navigation for one in drawn(page) if one.WhichOneof("type") == "navigation"][:1]
        hashes = {one.url_pathname: one.page_script_hash for one in told.app_pages}
        assert "queries" in hashes, "the hash of a page is no secret"
        for address in ("queries", "people", "release", "leaderboard", "settings", "set-up"):
            for name in (address, "", "grade"):
                text = text_of(drawn(page, name, hashes[address]))
                assert "This page is for leads." in text
                assert query not in text


def test_a_session_that_ends_ends_on_the_page_that_is_open(whole: Whole) -> None:
    token = sign_in(whole.project, "Lou", PASSWORD, now=NOW)
    with whole.page(token) as page:
        assert "You are signed out" not in text_of(drawn(page, "people"))
        sign_out(whole.project, token, now=NOW)
        after = text_of(drawn(page, "people"))
        assert "Ada" not in after
        assert "Sign in" in after


def test_a_download_is_for_leads_and_gone_with_its_page(whole: Whole, caplog: pytest.LogCaptureFixture) -> None:
    files = Runtime.instance().media_file_mgr
    kept = files._storage.load_and_get_id(b"who,what", "text/csv", MediaFileKind.DOWNLOADABLE, "all.csv")
    mark = files._storage.load_and_get_id(b"<svg/>", "image/svg+xml", MediaFileKind.MEDIA)
    assert whole.call(whole.lead, "GET", f"/media/{kept}.csv").text == "who,what"
    refused = whole.call(whole.annotator, "GET", f"/media/{kept}.csv")
    assert (refused.status_code, "who" in refused.text) == (403, False)
    assert whole.call(whole.annotator, "GET", f"/media/{mark}.svg").text == "<svg/>"
    files._storage.delete_file(kept)
    for range_asked in ({}, {"Range": "bytes=0-"}):
        gone = whole.call(whole.lead, "GET", f"/media/{kept}.csv", headers=range_asked)
        assert (gone.status_code, "take the file from there" in gone.text) == (404, True)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.long
def test_a_button_of_a_page_that_is_gone_makes_no_error_of_the_server(
    whole: Whole, caplog: pytest.LogCaptureFixture
) -> None:
    files = Runtime.instance().media_file_mgr

    def asked_for(file: str) -> str:
        ask = BackMsg()
        ask.backend_operation_request.request_id = "1"
        ask.backend_operation_request.deferred_file.file_id = file
        with whole.page(whole.lead) as page:
            (begun,) = [one.new_session for one in drawn(page, "people") if one.WhichOneof("type") == "new_session"][:1]
            ask.backend_operation_request.session_id = begun.initialize.session_id
            page.send_bytes(ask.SerializeToString())
            while not (told := ForwardMsg.FromString(page.receive_bytes())).HasField("backend_operation_response"):
                pass
        return told.backend_operation_response.error_msg

    def refused() -> bytes:
        raise NotAllowed("this is for leads")

    def broken() -> bytes:
        raise ZeroDivisionError

    assert asked_for("no-such-file") == "Failed to generate file for download"
    assert asked_for(files.add_deferred(refused, "text/csv", "1.1.1", "a.csv")) != ""
    told = [record for record in caplog.records if record.name == guard.__name__]
    assert [record.levelname for record in told] == ["WARNING", "WARNING"]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert asked_for(files.add_deferred(broken, "text/csv", "1.1.1", "a.csv")) != ""
    assert caplog.records[-1].levelname == "ERROR"


def test_a_session_brought_along_is_not_the_one_after_signing_in(whole: Whole) -> None:
    whole.call("brought-along", "GET", "/session/sign-in")
    form = {"name": "Ada", "password": PASSWORD, "csrf": whole.client.cookies["reelrank_csrf"]}
    answer = whole.client.post("/session/sign-in", data=form)
    (given,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("reelrank_session=")]
    assert "brought-along" not in given
    assert whole.annotator not in given, "each browser has a session of its own"
    assert whole.call("brought-along", "GET", "/lead/waiting", headers=OURS).status_code == 401
    again = whole.call("", "GET", "/session/sign-in")
    assert again.status_code == 200


@pytest.mark.parametrize(
    ("believed", "peer", "sent", "counted"),
    [
        ("", "127.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("", "127.0.0.1", "1.2.3.4, 203.0.113.7", "203.0.113.7"),
        ("", "198.51.100.1", "203.0.113.7", "198.51.100.1"),
        ("198.51.100.1", "198.51.100.1", "1.2.3.4, 203.0.113.7", "203.0.113.7"),
        ("198.51.100.1", "127.0.0.1", "203.0.113.7", "127.0.0.1"),
        ("", "127.0.0.1", "2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"),
    ],
    ids=["ours", "forged before it", "of a stranger", "named", "no longer ours", "a network of one line"],
)
def test_attempts_count_for_the_address_that_the_proxy_saw(
    whole: Whole, monkeypatch: pytest.MonkeyPatch, believed: str, peer: str, sent: str, counted: str
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(
        "annotate_app.session.routes.begin_attempt",
        lambda _project, _name, address, _browser, now: seen.append(address) or Delay(60),
    )
    if believed:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", believed)
    else:
        monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    server = uvicorn.Config(whole.app, **_get_uvicorn_config_kwargs())
    server.load()
    client = TestClient(server.loaded_app, base_url=ORIGIN, client=(peer, 5), follow_redirects=False)
    client.get("/session/sign-in")
    form = {"name": "Ada", "password": "guess", "csrf": client.cookies["reelrank_csrf"]}
    answer = client.post("/session/sign-in", data=form, headers={"X-Forwarded-For": sent})
    assert (answer.status_code, seen) == (429, [counted])


def test_every_page_says_what_a_browser_may_load(whole: Whole) -> None:
    told = whole.call(whole.lead, "GET", "/people").headers["content-security-policy"]
    parts = dict(part.split(" ", 1) for part in told.split("; "))
    assert parts["default-src"] == "'none'"
    assert "unsafe" not in parts["script-src"]
    assert parts["connect-src"] == "'self'"
    inline = re.findall(r"<script>(.*?)</script>", whole.call(whole.lead, "GET", "/people").text, re.DOTALL)
    for script in inline:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in parts["script-src"]
    assert "https:" in guard.page_policy(clips_elsewhere=True)
    assert whole.call("", "GET", "/session/sign-in").headers["content-security-policy"].startswith("default-src 'none'")


def back(**kind: Any) -> bytes:
    return bytes(BackMsg(**kind).SerializeToString())


def answers_until(page: WebSocketTestSession, kind: str) -> list[ForwardMsg]:
    """What comes until a message of this kind."""
    found = [ForwardMsg.FromString(page.receive_bytes())]
    while found[-1].WhichOneof("type") != kind:
        found.append(ForwardMsg.FromString(page.receive_bytes()))
    return found


def session_of(messages: Iterable[ForwardMsg]) -> str:
    return next(one.new_session.initialize.session_id for one in messages if one.WhichOneof("type") == "new_session")


def drawn_by_fragments(messages: Iterable[ForwardMsg]) -> list[ForwardMsg]:
    return [one for one in messages if one.delta.fragment_id and one.delta.HasField("new_element")]


@pytest.mark.parametrize("is_open", [True, False], ids=["whose page is open", "whose page was closed"])
def test_an_annotator_cannot_resume_the_session_of_a_lead(whole: Whole, is_open: bool) -> None:
    with ExitStack() as pages:
        page = pages.enter_context(whole.page(whole.lead))
        shown = drawn(page, "progress")
        fragment = next(one.delta.fragment_id for one in shown if one.delta.fragment_id)
        if not is_open:
            pages.close()
        with whole.page(whole.annotator, resumes=session_of(shown)) as other:
            other.send_bytes(back(rerun_script=ClientState(fragment_id=fragment)))
            after = drawn(other, "progress")
            assert session_of(after) != session_of(shown)
            assert not drawn_by_fragments(after)
            assert "This page is for leads." in text_of(after)


def test_a_page_of_the_same_sign_in_resumes_and_one_of_the_next_sign_in_does_not(whole: Whole) -> None:
    first = sign_in(whole.project, "Lou", PASSWORD, now=NOW)
    with whole.page(first) as page:
        session = session_of(drawn(page, "progress"))
    with whole.page(first, resumes=session) as page:
        assert session_of(drawn(page, "progress")) == session
    second = sign_in(whole.project, "Lou", PASSWORD, now=NOW)
    with whole.page(second, resumes=session) as page:
        assert session_of(drawn(page, "progress")) != session


def test_a_fragment_is_drawn_for_the_person_it_was_first_drawn_for(
    whole: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "owner", lambda _person, _token: "anybody")
    with whole.page(whole.lead) as page:
        shown = drawn(page, "progress")
    fragment = next(one.delta.fragment_id for one in shown if one.delta.fragment_id)
    assert drawn_by_fragments(shown)
    with whole.page(whole.annotator, resumes=session_of(shown)) as other:
        other.send_bytes(back(rerun_script=ClientState(fragment_id=fragment)))
        got = [*answers_until(other, "script_finished"), *drawn(other, "progress")]
        assert session_of(got) == session_of(shown), "the first line of defence is off in this test"
        assert not drawn_by_fragments(got)
        assert "Ada" in text_of(got)


def test_all_fragments_and_dialogs_are_made_in_one_place() -> None:
    made = re.compile(r"\bst\.(fragment|dialog)\b|experimental_(fragment|dialog)")
    sources = [path for path in Path(auth.__file__).parents[1].rglob("*.py") if made.search(path.read_text("utf-8"))]
    assert [path.name for path in sources] == ["auth.py"]


@pytest.mark.parametrize("who", ["annotator", "lead"])
def test_nothing_that_is_sent_tells_where_the_server_is_or_what_it_runs_on(
    whole: Whole, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A short name of a machine, such as "vm", is found in any long random text.
    monkeypatch.setattr(platform, "node", lambda: "name-of-the-host")
    monkeypatch.setattr(socket, "gethostname", platform.node)
    with whole.page(getattr(whole, who)) as page:
        page.send_bytes(back(load_git_info=True))
        page.send_bytes(back(app_heartbeat=True))
        # A run that begins drops answers that were not sent yet, so each is waited for before the next is asked for.
        messages = [*answers_until(page, "heartbeat_ack"), *drawn(page), *drawn(page, "my-work")]
    sent = [message.SerializeToString() for message in messages]
    for path in ("/_stcore/health", "/_stcore/host-config", "/", "/no-such-page", "/clips/x.mp4", "/healthz"):
        answer = whole.call(getattr(whole, who), "GET", path)
        sent.append(answer.content + str(answer.headers.raw).encode())
    everything = b"\n".join(sent)
    machine = {str(Path(auth.__file__).parents[2]), sys.prefix, str(whole.project.folder), str(Path.home())}
    machine |= {sys.version.split()[0], ".".join(map(str, sys.version_info[:3])), platform.node(), platform.release()}
    machine |= {Installation.instance().installation_id_v3, Installation.instance().installation_id_v4}
    for text in machine - {"/", "", "/root"}:
        assert text.encode() not in everything, text


@pytest.mark.parametrize("kind", ["clear_cache", "load_git_info", "set_run_on_save"])
def test_a_page_cannot_ask_streamlit_for_what_is_not_of_this_app(
    whole: Whole, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[str] = []
    handle = AppSession.handle_backmsg

    def handled(session: AppSession, message: BackMsg) -> None:
        reached.append(message.WhichOneof("type") or "")
        handle(session, message)

    monkeypatch.setattr(AppSession, "handle_backmsg", handled)
    for token in (whole.annotator, whole.lead):
        with whole.page(token) as page:
            page.send_bytes(back(**{kind: True}))
            page.send_bytes(back(backend_operation_request={"request_id": "1", "install_skills": {}}))
            page.send_bytes(back(app_heartbeat=True))
            answers_until(page, "heartbeat_ack")
    assert reached == ["app_heartbeat", "app_heartbeat"]


@pytest.mark.long
def test_few_sessions_of_closed_pages_are_kept_of_each_user(whole: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(websocket.LIMITS[Role.ANNOTATOR], kept_sessions=2)
    monkeypatch.setattr(websocket, "LIMITS", dict.fromkeys(Role, few))
    sessions = Runtime.instance()._session_mgr
    token = sign_in(whole.project, "Ada", PASSWORD, now=NOW)
    opened = []
    for _ in range(4):
        with whole.page(token) as page:
            opened.append(session_of(drawn(page, "grade")))
    assert [sessions.get_session_info(one) is not None for one in opened] == [False, False, True, True]
    with whole.page(token, resumes=opened[2]) as page:
        assert session_of(drawn(page, "grade")) == opened[2]
        for _ in range(3):
            with whole.page(token):
                pass
        assert sessions.is_active_session(opened[2]), "a page that came back is open"
