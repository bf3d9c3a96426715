"""The frame of the plain pages under /session/, and those of them that only say something: HTML without scripts."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template

from starlette.responses import HTMLResponse, Response

from annotate_app.language import current, marked, tr
from annotate_app.session.addresses import SIGN_IN_PATH, base_path, full_path
from backend.campaign.nouns import Person, Role

_PAGE = Template(Path(__file__).with_name("sign_in.html").read_text(encoding="utf-8"))
_CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_LONGEST = 80
_GONE = marked(
    "This file was made for a page that has been closed or drawn anew since. Open that page again, and take the file "
    "from there."
)


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
