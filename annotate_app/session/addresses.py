"""Page addresses, the base path of the app, and the names of its cookies.

All addresses are known before any page is loaded, and `guard.py` rejects all others. Behind a proxy the app may lie
below a path of its host, the base path, such as /annotate in https://lab.example.org/annotate/. The app's own code uses
paths without the base path, such as "/grade". `BasePath` removes the base path from requests, whether or not the proxy
has already done so, and adds it to redirects and to the paths of cookies. Pages add it by `full_path`, and scripts of
components by `fullPath`.

Over https the names of cookies begin with `__Host-`, which a browser accepts only from this very host and only over
https. Below a base path they begin with `__Secure-`, because `__Host-` asks for the path "/". `guard.py` removes these
prefixes from requests, so all other code reads `request.cookies[SESSION_COOKIE]`.
"""

import os
import re
from contextvars import ContextVar
from urllib.parse import parse_qs

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.scriptrunner import get_script_run_ctx
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from annotate_app.language import COOKIE as LANGUAGE_COOKIE
from annotate_app.pages import PAGES
from backend.core.server_options import checked_base_path

BASE_PATH_HEADER = "X-Forwarded-Prefix"
"""Tells a script run the base path. `BasePath` sets it on every request it passes on, and drops any other."""
_base: ContextVar[str | None] = ContextVar("base_path", default=None)

SIGN_IN_PATH = "/session/sign-in"
HEALTH_PATH, READY_PATH = "/healthz", "/readyz"
"""Paths of the health checks; see `annotate_app.server.monitoring`."""
PAGE_PATHS = frozenset(f"/{page.address}" for page in PAGES)
_FORMER = {f"/{old}": (f"/{page.address}", asks) for page in PAGES for old, asks in page.former.items()}
FORMER_PATHS = {old: place for old, place in _FORMER.items() if "?" not in old}
"""Maps each former path of a page to its present path and query."""
_FORMERLY = frozenset(old.partition("?")[0] for old in _FORMER)
OPEN_PREFIXES = ("/session/", "/static/")
"""Paths that need no session: Streamlit's scripts, fonts and health checks, and the sign-in."""
OPEN_PATHS = frozenset(
    {
        *("/_stcore/health", "/_stcore/host-config", "/favicon.png", "/favicon.ico", "/manifest.json"),
        # Streamlit's redirects to an identity provider and back; without a provider both go to the front page.
        *("/auth/login", "/oauth2callback"),
        *(HEALTH_PATH, READY_PATH),
    }
)
CLIP_PREFIXES = ("/clips/", "/examples/", "/practice/", "/describe/videos/", "/moments.mp4", "/moments.webp")
API_PREFIX = "/api/"
"""Paths for programs: a personal token opens them, and no cookie does."""
MACHINE_PREFIXES = (
    *(API_PREFIX, "/desk/", "/lead/", "/rewriting/", "/describe/", *CLIP_PREFIXES),
    *("/_stcore/", "/media/", "/component/", "/app/"),
)
"""Paths that scripts and <video> elements request, and nobody types into an address bar."""
_HEADER = BASE_PATH_HEADER.lower().encode()
_COOKIE_PATH = re.compile(r"(;\s*path=)/(?=\s*(?:;|$))", re.IGNORECASE)


def use_base_path(base: str) -> None:
    """Set the base path for the current request: `full_path` puts it before all addresses in the answer."""
    _base.set(base)


def base_path() -> str:
    """Return the path of the host below which the app lies, such as "/annotate"; "" if it is the host's root."""
    base = _base.get()
    if base is None:
        base = ""
        if get_script_run_ctx(suppress_warning=True) is not None:
            base = st.context.headers.get(BASE_PATH_HEADER, "")
            use_base_path(base)  # a script run has a thread of its own
    return base


def full_path(path: str) -> str:
    """Return a path of the app, such as "/grade", with the base path, as browsers request it: "/annotate/grade"."""
    return base_path() + path


def has_moved(path: str) -> bool:
    """Return whether a page was once at `path`; where it is now, `moved_to` says."""
    return path.rstrip("/") in _FORMERLY


