"""Routes under /session/: sign-in, sign-out, invitations and the account, as plain HTML pages without scripts.

A password check is slow by design (argon2). It runs in a thread, two at a time, and addresses take turns. Wrong
passwords slow down further attempts, but nobody can lock somebody else out
(`backend.campaign.setup.serving.rules.delay`).
"""

import hmac
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import COOKIE, LANGUAGES, marked, tr, translate_message
from annotate_app.session import oidc, plain_pages
from annotate_app.session.addresses import (
    BROWSER_COOKIE,
    CSRF_COOKIE,
    SESSION_COOKIE,
    SIGN_IN_PATH,
    base_path,
    delete_cookie,
    path_within,
    set_cookie,
)
from annotate_app.session.guard import is_own_page
from annotate_app.session.plain_pages import (
    ACCOUNT_PATH,
    PROGRAMS_PATH,
    TOKENS_PATH,
    TokenSection,
    account_page,
    invitation_page,
    no_project_page,
    not_found_page,
    sign_in_page,
)
from annotate_app.session.request_limits import FairChecks, TooMuch, form, small_number, source_of, too_many
from annotate_app.session.threads import in_thread
from backend.campaign.judging.staffing import sign_out, sign_out_everywhere
from backend.campaign.nouns import Person
from backend.campaign.setup.people.accounts import (
    accept_invitation,
    change_password,
    invited,
    keep_language,
    kept_language,
)
from backend.campaign.setup.people.passwords import password_weakness
from backend.campaign.setup.people.permissions import (
    SESSION_S,
    knows_browser,
    person_for,
    remember_browser,
    sign_in,
)
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.shared_state import attempt_succeeded, begin_attempt
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token, has_password, own_tokens, revoke_own_token
from backend.core.errors import ProjectError, ReelRankError, SignInRefused, StoreUnavailable
from backend.core.typed_text import normalised_password

_T = TypeVar("_T")
_HERE = Path(__file__).parent
ASSETS = {"sign_in.css": "text/css", "mark.svg": "image/svg+xml"}
_BROWSER_S = 180 * 86_400
STALE = marked("This page was open for too long. Please try again.")
_STATUS = {SignInRefused: 401, StoreUnavailable: 503}
"""The HTTP status of a refusal on the account page; 422 for any other."""
CHANGED = marked("Your password is changed. All other browsers are signed out, and your tokens are revoked.")

_DONE = {"changed": CHANGED, "revoked": marked("The token is revoked.")}
"""What the account page says after an act, by the name in its query."""


