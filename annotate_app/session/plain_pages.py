"""Build the pages under /session/ as HTML without scripts: sign-in, invitation, account, language, error pages.

Functions that build a page share two parameters: `error` is a message to show, and `status` the HTTP status.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from inspect import formatannotation
from pathlib import Path
from string import Template
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from annotate_app.language import COOKIE, LANGUAGES, current, day, instant, marked, tr
from annotate_app.session import oidc
from annotate_app.session.addresses import CSRF_COOKIE, SESSION_COOKIE, SIGN_IN_PATH, base_path, full_path, set_cookie
from annotate_app.session.auth import ROLES
from annotate_app.session.request_limits import form as form_of
from backend.api.campaign import OPERATIONS
from backend.api.model import Operation
from backend.api.openapi import described, method_of, permission
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.passwords import PASSWORD_LENGTH
from backend.campaign.setup.serving.first_project import ENCODERS, scales
from backend.campaign.setup.tokens.model import LONGEST_NAME, MOST_DAYS, USUAL_DAYS, PersonalToken, TokenScope

_DAY_S = 86_400
_ABOUT = marked("Watch moments, grade how well they answer a query, agree on the truth.")
_SIGN_IN_HELP = marked("No password yet, or forgotten it? Ask the lead of your project for a link.")
_INVITED_HELP = marked("From then on you sign in with this name and your password.")
_FIRST_HELP = marked("Grades and encoder stay as you choose them here. Everything else can be changed later.")
_SCALES = {"": marked("0 to 4 (TVR-Ranking)"), "matches": marked("Matches, or does not")}
_ENCODERS = dict(
    zip(ENCODERS, (marked("SimCSE (downloaded when needed)"), marked("MiniLM (works offline)")), strict=True)
)
SCOPES = {TokenScope.READ: marked("Read only"), TokenScope.ACT: marked("Read and act")}
_TOKENS_HELP = marked(
    "A token lets a program of yours work under your name, without your password. Keep it as secret as a password."
)
_TOKENS_END = marked("A new password revokes all your tokens, and so does signing out everywhere.")
_PATH = "/session/language"
ACCOUNT_PATH, TOKENS_PATH, PROGRAMS_PATH = "/session/account", "/session/tokens", "/session/programs"
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
    """Return the sign-in page; after signing in, the browser goes to `next_path`.

    `name` fills in the name field. `wait_s` is for the header Retry-After, in seconds; 0 for none.
    """
    fields = (
        _field(tr("Name"), "name", "text", "username", value=name, focus=not name)
        + _field(tr("Password"), "password", "password", "current-password", focus=bool(name))
        + f'<input type="hidden" name="next" value="{escape(next_path)}">'
    )
    other = _single_sign_on({"next": next_path})
    content = _entrance(request, SIGN_IN_PATH, "", error, fields, tr("Sign in"), other + tr(_SIGN_IN_HELP))
    return _page(request, tr("Sign in"), content, status, wait_s)


def invitation_page(request: Request, name: str, *, error: str = "", status: int = 200) -> Response:
    """Return the page on which an invited user with this name chooses a password."""
    lead = tr("Welcome, <b>{name}</b>. Choose a password.", name=escape(name))
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


def first_project_page(
    request: Request, fields: Mapping[str, str] | None = None, *, error: str = "", status: int = 200
) -> Response:
    """Return the page with the form that creates the project and its first lead.

    `fields` are the values to fill in, from a form that was refused.
    """
    sent = fields or {}
    scale_names = {name: tr(_SCALES[name]) if name in _SCALES else name for name in scales()}
    encoder_names = {name: tr(_ENCODERS[name]) for name in ENCODERS}
    inputs = (
        _field(tr("Name of the project"), "project", "text", "off", value=sent.get("project", ""), focus=True)
        + _choice(tr("Scale of grades"), "scale", scale_names, sent.get("scale", ""))
        + _choice(tr("Sentence encoder"), "encoder", encoder_names, sent.get("encoder", ENCODERS[0]))
        + _field(tr("Your name"), "name", "text", "username", value=sent.get("name", ""))
        + _new_password(focus=None)
    )
    lead = tr("Create the project, and yourself as its first lead. You sign in with your name and password.")
    content = _entrance(request, request.url.path, lead, error, inputs, tr("Create project"), tr(_FIRST_HELP))
    return _page(request, tr("New project"), content, status)


def no_project_page(is_complete: bool, status: int) -> Response:
    """Return a page that says that there is no project yet, or with `is_complete`, that the link was already used."""
    if is_complete:
        text, way = tr("This link was used: the project is set up. Sign in, or ask its lead for an invitation."), "/"
        button = f'<button type="submit">{tr("Sign in")}</button>'
        return plain_page(
            tr("Link already used"),
            f'<form method="get" action="{full_path(way)}"><p class="about" role="alert">{text}</p>{button}</form>',
            status,
        )
    text = tr("This server has no project yet. Whoever started it finds the link to create one in its terminal.")
    return plain_page(tr("No project yet"), f'<p class="about" role="alert">{text}</p>', status)


@dataclass(frozen=True, slots=True)
class TokenSection:
    """What the account page shows about personal tokens.

    `asks_password` says whether the person has to enter their password to make a token. `made` is the text of a token
    that was just made, shown only now; empty if none was. `fields` are the values of a form that was refused, to fill
    it again. `now` is in seconds since 1970.
    """

    tokens: Sequence[PersonalToken]
    asks_password: bool
    now: float
    made: str = ""
    fields: Mapping[str, str] | None = None


def account_page(
    request: Request,
    person: Person,
    tokens: TokenSection,
    *,
    error: str = "",
    done: str = "",
    status: int = 200,
    wait_s: int = 0,
) -> Response:
    """Return the account page, on which a user changes their password, signs out everywhere, and has personal tokens.

    `tokens` is what the page shows about tokens. `done` is a message of success to show, and `wait_s` the seconds for
    the header Retry-After; 0 for none.
    """
    signed_in = tr("Signed in as <b>{name}</b>, {role}.", name=escape(person.name), role=tr(ROLES[person.role]))
    content = (
        f'<p class="about">{signed_in}</p>'
        f'<p class="about"><a href="{full_path("/")}">{way_back(person)}</a></p>'
        + (f'<p class="done" role="status">{escape(done)}</p>' if done else "")
        + _made_token(tokens.made)
        + _alert(error)
        + f"<section><h2>{tr('Change your password')}</h2>{_form('/session/password')}"
        + _field(tr("Current password"), "old", "password", "current-password")
        + _new_password()
        + f'{_csrf(request)}<button type="submit">{tr("Change password")}</button>'
        + f'<p class="note">{tr("This signs you out in all other browsers and revokes your tokens.")}</p>'
        + "</form></section>"
        + f"<section><h2>{tr('Sign out everywhere')}</h2>{_form('/session/sign-out-everywhere')}"
        + f'<p class="note">{tr("This signs you out in all browsers, this one included, and revokes your tokens.")}</p>'
        + f'{_csrf(request)}<button type="submit" class="quiet">{tr("Sign out everywhere")}</button></form></section>'
        + _token_section(request, tokens)
    )
    return _page(request, tr("Account"), content, status, wait_s, path=ACCOUNT_PATH)


def _made_token(token: str) -> str:
    """Return HTML that shows a personal token just after it was made; "" if `token` is empty."""
    copy_now = tr("Copy the token now. It is not shown again.")
    return f'<div class="done" role="status">{copy_now}<output>{escape(token)}</output></div>' if token else ""


def _token_section(request: Request, section: TokenSection) -> str:
    """Return the part of the account page about personal tokens. It is folded up for people who have none."""
    listed = "".join(_token_row(request, token, section.now) for token in section.tokens)
    sent = section.fields or {}
    form = (
        _form(TOKENS_PATH)
        + _field(
            tr("What it is for"), "name", "text", "off", value=sent.get("name", ""), limits={"maxlength": LONGEST_NAME}
        )
        + _choice(tr("It may"), "scope", {scope: tr(words) for scope, words in SCOPES.items()}, sent.get("scope", ""))
        + _field(
            tr("Days until it expires"),
            "days",
            "number",
            "off",
            value=sent.get("days", str(USUAL_DAYS)),
            limits={"min": 1, "max": MOST_DAYS},
        )
        + (_field(tr("Current password"), "old", "password", "current-password") if section.asks_password else "")
        + f'{_csrf(request)}<button type="submit" class="quiet">{tr("Make token")}</button>'
        + f'<p class="note">{tr(_TOKENS_END)}</p></form>'
    )
    is_open = " open" * bool(section.tokens or section.fields)
    return (
        f'<section id="tokens"><details{is_open}><summary><h2>{tr("Personal tokens")}</h2></summary>'
        f'<p class="note">{tr(_TOKENS_HELP)}</p>'
        f'<p class="note"><a href="{full_path(PROGRAMS_PATH)}">{tr("What programs can do")}</a></p>'
        f'<ul class="tokens">{listed}</ul>{form}</details></section>'
    )


def _token_row(request: Request, token: PersonalToken, now: float) -> str:
    until = day(datetime.fromtimestamp(token.expires_at, UTC), year=True)
    used = tr("Never used.")
    if token.used_at is not None:
        used = tr("Last used {when} UTC.", when=instant(datetime.fromtimestamp(token.used_at, UTC)))
    works = tr("Expired {day}.", day=until) if token.expires_at <= now else tr("Works until {day}.", day=until)
    label = escape(tr("Revoke {name}", name=token.name))
    return (
        f"<li>{_form(f'{TOKENS_PATH}/revoke')}<b>{escape(token.name)}</b> · {tr(SCOPES[token.scope])}"
        f'<p class="note">{works} {used}</p><input type="hidden" name="key" value="{escape(token.key)}">'
        f'{_csrf(request)}<button type="submit" class="quiet" aria-label="{label}">{tr("Revoke")}</button></form></li>'
    )


def programs_page(request: Request) -> Response:
    """Return the page that lists the operations that programs can call, each with its arguments and its result.

    Its texts are those of `help(Campaign)`, which are in English.
    """
    about = tr("A program with your token may do what you may do. Click a name to read about its arguments and result.")
    content = (
        f'<p class="about">{about}</p>'
        f'<p class="about"><a href="{full_path(ACCOUNT_PATH)}#tokens">{tr("Personal tokens")}</a></p>'
        f'<div class="operations" lang="en">{"".join(map(_operation, OPERATIONS.values()))}</div>'
    )
    return _page(request, tr("What programs can do"), content, 200, path=PROGRAMS_PATH)


def _operation(operation: Operation) -> str:
    about, texts = described(operation)
    arguments = "".join(
        f"<dt><code>{one.name}: {'file' if one.name in operation.files else _kind(one.annotation)}</code></dt>"
        f"<dd>{escape(texts.get(one.name, ''))}</dd>"
        for one in operation.signature.parameters.values()
    )
    result = operation.signature.return_annotation
    return (
        f'<details id="{operation.name}"><summary><code>{operation.name}</code></summary>'
        f"<p><code>{method_of(operation)} {escape(full_path(f'/api/operations/{operation.name}'))}</code></p>"
        f"<p>{escape(about)}</p><p>{escape(permission(operation))}</p>"
        + (f"<dl>{arguments}</dl>" if arguments else "")
        + f"<p>Result: <code>{_kind(result)}</code></p></details>"
    )


def _kind(annotation: object) -> str:
    """Return the name of a type as HTML, without the modules in it."""
    return escape(re.sub(r"\b(?:\w+\.)+(?=\w)", "", formatannotation(annotation)))


def _single_sign_on(query: dict[str, str]) -> str:
    """Return the link to single sign-on as HTML, with `query` as URL parameters; "" if single sign-on is off."""
    if not oidc.is_configured():
        return ""
    address = f"{full_path(oidc.START_PATH)}?{escape(urlencode(query))}"
    return f'<a class="other" href="{address}">{tr("Use single sign-on")}</a>'


def _entrance(request: Request, action: str, lead: str, error: str, fields: str, button: str, help_text: str) -> str:
    return (
        f'{_form(action)}<p class="about">{tr(_ABOUT)}</p>'
        + (f'<p class="lead">{lead}</p>' if lead else "")
        + f'{_alert(error)}{fields}{_csrf(request)}<button type="submit">{button}</button>'
        + f'<p class="help">{help_text}</p></form>'
    )


def _form(action: str) -> str:
    return f'<form method="post" action="{escape(full_path(action))}">'


def _page(request: Request, title: str, content: str, status: int, wait_s: int = 0, path: str = "") -> Response:
    content += language_form(path or request.url.path, request.query_params.get("next", ""), _csrf(request))
    response = plain_page(title, content, status, {"Retry-After": str(wait_s)} if wait_s else None)
    token = _token(request)
    if token != request.cookies.get(CSRF_COOKIE):
        set_cookie(request, response, CSRF_COOKIE, token, max_age_s=_DAY_S, strict=True)
    return response


def _token(request: Request) -> str:
    """Return the CSRF token for the forms of a page: from the browser's cookie, or a new one that the response sets."""
    known = request.cookies.get(CSRF_COOKIE, "")
    if re.fullmatch(r"[\w-]{20,64}", known):
        return known
    if not hasattr(request.state, "csrf"):
        request.state.csrf = secrets.token_urlsafe(24)
    return str(request.state.csrf)


