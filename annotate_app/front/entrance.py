"""Sign people in to all their campaigns at once, where one server has several: `reelrank serve FOLDER`.

Each campaign keeps its own accounts, and is served by processes of its own below the name of its folder. The entrance
tries a name and password at each campaign, as that campaign's own sign-in page would, and starts a session of its own
in each that accepts them. A campaign gets only the cookie of its own session, by the cookie's path. The entrance has a
copy of each below its own path, so it can list the campaigns and end all sessions.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from annotate_app.front import handover
from annotate_app.front.handover import Handover, HomeProcess
from annotate_app.language import chosen, tr, translate_message, use
from annotate_app.server import server_process
from annotate_app.session.addresses import (
    HEALTH_PATH,
    READY_PATH,
    SESSION_COOKIE,
    SIGN_IN_PATH,
    BasePath,
    delete_cookie,
    is_secure,
    name_sent,
    path_within,
    set_cookie,
    with_plain_names,
)
from annotate_app.session.first_project import with_headers
from annotate_app.session.plain_pages import campaigns_page, language_routes, not_found_page, sign_in_page
from annotate_app.session.request_limits import TooMuch, form, source_of, too_many
from annotate_app.session.routes import ASSETS, STALE, Sessions, is_ours
from annotate_app.session.threads import in_thread
from backend.campaign.judging.staffing import sign_out
from backend.campaign.nouns import Person
from backend.campaign.setup.people.permissions import REFUSED, SESSION_S, has_account, person_for, sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.shared_state import attempt_succeeded, begin_attempt
from backend.core.errors import SignInRefused, StoreUnavailable
from backend.core.server_options import ENTRANCE_PATH

SIGN_OUT_PATH = "/session/sign-out"


class Entrance(Sessions):
    """Routes of the entrance. `projects` maps the name of each campaign's folder, which its path begins with, to it."""

    def __init__(self, projects: Mapping[str, Project]) -> None:
        super().__init__(lambda: next(iter(projects.values())))
        self._projects = projects

    def app(self, received: Handover | None) -> ASGIApp:
        """Return the app of the entrance, below its path; `received` says how connections come, if not at a port."""

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            server_process.limit_shutdown_time(received.stop if received else lambda: None)
            yield

        routes = [
            Route("/", self.show),
            Route(SIGN_IN_PATH, self.enter, methods=["GET", "POST"]),
            Route(SIGN_OUT_PATH, self.leave, methods=["POST"]),
            *language_routes(is_ours, lambda _path: "/"),
            *(Route(f"/session/{name}", self.asset, name=name) for name in ASSETS),
            Route("/{path:path}", self.nothing),
        ]
        middleware = [Middleware(_Outside), Middleware(BasePath, base=ENTRANCE_PATH, trusted="")]
        if received:
            middleware.append(Middleware(HomeProcess, handover=received))
        return Starlette(routes=routes, middleware=[*middleware, Middleware(_Plain)], lifespan=lifespan)

    async def show(self, request: Request) -> Response:
        """Show the campaigns at which this browser is signed in, or the sign-in page."""
        found = await in_thread(lambda: list(self._sessions(request)))
        if not found:
            return sign_in_page(request)
        people = {name: person for name, _, person in found}
        titles = {f"/{name}/": self._projects[name].name for name in people}
        return campaigns_page(request, titles, next(iter(people.values())).name, SIGN_OUT_PATH)

    async def enter(self, request: Request) -> Response:
        """Try a name and password at each campaign, and sign in at those that accept them."""
        if request.method != "POST":
            return await self.show(request)
        fields = await form(request)
        name, password = fields.get("name", "").strip(), fields.get("password", "")
        if not is_ours(request, fields):
            return sign_in_page(request, name=name, error=tr(STALE), status=403)
        try:
            tokens = await self._tokens(source_of(request), name, password)
        except TooMuch as refusal:
            return sign_in_page(request, name=name, error=str(refusal), status=429, wait_s=refusal.wait_s)
        except StoreUnavailable as error:
            return sign_in_page(request, name=name, error=translate_message(error), status=503)
        if not tokens:
            return sign_in_page(request, name=name, error=translate_message(REFUSED), status=401)
        response = RedirectResponse("/", 303)
        for campaign in self._projects:
            if campaign in tokens:
                self._set(request, response, campaign, tokens[campaign])
            else:  # of somebody else, who used this browser before
                self._delete(request, response, campaign)
        return response

    async def leave(self, request: Request) -> Response:
        """End the sessions at all campaigns that the entrance lists."""
        fields = await form(request)
        if not is_ours(request, fields):
            return sign_in_page(request, error=tr(STALE), status=403)
        for name, token, _ in await in_thread(lambda: list(self._sessions(request))):
            await in_thread(sign_out, self._projects[name], token, now=self._clock())
        response = RedirectResponse("/", 303, {"Clear-Site-Data": '"cache"'})
        for campaign in self._projects:
            self._delete(request, response, campaign)
        return response

    async def nothing(self, request: Request) -> Response:
        """Answer that nothing is at this address."""
        return not_found_page(request.url.path, None)

    def _sessions(self, request: Request) -> Iterator[tuple[str, str, Person]]:
        """Yield the campaign, the token and the user of each session of this browser that the entrance began."""
        for name, project in self._projects.items():
            token = request.cookies.get(_copy(name), "")
            person = person_for(project, token, now=self._clock()) if token else None
            if person is not None:
                yield name, token, person

    async def _tokens(self, source: str, name: str, password: str) -> dict[str, str]:
        """Return the tokens of new sessions, by campaign; empty if no campaign accepts the name and password.

        An attempt counts at the campaigns where somebody has this name, as at their own sign-in pages; if nobody has it
        anywhere, it counts at all. A campaign where too many attempts failed is left out. Each of the others checks the
        password, so the time does not reveal where the name is known.

        Raises:
            TooMuch: nothing was accepted, and a campaign was left out.
        """
        with self._checks.under_way(source):
            now = self._clock()
            delays = await in_thread(self._begin_attempts, source, name, now)
            tried = [campaign for campaign in self._projects if campaign not in delays or not delays[campaign][0]]
            await self._sleep(max((held for _, held in delays.values()), default=0.0))
            tokens = await self._checks.check(source, lambda: dict(self._accepted(tried, name, password)))
        for campaign in tokens:
            await in_thread(attempt_succeeded, self._projects[campaign], name, source, None)
        refused_s = max((refused for refused, _ in delays.values()), default=0)
        if not tokens and refused_s:
            raise TooMuch(too_many(refused_s), refused_s)
        return tokens

    def _begin_attempts(self, source: str, name: str, now: float) -> dict[str, tuple[int, float]]:
        known = [campaign for campaign, project in self._projects.items() if has_account(project, name)]
        delays = {
            campaign: begin_attempt(self._projects[campaign], name, source, None, now=now)
            for campaign in known or self._projects
        }
        return {campaign: (delay.refused_s, delay.held_s) for campaign, delay in delays.items()}

    def _accepted(self, campaigns: Sequence[str], name: str, password: str) -> Iterator[tuple[str, str]]:
        for campaign in campaigns:
            try:
                yield campaign, sign_in(self._projects[campaign], name, password, now=self._clock())
            except SignInRefused:
                continue

    @staticmethod
    def _set(request: Request, response: Response, campaign: str, token: str) -> None:
        set_cookie(request, response, _copy(campaign), token, max_age_s=int(SESSION_S), strict=False)
        response.set_cookie(
            name_sent(request.scope, SESSION_COOKIE),
            token,
            max_age=int(SESSION_S),
            path=f"/{campaign}",
            httponly=True,
            secure=is_secure(request.scope),
            samesite="lax",
        )

    @staticmethod
    def _delete(request: Request, response: Response, campaign: str) -> None:
        delete_cookie(request, response, _copy(campaign))
        secure, name = is_secure(request.scope), name_sent(request.scope, SESSION_COOKIE)
        response.delete_cookie(name, path=f"/{campaign}", httponly=True, secure=secure, samesite="lax")


