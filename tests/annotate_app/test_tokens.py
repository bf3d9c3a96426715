"""Personal tokens over HTTP: the account page makes and revokes them, and they open /api/ and nothing else."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from annotate_app.server.api import api_routes
from annotate_app.session import bearer
from annotate_app.session.guard import person_of, token_of
from annotate_app.session.request_limits import MOST_PROGRAMS_AT_ONCE
from annotate_app.session.routes import Sessions
from backend.campaign.judging.staffing import suspend
from backend.campaign.review.queries import list_queries
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import Delay
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token, list_tokens, own_tokens
from served import Browser, browsing, small_app
from small_project import PASSWORD, SmallProject
from support import NOW

DAY = 86_400
ME = "/api/me"
REFUSED = "This request needs a personal token that works, in the header Authorization."


def bearing(token: str, scheme: str = "Bearer") -> dict[str, str]:
    return {"Authorization": f"{scheme} {token}"}


def make(small: SmallProject, name: str = "Ana", scope: TokenScope = TokenScope.ACT, days: int = 30) -> str:
    number = len(list_tokens(small.project, small.lead))
    person = small.person(name)
    return create_token(small.project, person, PASSWORD, f"script {number}", scope, days, now=NOW)[1]


@pytest.fixture(autouse=True)
def at_now(real_project: SmallProject, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by which tokens are checked; a test may move it."""
    clock = [NOW]
    monkeypatch.setattr("time.time", lambda: clock[0])
    return clock


class TestAccount:
    @pytest.fixture
    def client(self, real_project: SmallProject) -> Iterator[TestClient]:
        routes = [*Sessions(lambda: real_project.project, lambda: NOW).routes(), *api_routes()]
        with browsing(real_project.project, routes, real_project.tokens["Ana"]) as found:
            yield found

    def post(self, client: TestClient, path: str = "/session/tokens", **fields: str) -> Any:
        csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/session/account").text)
        assert csrf
        usual = {"name": "nightly", "scope": "read", "days": "30", "old": PASSWORD, "csrf": csrf[1]}
        return client.post(path, data=usual | fields)

    def test_a_token_is_shown_once_and_can_be_tried(self, client: TestClient, real_project: SmallProject) -> None:
        answer = self.post(client)
        (token,) = re.findall(r"<output>(rr_\w+)</output>", answer.text)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        page = client.get("/session/account").text
        assert token not in page
        assert "nightly</b> · Read only" in page
        assert "Works until 21 Oct 2026. Never used." in page
        client.cookies.clear()
        assert client.get(ME, headers=bearing(token)).json() == {
            **{"name": "Ana", "role": "annotator", "token": "nightly", "scope": "read"},
            "expires_at": NOW + 30 * DAY,
        }

    def test_its_owner_revokes_it(self, client: TestClient, real_project: SmallProject) -> None:
        token = make(real_project)
        key = token.split("_")[1]
        other = make(real_project, "Lea").split("_")[1]
        assert self.post(client, "/session/tokens/revoke", key=other).status_code == 422
        answer = self.post(client, "/session/tokens/revoke", key=key)
        assert (answer.status_code, answer.headers["location"]) == (303, "/session/account?revoked")
        assert "The token is revoked." in client.get(answer.headers["location"]).text
        assert [one.key for one in list_tokens(real_project.project, real_project.lead)] == [other]
        assert client.get(ME, headers=bearing(token)).status_code == 401

    @pytest.mark.parametrize(
        ("fields", "status", "sentence"),
        [
            ({"old": "wrong"}, 401, "The current password is wrong."),
            ({"name": " "}, 422, "Name the token in 1 to 60 characters."),
            ({"days": "366"}, 422, "A token works for 1 to 365 days: choose another number."),
            ({"days": "-1"}, 422, "A token works for 1 to 365 days"),
            ({"days": "9" * 5000}, 422, "A token works for 1 to 365 days"),
            ({"csrf": "guessed"}, 403, "This page was open for too long."),
        ],
    )
    def test_one_that_is_not_made_says_why(
        self, client: TestClient, real_project: SmallProject, fields: dict[str, str], status: int, sentence: str
    ) -> None:
        answer = self.post(client, **fields)
        assert (answer.status_code, sentence in answer.text, "<output>" in answer.text) == (status, True, False)
        assert list_tokens(real_project.project, real_project.lead) == []

    def test_an_open_browser_is_no_place_to_guess_the_password(self, client: TestClient) -> None:
        for _ in range(3):
            assert self.post(client, old="wrong").status_code == 401
        answer = self.post(client)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")

    def test_a_name_that_is_refused_is_no_wrong_password(self, client: TestClient) -> None:
        for _ in range(6):
            assert self.post(client, name="").status_code == 422
        assert self.post(client).status_code == 200

    def test_another_site_makes_and_revokes_none(self, client: TestClient, real_project: SmallProject) -> None:
        key = make(real_project).split("_")[1]
        csrf = client.cookies.get("reelrank_csrf") or ""
        for path, fields in (("", {"name": "x", "days": "9", "old": PASSWORD}), ("/revoke", {"key": key})):
            answer = client.post(
                f"/session/tokens{path}", data={**fields, "csrf": csrf}, headers={"Origin": "https://evil.org"}
            )
            assert answer.status_code == 403
        assert [one.key for one in own_tokens(real_project.project, real_project.person("Ana"))] == [key]

    def test_who_is_signed_out_makes_none(self, client: TestClient) -> None:
        client.cookies.clear()
        for path in ("/session/tokens", "/session/tokens/revoke"):
            answer = client.post(path, data={"name": "x"})
            assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")

    def test_a_hostile_name_is_text(self, client: TestClient) -> None:
        self.post(client, name='"><script>alert(1)</script>')
        page = client.get("/session/account").text
        assert "<script" not in page
        assert "&lt;script&gt;alert(1)" in page


