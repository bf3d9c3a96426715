"""Single sign-on against a small identity provider of our own, with a real server in between."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from app_server import AppServer
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import accept_invitation, add_person, add_person_with_password
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from support import person_of

CLIENT = "reelrank"


class Provider:
    """Discovery, consent without asking, tokens and keys; `subject` is who sits in front of it."""

    def __init__(self) -> None:
        self.subject = "subject-1"
        self.key = RSAKey.generate_key(2048, {"kid": "k"})
        self.asked: dict[str, dict[str, str]] = {}
        self.url = ""

    def routes(self) -> list[Route]:
        return [
            Route("/.well-known/openid-configuration", self.configuration),
            Route("/authorize", self.authorize),
            Route("/token", self.token, methods=["POST"]),
            Route("/keys", self.keys),
        ]

    async def configuration(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = f"code-{len(self.asked)}"
        self.asked[code] = asked | {"subject": self.subject}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        asked = self.asked.pop(form["code"][0])
        now = int(time.time())
        claims = {"iss": self.url, "sub": asked["subject"], "aud": CLIENT, "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"], "email": "somebody@example.org"}
        token = jwt.encode({"alg": "RS256", "kid": "k"}, claims, self.key)
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": token})

    async def keys(self, request: Request) -> Response:
        return JSONResponse({"keys": [json.loads(json.dumps(self.key.as_dict(private=False)))]})


@contextmanager
def listening(provider: Provider) -> Iterator[None]:
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=list(provider.routes())), port=0, log_level="warning", lifespan="off")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    provider.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    provider = Provider()
    with listening(provider):
        yield provider


@contextmanager
def serving(provider: Provider, folder: Path, base: str = "") -> Iterator[AppServer]:
    """A new project whose secrets name the provider, served below a path of its host."""
    init_project(folder / "project", encoder="minilm")
    environment = {**os.environ, "REELRANK_BASE_PATH": base}
    server = AppServer(folder / "project", folder / "server.log", env=environment)
    secrets = folder / "project" / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    secrets.write_text(
        f'[auth]\nredirect_uri = "{server.url}{base}/oauth2callback"\n'
        f'cookie_secret = "{"a secret of this test" * 3}"\n'
        f'client_id = "{CLIENT}"\nclient_secret = "hush"\n'
        f'server_metadata_url = "{provider.url}/.well-known/openid-configuration"\n'
    )
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def server(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    with serving(provider, tmp_path_factory.mktemp("sso")) as server:
        yield server


def project(server: AppServer) -> Project:
    return open_project(Path(server.project))


def browser(server: AppServer) -> httpx.Client:
    return httpx.Client(base_url=server.url, follow_redirects=True, timeout=30)


def link(page: httpx.Response) -> str:
    """Where the page's words "Use single sign-on" lead."""
    before = page.text.partition("Use single sign-on")[0]
    return before.rpartition('href="')[2].partition('"')[0].replace("&amp;", "&")


def names_of_cookies(client: httpx.Client) -> set[str]:
    return {cookie.name for cookie in client.cookies.jar}


def test_an_invitation_binds_the_account_and_from_then_on_it_signs_in(server: AppServer, provider: Provider) -> None:
    invitation = add_person(project(server), OPERATOR, "Ana", Role.ANNOTATOR, now=time.time())
    with browser(server) as client:
        there = client.get(link(client.get(f"/session/invitation/{invitation}")))
        assert urlsplit(str(there.url)).path == "/"
        assert there.status_code == 200
        assert "reelrank_session" in names_of_cookies(client)
        assert not {name for name in names_of_cookies(client) if name.startswith("_streamlit_user")}
        assert "Signed in as <b>Ana</b>" in client.get("/session/account").text
    with browser(server) as another:
        there = another.get(link(another.get("/session/sign-in", params={"next": "/my_work"})))
        assert urlsplit(str(there.url)).path == "/my_work"
        assert "Signed in as <b>Ana</b>" in another.get("/session/account").text
    rows = project(server).store.db.conn.execute("SELECT issuer, subject FROM identity").fetchall()
    assert [tuple(row) for row in rows] == [(provider.url, "subject-1")]


def test_an_account_that_nobody_here_has_is_refused_in_words(server: AppServer, provider: Provider) -> None:
    provider.subject = "a stranger"
    with browser(server) as client:
        page = client.get(link(client.get("/session/sign-in")))
        assert page.status_code == 401
        assert "This account is not linked to anybody here yet. Open the invitation link" in page.text
        assert "reelrank_session" not in names_of_cookies(client)
        # Streamlit's cookie is gone too: the next visit is a plain sign-in page.
        assert client.get("/session/sign-in").status_code == 200
    provider.subject = "subject-1"


def test_a_used_invitation_binds_nobody(server: AppServer, provider: Provider) -> None:
    invitation = add_person(project(server), OPERATOR, "Ben", Role.ANNOTATOR, now=time.time())
    accept_invitation(project(server), invitation, "long enough", now=time.time())
    provider.subject = "subject-2"
    with browser(server) as client:
        page = client.get("/session/oidc", params={"invitation": invitation})
        assert page.status_code == 401
        assert "already used or has expired" in page.text
    provider.subject = "subject-1"


def test_a_suspended_person_does_not_come_in_by_another_door(server: AppServer) -> None:
    opened = project(server)
    lead = add_person_with_password(opened, OPERATOR, "Lea", Role.LEAD, "long enough", now=time.time())
    ana = person_of(opened, "Ana")
    suspend(opened, lead, ana.annotator_id, True, now=time.time())
    with browser(server) as client:
        page = client.get(link(client.get("/session/sign-in")))
        assert page.status_code == 401
        assert "suspended" in page.text
    suspend(opened, lead, ana.annotator_id, False, now=time.time())


def test_a_forged_cookie_of_streamlit_signs_nobody_in(server: AppServer, provider: Provider) -> None:
    with browser(server) as client:
        user = json.dumps({"iss": provider.url, "sub": "subject-1"})
        forged = create_signed_value("another secret", "_streamlit_user", user)
        client.cookies.set("_streamlit_user", forged.decode(), domain="127.0.0.1")
        assert "Use single sign-on" in client.get("/session/sign-in").text
        assert "reelrank_session" not in names_of_cookies(client)


@pytest.mark.long
def test_below_a_path_the_way_to_the_provider_and_back_stays_there(provider: Provider, tmp_path: Path) -> None:
    with serving(provider, tmp_path, "/annotate") as server, browser(server) as client:
        invitation = add_person(project(server), OPERATOR, "Ana", Role.ANNOTATOR, now=time.time())
        there = client.get(link(client.get(f"/annotate/session/invitation/{invitation}")))
        assert (there.status_code, urlsplit(str(there.url)).path) == (200, "/annotate/")
        assert all(urlsplit(str(one.url)).path.startswith(("/annotate/", "/authorize")) for one in there.history)
        assert {cookie.path for cookie in client.cookies.jar} == {"/annotate"}
        assert "Signed in as <b>Ana</b>" in client.get("/annotate/session/account").text