def _csrf(request: Request) -> str:
    return f'<input type="hidden" name="csrf" value="{_token(request)}">'


def _choice(label: str, name: str, choices: Mapping[str, str], chosen: str) -> str:
    options = "".join(
        f'<option value="{escape(value)}"{" selected" * (value == chosen)}>{escape(words)}</option>'
        for value, words in choices.items()
    )
    return f'<label>{label}<select name="{name}">{options}</select></label>'


def _new_password(focus: bool | None = False) -> str:
    """Return the two fields for a new password as HTML.

    The label of the first field is "New password" if `focus` is False, otherwise "Password". Only True gives it the
    keyboard focus.
    """
    return _field(
        tr("New password") if focus is False else tr("Password"),
        "password",
        "password",
        "new-password",
        focus=bool(focus),
    ) + (
        f'<p class="note">{tr("At least {n} characters. Several words are better than one.", n=PASSWORD_LENGTH)}</p>'
        + _field(tr("Repeat password"), "again", "password", "new-password")
    )


def _alert(error: str) -> str:
    # The alert is always in the page: a screen reader announces text that appears in an alert it already knows.
    return f'<p class="error" role="alert">{escape(error)}</p>' if error else '<p role="alert" hidden></p>'


def _field(
    label: str,
    name: str,
    kind: str,
    autocomplete: str,
    value: str = "",
    focus: bool = False,
    limits: Mapping[str, int] | None = None,
) -> str:
    more = "".join(f' {limit}="{number}"' for limit, number in (limits or {}).items()) + " autofocus" * focus
    return (
        f'<label>{label}<input name="{name}" type="{kind}" autocomplete="{autocomplete}" required '
        f'autocapitalize="none" spellcheck="false" value="{escape(value)}"{more}></label>'
    )


