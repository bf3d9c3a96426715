"""Names and attributes of this server's cookies.

Over https their names begin with `__Host-`, which a browser accepts only from this very host and only over https. Below
a base path they begin with `__Secure-`, because `__Host-` asks for the path "/"; `BasePath` sets the paths.
The guard gives requests their plain names back, so everything else reads `request.cookies[SESSION_COOKIE]`.
"""

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from annotate_app.language import COOKIE as LANGUAGE_COOKIE
from annotate_app.session.addresses import base_path

SESSION_COOKIE = "reelrank_session"
CSRF_COOKIE = "reelrank_csrf"
BROWSER_COOKIE = "reelrank_browser"
"""Names a browser on which somebody signed in. It lets nobody in, but wrong passwords of others do not slow it down."""
_OURS = "reelrank_"
_HOST, _SECURE = "__Host-", "__Secure-"


def is_secure(scope: Scope) -> bool:
    """Return whether a request or websocket came by TLS, to this server or to a proxy that it trusts."""
    return scope.get("scheme") in ("https", "wss")


def name_sent(scope: Scope, name: str) -> str:
    """Return the name under which a browser keeps a cookie of ours.

    The language stays under its plain name: it opens nothing, and people keep their choice after an upgrade.

    >>> name_sent({"scheme": "https"}, "reelrank_session"), name_sent({"scheme": "http"}, "reelrank_session")
    ('__Host-reelrank_session', 'reelrank_session')
    """
    if not is_secure(scope) or name == LANGUAGE_COOKIE:
        return name
    return (_SECURE if base_path() else _HOST) + name


def set_cookie(
    request: HTTPConnection, response: Response, name: str, value: str, *, max_age_s: int | None, strict: bool
) -> None:
    """Set a cookie that no script can read.

    Args:
        request: decides by its scheme whether the cookie is `Secure` and has the prefix.
        response: carries the cookie.
        name: begins with `reelrank_`, without the prefix.
        value: any text that a cookie can hold.
        max_age_s: seconds that the browser keeps it; None until it is closed.
        strict: whether a link on another site brings the cookie along (`False`) or not.
    """
    response.set_cookie(
        name_sent(request.scope, name),
        value,
        max_age=max_age_s,
        path="/",
        httponly=True,
        secure=is_secure(request.scope),
        samesite="strict" if strict else "lax",
    )


def delete_cookie(request: HTTPConnection, response: Response, name: str) -> None:
    """Make the browser forget a cookie that `set_cookie` set."""
    secure = is_secure(request.scope)
    response.delete_cookie(name_sent(request.scope, name), path="/", httponly=True, secure=secure, samesite="lax")


def with_plain_names(scope: Scope) -> Scope:
    """Return the scope with our cookies under their plain names, and without those that this scheme must not send.

    Below a base path the first of several with one name counts: a browser sends the one with the longest path first,
    and another app of this host may have set the others for "/".

    Over https a cookie of ours counts only with the prefix: one without it may come from another host of the domain, or
    from somebody who changed a page sent by http. Cookies of others stay as they are.
    """
    headers = [(name, _plain(value, scope) if name == b"cookie" else value) for name, value in scope["headers"]]
    return {**scope, "headers": headers}


def _plain(header: bytes, scope: Scope) -> bytes:
    kept: list[str] = []
    seen: set[str] = set()
    for pair in header.decode("latin-1").split(";"):
        name, equals, value = pair.partition("=")
        # Starlette strips the name too: without this, a name with an odd space would pass the check.
        plain = name.strip().removeprefix(_HOST).removeprefix(_SECURE)
        if equals and plain.startswith(_OURS):
            if name.strip() != name_sent(scope, plain) or (plain in seen and base_path()):
                continue
            seen.add(plain)
            pair = f"{plain}={value}"
        kept.append(pair.strip())
    return "; ".join(kept).encode("latin-1")
