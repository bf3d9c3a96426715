"""Two addresses for whatever looks after a front end: does the process answer, and can it serve.

They ask for no sign-in and tell nothing of the campaign: a word, whoever asks. What costs something is looked at once a
second at most, however many ask.
"""

import time
from collections.abc import Callable, Sequence

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.session.addresses import HEALTH_PATH, READY_PATH
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.server import not_ready

_HOLDS_S = 1.0
"""For so long an answer is good for everybody."""
_PATIENCE_S = 5.0
"""A database that says nothing for longer is away; whoever asks usually waits no longer either."""
_HEADERS = {"Cache-Control": "no-store"}


class Health:
    """The routes; `project` is called late, `clock` counts seconds from anywhere."""

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.monotonic) -> None:
        self._project = project
        self._clock = clock
        self._turn: anyio.Lock | None = None
        self._known: tuple[float, Sequence[str]] | None = None

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route(HEALTH_PATH, self.healthy), Route(READY_PATH, self.ready)]

    async def healthy(self, _request: Request) -> Response:
        """The process answers: 200 and `ok`. Where this fails, start it anew."""
        return PlainTextResponse("ok\n", headers=_HEADERS)

    async def ready(self, _request: Request) -> Response:
        """200 and `ready`, or 503 and what is missing (see `not_ready`). Where this fails, send nobody here."""
        # A lock belongs to the event loop it is first used in, so it is not made at import.
        self._turn = self._turn or anyio.Lock()
        async with self._turn:
            if self._known is None or self._clock() - self._known[0] > _HOLDS_S:
                self._known = None
                found = await self._look()
                self._known = (self._clock(), found)
            lacking = self._known[1]
        if lacking:
            return PlainTextResponse(f"not ready: {', '.join(lacking)}\n", 503, {**_HEADERS, "Retry-After": "5"})
        return PlainTextResponse("ready\n", headers=_HEADERS)

    async def _look(self) -> Sequence[str]:
        with anyio.move_on_after(_PATIENCE_S):
            return await anyio.to_thread.run_sync(lambda: not_ready(self._project()), abandon_on_cancel=True)
        return ("database",)