@pytest.fixture
def client(real_project: SmallProject) -> Iterator[Browser]:
    app = small_app(
        real_project.project, lambda request: "streamlit", lambda socket: "hello", Route("/api2/{rest:path}", _echo)
    )
    with Browser(app, real_project.tokens) as found:
        yield found


async def _echo(request: Request) -> Response:
    return JSONResponse(person_of(request).name)


def test_a_token_opens_nothing_but_the_interface_for_programs(client: Browser, real_project: SmallProject) -> None:
    """No page, no route of the pages, no clip, no websocket, whosever token it is."""
    for name in ("Ana", "Lea"):
        token = bearing(make(real_project, name))
        assert client.get(ME, headers=token).status_code == 200
        for path in ("/", "/queries", "/my-work", "/session/account"):
            answer = client.get(path, headers=token)
            assert (answer.status_code, answer.headers["location"][:16]) == (303, "/session/sign-in")
        for path in ("/lead/waiting", "/desk/recent", "/moments.mp4", "/_stcore/anything", "/media/x", "/clips/a.mp4"):
            assert client.get(path, headers=token).status_code == 401
        assert client.post("/desk/exchange", json={}, headers={**token, "X-ReelRank": "1"}).status_code == 401
        with (
            pytest.raises(WebSocketDisconnect) as refused,
            client.websocket_connect("/_stcore/stream", headers={**token, "Origin": "http://testserver"}),
        ):
            pass
        assert refused.value.code == 1008


def test_a_cookie_does_not_open_the_interface_for_programs(client: Browser, real_project: SmallProject) -> None:
    """So another site can make a browser act on nothing there."""
    for name in ("Ana", "Lea"):
        client.signed_in(name)
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
            answer = client.request(method, ME)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert "set-cookie" not in answer.headers
            assert not [header for header in answer.headers if header.startswith("access-control")]
        session = real_project.tokens[name]
        assert client.get(ME, headers=bearing(session)).status_code == 401, "the session's token is none"
    token = make(real_project, "Ben")
    assert client.signed_in("Lea").get(ME, headers=bearing(token)).json()["name"] == "Ben", "the cookie is not read"


