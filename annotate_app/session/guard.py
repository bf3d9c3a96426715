"""ASGI middleware that rejects requests and websockets without a session of a signed-in user.

`Guard` wraps the whole app and stores the signed-in user in the request's scope, where the routes find them. Under
/api/ a personal token takes the place of the session: cookies do not count there, and tokens count nowhere else.

The guard adds the security headers to every response, the Content-Security-Policy among them. It also turns errors that
routes raise into responses: 403 for what this user may not do, 429 for too many requests, 503 if the database is
unavailable, 507 if there is no room for a clip. `websocket.py` checks the messages of a websocket.
"""

import logging
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import streamlit
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.media_file_storage import MediaFileStorageError

from annotate_app.language import chosen, marked, tr, translate_message, use
from annotate_app.session.addresses import (
    API_PREFIX,
    CLIP_PREFIXES,
    CSRF_COOKIE,
    MACHINE_PREFIXES,
    OPEN_PATHS,
    OPEN_PREFIXES,
    PAGE_PATHS,
    SESSION_COOKIE,
    SIGN_IN_PATH,
    has_moved,
    is_secure,
    moved_to,
    set_cookie,
    with_plain_names,
)
from annotate_app.session.bearer import Bearers
from annotate_app.session.plain_pages import gone_page, not_found_page, too_many_pages, unavailable_page
from annotate_app.session.request_limits import (
    MOST_AT_ONCE,
    MOST_CLIPS_AT_ONCE,
    MOST_PROGRAMS_AT_ONCE,
    RequestLimits,
    TooMuch,
)
from annotate_app.session.threads import in_thread
from annotate_app.session.websocket import Pages
from backend.campaign.nouns import Person
from backend.campaign.setup.people.permissions import lead_of, person_for
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.tokens.model import PersonalToken, TokenScope
from backend.campaign.setup.tokens.personal_tokens import limited_to
from backend.core.errors import NoRoom, NotAllowed, ReelRankError, StorageUnavailable, StoreUnavailable, TextRefused

_UPLOADS = "/_stcore/upload_file/"

_NO_VIDEO_NOW = marked("The storage of the videos cannot be reached just now. Nothing is lost.")
_NO_ROOM = marked(
    "The server's disk is full, so this clip cannot be made just now. Your lead is told, nothing "
    "is lost, and it goes on by itself once there is room."
)
_SCOPE_KEY, _TOKEN_KEY = "reelrank.person", "reelrank.token"
_NO_TOKEN = marked("This request needs a personal token that works, in the header Authorization.")
_READS_ONLY = marked("This token may only read.")
HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
HTTPS_ONLY = "max-age=31536000"
"""Value of Strict-Transport-Security: a browser that used https once uses only https for a year."""
_TWO_LENGTHS = JSONResponse(
    {"message": "A request has either Content-Length or Transfer-Encoding, not both."}, 400, {"Connection": "close"}
)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Streamlit's metrics, and its interface for programs that operate a page: this app offers neither.
_CLOSED_PREFIXES = ("/_stcore/metrics", "/_stcore/agent/")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ELSEWHERE = "https: http:"
"""Sources that the policy allows where browsers are redirected to a bucket for clips, whose host is not known here."""


def person_of(connection: HTTPConnection) -> Person:
    """Return the signed-in user who sent a request. `Guard` has stored it in the request."""
    person: Person = connection.scope[_SCOPE_KEY]
    return person


def token_of(connection: HTTPConnection) -> PersonalToken:
    """Return the personal token of a request under /api/ that passed the guard. `person_of` returns its owner."""
    token: PersonalToken = connection.scope[_TOKEN_KEY]
    return token


def is_own_page(connection: HTTPConnection) -> bool:
    """Return whether a request comes from a page of this server, according to the browser's headers.

    Old browsers and tools may send no such header. Then the answer is True, so callers also check a custom header or a
    token.
    """
    headers = connection.headers
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    scheme = "https" if is_secure(connection.scope) else "http"
    return headers.get("origin") in (None, f"{scheme}://{headers.get('host')}")