def moved_to(path: str, query: str) -> str | None:
    """Return the new address of a page that was once at `path`; None if no page has moved from there.

    `query` is the query string of the request, which is kept.

    >>> moved_to("/disagreements", "show=notes"), moved_to("/disputes", "show=notes"), moved_to("/exam", "trial=a")
    ('/disputes?show=notes', None, '/calibration?trial=a')
    """
    path = path.rstrip("/")
    former_addresses = (path, *(f"{path}?{name}" for name in parse_qs(query)))
    place = next((_FORMER[old] for old in former_addresses if old in _FORMER), None)
    if place is None:
        return None
    new_query = "&".join(filter(None, (place[1], query)))
    return f"{place[0]}?{new_query}" if new_query else place[0]


def is_own_path(path: str) -> bool:
    """Return whether the first part of a path belongs to one of the app's pages or routes.

    Such a path cannot be the base path, because requests below it would be ambiguous.

    >>> is_own_path("/clips"), is_own_path("/my-work/lab"), is_own_path("/annotate")
    (True, True, False)
    """
    own = (*PAGE_PATHS, *FORMER_PATHS, *OPEN_PREFIXES, *OPEN_PATHS, *MACHINE_PREFIXES)
    return path.split("/")[1:2] in [prefix.split("/")[1:2] for prefix in own]


def path_within(base: str, path: str) -> str:
    """Return a path without the base path `base`; a path that does not begin with it is returned unchanged.

    >>> path_within("/annotate", "/annotate/grade"), path_within("/annotate", "/annotate"), path_within("/a", "/ab")
    ('/grade', '/', '/ab')
    """
    if base and (path == base or path.startswith(f"{base}/")):
        return path[len(base) :] or "/"
    return path


class BasePath:
    """ASGI middleware, outermost, that removes the base path from requests and adds it to responses.

    `base` is the base path that the server was started with. If it is empty, the header `X-Forwarded-Prefix` of a proxy
    gives the base path, provided that uvicorn trusts the proxy.
    """

    def __init__(self, app: ASGIApp, base: str, trusted: str | None = None) -> None:
        self._app = app
        self._base = base
        hosts = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1") if trusted is None else trusted
        self._trusted = ProxyHeadersMiddleware(app, hosts).trusted_hosts  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request without the base path, and add the base path to the response."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = [header for header in scope["headers"] if header[0] != _HEADER]
        base = self._base or (self._forwarded(scope) if len(headers) < len(scope["headers"]) else "")
        use_base_path(base)
        if not base:
            await self._app({**scope, "headers": headers}, receive, send)
            return
        if scope["type"] == "http" and scope["path"] == base:
            # The links in Streamlit's page are relative to the last slash of the page's own address.
            query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            await RedirectResponse(f"{base}/{query}", 307)(scope, receive, send)
            return
        headers.append((_HEADER, base.encode()))
        path, raw = path_within(base, scope["path"]), path_within(base, scope.get("raw_path", b"").decode("latin-1"))
        inner = {**scope, "path": path, "raw_path": raw.encode("latin-1"), "headers": headers}
        await self._app(inner, receive, _below(base, send))

    def _forwarded(self, scope: Scope) -> str:
        """Return the base path that a trusted proxy sent in a header; "" if there is none.

        If uvicorn trusts `X-Forwarded-For`, it has already replaced the proxy's address. Somebody who bypasses the
        proxy and sends both headers only changes the addresses in their own responses.
        """
        headers = Headers(scope=scope)
        prefix = headers.get(BASE_PATH_HEADER)
        if not prefix or scope.get("client") is None:
            return ""
        client, forwarded = scope["client"][0], ", ".join(headers.getlist("x-forwarded-for"))
        if client not in self._trusted and (
            not forwarded or client != self._trusted.get_trusted_client_address(forwarded)[0]
        ):
            return ""
        try:
            base = checked_base_path(prefix)
        except ValueError:
            return ""
        return "" if is_own_path(base) else base


