"""A clip for whoever may see it: found, cut if it is not there yet, and sent whole or by Range."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from annotate_app.language import retold
from annotate_app.server import metrics
from annotate_app.server.clip_queue import Priority
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.session.guard import person_of
from backend import api
from backend.campaign.nouns import Person
from backend.ground.errors import VideoUnreadable

FOR_AN_HOUR = "private, max-age=3600"
"""For an address whose clip never changes; another person on the same computer has to ask again."""


async def cut_clip(
    request: Request,
    clips: ClipWorker[api.ClipJob],
    find: Callable[[], api.ClipJob],
    priority: Priority = Priority.DESK,
) -> api.ClipJob:
    """Return the clip that `find` names, once it is there; `find` reads the database, in a thread.

    Raises:
        ClientDisconnect: the browser has gone, so the request gave up its place in the queue.
        TooMuch: this person has too many clips waiting.
        VideoUnreadable: it cannot be cut. And whatever `find` raises.
    """
    job, is_there = await run_in_threadpool(look, find)
    if not is_there:
        began = time.perf_counter()
        try:
            with clips.waiting_for(job, person_of(request).annotator_id, priority) as future:
                await _unless_gone(request, future)
        finally:
            if priority is Priority.DESK:
                metrics.waited(time.perf_counter() - began)
    return job


async def _unless_gone(request: Request, future: asyncio.Future[Path]) -> None:
    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    leaving = asyncio.ensure_future(gone())
    try:
        await asyncio.wait((future, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not future.done():
            raise ClientDisconnect
        future.result()
    finally:
        leaving.cancel()


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
