"""Signing in, signing out and accepting an invitation: plain HTML pages without scripts.

Checking a password is meant to be slow (argon2), so it runs in a thread, two at a time; the event loop goes on.
"""

import hmac
import re
import secrets
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from string import Template

import anyio
import anyio.to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.attempts import Attempts
from annotate_app.auth import CSRF_COOKIE, SESSION_COOKIE, SIGN_IN_PATH
from annotate_app.bodies import form
from annotate_app.guard import is_own_page, set_cookie
from backend import api
from backend.core.errors import ReelRankError, SignInRefused, StoreUnavailable

_HERE = Path(__file__).parent
_PAGE = Template((_HERE / "sign_in.html").read_text(encoding="utf-8"))
_ASSETS = {"sign_in.css": "text/css", "mark.svg": "image/svg+xml"}
_CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_DAY_S = 86_400
_SIGN_IN_HELP = "No name or password yet? Ask the lead of your project for an invitation."
_INVITED_HELP = "From then on you sign in with this name and your password."
STALE = "This page was open for too long. Please try again."


class Sessions:
    """The routes under /session/; `project` is called late, `clock` gives seconds since 1970."""

    def __init__(self, project: Callable[[], api.Project], clock: Callable[[], float] = time.time) -> None:
        self._project = project
        self._clock = clock
        self._attempts = Attempts(clock)
        self._hashing: anyio.CapacityLimiter | None = None

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/session/sign-in", self.sign_in, methods=["GET", "POST"]),
            Route("/session/sign-out", self.sign_out, methods=["POST"]),
            Route("/session/invitation/{invitation}", self.invitation, methods=["GET", "POST"]),
            Route("/session/{asset}", _asset),
        ]

    async def sign_in(self, request: Request) -> Response:
        """The sign-in page, and what its button does."""
        if request.method != "POST":
            return _sign_in_page(request, next_path=_safe_path(request.query_params.get("next")))
        fields = await form(request)
        name, next_path = fields.get("name", "").strip(), _safe_path(fields.get("next"))
        if not _is_ours(request, fields):
            return _sign_in_page(request, name=name, next_path=next_path, error=STALE, status=403)
        address = request.client.host if request.client else ""
        wait_s = self._attempts.begin(name, address)
        if wait_s:
            return _sign_in_page(
                request, name=name, next_path=next_path, error=_too_many(wait_s), status=429, wait_s=wait_s
            )
        try:
            token = await self._slowly(
                lambda: api.sign_in(self._project(), name, fields.get("password", ""), now=self._clock())
            )
        except SignInRefused as refusal:
            return _sign_in_page(request, name=name, next_path=next_path, error=str(refusal), status=401)
        except StoreUnavailable as error:
            return _sign_in_page(request, name=name, next_path=next_path, error=str(error), status=503)
        self._attempts.succeeded(name, address)
        return _signed_in(request, token, next_path)

    async def sign_out(self, request: Request) -> Response:
        """Ends the session and returns the person's seats."""
        fields = await form(request)
        if not _is_ours(request, fields):
            return _sign_in_page(request, error=STALE, status=403)
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await run_in_threadpool(api.sign_out, self._project(), token, now=self._clock())
        response = RedirectResponse(SIGN_IN_PATH, 303)
        response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="lax")
        return response

    async def invitation(self, request: Request) -> Response:
        """Choosing a password with a one-time link; a used-up link says what to do."""
        invitation = request.path_params["invitation"]
        person = await run_in_threadpool(api.invited, self._project(), invitation, now=self._clock())
        if person is None:
            gone = "This invitation was used already or has been replaced. Ask your lead for a new one."
            return _sign_in_page(request, error=gone, status=410)
        if request.method != "POST":
            return _invitation_page(request, person.name)
        fields = await form(request)
        password = fields.get("password", "")
        problem, status = "", 422
        if not _is_ours(request, fields):
            problem, status = STALE, 403
        elif len(password) < api.PASSWORD_LENGTH:
            problem = f"Choose a password of at least {api.PASSWORD_LENGTH} characters."
        elif password != fields.get("again"):
            problem = "The two passwords are not the same. Please type them again."
        if problem:
            return _invitation_page(request, person.name, error=problem, status=status)
        try:
            token = await self._slowly(
                lambda: api.accept_invitation(self._project(), invitation, password, now=self._clock())
            )
        except StoreUnavailable as error:
            return _invitation_page(request, person.name, error=str(error), status=503)
        except ReelRankError as refusal:
            return _sign_in_page(request, name=person.name, error=str(refusal), status=401)
        return _signed_in(request, token, "/")

    async def _slowly(self, check: Callable[[], str]) -> str:
        # A limiter belongs to the event loop it is first used in, so it is not made at import.
        self._hashing = self._hashing or anyio.CapacityLimiter(2)
        return await anyio.to_thread.run_sync(check, limiter=self._hashing)


