"""How the plain pages under /session/ look: HTML without scripts, the same for signing in, inviting, the account."""

import re
import secrets
from html import escape
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from annotate_app.language import marked, tr
from annotate_app.session import language_choice, oidc
from annotate_app.session.addresses import SIGN_IN_PATH, full_path
from annotate_app.session.auth import ROLES
from annotate_app.session.cookies import CSRF_COOKIE, set_cookie
from annotate_app.session.notice import plain_page, way_back
from backend.campaign.nouns import Person
from backend.campaign.setup.people.sessions import PASSWORD_LENGTH

_DAY_S = 86_400
_ABOUT = marked("Watch moments, grade how well they answer a query, agree on the truth.")
_SIGN_IN_HELP = marked("No name or password yet, or forgotten? Ask the lead of your project for a link.")
_INVITED_HELP = marked("From then on you sign in with this name and your password.")


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
    content += language_choice.form(request.url.path, request.query_params.get("next", ""), _csrf(request))
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
