"""Clips of any moment of any video of the project, for leads: what a run predicted need not be a pair."""

import asyncio
import math
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.clip_worker import ClipWorker, is_cut
from annotate_app.session.guard import person_of
from backend import api
from backend.campaign.nouns import Person
from backend.ground.errors import NotAllowed, VideoUnreadable


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
            return _refused(400, "A moment needs a start and an end in seconds.")
        if not (math.isfinite(start_s) and math.isfinite(end_s) and 0 <= start_s < end_s):
            return _refused(400, f"[{start_s}, {end_s}) is no moment of a video.")
        try:
            job, is_there = await run_in_threadpool(
                self._job, person_of(request), asked.get("video", ""), start_s, end_s
            )
            if not is_there:
                await asyncio.shield(self._clips.ask(job, urgent=False))  # people at the desk go first
        except NotAllowed as refusal:
            return _refused(403, str(refusal))
        except VideoUnreadable as error:
            return _refused(404, str(error))
        headers = {"Cache-Control": "private, max-age=3600", "ETag": f'"{job.path.stem}"'}
        return FileResponse(job.path, media_type="video/mp4", headers=headers)

    def _job(self, person: Person, video: str, start_s: float, end_s: float) -> tuple[api.ClipJob, bool]:
        job = api.moment_clip(self._project(), person, video, start_s, end_s)
        return job, is_cut(job)


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status)
