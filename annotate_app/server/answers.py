"""What several routes share: reading the JSON that a page sends, taking turns, answering with a clip or JSON.

A grade takes a few milliseconds. A body made by hand may carry a hundred, and somebody may send several at once, from
many accounts. So a person's requests are taken one after the other (`Turns`). Of those with a few events some are at
work at a time, and of those who wait whoever handed in least lately comes first. Those with many are taken one at a
time in the whole process, in small parts: each when nobody else is at work or waits, with a rest after it, so that a
key press meets one part at most and finds the machine mostly free. Only every so often a part comes before others.
Nobody hands in more in an hour than people can do. How many may come at all, the guard says.
"""

import asyncio
import os
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TypeVar

import anyio
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
from annotate_app.session.guard import is_own_page, person_of
from annotate_app.session.request_limits import BodyRefused, RecentUse, TooMuch, json_body
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


class SeenGuideline(Sent, kw_only=True):
    """Body of POST /desk/guideline and /describe/guideline: the version that somebody was shown to its end."""

    version: int


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
            if monitoring.counts is not None and priority is Priority.DESK:
                monitoring.counts.waited(time.perf_counter() - began)
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


MOST_EVENTS = 100
"""In one request; a page sends 50 at most."""
MOST_AN_HOUR = 5_000
"""Events that one person hands in through one front end; a grade a second is 3,600."""
FEW_EVENTS = 5
"""So many are handed in beside everybody else's; more wait for each other."""
PART_EVENTS = 2
"""Of many, so many are handed in before others come first again."""
RESTS = 2.0
"""After a part of many nobody has the next one for so many times as long as it took."""
AT_WORK = 3
"""Turns at a time: more of them would wait for the database, and for Python, inside of each other."""
MANY_AFTER = 20
"""So many turns others have at most while somebody waits with many."""
_LATELY_S = 2.0
_HOUR_S = 3_600.0

_Event = TypeVar("_Event")


def parts(events: Sequence[_Event]) -> Iterator[Sequence[_Event]]:
    """Events, a few at a time.

    >>> [len(part) for part in parts(range(5))]
    [2, 2, 1]
    """
    for start in range(0, len(events), PART_EVENTS):
        yield events[start : start + PART_EVENTS]


@dataclass(eq=False)
class _Part:
    """Of a request, or all of it: waits for its turn, or has it."""

    person: AnnotatorId
    events: int
    of_many: bool
    begins: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """Of one front end; used in one event loop. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._one: dict[AnnotatorId, anyio.Lock] = {}
        self._waiting: list[_Part] = []
        self._at_work: list[_Part] = []
        self._lately = RecentUse(_LATELY_S, clock)
        """Turns and their events."""
        self._many_of: AnnotatorId | None = None
        """Who hands in many just now: one is done with that before the next one begins."""
        self._rests = False
        self._let_past = 0
        """Turns that others had while somebody waited with many."""
        self._handed_in: defaultdict[AnnotatorId, deque[tuple[float, int]]] = defaultdict(deque)
        """When and how many, of the last hour."""

    @asynccontextmanager
    async def of(self, person: AnnotatorId, events: int, *, now: float) -> AsyncIterator[None]:
        """Waits until this person's earlier requests are done; their next one waits for what is done inside.

        Raises:
            TooMuch: none of it is taken; the guard answers.
        """
        self._count(person, events, now)
        lock = self._one.setdefault(person, anyio.Lock())
        try:
            async with lock:
                try:
                    yield
                finally:
                    if self._many_of == person:
                        self._many_of = None
                        self._begin()
        finally:
            if not lock.locked():
                self._one.pop(person, None)

    @asynccontextmanager
    async def part(self, person: AnnotatorId, events: int, *, of_many: bool) -> AsyncIterator[None]:
        """Waits for the turn of a part of this person's request, and is it.

        Args:
            person: whose request it is.
            events: in this part.
            of_many: whether the request has more than `FEW_EVENTS`.
        """
        part = _Part(person, events, of_many)
        self._waiting.append(part)
        self._begin()
        try:
            await part.begins.wait()
            began = self._clock()
            yield
            if of_many:
                self._rests = True
                asyncio.get_running_loop().call_later(RESTS * (self._clock() - began), self._rested)
        finally:
            (self._waiting if part in self._waiting else self._at_work).remove(part)
            self._begin()

    def _rested(self) -> None:
        self._rests = False
        self._begin()

    def _begin(self) -> None:
        """Whoever may begin now begins."""
        while len(self._at_work) < AT_WORK and (first := self._next()):
            self._waiting.remove(first)
            self._at_work.append(first)
            self._lately.add(first.person, 1 + first.events)
            if first.of_many:
                self._many_of, self._let_past = first.person, 0
            elif any(part.of_many for part in self._waiting):
                self._let_past += 1
            first.begins.set()

    def _next(self) -> _Part | None:
        among = [part for part in self._waiting if not part.of_many]
        many = [part for part in self._waiting if part.of_many and self._many_of in (None, part.person)]
        if many and not self._rests and (not among or self._let_past >= MANY_AFTER):
            among = [] if self._at_work else many  # nobody begins before it
        return min(among, key=lambda part: self._lately.of(part.person), default=None)  # of equals the first that came

    def _count(self, person: AnnotatorId, events: int, now: float) -> None:
        lately = self._handed_in[person]
        while lately and lately[0][0] <= now - _HOUR_S:
            lately.popleft()
        if sum(count for _, count in lately) + events > MOST_AN_HOUR:
            wait_s = max(1, int(lately[0][0] + _HOUR_S - now) + 1) if lately else int(_HOUR_S)
            told = tr("More than {most} grades in an hour are not taken. Please wait.", most=f"{MOST_AN_HOUR:,}")
            raise TooMuch(told, wait_s)
        if events:
            lately.append((now, events))
