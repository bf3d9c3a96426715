"""Routes and guard below a path of the host, for proxies that keep the path and proxies that strip it."""

import re
from http.cookiejar import DefaultCookiePolicy
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from annotate_app.server.monitoring import Health
from served import small_app
from small_project import PASSWORD, SmallProject

BASE = "/annotate"
PROXY = ("127.0.0.1", 40000)
ADDRESS = re.compile(r"""(?:href|src|action)=["'](/[^"']*)""")


@pytest.fixture
def app(real_project: SmallProject) -> Any:
    """What answers behind `BasePath`."""
    prefix = "x-forwarded-prefix"
    return small_app(
        real_project.project,
        lambda request: f"{request.url.path} {request.headers.get(prefix, '')}",
        lambda socket: socket.headers.get(prefix, ""),
        *Health(lambda: real_project.project).routes(),
    )


def below(app: Any, base: str = BASE, peer: tuple[str, int] = PROXY, scheme: str = "http") -> TestClient:
    """A browser's way to the app; `peer` is who connects to the server."""
    from annotate_app.session.addresses import BasePath

    client = TestClient(BasePath(app, base), f"{scheme}://testserver", client=peer, follow_redirects=False)
    # A jar would keep cookies by the paths that the app sees. Tests send what a browser would.
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return client


@pytest.fixture(params=[BASE, ""], ids=["the proxy passes the path on", "the proxy strips the path"])
def front(request: pytest.FixtureRequest) -> str:
    """What the requests of a proxy have in front of the app's paths."""
    return str(request.param)


def cookies_of(answer: Any) -> SimpleCookie:
    """All cookies that an answer sets."""
    found = SimpleCookie()
    for header in answer.headers.get_list("set-cookie"):
        found.load(header)
    return found


def test_somebody_signs_in_works_and_signs_out_below_a_path(app: Any, front: str) -> None:
    with below(app) as client:
        to_sign_in = client.get(f"{front}/my-work?tab=notes")
        assert to_sign_in.status_code == 303
        assert to_sign_in.headers["location"] == f"{BASE}/session/sign-in?next=/my-work%3Ftab%3Dnotes"
        page = client.get(f"{front}/session/sign-in?next=/my-work%3Ftab%3Dnotes")
        addresses = ADDRESS.findall(page.text)
        assert f"{BASE}/session/sign-in" in addresses
        assert f"{BASE}/session/sign_in.css" in addresses
        assert all(one.startswith(f"{BASE}/") for one in addresses)
        assert client.get(f"{front}/session/sign_in.css").status_code == 200
        # The browser keeps the cookies for the path alone.
        set_first = cookies_of(page)
        assert {one["path"] for one in set_first.values()} == {BASE}
        csrf = set_first["reelrank_csrf"].value
        # What a script of a page says where to go back to has the base path already.
        fields = {"csrf": csrf, "name": "Ana", "password": PASSWORD, "next": f"{BASE}/my-work"}
        form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"reelrank_csrf={csrf}"}
        form["Origin"] = "http://testserver"
        answer = client.post(f"{front}/session/sign-in", content=urlencode(fields), headers=form)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{BASE}/my-work")
        session = cookies_of(answer)["reelrank_session"]
        assert session["path"] == BASE
        # A session of another project at the root of the host comes along, after this one.
        mine = {"Cookie": f"reelrank_session={session.value}; reelrank_session=of-another; reelrank_csrf={csrf}"}
        assert client.get(f"{front}/my-work", headers=mine).text == f"/my-work {BASE}"
        account = client.get(f"{front}/session/account", headers=mine)
        assert account.status_code == 200
        assert all(one.startswith(f"{BASE}/") for one in ADDRESS.findall(account.text))
        exchange = client.post(f"{front}/desk/exchange", json={}, headers=mine | {"X-ReelRank": "1"})
        assert exchange.status_code == 200
        pair = exchange.json()["desk"]["items"][0]["pair"]
        assert client.get(f"{front}/clips/{pair}.mp4", headers=mine).headers["content-type"] == "video/mp4"
        with client.websocket_connect(
            f"{front}/_stcore/stream", headers=mine | {"Origin": "http://testserver"}
        ) as socket:
            assert socket.receive_text() == BASE, "a script run learns the path"
        lost = client.get(f"{front}/nothing", headers=mine)
        assert (lost.status_code, f"{BASE}/nothing" in lost.text) == (404, True)
        assert {*ADDRESS.findall(lost.text)} >= {f"{BASE}/"}
        out = client.post(f"{front}/session/sign-out", content=urlencode({"csrf": csrf}), headers=form | mine)
        assert (out.status_code, out.headers["location"]) == (303, f"{BASE}/session/sign-in")
        assert cookies_of(out)["reelrank_session"]["path"] == BASE


