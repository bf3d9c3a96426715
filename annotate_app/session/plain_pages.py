"""The plain pages under /session/, HTML without scripts: sign-in, invitation, account, language, notices."""

import re
import secrets
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from annotate_app.language import COOKIE, LANGUAGES, current, marked, tr
from annotate_app.session import oidc
from annotate_app.session.addresses import CSRF_COOKIE, SIGN_IN_PATH, base_path, full_path, set_cookie
from annotate_app.session.auth import ROLES
from annotate_app.session.request_limits import form as form_of
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.permissions import PASSWORD_LENGTH

_DAY_S = 86_400
_ABOUT = marked("Watch moments, grade how well they answer a query, agree on the truth.")
_SIGN_IN_HELP = marked("No name or password yet, or forgotten? Ask the lead of your project for a link.")
_INVITED_HELP = marked("From then on you sign in with this name and your password.")
_PATH = "/session/language"
_YEAR_S = 365 * 86_400
_PAGE = Template(Path(__file__).with_name("sign_in.html").read_text(encoding="utf-8"))
_CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_LONGEST = 80
_GONE = marked(
    "This file was made for a page that has been closed or drawn anew since. Open that page again, and take the file "
    "from there."
)


def sign_in_page(
    request: Request,
    *,
    name: str = "",
    next_path: str = "/",
    error: str = "",
    status: int = 200,
    wait_s: int = 0,
) -> Response:
    """Name and password; `next_path` is where signing in leads to."""
    fields = (
        _field(tr("Name"), "name", "text", "username", value=name, focus=not name)
        + _field(tr("Password"), "password", "password", "current-password", focus=bool(name))
        + f'<input type="hidden" name="next" value="{escape(next_path)}">'
    )
    other = _single_sign_on({"next": next_path})
    content = _entrance(request, SIGN_IN_PATH, "", error, fields, tr("Sign in"), other + tr(_SIGN_IN_HELP))
    return _page(request, tr("Sign in"), content, status, wait_s)


def invitation_page(request: Request, name: str, *, error: str = "", status: int = 200) -> Response:
    """Choosing a password with a one-time link."""
    lead = tr(
        "Choose a password for <b>{name}</b>, at least {n} characters long.", name=escape(name), n=PASSWORD_LENGTH
    )
    other = _single_sign_on({"invitation": request.path_params["invitation"]})
    content = _entrance(
        request,
        request.url.path,
        lead,
        error,
        _new_password(focus=True),
        tr("Save and sign in"),
        other + tr(_INVITED_HELP),
    )
    return _page(request, tr("Welcome"), content, status)


def account_page(
    request: Request, person: Person, *, error: str = "", done: str = "", status: int = 200, wait_s: int = 0
) -> Response:
    """Changing the password, signing out everywhere."""
    signed_in = tr("Signed in as <b>{name}</b>, {role}.", name=escape(person.name), role=tr(ROLES[person.role]))
    content = (
        f'<p class="about">{signed_in}</p>'
        f'<p class="about"><a href="{full_path("/")}">{way_back(person)}</a></p>'
        + (f'<p class="done" role="status">{escape(done)}</p>' if done else "")
        + _alert(error)
        + f"<section><h2>{tr('Change your password')}</h2>{_form('/session/password')}"
        + _field(tr("Present password"), "old", "password", "current-password")
        + _new_password()
        + f'{_csrf(request)}<button type="submit">{tr("Change password")}</button>'
        + f'<p class="note">{tr("All other browsers are signed out.")}</p></form></section>'
        + f"<section><h2>{tr('Sign out everywhere')}</h2>{_form('/session/sign-out-everywhere')}"
        + f'<p class="note">{tr("In all browsers, this one included.")}</p>'
        + f'{_csrf(request)}<button type="submit" class="quiet">{tr("Sign out everywhere")}</button></form></section>'
    )
    return _page(request, tr("Account"), content, status, wait_s)


def _single_sign_on(asked: dict[str, str]) -> str:
    """The way to the identity provider, where there is one."""
    if not oidc.is_configured():
        return ""
    way = f"{full_path(oidc.START_PATH)}?{escape(urlencode(asked))}"
    return f'<a class="other" href="{way}">{tr("Use single sign-on")}</a>'


def _entrance(request: Request, action: str, lead: str, error: str, fields: str, button: str, help_text: str) -> str:
    return (
        f'{_form(action)}<p class="about">{tr(_ABOUT)}</p>'
        + (f'<p class="lead">{lead}</p>' if lead else "")
        + f'{_alert(error)}{fields}{_csrf(request)}<button type="submit">{button}</button>'
        + f'<p class="help">{help_text}</p></form>'
    )


def _form(action: str) -> str:
    return f'<form method="post" action="{escape(full_path(action))}">'


def _page(request: Request, title: str, content: str, status: int, wait_s: int = 0) -> Response:
    content += language_form(request.url.path, request.query_params.get("next", ""), _csrf(request))
    response = plain_page(title, content, status, {"Retry-After": str(wait_s)} if wait_s else None)
    token = _token(request)
    if token != request.cookies.get(CSRF_COOKIE):
        set_cookie(request, response, CSRF_COOKIE, token, max_age_s=_DAY_S, strict=True)
    return response