def language_form(path: str, next_path: str, csrf: str) -> str:
    """Return a form as HTML, with a button for each language, labelled in that language.

    The current language's button is shown as pressed.

    Args:
        path: path of the page with the form, to which choosing a language returns.
        next_path: path that the browser opens after signing in; it stays the same when the language changes.
        csrf: the hidden field with the CSRF token, as HTML.
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


def set_language(request: Request, response: Response, language: str) -> None:
    """Store the chosen language in a cookie of the browser."""
    set_cookie(request, response, COOKIE, language, max_age_s=_YEAR_S, strict=False)


def language_routes(
    is_ours: Callable[[Request, dict[str, str]], bool],
    safe_path: Callable[[str | None], str],
    keep: Callable[[str, str], Awaitable[None]] | None = None,
) -> list[Route]:
    """Return the route to which the language buttons post, in a list.

    Args:
        is_ours: returns whether a form comes from a page of this server.
        safe_path: returns a path unless it leads to another server.
        keep: stores the language with the account of a session token; None while there are no accounts.
    """

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
            set_language(request, response, language)
            if keep and (token := request.cookies.get(SESSION_COOKIE)):
                await keep(token, language)
        return response

    return [Route(_PATH, choose, methods=["POST"])]


def plain_page(title: str, content: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page without scripts, with this title and this HTML as its content."""
    html = _PAGE.substitute(title=title, content=content, language=current(), base=base_path())
    return HTMLResponse(html, status, {"Content-Security-Policy": _CSP, "Cache-Control": "no-store", **(headers or {})})


