"""Choosing a language, on the account page and the pages before it: a cookie of this browser keeps it for a year."""

import re
from collections.abc import Callable
from html import escape
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotate_app.language import COOKIE, LANGUAGES, current, tr
from annotate_app.session.addresses import SIGN_IN_PATH, full_path
from annotate_app.session.bodies import form as form_of
from annotate_app.session.cookies import set_cookie

_PATH = "/session/language"
_YEAR_S = 365 * 86_400


def form(path: str, next_path: str, csrf: str) -> str:
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


def routes(is_ours: Callable[[Request, dict[str, str]], bool], safe_path: Callable[[str | None], str]) -> list[Route]:
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
