"""The clips of the guideline's examples: for everybody who is signed in, and nothing of them but the moment itself."""

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.clip_worker import ClipWorker, is_cut
from backend import api
from backend.ground.errors import ProjectError, StoreUnavailable, VideoUnreadable


class Examples:
    """The route that the guideline's panel asks for clips; the guard lets only people with a session come here."""

    def __init__(self, project: Callable[[], api.Project], clips: ClipWorker[api.ClipJob]) -> None:
        self._project = project
        self._clips = clips

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route("/examples/{grade:int}.mp4", self.clip)]

    async def clip(self, request: Request) -> Response:
        """The clip of one grade's example, whole or by Range; cut now if it is not there yet.

        `?v=N` asks for one choice: a page that is older than the present one gets nothing rather than a clip that
        its words do not belong to.
        """
        wanted = request.query_params.get("v")
        try:
            version = None if wanted is None else int(wanted)
        except ValueError:
            return _none("this is not the number of an example")
        try:
            job, is_there = await run_in_threadpool(self._job, request.path_params["grade"], version)
            if not is_there:
                await asyncio.shield(self._clips.ask(job, urgent=True))
        except StoreUnavailable:
            raise  # the guard answers
        except (ProjectError, VideoUnreadable) as refusal:
            return _none(str(refusal))
        # What the address with a version gives never changes; without one it may be another clip tomorrow.
        kept = "no-cache" if version is None else "private, max-age=3600"
        return FileResponse(
            job.path, media_type="video/mp4", headers={"Cache-Control": kept, "ETag": f'"{job.path.stem}"'}
        )

    def _job(self, grade: int, version: int | None) -> tuple[api.ClipJob, bool]:
        job = api.example_clip(self._project(), grade, version)
        return job, is_cut(job)


def _none(message: str) -> Response:
    return JSONResponse({"message": message}, 404)
