"""Routes of the lead's pages: the rewrite queue, the counts in the menu, clips and thumbnails of any moment."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.answers import ClipRoutes, Sent, clip_response, cut_clip, json_answer, refused, takes
from annotate_app.server.clip_worker import Priority
from annotate_app.session.guard import is_own_page, person_of
from backend.campaign.corpus.captions.decisions import decide_rewrite, rewrite_queue, take_back_rewrite
from backend.campaign.corpus.captions.model import TakenDecision
from backend.campaign.corpus.moments.editing import moment_clip, moment_thumbnail
from backend.campaign.nouns import Person
from backend.campaign.setup.people.permissions import lead_of
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, ReelRankError, StoreUnavailable, VideoUnreadable
from backend.media.jobs import ClipJob

Waiting = Callable[[Project, Person], dict[str, Any]]
"""What the menu tells a lead; it checks that they are one."""
Find = Callable[[Project, Person, str, float, float], ClipJob]


class _Decision(Sent, kw_only=True):
    """Body of POST /rewriting/decision; without a text the rewrite is rejected."""

    caption: int
    text: str | None


class Rewriting:
    """The routes that the page Rewrites talks to: each decision is answered with the queue as it is then."""

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.time) -> None:
        self._project = project
        self._clock = clock

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/rewriting/decision", self.decision, methods=["POST"]),
            Route("/rewriting/undo", self.undo, methods=["POST"]),
        ]

    @takes(_Decision)
    async def decision(self, request: Request, sent: _Decision) -> Response:
        """Takes one decision; a refusal is a `message` beside the queue."""
        person, project = person_of(request), self._project()

        def act() -> None:
            decide_rewrite(project, person, sent.caption, sent.text, now=self._clock())

        return await run_in_threadpool(self._answer, request, act)

    @takes(Sent)
    async def undo(self, request: Request, sent: Sent) -> Response:
        """Takes back what this lead decided last."""
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
        queue = rewrite_queue(self._project(), person_of(request))
        return json_answer({"queue": queue, "message": message, "taken_back": taken_back})


def menu_route(project: Callable[[], Project], waiting: Waiting) -> BaseRoute:
    """`GET /lead/waiting`, for leads: what `waiting` says just now."""

    async def answer(request: Request) -> Response:
        if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
            return refused(403, "This request did not come from a page of this server.")
        person = person_of(request)

        def count() -> dict[str, Any]:
            return waiting(project(), lead_of(project(), person))

        return json_answer(await run_in_threadpool(count))

    return Route("/lead/waiting", answer)


class Moments(ClipRoutes):
    """The routes that the case view asks for clips, and lists for thumbnails."""

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route("/moments.mp4", self.clip), Route("/moments.webp", self.thumbnail)]

    async def clip(self, request: Request) -> Response:
        """`?video=NAME&start=S&end=S`: the clip of that moment, whole or by Range; cut now if it is not there yet."""
        try:
            return await self._answer(request, moment_clip)
        except VideoUnreadable as error:
            return refused(404, str(error))

    async def thumbnail(self, request: Request) -> Response:
        """The same: a small picture of it. Where there is none, nothing: a list does without."""
        try:
            return await self._answer(request, moment_thumbnail)
        except VideoUnreadable:
            return Response(status_code=204)

    async def _answer(self, request: Request, find: Find) -> Response:
        asked = request.query_params
        try:
            start_s, end_s = float(asked.get("start", "")), float(asked.get("end", ""))
        except ValueError:
            return refused(400, "A moment needs a start and an end in seconds.")
        if not (math.isfinite(start_s) and math.isfinite(end_s) and 0 <= start_s < end_s):
            return refused(400, f"[{start_s}, {end_s}) is no moment of a video.")
        person, video = person_of(request), asked.get("video", "")
        found = partial(find, self._project(), person, video, start_s, end_s)
        return clip_response(await cut_clip(request, self._clips, found, Priority.EXTRA))