class Guard:
    """ASGI middleware that lets only signed-in users reach the app.

    `project` returns the open project. It is called for each request, so the app can be built before its project is
    open.
    """

    def __init__(self, app: ASGIApp, project: Callable[[], Project]) -> None:
        self._app = app
        self._project = project
        self._limits = RequestLimits()
        self._pages = Pages()
        self._bearers = Bearers(project)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app if its user is signed in; otherwise answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope = with_plain_names(scope)
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        use(chosen(connection.cookies, connection.headers))
        path = scope["path"]
        is_open = path in OPEN_PATHS or path.startswith(OPEN_PREFIXES)
        send = self._with_headers(send, connection, is_open)
        if _has_two_lengths(scope):
            await _TWO_LENGTHS(scope, receive, send)
            return
        if has_moved(path) and (new_address := moved_to(path, connection.url.query)) is not None:
            await RedirectResponse(new_address, 308)(scope, receive, send)
            return
        try:
            if path.startswith(API_PREFIX):
                token = await self._bearers.token_of(connection)
                if token is None:
                    refusal = JSONResponse({"message": tr(_NO_TOKEN)}, 401, {"WWW-Authenticate": "Bearer"})
                    await refusal(scope, receive, send)
                    return
                if scope["method"] not in _SAFE_METHODS:
                    send = self._delaying_refusals(send, token.owner)
                await self._answer_program(token, scope, receive, send)
                return
            if not is_open:
                person = await self._person(connection)
                if not _is_known_path(path):
                    await not_found_page(path, person)(scope, receive, send)
                    return
                if person is None:
                    await self._refusal(connection)(scope, receive, send)
                    return
                if scope["method"] not in _SAFE_METHODS:
                    send = self._delaying_refusals(send, person)
                    if not is_own_page(connection):
                        raise NotAllowed("This request did not come from a page of this server.")
                as_lead = partial(in_thread, lead_of, self._project(), person)
                if path.startswith(_UPLOADS):
                    await as_lead()
                scope[_SCOPE_KEY] = person
                if not path.startswith(MACHINE_PREFIXES) and self._pages.are_too_many(person):
                    await too_many_pages(self._pages.most(person))(scope, receive, send)
                    return
                if path.startswith(_MEDIA_PREFIX):
                    await _answer_media(self._app, person, as_lead, scope, receive, send)
                    return
                if scope["method"] == "POST" or path.startswith(CLIP_PREFIXES):
                    most = MOST_AT_ONCE if scope["method"] == "POST" else MOST_CLIPS_AT_ONCE
                    with self._limits.under_way(person.annotator_id, most):
                        await self._app(scope, receive, send)
                    return
            await self._app(scope, receive, send)
        except ClientDisconnect:
            pass  # nobody is there to be answered
        except TextRefused as refusal:
            await JSONResponse({"message": translate_message(refusal)}, 400)(scope, receive, send)
        except NotAllowed as refusal:
            await JSONResponse({"message": translate_message(refusal)}, 403)(scope, receive, send)
        except TooMuch as refusal:
            wait = {"Retry-After": str(refusal.wait_s)}
            await JSONResponse({"message": str(refusal)}, 429, wait)(scope, receive, send)
        except NoRoom:
            await JSONResponse({"message": tr(_NO_ROOM)}, 507)(scope, receive, send)
        except StorageUnavailable:
            await JSONResponse({"message": tr(_NO_VIDEO_NOW)}, 507)(scope, receive, send)
        except StoreUnavailable as error:
            # No response has started yet: routes use the database before they send files.
            await _unavailable(path, translate_message(error))(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        try:
            person = await self._person(connection)
        except StoreUnavailable:
            await refuse(receive, send, 1013, "the database cannot be used just now")
            return
        if not is_own_page(connection):
            await refuse(receive, send, 1008, "another site")
        elif person is None:
            await refuse(receive, send, 1008, "signed out")
        elif self._pages.are_too_many(person):
            await refuse(receive, send, 1013, "too many pages are open")
        else:
            await self._pages.serve(self._app, person, connection.cookies[SESSION_COOKIE], scope, receive, send)

    async def _answer_program(self, token: PersonalToken, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer a request below /api/ with a valid token. The token and cookies are not passed to it."""
        if scope["method"] not in _SAFE_METHODS and token.scope is TokenScope.READ:
            raise NotAllowed(tr(_READS_ONLY))
        headers = [header for header in scope["headers"] if header[0] not in (b"authorization", b"cookie")]
        scope = {**scope, "headers": headers, _SCOPE_KEY: token.owner, _TOKEN_KEY: token}
        with self._limits.under_way(token.owner.annotator_id, MOST_PROGRAMS_AT_ONCE), limited_to(token.scope):
            await self._app(scope, receive, send)

    async def _person(self, connection: HTTPConnection) -> Person | None:
        token = connection.cookies.get(SESSION_COOKIE)
        if not token:
            return None
        return await in_thread(person_for, self._project(), token, now=time.time())

    def _with_headers(self, send: Send, connection: HTTPConnection, is_open: bool) -> Send:
        async def sender(message: Message) -> None:
            if message["type"] == "http.response.start":
                clips_elsewhere = self._project().settings.clips.signed_s > 0
                present = {name for name, _ in message["headers"]}
                added = [
                    header
                    for header in _raw_headers(clips_elsewhere, secure=is_secure(connection.scope))
                    if header[0] not in present
                ]
                if _lacks_csrf(connection, is_open):
                    cookies = Response()
                    set_cookie(connection, cookies, CSRF_COOKIE, secrets.token_urlsafe(24), max_age_s=None, strict=True)
                    added.append((b"set-cookie", cookies.headers["set-cookie"].encode("latin-1")))
                message["headers"] = [*message["headers"], *added]
            await send(message)

        return sender

    def _delaying_refusals(self, send: Send, person: Person) -> Send:
        async def sender(message: Message) -> None:
            if message["type"] == "http.response.start" and 400 <= message["status"] < 500:
                await self._limits.delay_refusal(person.annotator_id)
            await send(message)

        return sender

    @staticmethod
    def _refusal(connection: HTTPConnection) -> Response:
        path = connection.url.path
        if connection.scope["method"] in ("GET", "HEAD") and not path.startswith(MACHINE_PREFIXES):
            target = path + (f"?{connection.url.query}" if connection.url.query else "")
            back = "" if target == "/" else f"?next={quote(target)}"
            return RedirectResponse(SIGN_IN_PATH + back, 303)
        return JSONResponse({"message": tr("You are signed out. Sign in again to go on.")}, 401)


def _lacks_csrf(connection: HTTPConnection, is_open: bool) -> bool:
    """Return whether the response to a page request has to set the CSRF cookie, because the browser has none yet.

    The answer is False if `is_open`, that is, if the path needs no session. The sign-out form is part of a Streamlit
    page, so its token must exist before the page opens its websocket.
    """
    machine = connection.scope["path"].startswith(MACHINE_PREFIXES)
    return not (is_open or machine or CSRF_COOKIE in connection.cookies)


def _has_two_lengths(scope: Scope) -> bool:
    """Return whether a request states the length of its body in two ways.

    A proxy may use one length and this server the other. Then the proxy sees one request where this server sees two.
    """
    return {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}


async def refuse(receive: Receive, send: Send, code: int, reason: str) -> None:
    """Refuse to open a websocket: close it with this code and reason."""
    await receive()
    await send({"type": "websocket.close", "code": code, "reason": reason})


def _is_known_path(path: str) -> bool:
    """Return whether a path belongs to a page or a route. Streamlit answers any other path with its front page."""
    if path.startswith(_CLOSED_PREFIXES):
        return False
    return path == "/" or path.rstrip("/") in PAGE_PATHS or path.startswith(MACHINE_PREFIXES)


def _unavailable(path: str, message: str) -> Response:
    """Return a 503 response with this message: JSON for requests of scripts, otherwise a plain page."""
    if path.startswith(MACHINE_PREFIXES):
        return JSONResponse({"message": message}, 503, {"Retry-After": "5", "Cache-Control": "no-store"})
    return unavailable_page(message)


@cache
def _raw_headers(clips_elsewhere: bool, *, secure: bool) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers for all responses that do not set them themselves, as ASGI sends them: names in lower case.

    Args:
        clips_elsewhere: whether clips may come from a storage bucket.
        secure: whether the request came over TLS.
    """
    headers = HEADERS | {"Content-Security-Policy": page_policy(clips_elsewhere)}
    if secure:
        headers["Strict-Transport-Security"] = HTTPS_ONLY
    return tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items())


@cache
def page_policy(clips_elsewhere: bool) -> str:
    """Return the Content-Security-Policy for all responses that do not set their own.

    Scripts come from this server: Streamlit's files, the one inline script in its page, allowed by its hash, and our
    components, which Streamlit loads from `blob:` URLs. Inline styles are allowed, because Streamlit writes them. Apart
    from clips, nothing is loaded from or sent to other hosts. No other site may show our pages in a frame.

    Args:
        clips_elsewhere: whether clips may come from a storage bucket. Its host is not known here, so any host may then
            send media and receive requests.
    """
    elsewhere = [_ELSEWHERE] * clips_elsewhere
    allowed = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *_digests(), "blob:"],
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "media-src": ["'self'", "blob:", *elsewhere],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'", *elsewhere],
        "worker-src": ["'self'", "blob:"],
        "manifest-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'self'"],
        "object-src": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in allowed.items())


