"""What several routes share: reading the JSON that a page sends, and answering with a clip, JSON or a refusal."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Receive, Scope, Send

from annotate_app.language import as_json, retold, tr
from annotate_app.server import monitoring
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.session.bodies import BodyRefused, json_body
from annotate_app.session.guard import is_own_page, person_of
from backend.campaign.desk.clips import why_not_shown
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, StoreUnavailable, VideoUnreadable
from backend.core.ids import AnnotatorId
from backend.media.jobs import MEDIA_TYPES as CLIP_TYPES
from backend.media.jobs import ClipJob, is_cut

ASKED_AGAIN = "private, no-cache"
"""A browser may keep the answer, but asks before each use: the session is checked, then 304 sends no content."""


class Sent(msgspec.Struct):
    """A body; `person` is whom the page was made for."""

    person: AnnotatorId | None = None


class ClipRoutes:
    """Routes that send clips of a project; `project` is called late, `clock` gives seconds since 1970."""

    def __init__(
        self, project: Callable[[], Project], clips: ClipWorker[ClipJob], clock: Callable[[], float] = time.time
    ) -> None:
        self._project = project
        self._clips = clips
        self._clock = clock


_Kind = TypeVar("_Kind", bound=Sent)
_Routes = TypeVar("_Routes")
_ClipRoutes = TypeVar("_ClipRoutes", bound=ClipRoutes)


class ClipFile(FileResponse):
    """A file with the ETag in its headers that answers 304 to a browser which has it, and sends parts of it.

    It has no Last-Modified: using a clip touches its file, so the time would tell when somebody else watched it.
    """

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        """Add the length alone."""
        self.headers.setdefault("content-length", str(stat_result.st_size))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer If-None-Match, and let Range count only if If-Range names this very file."""
        asked = Headers(scope=scope)
        if _STATIC.is_not_modified(self.headers, asked):
            await NotModifiedResponse(self.headers)(scope, receive, send)
            return
        left_out = [b"if-range"] if asked.get("if-range") in (None, self.headers["etag"]) else [b"if-range", b"range"]
        headers = [(name, value) for name, value in scope["headers"] if name not in left_out]
        await super().__call__({**scope, "headers": headers}, receive, send)


_STATIC = StaticFiles(check_dir=False)


async def cut_clip(
    request: Request,
    clips: ClipWorker[ClipJob],
    find: Callable[[], ClipJob],
    priority: Priority = Priority.DESK,
) -> ClipJob:
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
                monitoring.waited(time.perf_counter() - began)
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


def look(find: Callable[[], ClipJob]) -> tuple[ClipJob, bool]:
    """A clip, and whether it is there already, which counts as using it."""
    job = find()
    return job, is_cut(job)


def clip_response(job: ClipJob, headers: Mapping[str, str] | None = None) -> Response:
    """The answer with a clip, or a storyboard, that is there."""
    # The name is a keyed hash of all that decides the content: it tells nobody what that is.
    told = {"Cache-Control": ASKED_AGAIN, "ETag": f'"{job.path.stem}"', **(headers or {})}
    # Addresses end in .mp4 whatever the project's clips are: browsers go by what the answer says.
    return ClipFile(job.path, media_type=CLIP_TYPES[job.path.suffix], headers=told)


async def not_shown(project: Project, person: Person, error: VideoUnreadable) -> Response:
    """Why there is no clip, as far as this person is told."""
    return refused(404, await run_in_threadpool(why_not_shown, project, person, error))


def refused(status: int, message: str) -> Response:
    """Why there is none, in words for a person."""
    return JSONResponse({"message": retold(message)}, status)


def json_answer(content: object) -> Response:
    """Answer with JSON that no browser keeps, with sentences in the reader's language."""
    return Response(as_json(content), headers={"Cache-Control": "no-store"}, media_type="application/json")


async def _sent_by(request: Request, kind: type[_Kind]) -> _Kind | Response:
    """The body of a request, or the answer that refuses it."""
    if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
        return refused(403, tr("This request did not come from a page of this server."))
    try:
        sent = await json_body(request, kind)
    except BodyRefused as refusal:
        return refused(400, str(refusal))
    if sent.person not in (None, person_of(request).annotator_id):
        # An old tab on a shared computer: what it did must not become the doing of whoever signed in since.
        return refused(
            401, tr("{name} is signed in now. Sign in again to go on as yourself.", name=person_of(request).name)
        )
    return sent


def takes(
    kind: type[_Kind],
) -> Callable[
    [Callable[[_Routes, Request, _Kind], Awaitable[Response]]], Callable[[_Routes, Request], Awaitable[Response]]
]:
    """Decorate a handler of a POST: it is given the body of the request, of this kind; others are refused."""

    def decorate(
        handler: Callable[[_Routes, Request, _Kind], Awaitable[Response]],
    ) -> Callable[[_Routes, Request], Awaitable[Response]]:
        @wraps(handler)
        async def handle(self: _Routes, request: Request) -> Response:
            sent = await _sent_by(request, kind)
            return sent if isinstance(sent, Response) else await handler(self, request, sent)

        return handle

    return decorate


def answers_refusals(
    handler: Callable[[_ClipRoutes, Request], Awaitable[Response]],
) -> Callable[[_ClipRoutes, Request], Awaitable[Response]]:
    """Decorate a handler: what is not there, or cannot be shown, is answered with 404 and the reason."""

    @wraps(handler)
    async def handle(self: _ClipRoutes, request: Request) -> Response:
        try:
            return await handler(self, request)
        except StoreUnavailable:
            raise  # the guard answers
        except VideoUnreadable as error:
            return await not_shown(self._project(), person_of(request), error)
        except ProjectError as refusal:
            return refused(404, str(refusal))

    return handle
