"""Serve the app below a path of its host, such as https://lab.example.org/annotate/, behind a proxy.

No other code handles that path. `BasePath` removes it from requests, whether or not the proxy has stripped it, and
adds it to redirects and cookie paths. Pages get it by `full_path`, and scripts of
components by `fullPath`.
"""

import os
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from annotate_app.session.addresses import BASE_PATH_HEADER, is_own_path, path_within, use_base_path
from backend.core.server_options import checked_base_path

_HEADER = BASE_PATH_HEADER.lower().encode()
_COOKIE_PATH = re.compile(r"(;\s*path=)/(?=\s*(?:;|$))", re.IGNORECASE)


class BasePath:
    """ASGI middleware around everything else.

    `base` is the path that the app was told when it was started. Without one it believes the header
    `X-Forwarded-Prefix` of the proxies whose other headers uvicorn believes.
    """

    def __init__(self, app: ASGIApp, base: str, trusted: str | None = None) -> None:
        self._app = app
        self._base = base
        hosts = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1") if trusted is None else trusted
        self._trusted = ProxyHeadersMiddleware(app, hosts).trusted_hosts  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as if the app had its host for itself."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        base = self._base or self._forwarded(scope)
        use_base_path(base)
        headers = [header for header in scope["headers"] if header[0] != _HEADER]
        if not base:
            await self._app({**scope, "headers": headers}, receive, send)
            return
        if scope["type"] == "http" and scope["path"] == base:
            # The addresses in Streamlit's page begin where the last slash of its own address is.
            query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            await RedirectResponse(f"{base}/{query}", 307)(scope, receive, send)
            return
        headers.append((_HEADER, base.encode()))
        path, raw = path_within(base, scope["path"]), path_within(base, scope.get("raw_path", b"").decode("latin-1"))
        inner = {**scope, "path": path, "raw_path": raw.encode("latin-1"), "headers": headers}
        await self._app(inner, receive, _below(base, send))

    def _forwarded(self, scope: Scope) -> str:
        """Return the path prefix that a trusted proxy sent; "" if there is none.

        When uvicorn believes `X-Forwarded-For`, it has replaced the address of the proxy by then. Somebody who passes
        the proxy by and sends both headers changes nothing but the addresses in their own answers.
        """
        headers = Headers(scope=scope)
        said = headers.get(BASE_PATH_HEADER)
        if not said or scope.get("client") is None:
            return ""
        client, forwarded = scope["client"][0], ", ".join(headers.getlist("x-forwarded-for"))
        if client not in self._trusted and (
            not forwarded or client != self._trusted.get_trusted_client_address(forwarded)[0]
        ):
            return ""
        try:
            base = checked_base_path(said)
        except ValueError:
            return ""
        return "" if is_own_path(base) else base


def _below(base: str, send: Send) -> Send:
    """Put the base path in front of the redirects and cookie paths of an answer."""

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