def _token(request: Request) -> str:
    """What the forms of this page repeat: the browser's CSRF cookie, or a new one that the answer sets."""
    known = request.cookies.get(CSRF_COOKIE, "")
    if re.fullmatch(r"[\w-]{20,64}", known):
        return known
    if not hasattr(request.state, "csrf"):
        request.state.csrf = secrets.token_urlsafe(24)
    return str(request.state.csrf)


def _csrf(request: Request) -> str:
    return f'<input type="hidden" name="csrf" value="{_token(request)}">'


def _new_password(focus: bool = False) -> str:
    return _field(
        tr("New password") if not focus else tr("Password"), "password", "password", "new-password", focus=focus
    ) + (_field(tr("The same again"), "again", "password", "new-password"))


def _alert(error: str) -> str:
    # Always there: a screen reader announces text that appears in an alert it already knows.
    return f'<p class="error" role="alert">{escape(error)}</p>' if error else '<p role="alert" hidden></p>'


def _field(label: str, name: str, kind: str, autocomplete: str, value: str = "", focus: bool = False) -> str:
    return (
        f'<label>{label}<input name="{name}" type="{kind}" autocomplete="{autocomplete}" required '
        f'autocapitalize="none" spellcheck="false" value="{escape(value)}"{" autofocus" if focus else ""}></label>'
    )


def language_form(path: str, next_path: str, csrf: str) -> str:
    """A button for each language, in its own words; the present one is pressed.

    Args:
        path: of the plain page that the form stands on, which it leads back to.
        next_path: where signing in there leads to.
        csrf: the field that shows that the form is ours.
    """
    buttons = "".join(
        f'<button name="language" value="{tag}" lang="{tag}" aria-pressed="{_truth(tag == current())}">{name}</button>'
        for tag, name in LANGUAGES.items()
    )
    return (
        f'<form method="post" action="{full_path(_PATH)}" class="languages" role="group" '
        f'aria-label="{escape(tr("Language"))}">'
        f'<input type="hidden" name="back" value="{escape(path)}">'
        f'<input type="hidden" name="next" value="{escape(next_path)}">{csrf}{buttons}</form>'
    )


def _truth(holds: bool) -> str:
    return "true" if holds else "false"


def language_routes(
    is_ours: Callable[[Request, dict[str, str]], bool], safe_path: Callable[[str | None], str]
) -> list[Route]:
    """What the buttons do; whether a form is ours, and a path leads nowhere else, the pages' other routes know."""

    async def choose(request: Request) -> Response:
        fields = await form_of(request)
        back = fields.get("back", "")
        if not re.fullmatch(r"/session/[\w/-]+", back):
            back = SIGN_IN_PATH
        if (next_path := safe_path(fields.get("next"))) != "/":
            back += f"?{urlencode({'next': next_path})}"
        response = RedirectResponse(back, 303)
        language = fields.get("language", "")
        if is_ours(request, fields) and language in LANGUAGES:
            set_cookie(request, response, COOKIE, language, max_age_s=_YEAR_S, strict=False)
        return response

    return [Route(_PATH, choose, methods=["POST"])]


def plain_page(title: str, content: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A page around some HTML."""
    html = _PAGE.substitute(title=title, content=content, language=current(), base=base_path())
    return HTMLResponse(html, status, {"Content-Security-Policy": _CSP, "Cache-Control": "no-store", **(headers or {})})


def unavailable_page(message: str) -> Response:
    """The database cannot be used just now, and why; the button tries the same address again."""
    content = f'<form method="get"><p class="error" role="alert">{escape(message)}</p>'
    return plain_page(
        tr("Not just now"),
        f'{content}<button type="submit">{tr("Try again")}</button></form>',
        503,
        {"Retry-After": "5"},
    )


def not_found_page(path: str, person: Person | None) -> Response:
    """Nothing is at this address; the button leads to what is the person's first page, or to the sign-in."""
    shown = full_path(path if len(path) <= _LONGEST else f"{path[:_LONGEST]}...")
    where, words = ("/", way_back(person)) if person else (SIGN_IN_PATH, tr("Sign in"))
    content = (
        f'<form method="get" action="{full_path(where)}"><p class="about">'
        + tr("Nothing is at <b>{path}</b>. The address may be mistyped, or from another project.", path=escape(shown))
        + f'</p><button type="submit">{words}</button></form>'
    )
    return plain_page(tr("No such page"), content, 404)


def gone_page(person: Person) -> Response:
    """A file of a download button is no longer there; the button leads to the person's first page."""
    content = (
        f'<form method="get" action="{full_path("/")}"><p class="about">{tr(_GONE)}</p>'
        f'<button type="submit">{way_back(person)}</button></form>'
    )
    return plain_page(tr("No longer there"), content, 404)


def too_many_pages(most: int) -> Response:
    """The user has as many pages open as they may; the button tries the same address again."""
    told = tr("You have {n} pages of ReelRank open. Close one of them, then try again.", n=most)
    content = f'<form method="get"><p class="about">{told}</p><button type="submit">{tr("Try again")}</button></form>'
    return plain_page(tr("Too many open pages"), content, 429)


def way_back(person: Person) -> str:
    """What leads to somebody's first page."""
    return tr("Back to grading") if person.role is Role.ANNOTATOR else tr("Back to the project")
