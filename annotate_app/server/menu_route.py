"""The route that the menu of a lead asks how much waits on which page."""

from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import as_json
from annotate_app.server.clips import refused
from annotate_app.session.guard import is_own_page, person_of
from backend.campaign.nouns import Person
from backend.campaign.setup.people.permissions import lead_of
from backend.campaign.setup.project.folder import Project

Waiting = Callable[[Project, Person], dict[str, Any]]
"""What the menu tells a lead; it asks the gate whether they are one."""


def menu_route(project: Callable[[], Project], waiting: Waiting) -> BaseRoute:
    """`GET /lead/waiting`, for leads: what `waiting` says just now."""

    async def answer(request: Request) -> Response:
        if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
            return refused(403, "This request did not come from a page of this server.")
        person = person_of(request)

        def count() -> dict[str, Any]:
            return waiting(project(), lead_of(project(), person))

        told = await run_in_threadpool(count)
        return Response(as_json(told), headers={"Cache-Control": "no-store"}, media_type="application/json")

    return Route("/lead/waiting", answer)
