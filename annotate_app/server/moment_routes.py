"""Clips of any moment of any video of the project, for leads: what a run predicted need not be a pair."""

import math
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.clips import clip_response, cut_clip, refused
from annotate_app.session.guard import person_of
from backend import api
from backend.ground.errors import VideoUnreadable


class Moments:
    """The route that the case view asks for clips."""

    def __init__(self, project: Callable[[], api.Project], clips: ClipWorker[api.ClipJob]) -> None:
        self._project = project
        self._clips = clips

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route("/moments.mp4", self.clip)]

    async def clip(self, request: Request) -> Response:
        """`?video=NAME&start=S&end=S`: the clip of that moment, whole or by Range; cut now if it is not there yet."""
        asked = request.query_params
        try:
            start_s, end_s = float(asked.get("start", "")), float(asked.get("end", ""))
        except ValueError:
            return refused(400, "A moment needs a start and an end in seconds.")
        if not (math.isfinite(start_s) and math.isfinite(end_s) and 0 <= start_s < end_s):
            return refused(400, f"[{start_s}, {end_s}) is no moment of a video.")
        person, video = person_of(request), asked.get("video", "")

        def find() -> api.ClipJob:
            return api.moment_clip(self._project(), person, video, start_s, end_s)

        try:
            return clip_response(await cut_clip(self._clips, find, urgent=False))  # people at the desk go first
        except VideoUnreadable as error:
            return refused(404, str(error))
