"""Routes below /api/, for programs. Only requests with a valid personal token reach them.

A token of the scope `read` allows only GET requests, and every change in the database is refused. Each route acts as
the owner of the token (`person_of`) and calls functions that check permissions. So a program can do nothing that the
owner may not do.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import marked, tr
from annotate_app.server.answers import error_response, json_answer
from annotate_app.session.guard import token_of

_NOTHING = marked("Nothing is at this address.")


def api_routes() -> list[BaseRoute]:
    """Return the routes. The last one answers all other addresses below /api/ with status 404."""
    return [Route("/api/me", _me), Route("/api/{rest:path}", _nothing)]


async def _me(request: Request) -> Response:
    """Answer who the token acts for and what it may do. `expires_at` is in seconds since 1970."""
    token = token_of(request)
    return json_answer(
        {
            "name": token.owner.name,
            "role": token.owner.role.value,
            "token": token.name,
            "scope": token.scope.value,
            "expires_at": token.expires_at,
        }
    )


async def _nothing(_request: Request) -> Response:
    return error_response(404, tr(_NOTHING))