class Sessions:
    """Routes under /session/: sign-in, sign-out, invitations and the account.

    `project` returns the open project and is called for each request. `clock` returns seconds since 1970. `sleep` waits
    the given number of seconds.
    """

    def __init__(
        self,
        project: Callable[[], Project],
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._project = project
        self._clock = clock
        self._sleep = sleep
        self._checks = FairChecks()

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        return [
            Route("/session/sign-in", self.sign_in, methods=["GET", "POST"]),
            Route(oidc.START_PATH, self.single_sign_on),
            Route("/session/sign-out", self.sign_out, methods=["POST"]),
            Route("/session/invitation/{invitation}", self.invitation, methods=["GET", "POST"]),
            Route("/session/new-project/{token}", _used_link),
            Route("/session/sign-out-everywhere", self.sign_out_everywhere, methods=["POST"]),
            Route(ACCOUNT_PATH, self.account),
            Route(PROGRAMS_PATH, self.programs),
            Route("/session/password", self.change_password, methods=["POST"]),
            Route(TOKENS_PATH, self.make_token, methods=["POST"]),
            Route(f"{TOKENS_PATH}/revoke", self.revoke_token, methods=["POST"]),
            *plain_pages.language_routes(is_ours, safe_path, self._keep_language),
            Route("/session/{asset}", self.asset),
        ]

    async def sign_in(self, request: Request) -> Response:
        """Show the sign-in page; on POST, check name and password, and sign in."""
        if request.method != "POST":
            if (who := oidc.identity(request)) is not None:
                return await self._finish_single_sign_on(request, who)
            next_path = safe_path(request.query_params.get("next"))
            # A page made for another person adds "other", to get the form although somebody is signed in.
            if "other" not in request.query_params and await self._person(request) is not None:
                return RedirectResponse(next_path, 303)
            return sign_in_page(request, next_path=next_path)
        fields = await form(request)
        name, next_path = fields.get("name", "").strip(), safe_path(fields.get("next"))
        if not is_ours(request, fields):
            return sign_in_page(request, name=name, next_path=next_path, error=tr(STALE), status=403)
        try:
            token = await self._attempt(
                request,
                name,
                lambda: sign_in(self._project(), name, fields.get("password", ""), now=self._clock()),
            )
        except TooMuch as refusal:
            return sign_in_page(
                request, name=name, next_path=next_path, error=str(refusal), status=429, wait_s=refusal.wait_s
            )
        except SignInRefused as refusal:
            return sign_in_page(request, name=name, next_path=next_path, error=translate_message(refusal), status=401)
        except StoreUnavailable as error:
            return sign_in_page(request, name=name, next_path=next_path, error=translate_message(error), status=503)
        return await self._signed_in(request, token, next_path)

    async def single_sign_on(self, request: Request) -> Response:
        """Redirect to the identity provider.

        `?next=` is the page to open after signing in, and `?invitation=` an invitation to accept.
        """
        if not oidc.is_configured():
            return sign_in_page(request, error=tr("This server has no single sign-on."), status=404)
        query = request.query_params
        return oidc.start(request, next_path=safe_path(query.get("next")), invitation=query.get("invitation", ""))

    async def _finish_single_sign_on(self, request: Request, who: oidc.Identity) -> Response:
        try:
            token, path = await oidc.finish(request, self._project(), who, now=self._clock(), safe_path=safe_path)
        except SignInRefused as refusal:
            return oidc.forget(request, sign_in_page(request, error=translate_message(refusal), status=401))
        return oidc.forget(request, await self._signed_in(request, token, path))

    async def sign_out(self, request: Request) -> Response:
        """End the session. Pairs that were reserved for this user to grade become free for others."""
        fields = await form(request)
        if not is_ours(request, fields):
            return sign_in_page(request, error=tr(STALE), status=403)
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await in_thread(sign_out, self._project(), token, now=self._clock())
        return _signed_out(request)

    async def sign_out_everywhere(self, request: Request) -> Response:
        """End all sessions of the user. Pairs that were reserved for them to grade become free for others."""
        fields = await form(request)
        person = await self._person(request)
        if person is None:
            return _signed_out(request)
        if not is_ours(request, fields):
            return await self._account_page(request, person, error=tr(STALE), status=403)
        token = request.cookies[SESSION_COOKIE]
        await in_thread(sign_out_everywhere, self._project(), token, now=self._clock())
        return _signed_out(request)

    async def account(self, request: Request) -> Response:
        """Show the account page of the signed-in user, or redirect to the sign-in page."""
        person = await self._person(request)
        if person is None:
            return RedirectResponse(SIGN_IN_PATH, 303)
        done = next((tr(said) for name, said in _DONE.items() if name in request.query_params), "")
        return await self._account_page(request, person, done=done)

    async def programs(self, request: Request) -> Response:
        """Show a signed-in user the page about operations for programs; redirect others to the sign-in page."""
        if await self._person(request) is None:
            return RedirectResponse(SIGN_IN_PATH, 303)
        return plain_pages.programs_page(request)

    async def change_password(self, request: Request) -> Response:
        """Change the user's password, if they give the current one. A wrong one counts as a failed sign-in."""
        fields = await form(request)
        person = await self._person(request)
        if person is None:
            return RedirectResponse(SIGN_IN_PATH, 303)
        problem, status = password_problem(request, fields, person.name)
        if problem:
            return await self._account_page(request, person, error=problem, status=status)
        old, new, session = fields.get("old", ""), fields.get("password", ""), request.cookies[SESSION_COOKIE]
        try:
            token = await self._attempt(
                request,
                person.name,
                lambda: change_password(self._project(), session, old, new, now=self._clock()),
            )
        except (TooMuch, ReelRankError) as refusal:
            return await self._account_page(request, person, refusal=refusal)
        return await self._signed_in(request, token, f"{ACCOUNT_PATH}?changed")

    async def make_token(self, request: Request) -> Response:
        """Make a personal token, and return the account page that shows it this one time.

        A wrong password counts as a failed attempt to sign in.
        """
        fields = await form(request)
        person = await self._person(request)
        if person is None:
            return RedirectResponse(SIGN_IN_PATH, 303)
        if not is_ours(request, fields):
            return await self._account_page(request, person, error=tr(STALE), status=403)
        scope = TokenScope.ACT if fields.get("scope") == TokenScope.ACT else TokenScope.READ
        days, name, password = small_number(fields.get("days", "")) or 0, fields.get("name", ""), fields.get("old", "")
        session, project = request.cookies[SESSION_COOKIE], self._project()

        def make() -> str | ProjectError:
            try:
                now = self._clock()
                return create_token(project, person, password, name, scope, days, session=session, now=now)[1]
            except ProjectError as refusal:
                return refusal  # the password was right, so this does not count as a failed attempt

        try:
            made = await self._attempt(request, person.name, make)
            if isinstance(made, ProjectError):
                raise made
        except (TooMuch, ReelRankError) as refusal:
            return await self._account_page(request, person, fields=fields, refusal=refusal)
        return await self._account_page(request, person, made=made)

    async def revoke_token(self, request: Request) -> Response:
        """Revoke a personal token of the signed-in person."""
        fields = await form(request)
        person = await self._person(request)
        if person is None:
            return RedirectResponse(SIGN_IN_PATH, 303)
        if not is_ours(request, fields):
            return await self._account_page(request, person, error=tr(STALE), status=403)
        key = fields.get("key", "")
        try:
            await in_thread(revoke_own_token, self._project(), person, key, now=self._clock())
        except ReelRankError as refusal:
            return await self._account_page(request, person, refusal=refusal)
        return RedirectResponse(f"{ACCOUNT_PATH}?revoked", 303)

    async def _account_page(
        self,
        request: Request,
        person: Person,
        *,
        made: str = "",
        fields: dict[str, str] | None = None,
        refusal: TooMuch | ReelRankError | None = None,
        error: str = "",
        done: str = "",
        status: int = 200,
    ) -> Response:
        """Return the account page. If `refusal` is given, the page shows its message, and the status fits it.

        `made` is the text of a token that was just made. `fields` fill the form again after a refusal. `error` and
        `done` are messages to show.
        """
        wait_s = 0
        if isinstance(refusal, TooMuch):
            error, status, wait_s = str(refusal), 429, refusal.wait_s
        elif refusal is not None:
            status = next((code for kind, code in _STATUS.items() if isinstance(refusal, kind)), 422)
            error = sentence(refusal) if status == 422 else translate_message(refusal)
        tokens = await in_thread(own_tokens, self._project(), person)
        asks = await in_thread(has_password, self._project(), person)
        section = TokenSection(tokens, asks, self._clock(), made, fields)
        return account_page(request, person, section, error=error, done=done, status=status, wait_s=wait_s)

    async def invitation(self, request: Request) -> Response:
        """Show the page of a one-time invitation link; on POST, save the chosen password and sign in.

        A used link shows the sign-in page with a message.
        """
        invitation = request.path_params["invitation"]
        person = await in_thread(invited, self._project(), invitation, now=self._clock())
        if person is None:
            message = tr("This invitation was used already or has been replaced. Ask your lead for a new one.")
            return sign_in_page(request, error=message, status=410)
        if request.method != "POST":
            return invitation_page(request, person.name)
        fields = await form(request)
        password = fields.get("password", "")
        problem, status = password_problem(request, fields, person.name)
        if problem:
            return invitation_page(request, person.name, error=problem, status=status)
        try:
            token = await self._checks.check(
                source_of(request),
                lambda: accept_invitation(self._project(), invitation, password, now=self._clock()),
            )
        except StoreUnavailable as error:
            return invitation_page(request, person.name, error=translate_message(error), status=503)
        except ReelRankError as refusal:
            return sign_in_page(request, name=person.name, error=translate_message(refusal), status=401)
        return await self._signed_in(request, token, "/")

    async def asset(self, request: Request) -> Response:
        """Send the style sheet or the logo of the pages under /session/."""
        name = request.url.path.rpartition("/")[2]
        if name not in ASSETS:
            return not_found_page(request.url.path, await self._person(request))
        return FileResponse(_HERE / name, headers={"Cache-Control": "max-age=3600"}, media_type=ASSETS[name])

    async def _person(self, request: Request) -> Person | None:
        """Return the signed-in user, or None. `Guard` does not check requests under /session/."""
        token = request.cookies.get(SESSION_COOKIE)
        return await in_thread(person_for, self._project(), token, now=self._clock()) if token else None

    async def _attempt(self, request: Request, name: str, check: Callable[[], _T]) -> _T:
        """Check a password, and return what `check` returns; earlier failures of this name or address delay the check.

        `check` compares the password and returns a session token or another value. It runs in a thread.

        Raises:
            TooMuch: the attempt came too soon, and was neither checked nor counted.
            SignInRefused, StoreUnavailable: raised by `check`.
        """
        project, address = self._project(), source_of(request)
        browser: str | None = request.cookies.get(BROWSER_COOKIE)
        if not browser or not await in_thread(knows_browser, project, name, browser, now=self._clock()):
            browser = None
        source = f"known {browser}" if browser else address
        with self._checks.under_way(source):
            delay = await in_thread(begin_attempt, project, name, address, browser, now=self._clock())
            if delay.refused_s:
                raise TooMuch(too_many(delay.refused_s), delay.refused_s)
            if delay.held_s:
                await self._sleep(delay.held_s)
            token = await self._checks.check(source, check)
        await in_thread(attempt_succeeded, project, name, address, browser)
        return token

    async def _signed_in(self, request: Request, token: str, path: str) -> Response:
        response = RedirectResponse(path, 303)
        set_cookie(request, response, SESSION_COOKIE, token, max_age_s=int(SESSION_S), strict=False)
        before = request.cookies.get(BROWSER_COOKIE, "")
        browser = await in_thread(remember_browser, self._project(), token, before, now=self._clock())
        set_cookie(request, response, BROWSER_COOKIE, browser, max_age_s=_BROWSER_S, strict=True)
        language = await in_thread(kept_language, self._project(), token, now=self._clock())
        if language in LANGUAGES:
            plain_pages.set_language(request, response, language)
        elif (cookie_language := request.cookies.get(COOKIE)) in LANGUAGES:
            await self._keep_language(token, cookie_language)
        return response

    async def _keep_language(self, token: str, language: str) -> None:
        """Store a language with the account of a session; if the database is unavailable, do nothing."""
        with suppress(StoreUnavailable):
            await in_thread(keep_language, self._project(), token, language, now=self._clock())


async def _used_link(_request: Request) -> Response:
    """Answer that the one-time link for creating the project was already used; for servers started with a project."""
    return no_project_page(True, 410)


def _signed_out(request: Request) -> Response:
    # Not "storage": it holds grades that are not sent yet.
    response = RedirectResponse(SIGN_IN_PATH, 303, {"Clear-Site-Data": '"cache"'})
    delete_cookie(request, response, SESSION_COOKIE)
    return response


def password_problem(request: Request, fields: dict[str, str], name: str = "") -> tuple[str, int]:
    """Return why a form with a new password is refused, and the HTTP status; ("", 200) if it is accepted.

    `name` is the user's name, which the password must not repeat; if empty, it is taken from the form.
    """
    password, again = (normalised_password(fields.get(name, "")) for name in ("password", "again"))
    if not is_ours(request, fields):
        return tr(STALE), 403
    if weakness := password_weakness(password, name or fields.get("name", "")):
        return translate_message(weakness), 422
    if password != again:
        return tr("The two passwords are not the same. Please type them again."), 422
    return "", 200


def sentence(refusal: ReelRankError) -> str:
    """Return the message of an error as a sentence, with a capital and a full stop, in the reader's language."""
    text = translate_message(refusal)
    return text[:1].upper() + text[1:].removesuffix(".") + "."


def is_ours(request: Request, fields: dict[str, str]) -> bool:
    """Return whether a form comes from a page of this server.

    The form has to repeat the CSRF cookie (double submit), which another site can neither read nor send.
    """
    cookie, sent = request.cookies.get(CSRF_COOKIE, ""), fields.get("csrf", "")
    same = hmac.compare_digest(cookie.encode(), sent.encode())
    return bool(cookie) and same and is_own_page(request)


def safe_path(path: str | None) -> str:
    """Return `path` if it is a page of this server to redirect to, otherwise "/".

    Paths to other servers, and those under /session/, become "/". The base path is removed.
    """
    path = path_within(base_path(), path or "")
    if re.fullmatch(r"/(?![/\\])[^\\\s]*", path) and not path.startswith("/session/"):
        return path
    return "/"