def test_every_refusal_of_a_token_is_the_same(
    client: Browser, real_project: SmallProject, at_now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bearer, "begin_attempt", lambda *_, **__: Delay())
    unknown = f"rr_{'0' * 12}_{'0' * 43}"
    expired, suspended, good = make(real_project, days=1), make(real_project, "Dee"), make(real_project)
    suspend(real_project.project, real_project.lead, real_project.person("Dee").annotator_id, True, now=NOW)
    at_now[0] = NOW + DAY
    wrong = [
        *("", unknown, expired, suspended, good[:-1], f"{good}x", f"{good},{good}", f"{good} {good}", f'"{good}"'),
        *("x" * 50_000, f"{good}\x00", f"{good}\x7f", "é" * 56),
    ]
    sent = [bearing(token) for token in wrong]
    sent += [{}, bearing(good, "Basic"), bearing(good, "Bearer:"), {"Authorization": good}, {"X-Api-Key": good}]
    sent += [{"Cookie": f"reelrank_session={good}"}, {"Proxy-Authorization": f"Bearer {good}"}]
    answers = [client.get(ME, headers={k: v.encode("latin-1") for k, v in headers.items()}) for headers in sent]
    answers.append(client.get(ME, headers=[("Authorization", f"Bearer {good}")] * 2))
    assert {(answer.status_code, answer.text) for answer in answers} == {(401, f'{{"message":"{REFUSED}"}}')}
    assert client.get(ME, headers=bearing(good, "bEARER")).status_code == 200


@pytest.mark.parametrize(
    "address", ["?access_token={}", "?token={}", "/{}", "?x=%72r_{1}", "?access_token={}&access_token=", "?{}=1"]
)
def test_a_token_in_an_address_is_refused(client: Browser, real_project: SmallProject, address: str) -> None:
    """Addresses end up in logs and histories: such a program is stopped before it becomes a habit."""
    token = make(real_project)
    path = ME + address.format(token, token[3:])
    assert client.get(path).status_code == 401
    assert client.get(path, headers=bearing(token)).status_code == 401
    assert client.get(f"{ME}?access_token=secret", headers=bearing(token)).status_code == 200


