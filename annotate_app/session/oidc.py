"""Single sign-on: OpenID Connect through Streamlit's login, if its secrets have an `[auth]` section.

A browser takes these steps:

1. `/session/oidc` stores the page that the browser wants to open.
2. `/auth/login` (Streamlit) redirects it to the identity provider.
3. `/oauth2callback` (Streamlit) checks the provider's answer, stores the identity in a signed cookie, and redirects to
   the front page.
4. The front page needs a session, so the browser is redirected to the sign-in page. That page finds the cookie and
   calls `finish`.

`finish` exchanges Streamlit's cookie for a session of our own, which suspension and sign-out end like any other.

`identity` and `start` use undocumented parts of Streamlit; nothing else does.
"""

import json
import logging
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from streamlit import auth_util
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import TOKENS_COOKIE_NAME, USER_COOKIE_NAME

from annotate_app.session.addresses import delete_cookie, set_cookie
from annotate_app.session.threads import in_thread
from backend.campaign.setup.people.accounts import accept_invitation_as
from backend.campaign.setup.people.permissions import sign_in_as
from backend.campaign.setup.project.folder import Project

_LOG = logging.getLogger(__name__)
START_PATH = "/session/oidc"
_JOURNEY_COOKIE = "reelrank_journey"
_JOURNEY_S = 600
_PROVIDER = "default"


class Identity(NamedTuple):
    """The account that an identity provider confirmed. `subject` never changes, and no other account ever gets it.

    `issuer` is the provider's address, and `subject` the id of the account there.
    """

    issuer: str
    subject: str


def is_configured() -> bool:
    """Return whether Streamlit's secrets name an identity provider and the package Authlib is installed."""
    return bool(auth_util.get_secrets_auth_section().get("server_metadata_url")) and auth_util.is_authlib_installed()


def warn_if_incomplete() -> None:
    """Log a warning if the secrets have an `[auth]` section but single sign-on is off."""
    if auth_util.get_secrets_auth_section() and not is_configured():
        _LOG.warning(
            "The secrets have an [auth] section, but single sign-on is off: it needs server_metadata_url there, and "
            "the package Authlib (pip install 'reelrank[oidc]')."
        )


def start(request: Request, *, next_path: str, invitation: str) -> Response:
    """Redirect the browser to the identity provider.

    A cookie stores `next_path`, the page to open after the sign-in, and the `invitation` to accept; "" for none.
    """
    response = RedirectResponse(f"/auth/login?provider={auth_util.encode_provider_token(_PROVIDER)}", 303)
    journey = urlencode({"next": next_path, "invitation": invitation})
    set_cookie(request, response, _JOURNEY_COOKIE, journey, max_age_s=_JOURNEY_S, strict=False)
    return response


def identity(request: Request) -> Identity | None:
    """Return the identity in Streamlit's signed cookie, or None if there is no valid one."""
    secret = auth_util.get_signing_secret()
    if USER_COOKIE_NAME not in request.cookies or not secret or not is_configured():
        return None

    def signed(name: str) -> bytes | None:
        value = request.cookies.get(name)
        return decode_signed_value(secret, name, value) if value else None

    try:
        user = json.loads(auth_util.get_cookie_with_chunks(signed, USER_COOKIE_NAME) or b"{}")
        return Identity(str(user["iss"]), str(user["sub"]))
    except (ValueError, KeyError):
        return None


async def finish(
    request: Request, project: Project, who: Identity, *, now: float, safe_path: Callable[[str | None], str]
) -> tuple[str, str]:
    """Sign in the user with this identity; if the sign-on began with an invitation, accept it.

    Args:
        request: the request with the cookie of `start`.
        project: the project.
        who: the identity.
        now: seconds since 1970.
        safe_path: returns a path to redirect to; see `routes.safe_path`.

    Returns:
        The session token, and the path to open.

    Raises:
        SignInRefused: no user of the project has this identity, the invitation is used up, or the user is suspended.
    """
    journey = dict(parse_qsl(request.cookies.get(_JOURNEY_COOKIE, "")))
    if invitation := journey.get("invitation"):
        token = await in_thread(accept_invitation_as, project, invitation, *who, now=now)
    else:
        token = await in_thread(sign_in_as, project, *who, now=now)
    return token, safe_path(journey.get("next"))


def forget(request: Request, response: Response) -> Response:
    """Delete the cookies that single sign-on set, also Streamlit's, which would last a month; return the response."""
    if _JOURNEY_COOKIE in request.cookies:
        delete_cookie(request, response, _JOURNEY_COOKIE)
    for name in request.cookies:
        if name.startswith((USER_COOKIE_NAME, TOKENS_COOKIE_NAME)):
            response.delete_cookie(name, path="/", httponly=True, samesite="lax")
    return response