def unavailable_page(message: str) -> Response:
    """Return the page that says why the database is unavailable. Its button tries the same address again."""
    content = f'<form method="get"><p class="error" role="alert">{escape(message)}</p>'
    return plain_page(
        tr("Not just now"),
        f'{content}<button type="submit">{tr("Try again")}</button></form>',
        503,
        {"Retry-After": "5"},
    )


def campaigns_page(request: Request, campaigns: Mapping[str, str], name: str, sign_out: str) -> Response:
    """Return the page that lists the campaigns of a signed-in user.

    Args:
        request: the request.
        campaigns: the title of each campaign, by its address.
        name: the user's name.
        sign_out: the path to which the button "Sign out" posts.
    """
    links = "".join(
        f'<li><a href="{escape(at)}">{escape(title)}</a><p class="note">{escape(at)}</p></li>'
        for at, title in campaigns.items()
    )
    content = (
        f'<p class="about">{tr("Signed in as <b>{name}</b>.", name=escape(name))}</p><ul class="tokens">{links}</ul>'
        f'{_form(sign_out)}{_csrf(request)}<button type="submit" class="quiet">{tr("Sign out")}</button></form>'
    )
    return _page(request, tr("Your campaigns"), content, 200, path=SIGN_IN_PATH)


def not_found_page(path: str, person: Person | None) -> Response:
    """Return the 404 page. Its button leads to the user's main page, or to the sign-in if nobody is signed in."""
    shown = full_path(path if len(path) <= _LONGEST else f"{path[:_LONGEST]}...")
    where, words = ("/", way_back(person)) if person else (SIGN_IN_PATH, tr("Sign in"))
    content = (
        f'<form method="get" action="{full_path(where)}"><p class="about">'
        + tr("Nothing is at <b>{path}</b>. The address may be mistyped, or from another project.", path=escape(shown))
        + f'</p><button type="submit">{words}</button></form>'
    )
    return plain_page(tr("No such page"), content, 404)


def gone_page(person: Person) -> Response:
    """Return the 404 page for a download whose file no longer exists. Its button leads to the user's main page."""
    content = (
        f'<form method="get" action="{full_path("/")}"><p class="about">{tr(_GONE)}</p>'
        f'<button type="submit">{way_back(person)}</button></form>'
    )
    return plain_page(tr("No longer there"), content, 404)


def too_many_pages(most: int) -> Response:
    """Return the page for a user who has `most` pages open. Its button tries the same address again."""
    message = tr("You have {n} pages of ReelRank open. Close one of them, then try again.", n=most)
    content = (
        f'<form method="get"><p class="about">{message}</p><button type="submit">{tr("Try again")}</button></form>'
    )
    return plain_page(tr("Too many open pages"), content, 429)


def way_back(person: Person) -> str:
    """Return the text of the link to the user's main page: to grading, or to the project."""
    return tr("Back to grading") if person.role is Role.ANNOTATOR else tr("Back to the project")
