"""The routes of the rewrite queue: a lead's decisions as JSON, each answered with the queue as it is then."""

import time
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import as_json
from annotate_app.server.sending import Sent, sent_by
from annotate_app.session.guard import person_of
from backend.campaign.corpus.captions.decisions import decide_rewrite, rewrite_queue, take_back_rewrite
from backend.campaign.corpus.captions.model import TakenDecision
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, ReelRankError, StoreUnavailable


class _Decision(Sent, kw_only=True):
    """Body of POST /rewriting/decision; without a text the rewrite is rejected."""

    caption: int
    text: str | None


class Rewriting:
    """The routes that the page Rewrites talks to; the gate lets only leads through."""

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.time) -> None:
        self._project = project
        self._clock = clock

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/rewriting/decision", self.decision, methods=["POST"]),
            Route("/rewriting/undo", self.undo, methods=["POST"]),
        ]

    async def decision(self, request: Request) -> Response:
        """Takes one decision; a refusal is a `message` beside the queue."""
        sent = await sent_by(request, _Decision)
        if isinstance(sent, Response):
            return sent
        person, project = person_of(request), self._project()

        def act() -> None:
            decide_rewrite(project, person, sent.caption, sent.text, now=self._clock())

        return await run_in_threadpool(self._answer, request, act)

    async def undo(self, request: Request) -> Response:
        """Takes back what this lead decided last."""
        sent = await sent_by(request, Sent)
        if isinstance(sent, Response):
            return sent
        person, project = person_of(request), self._project()
        return await run_in_threadpool(
            self._answer, request, lambda: take_back_rewrite(project, person, now=self._clock())
        )

    def _answer(self, request: Request, act: Callable[[], TakenDecision | None]) -> Response:
        taken_back, message = None, ""
        try:
            taken_back = act()
        except (NotAllowed, StoreUnavailable):
            raise  # the guard answers
        except ReelRankError as refusal:
            message = str(refusal)
        answer: dict[str, Any] = {"queue": rewrite_queue(self._project(), person_of(request)), "message": message}
        return Response(
            as_json({**answer, "taken_back": taken_back}),
            headers={"Cache-Control": "no-store"},
            media_type="application/json",
        )
