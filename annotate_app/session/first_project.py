"""Let the browser create the project, if the server was started with an empty folder.

`reelrank serve` prints a one-time link. The page at that link creates the project and signs in its first lead. Until
then the server offers nothing else. Afterwards this middleware passes all requests on.
"""

import hmac
import os
from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotate_app.language import chosen, use
from annotate_app.session.addresses import HEALTH_PATH, READY_PATH, is_secure, with_plain_names
from annotate_app.session.auth import PROJECT_VARIABLE
from annotate_app.session.guard import HEADERS, HTTPS_ONLY, refuse
from annotate_app.session.plain_pages import first_project_page, language_routes, no_project_page
from annotate_app.session.request_limits import form
from annotate_app.session.routes import ASSETS, Sessions, is_ours, password_problem, safe_path, sentence
from annotate_app.session.threads import in_thread
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.first_project import create_first_project, is_complete
from backend.core.errors import Overtaken, ReelRankError


class FirstProject(Sessions):
    """ASGI middleware that answers all requests itself until somebody creates the project through the one-time link.

    `own` is the address at which the server listens, and `link` the one-time link that was printed.
    """

    def __init__(self, app: ASGIApp, project: Callable[[], Project], own: str, link: str) -> None:
        super().__init__(project)
        self._app = app
        self._own = own
        self._address, _, self._token = link.rpartition("/session/new-project/")
        self._folder = Path(os.environ[PROJECT_VARIABLE])
        self._is_made = False
        self._alone = Starlette(
            routes=[
                Route("/session/new-project/{token}", self.create, methods=["GET", "POST"]),
                *language_routes(is_ours, safe_path),
                *(Route(f"/session/{name}", self.asset, name=name) for name in ASSETS),
                Route(HEALTH_PATH, _healthy),
                Route(READY_PATH, _not_ready),
                Route("/{path:path}", _no_project),
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request here while there is no project; afterwards pass it on to the app."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        self._is_made = self._is_made or await in_thread(is_complete, self._folder)
        if self._is_made and not scope["path"].startswith("/session/new-project/"):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await refuse(receive, send, 1013, "there is no project yet")
        else:
            scope = with_plain_names(scope)
            connection = HTTPConnection(scope)
            use(chosen(connection.cookies, connection.headers))
            await self._alone(scope, receive, with_headers(scope, send))

    async def create(self, request: Request) -> Response:
        """Show the form at the one-time link; on POST, create the project and sign in its first lead."""
        if not hmac.compare_digest(request.path_params["token"], self._token) or self._is_made:
            return no_project_page(self._is_made, 410)
        if request.method != "POST":
            return first_project_page(request)
        fields = await form(request)
        problem, status = password_problem(request, fields)
        if problem:
            return first_project_page(request, fields, error=problem, status=status)
        try:
            token = await in_thread(
                create_first_project,
                self._folder,
                self._own,
                name=fields.get("project", "").strip(),
                scale=fields.get("scale", ""),
                encoder=fields.get("encoder", ""),
                lead=fields.get("name", ""),
                password=fields.get("password", ""),
                public_address="" if self._address == self._own else self._address,
                now=self._clock(),
            )
        except Overtaken:
            return no_project_page(True, 410)
        except ReelRankError as refusal:
            return first_project_page(request, fields, error=sentence(refusal), status=422)
        self._is_made = True
        return await self._signed_in(request, token, "/")


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


async def _not_ready(_request: Request) -> Response:
    return PlainTextResponse("not ready: project\n", 503, {"Cache-Control": "no-store", "Retry-After": "5"})


async def _no_project(_request: Request) -> Response:
    return no_project_page(False, 503)


def with_headers(scope: Scope, send: Send) -> Send:
    """Return a `send` that adds the security headers to the answer to a request."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if is_secure(scope):
                headers.setdefault("Strict-Transport-Security", HTTPS_ONLY)
        await send(message)

    return sender