def _below(base: str, send: Send) -> Send:
    """Return a `send` that adds the base path to the redirects and cookie paths of a response."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            location = headers.get("location", "")
            if location.startswith("/") and not location.startswith("//"):
                headers["location"] = base + location
            message["headers"] = [
                (name, _COOKIE_PATH.sub(rf"\g<1>{base}", value.decode("latin-1")).encode("latin-1"))
                if name.lower() == b"set-cookie"
                else (name, value)
                for name, value in headers.raw
            ]
        await send(message)

    return sender


SESSION_COOKIE = "reelrank_session"
CSRF_COOKIE = "reelrank_csrf"
BROWSER_COOKIE = "reelrank_browser"
"""Cookie that identifies a browser on which somebody has signed in. It grants no access. Sign-ins from such a browser
are not slowed down by wrong passwords that others send."""
_OURS = "reelrank_"
_HOST, _SECURE = "__Host-", "__Secure-"


def is_secure(scope: Scope) -> bool:
    """Return whether a request or websocket came over TLS, to this server or to a proxy that it trusts."""
    return scope.get("scheme") in ("https", "wss")


def name_sent(scope: Scope, name: str) -> str:
    """Return the name under which a browser stores one of the app's cookies: over https, with a prefix.

    The language cookie has no prefix: it grants no access, and people keep their choice after an upgrade.

    >>> name_sent({"scheme": "https"}, "reelrank_session"), name_sent({"scheme": "http"}, "reelrank_session")
    ('__Host-reelrank_session', 'reelrank_session')
    """
    if not is_secure(scope) or name == LANGUAGE_COOKIE:
        return name
    return (_SECURE if base_path() else _HOST) + name


def set_cookie(
    request: HTTPConnection, response: Response, name: str, value: str, *, max_age_s: int | None, strict: bool
) -> None:
    """Set a cookie that no script can read.

    Args:
        request: if it came over https, the cookie is `Secure` and its name gets a prefix (see `name_sent`).
        response: the response that sets the cookie.
        name: the cookie's name without that prefix; it begins with `reelrank_`.
        value: any text that a cookie can hold.
        max_age_s: seconds that the browser keeps the cookie; None until the browser is closed.
        strict: True for SameSite=strict, so that links on other sites do not send the cookie; False for lax.
    """
    response.set_cookie(
        name_sent(request.scope, name),
        value,
        max_age=max_age_s,
        path="/",
        httponly=True,
        secure=is_secure(request.scope),
        samesite="strict" if strict else "lax",
    )


def delete_cookie(request: HTTPConnection, response: Response, name: str) -> None:
    """Make the browser forget a cookie that `set_cookie` set."""
    secure = is_secure(request.scope)
    response.delete_cookie(name_sent(request.scope, name), path="/", httponly=True, secure=secure, samesite="lax")


def with_plain_names(scope: Scope) -> Scope:
    """Return the scope with the prefixes removed from the names of the app's cookies, and without possibly forged ones.

    Over https, a cookie of the app without its prefix (see `name_sent`) is dropped. It may come from another host of
    the domain, or from somebody who altered a page sent by http.

    Below a base path, only the first of several cookies with the same name is kept. A browser sends the one with the
    longest path first, and another app of this host may have set the others for "/". Cookies of other apps stay
    unchanged.
    """
    headers = [(name, _plain(value, scope) if name == b"cookie" else value) for name, value in scope["headers"]]
    return {**scope, "headers": headers}


def _plain(header: bytes, scope: Scope) -> bytes:
    cookies: list[str] = []
    names: set[str] = set()
    for pair in header.decode("latin-1").split(";"):
        name, equals, value = pair.partition("=")
        # Starlette strips the name too: without this, a name with extra spaces would pass the check.
        plain = name.strip().removeprefix(_HOST).removeprefix(_SECURE)
        if equals and plain.startswith(_OURS):
            if name.strip() != name_sent(scope, plain) or (plain in names and base_path()):
                continue
            names.add(plain)
            pair = f"{plain}={value}"
        cookies.append(pair.strip())
    return "; ".join(cookies).encode("latin-1")