def test_programs_ask_for_signs_of_life_with_the_path_and_without(app: Any, front: str) -> None:
    assert below(app).get(f"{front}/healthz").text == "ok\n"


def test_the_path_without_its_slash_leads_to_the_page(app: Any) -> None:
    answer = below(app).get(f"{BASE}?a=1")
    assert (answer.status_code, answer.headers["location"]) == (307, f"{BASE}/?a=1")
    assert below(app).get(f"{BASE}s").status_code == 404, "another path of the host"


def test_over_https_cookies_have_the_prefix_that_a_browser_takes_with_a_path(
    app: Any, real_project: SmallProject
) -> None:
    client = below(app, scheme="https")
    set_cookies = cookies_of(client.get("/session/sign-in"))
    assert set_cookies["__Secure-reelrank_csrf"]["path"] == BASE
    assert set_cookies["__Secure-reelrank_csrf"]["secure"]
    for name, status in (("__Secure-", 200), ("__Host-", 303), ("", 303)):
        cookie = {"Cookie": f"{name}reelrank_session={real_project.tokens['Ana']}"}
        assert client.get("/session/account", headers=cookie).status_code == status


@pytest.mark.parametrize(
    ("peer", "headers", "base"),
    [
        ("127.0.0.1", {"X-Forwarded-Prefix": "/annotate"}, "/annotate"),
        ("127.0.0.1", {"X-Forwarded-Prefix": "/lab/annotate/"}, "/lab/annotate"),
        # uvicorn puts the client of a trusted proxy in the place of its address.
        ("203.0.113.7", {"X-Forwarded-Prefix": "/annotate", "X-Forwarded-For": "203.0.113.7"}, "/annotate"),
        ("203.0.113.7", {"X-Forwarded-Prefix": "/annotate"}, ""),
        ("203.0.113.7", {"X-Forwarded-Prefix": "/annotate", "X-Forwarded-For": "198.51.100.1"}, ""),
        *[
            ("127.0.0.1", {"X-Forwarded-Prefix": prefix}, "")
            for prefix in ("", "/", "//evil.example", "annotate", "/a b", "/..", '/a"onclick="', "/clips", "/grade/x")
        ],
    ],
)
def test_without_a_setting_the_prefix_of_a_trusted_proxy_counts(
    app: Any, peer: str, headers: dict[str, str], base: str
) -> None:
    answer = below(app, "", (peer, 40000)).get("/grade", headers=headers)
    assert answer.headers["location"] == f"{base}/session/sign-in?next=/grade"


def test_nothing_changes_for_an_app_that_has_its_host_for_itself(app: Any) -> None:
    asked = {"path": "/session/sign-in", "headers": {"Cookie": "reelrank_csrf=abcdefghijklmnopqrstuvwx"}}
    with_middleware, without = (
        TestClient(one, "http://testserver", client=PROXY).get(asked["path"], headers=asked["headers"])
        for one in (below(app, "").app, app)
    )
    assert with_middleware.content == without.content
    assert with_middleware.headers == without.headers


def test_no_page_or_script_names_an_address_without_the_base_path() -> None:
    """What is drawn is looked at in `tests/browser/test_base_path.py`, page by page."""
    import annotate_app

    folder = Path(annotate_app.__file__).parent
    named = re.compile(r"""(?:href|src|action)=\\?["']/|fetch\(["'`]/|\]\(/""")
    files = [path for kind in ("py", "js", "html") for path in folder.rglob(f"*.{kind}")]
    assert len(files) > 100
    found = [
        f"{path.name}: {line.strip()}"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("text", ["annotate", "/a//b", "/a b", "/a/../b", "/a?b", "//a", "https://a"])
def test_what_is_no_path_is_no_base_path(text: str) -> None:
    from backend.core.server_options import checked_base_path

    with pytest.raises(ValueError, match="is not a base path"):
        checked_base_path(text)