def _digests() -> list[str]:
    """Return the hashes of the inline scripts in Streamlit's page, in the form of a Content-Security-Policy source."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in _INLINE.findall(page)]


_MEDIA_PREFIX = "/media/"
_LOG = logging.getLogger(__name__)
_MAKING = "streamlit.runtime.backend_operation_handler"
"""Name of the logger that reports a download button's file that Streamlit could not make."""


async def _answer_media(
    app: ASGIApp, person: Person, as_lead: Callable[[], Awaitable[object]], scope: Scope, receive: Receive, send: Send
) -> None:
    """Send a file that Streamlit keeps for a page, if it still exists and this user may download it.

    All downloads of this app are for leads. The other files are images in the page header, for all signed-in users. A
    file's name is a hash of its content, so the same address works for everybody who knows it. Therefore the user's
    role decides: `as_lead` raises an error unless they are a lead.

    Raises:
        NotAllowed: the user is not a lead; nothing is sent yet.
    """
    gone = False

    async def sender(message: Message) -> None:
        nonlocal gone
        if message["type"] == "http.response.start":
            gone = message["status"] == 404
            if Headers(raw=message["headers"]).get("content-disposition", "").startswith("attachment"):
                await as_lead()
        if not gone:
            await send(message)

    await app(scope, receive, sender)
    if gone:
        await gone_page(person)(scope, receive, send)


def shorten_download_errors() -> None:
    """Make Streamlit log one line, not a traceback, if a download fails because its page was closed or access was lost.

    Neither is an error of the server. Other errors are logged as before.
    """
    logging.getLogger(_MAKING).addFilter(_is_error)


def _is_error(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, MediaFileStorageError):
        return True
    if error.__cause__ is not None and not isinstance(error.__cause__, ReelRankError):
        return True  # making the file failed, and the record says why
    _LOG.warning("A file for download was asked for and not made: %s", error)
    return False
