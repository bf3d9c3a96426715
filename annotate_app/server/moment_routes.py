"""Clips and thumbnails of any moment of any video, for leads: what a run predicted need not be a pair."""

import math
from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.clip_queue import Priority
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.clips import clip_response, cut_clip, refused
from annotate_app.session.guard import person_of
from backend.campaign.corpus.moments.editing import moment_clip, moment_thumbnail
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import VideoUnreadable
from backend.media.jobs import ClipJob

Find = Callable[[Project, Person, str, float, float], ClipJob]


class Moments:
    """The routes that the case view asks for clips, and lists for thumbnails."""

    def __init__(self, project: Callable[[], Project], clips: ClipWorker[ClipJob]) -> None:
        self._project = project
        self._clips = clips

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