class TestScopes:
    @pytest.fixture
    def client(self, real_project: SmallProject) -> Iterator[TestClient]:
        """Routes such as there may be: one that acts, one that acts on GET, one that reads, one that echoes."""
        project, lead, ben = real_project.project, real_project.lead, real_project.person("Ben").annotator_id

        def answering(work: Callable[[Project, Request], object]) -> Callable[[Request], Any]:
            async def answer(request: Request) -> Response:
                return JSONResponse(await anyio.to_thread.run_sync(work, project, request))

            return answer

        def act(project: Project, request: Request) -> str:
            suspend(project, person_of(request), ben, True, now=NOW)
            return "suspended"

        def read(project: Project, request: Request) -> int:
            return len(list_queries(project, person_of(request)))

        def seen(project: Project, request: Request) -> list[Any]:
            return [token_of(request).scope, *map(request.headers.get, ("authorization", "cookie"))]

        assert lead
        routes: list[BaseRoute] = [
            Route("/api/act", answering(act), methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
            Route("/api/read", answering(read)),
            Route("/api/seen", answering(seen)),
            *api_routes(),
        ]
        with browsing(project, routes) as found:
            yield found

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
    def test_one_that_reads_acts_by_no_method(
        self, client: TestClient, real_project: SmallProject, method: str
    ) -> None:
        token = bearing(make(real_project, "Lea", TokenScope.READ))
        answer = client.request(method, "/api/act", headers=token)
        assert answer.status_code == 403
        assert "may only read" in answer.json()["message"]
        assert not real_project.project.store.db.conn.execute(
            "SELECT suspended FROM annotator WHERE name = 'Ben'"
        ).fetchone()[0]
        assert client.get("/api/read", headers=token).json() == 3
        assert client.post("/api/act", headers=bearing(make(real_project, "Lea"))).json() == "suspended"

    def test_what_a_person_may_not_their_token_may_not(self, client: TestClient, real_project: SmallProject) -> None:
        for scope in TokenScope:
            token = bearing(make(real_project, "Ana", scope))
            answer = client.get("/api/read", headers=token)
            assert answer.status_code == 403
            assert answer.json() == {"message": "only leads may do this; Ana is signed in as annotator"}
        assert client.post("/api/act", headers=token).status_code == 403

    def test_routes_see_neither_the_token_nor_a_cookie(self, client: TestClient, real_project: SmallProject) -> None:
        client.cookies.set("reelrank_session", real_project.tokens["Lea"])
        assert client.get("/api/seen", headers=bearing(make(real_project))).json() == ["act", None, None]

    def test_an_address_that_is_none_says_so_to_those_who_may_ask(
        self, client: TestClient, real_project: SmallProject
    ) -> None:
        assert client.get("/api/candidates").status_code == 401
        assert client.get("/api/").status_code == 401
        token = bearing(make(real_project))
        for path in ("/api/candidates", "/api/", "/api/me/", "/api/me/x", "/api/../queries"):
            assert client.get(path, headers=token, follow_redirects=False).status_code in (404, 307, 303)
        assert client.get("/api/candidates", headers=token).json() == {"message": "Nothing is at this address."}
        assert client.post(ME, headers=token).status_code == 405


class TestGuessing:
    def test_failures_count_like_failed_attempts_to_sign_in(
        self, client: Browser, real_project: SmallProject, at_now: list[float]
    ) -> None:
        guess = bearing(f"rr_{'0' * 12}_{'0' * 43}")
        for wait in (0, 0, 0, 1, 2, 4):
            if wait:
                refused = client.get(ME, headers=guess)
                assert (refused.status_code, refused.headers["retry-after"]) == (429, str(wait))
            at_now[0] += wait
            assert client.get(ME, headers=guess).status_code == 401

    def test_a_token_that_works_is_never_delayed(self, client: Browser, real_project: SmallProject) -> None:
        """A colleague's program with a revoked token, behind the same address, stops nobody."""
        for _ in range(20):
            client.get(ME, headers=bearing("wrong"))
        assert client.get(ME, headers=bearing("wrong")).status_code == 429
        for name in ("Ana", "Lea"):
            assert client.get(ME, headers=bearing(make(real_project, name))).status_code == 200

    def test_what_is_no_token_of_a_person_counts_for_nothing(self, client: Browser) -> None:
        """Such as what a proxy in front asks for, or no header at all."""
        for _ in range(6):
            for headers in ({}, bearing("dXNlcjpwYXNz", "Basic")):
                assert client.get(ME, headers=headers).status_code == 401


def test_a_person_has_so_many_requests_of_programs_under_way(real_project: SmallProject) -> None:
    """More at once are refused, and the person's own browser is not slowed down by them."""
    begun, released = [], anyio.Event()

    async def slow(request: Request) -> Response:
        begun.append(person_of(request).name)
        await released.wait()
        return Response(status_code=204)

    async def ask(app: Any, path: str, headers: dict[str, str], answers: list[int]) -> None:
        scope = {
            **{"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""},
            **{"scheme": "http", "server": ("testserver", 80), "client": ("10.0.0.1", 5), "http_version": "1.1"},
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answers.append(message["status"])

        await app(scope, receive, send)

    ana, ben = (bearing(make(real_project, name)) for name in ("Ana", "Ben"))

    async def crowd(app: Any) -> list[int]:
        refused: list[int] = []
        answers: list[int] = []
        async with anyio.create_task_group() as group:
            for _ in range(MOST_PROGRAMS_AT_ONCE):
                group.start_soon(ask, app, "/api/slow", ana, answers)
            group.start_soon(ask, app, "/api/slow", ben, answers)
            while len(begun) < MOST_PROGRAMS_AT_ONCE + 1:
                await anyio.sleep(0.01)
            await ask(app, "/api/slow", ana, refused)
            await ask(app, "/page", {"Cookie": f"reelrank_session={real_project.tokens['Ana']}"}, refused)
            released.set()
        return refused

    async def page(request: Request) -> Response:
        return Response("page")

    routes: list[BaseRoute] = [Route("/api/slow", slow), Route("/page", page)]
    with browsing(real_project.project, routes) as client:
        refused = anyio.run(crowd, client.app)
    assert refused[0] == 429
    assert len(begun) == MOST_PROGRAMS_AT_ONCE + 1