def _sign_in_page(
    request: Request,
    *,
    name: str = "",
    next_path: str = "/",
    error: str = "",
    status: int = 200,
    wait_s: int = 0,
) -> Response:
    fields = (
        _field("Name", "name", "text", "username", value=name, focus=not name)
        + _field("Password", "password", "password", "current-password", focus=bool(name))
        + f'<input type="hidden" name="next" value="{escape(next_path)}">'
    )
    response = _page(request, SIGN_IN_PATH, "Sign in", "", fields, "Sign in", error, status)
    if wait_s:
        response.headers["Retry-After"] = str(wait_s)
    return response


def _invitation_page(request: Request, name: str, *, error: str = "", status: int = 200) -> Response:
    fields = _field("Password", "password", "password", "new-password", focus=True) + _field(
        "The same again", "again", "password", "new-password"
    )
    lead = f"Choose a password for <b>{escape(name)}</b>, at least {api.PASSWORD_LENGTH} characters long."
    return _page(request, request.url.path, "Welcome", lead, fields, "Save and sign in", error, status)


def _page(
    request: Request, action: str, title: str, lead: str, fields: str, button: str, error: str, status: int
) -> Response:
    token = request.cookies.get(CSRF_COOKIE, "")
    is_new = not re.fullmatch(r"[\w-]{20,64}", token)
    if is_new:
        token = secrets.token_urlsafe(24)
    fields += f'<input type="hidden" name="csrf" value="{token}">'
    html = _PAGE.substitute(
        action=escape(action),
        title=title,
        lead=f'<p class="lead">{lead}</p>' if lead else "",
        # Always there: a screen reader announces text that appears in an alert it already knows.
        error=f'<p class="error" role="alert">{escape(error)}</p>' if error else '<p role="alert" hidden></p>',
        fields=fields,
        button=button,
        help=_INVITED_HELP if action != SIGN_IN_PATH else _SIGN_IN_HELP,
    )
    headers = {"Content-Security-Policy": _CSP, "Cache-Control": "no-store"}
    response = Response(html, status, headers, "text/html")
    if is_new:
        secure = request.url.scheme == "https"
        set_cookie(response, CSRF_COOKIE, token, secure=secure, max_age_s=_DAY_S, strict=True)
    return response


def _field(label: str, name: str, kind: str, autocomplete: str, value: str = "", focus: bool = False) -> str:
    return (
        f'<label>{label}<input name="{name}" type="{kind}" autocomplete="{autocomplete}" required '
        f'autocapitalize="none" spellcheck="false" value="{escape(value)}"{" autofocus" if focus else ""}></label>'
    )


def _signed_in(request: Request, token: str, path: str) -> Response:
    response = RedirectResponse(path, 303)
    secure = request.url.scheme == "https"
    set_cookie(response, SESSION_COOKIE, token, secure=secure, max_age_s=int(api.SESSION_S), strict=False)
    return response


def _is_ours(request: Request, fields: dict[str, str]) -> bool:
    """Double submit: the form repeats a cookie that another site can neither read nor send along."""
    cookie, sent = request.cookies.get(CSRF_COOKIE, ""), fields.get("csrf", "")
    same = hmac.compare_digest(cookie.encode(), sent.encode())
    return bool(cookie) and same and is_own_page(request.headers)


def _safe_path(path: str | None) -> str:
    """A path of this server to go on to; anything that could lead elsewhere becomes the front page."""
    if path and re.fullmatch(r"/(?![/\\])[^\\\s]*", path) and not path.startswith("/session/"):
        return path
    return "/"


def _too_many(wait_s: int) -> str:
    wait = f"{wait_s} seconds" if wait_s < 90 else f"{-(-wait_s // 60)} minutes"
    return f"Too many attempts. Please wait {wait} and try again."


async def _asset(request: Request) -> Response:
    name = request.path_params["asset"]
    if name not in _ASSETS:
        return Response("There is no such page.", 404, media_type="text/plain")
    return FileResponse(_HERE / name, headers={"Cache-Control": "max-age=3600"}, media_type=_ASSETS[name])