def _copy(campaign: str) -> str:
    """Return the name of the entrance's cookie with the session at a campaign."""
    return f"{SESSION_COOKIE}_{campaign}"


class _Outside:
    """ASGI middleware that answers requests for other paths than the entrance's: health checks, and the host's root."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and path_within(ENTRANCE_PATH, scope["path"]) == scope["path"]:
            answers = {HEALTH_PATH: "ok\n", READY_PATH: "ready\n"}
            response: Response = RedirectResponse(f"{ENTRANCE_PATH}/", 303)
            if scope["path"] != "/":
                content = answers.get(scope["path"])
                response = PlainTextResponse(content or "Nothing is here.\n", 200 if content else 404)
            await response(scope, receive, with_headers(scope, send))
            return
        await self._app(scope, receive, send)


class _Plain:
    """ASGI middleware that chooses the language, gives cookies their plain names, and adds the security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = with_plain_names(scope)
        connection = HTTPConnection(scope)
        use(chosen(connection.cookies, connection.headers))
        await self._app(scope, receive, with_headers(scope, send))


def serve(folders: Sequence[Path]) -> None:
    """Serve the entrance to the projects in these folders until a signal comes.

    Raises:
        SystemExit: this process was not started by the one at the port.
    """
    received = handover.from_environment()
    if received is None:
        sys.exit("the entrance is started by `reelrank serve FOLDER`")
    entrance = Entrance({folder.name: open_project(folder) for folder in folders})

    async def run() -> None:
        server = uvicorn.Server(uvicorn.Config(entrance.app(received), log_config=None, access_log=False, ws="none"))
        received.begin(server)
        await server.serve(sockets=[])

    asyncio.run(run())
