"""A clip for whoever may see it: found, cut if it is not there yet, and sent whole or by Range."""

import asyncio
import time
from collections.abc import Callable, Mapping

from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, Response

from annotate_app.language import retold
from annotate_app.server import metrics
from annotate_app.server.clip_worker import ClipWorker
from backend import api
from backend.campaign.nouns import Person
from backend.ground.errors import VideoUnreadable

FOR_AN_HOUR = "private, max-age=3600"
"""For an address whose clip never changes; another person on the same computer has to ask again."""


async def cut_clip(
    clips: ClipWorker[api.ClipJob], find: Callable[[], api.ClipJob], *, urgent: bool = True
) -> api.ClipJob:
    """The clip that `find` names, once it is there; `find` reads the database, in a thread.

    Raises:
        VideoUnreadable: it cannot be cut. And whatever `find` raises.
    """
    job, is_there = await run_in_threadpool(look, find)
    if not is_there:
        began = time.perf_counter()
        try:
            await asyncio.shield(clips.ask(job, urgent=urgent))
        finally:
            if urgent:
                metrics.waited(time.perf_counter() - began)
    return job


def look(find: Callable[[], api.ClipJob]) -> tuple[api.ClipJob, bool]:
    """A clip, and whether it is there already, which counts as using it."""
    job = find()
    return job, api.is_cut(job)


def clip_response(job: api.ClipJob, kept: str = FOR_AN_HOUR, headers: Mapping[str, str] | None = None) -> Response:
    """The answer with a clip, or a storyboard, that is there."""
    # The name is a digest of the content; the default ETag is of the file's time, which using it changes.
    told = {"Cache-Control": kept, "ETag": f'"{job.path.stem}"', **(headers or {})}
    # Addresses end in .mp4 whatever the project's clips are: browsers go by what the answer says.
    return FileResponse(job.path, media_type=api.CLIP_TYPES[job.path.suffix], headers=told)


async def not_shown(project: api.Project, person: Person, error: VideoUnreadable) -> Response:
    """Why there is no clip, as far as this person is told."""
    return refused(404, await run_in_threadpool(api.why_not_shown, project, person, error))


def refused(status: int, message: str) -> Response:
    """Why there is none, in words for a person."""
    return JSONResponse({"message": retold(message)}, status)
