"""Code that routes share: read a JSON body, schedule requests fairly, and answer with a clip or JSON.

A request carries events: grades, skips, or actions on the page Describe. Saving an event takes a few milliseconds. A
request made by hand may carry a hundred events, and a program may send several such requests at once, from many
accounts. So `Turns` decides which request is handled next:

- The requests of one user are handled one after the other.
- Of requests with few events, one is handled at a time, or `AT_WORK` if the database is on a server. The next is from
  the user who recently sent least.
- A request with more than `FEW_EVENTS` is split into small parts. Only one such request is handled at a time in the
  whole process. A part starts only while no small request is handled or waits, and a pause follows it. So the grade of
  a key press waits for at most one part. After `MANY_AFTER` small requests, a waiting part goes first.
- One user can send `MOST_AN_HOUR` events an hour.

`annotate_app.session.guard` limits how many requests are accepted at all.
"""

import asyncio
import os
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Receive, Scope, Send

from annotate_app.language import as_json, tr, translate_message
from annotate_app.server import monitoring
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.session.guard import is_own_page, person_of
from annotate_app.session.request_limits import BodyRefused, RecentUse, TooMuch, json_body
from annotate_app.session.threads import in_thread
from backend.campaign.desk.clips import why_not_shown
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, StoreUnavailable, VideoUnreadable
from backend.core.ids import AnnotatorId
from backend.media.jobs import MEDIA_TYPES as CLIP_TYPES
from backend.media.jobs import ClipJob, is_cut

ASKED_AGAIN = "private, no-cache"
"""Cache-Control: a browser may keep the answer but must ask before each use. The session is checked each time; an
unchanged answer is then a 304 without content."""

WHOLE_BYTES = 1024 * 1024
"""Largest clip that is read at once; a clip of 720 lines has 72 kB a second. One person may have 64 requests for clips
under way, so this bounds the memory that a person with a slow connection can occupy."""


class RequestBody(msgspec.Struct):
    """Base of all JSON request bodies. `person` is the user who was signed in when the sending page was loaded.

    A request is refused if another user has signed in since. If `person` is None, this is not checked.
    """

    person: AnnotatorId | None = None


class SeenGuideline(RequestBody, kw_only=True):
    """Body of POST /desk/guideline and /describe/guideline: the version of the guideline that the user has seen."""

    version: int


class ClipRoutes:
    """Base class for groups of routes that send clips of a project.

    `project` returns the open project and is called for each request. `clips` is the worker that cuts missing clips.
    `clock` returns seconds since 1970.
    """

    def __init__(
        self, project: Callable[[], Project], clips: ClipWorker[ClipJob], clock: Callable[[], float] = time.time
    ) -> None:
        self._project = project
        self._clips = clips
        self._clock = clock


_Kind = TypeVar("_Kind", bound=RequestBody)
_Routes = TypeVar("_Routes")
_ClipRoutes = TypeVar("_ClipRoutes", bound=ClipRoutes)


class ClipFile(FileResponse):
    """A file response that supports Range requests, and answers 304 if the browser already has the file (same ETag).

    It sends no Last-Modified: sending a clip changes its file's time, which would reveal when somebody else watched it.

    A file of at most `WHOLE_BYTES` that is requested whole is read at once. Larger ones are read in pieces of
    `chunk_size` bytes, each in a thread, because the whole video of the page Describe may not fit into memory.
    """

    chunk_size = 256 * 1024

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        """Set Content-Length, but not Last-Modified or an ETag made from the file's time."""
        self.headers.setdefault("content-length", str(stat_result.st_size))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, or answer 304 if the browser already has it (If-None-Match).

        A Range is obeyed only if the request has no If-Range, or one with this file's ETag.
        """
        request_headers = Headers(scope=scope)
        if _STATIC.is_not_modified(self.headers, request_headers):
            await NotModifiedResponse(self.headers)(scope, receive, send)
            return
        left_out = (
            [b"if-range"]
            if request_headers.get("if-range") in (None, self.headers["etag"])
            else [b"if-range", b"range"]
        )
        headers = [(name, value) for name, value in scope["headers"] if name not in left_out]
        if scope["method"] == "GET" and not any(name == b"range" for name, _ in headers):
            content = await in_thread(_content_if_small, Path(self.path))
            if content is not None:
                self.headers["content-length"] = str(len(content))
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await send({"type": "http.response.body", "body": content})
                return
        await super().__call__({**scope, "headers": headers}, receive, send)


def _content_if_small(path: Path) -> bytes | None:
    """Return the content of a file; None if it has more than `WHOLE_BYTES` or is not there any more."""
    try:
        with path.open("rb") as file:
            content = file.read(WHOLE_BYTES + 1)
    except FileNotFoundError:
        return None
    return content if len(content) <= WHOLE_BYTES else None


_STATIC = StaticFiles(check_dir=False)


async def cut_clip(
    request: Request,
    clips: ClipWorker[ClipJob],
    find: Callable[[], ClipJob],
    priority: Priority = Priority.DESK,
) -> ClipJob:
    """Wait until a clip is cut, and return its job, the description of the clip with the `path` of the finished file.

    Args:
        request: the request for the clip. If the browser disconnects, the clip may be dropped from the queue.
        clips: the worker that cuts clips.
        find: returns the job of the clip. It reads the database, in a thread, and may raise other errors.
        priority: how urgent the clip is.

    Raises:
        ClientDisconnect: the browser has disconnected.
        TooMuch: this user has too many clips waiting.
        VideoUnreadable: the clip cannot be cut.
    """
    job, is_there = await in_thread(check_clip, find)
    if not is_there:
        began = time.perf_counter()
        try:
            with clips.waiting_for(job, person_of(request).annotator_id, priority) as future:
                await _wait_unless_gone(request, future)
        finally:
            if monitoring.counts is not None and priority is Priority.DESK:
                monitoring.counts.waited(time.perf_counter() - began)
    return job


async def _wait_unless_gone(request: Request, future: asyncio.Future[Path]) -> None:
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


def check_clip(find: Callable[[], ClipJob]) -> tuple[ClipJob, bool]:
    """Return the description of a clip to cut (its job), and whether the clip's file exists already.

    `find` is called to get the job.

    If the file exists, it is recorded as used now, so that it is not deleted as unused.
    """
    job = find()
    return job, is_cut(job)


def clip_response(job: ClipJob, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that sends the finished file of a clip or storyboard (a picture with several frames)."""
    # The file's name is a keyed hash of all that decides the content: as an ETag it reveals nothing.
    response_headers = {"Cache-Control": ASKED_AGAIN, "ETag": f'"{job.path.stem}"', **(headers or {})}
    # Addresses end in .mp4 whatever format the clips have: browsers go by the response's media type.
    return ClipFile(job.path, media_type=CLIP_TYPES[job.path.suffix], headers=response_headers)


async def unreadable_response(project: Project, person: Person, error: VideoUnreadable) -> Response:
    """Return a 404 response that says why a clip cannot be shown, in as much detail as this user may read."""
    return error_response(404, await in_thread(why_not_shown, project, person, error))


def error_response(status: int, message: str) -> Response:
    """Return a JSON response with this status and the message, translated into the reader's language."""
    return JSONResponse({"message": translate_message(message)}, status)


def json_answer(content: object) -> Response:
    """Return a JSON response that no browser caches, with its messages translated into the reader's language."""
    return Response(as_json(content), headers={"Cache-Control": "no-store"}, media_type="application/json")


async def _parsed_body(request: Request, kind: type[_Kind]) -> _Kind | Response:
    """Return the parsed body of a request, or an error response if the body or the sender is not accepted."""
    if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
        return error_response(403, tr("This request did not come from a page of this server."))
    try:
        sent = await json_body(request, kind)
    except BodyRefused as refusal:
        return error_response(400, str(refusal))
    if sent.person not in (None, person_of(request).annotator_id):
        # An old tab on a shared computer: its events must not be credited to the person who signed in since.
        return error_response(
            401, tr("{name} is signed in now. Sign in again to go on as yourself.", name=person_of(request).name)
        )
    return sent


def takes(
    kind: type[_Kind],
) -> Callable[
    [Callable[[_Routes, Request, _Kind], Awaitable[Response]]], Callable[[_Routes, Request], Awaitable[Response]]
]:
    """Decorate a POST handler so that it gets the request's body as a third argument, parsed as `kind`.

    A request with an invalid body, from another site or of another user gets an error response instead.
    """

    def decorate(
        handler: Callable[[_Routes, Request, _Kind], Awaitable[Response]],
    ) -> Callable[[_Routes, Request], Awaitable[Response]]:
        @wraps(handler)
        async def handle(self: _Routes, request: Request) -> Response:
            sent = await _parsed_body(request, kind)
            return sent if isinstance(sent, Response) else await handler(self, request, sent)

        return handle

    return decorate


def answers_refusals(
    handler: Callable[[_ClipRoutes, Request], Awaitable[Response]],
) -> Callable[[_ClipRoutes, Request], Awaitable[Response]]:
    """Decorate a handler so that missing or unreadable content gives a 404 response with the reason."""

    @wraps(handler)
    async def handle(self: _ClipRoutes, request: Request) -> Response:
        try:
            return await handler(self, request)
        except StoreUnavailable:
            raise  # the guard answers
        except VideoUnreadable as error:
            return await unreadable_response(self._project(), person_of(request), error)
        except ProjectError as refusal:
            return error_response(404, str(refusal))

    return handle


MOST_EVENTS = 100
"""Largest number of events in one request; a page sends 50 at most."""
MOST_AN_HOUR = 5_000
"""Largest number of events that one person can send an hour through one front end; a grade a second is 3,600."""
FEW_EVENTS = 5
"""A request with more events than this counts as one with many, which are handled one at a time."""
PART_EVENTS = 2
"""Events in one part of a request with many events; other people's requests go first between parts."""
RESTS = 2.0
"""Length of the pause after a part of a request with many events, as a multiple of the time the part took."""
AT_WORK = 3
"""Turns at a time with a database on a server. More would only wait for the database and for Python."""
AT_WORK_IN_A_FILE = 1
"""The same with a file. With three, each grade costs half as much CPU again: they wait for each other's locks."""
MANY_AFTER = 20
"""After this number of turns of others, a waiting request with many events goes first."""
_LATELY_S = 2.0
_HOUR_S = 3_600.0

_Event = TypeVar("_Event")


def parts(events: Sequence[_Event]) -> Iterator[Sequence[_Event]]:
    """Split events (a browser's actions, such as grades) into parts of `PART_EVENTS` (2) each.

    >>> [len(part) for part in parts(range(5))]
    [2, 2, 1]
    """
    for start in range(0, len(events), PART_EVENTS):
        yield events[start : start + PART_EVENTS]


@dataclass(eq=False)
class _Part:
    """A request with few events, or a part of a longer request, that waits to be handled or is being handled.

    Attributes:
        person: the sender.
        events: the number of events (actions such as grades).
        of_many: whether it is a part of a longer request.
        rank: how the sender's recent usage ranks; it stays so while this waits, as each sender has one part at a time.
        begins: set when handling may start.
    """

    person: AnnotatorId
    events: int
    of_many: bool
    rank: float
    begins: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """Schedules the requests of one server process fairly; the module describes the rules. Used in one event loop.

    `clock` returns monotonic seconds, and `at_once` how many turns there may be at a time.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, at_once: Callable[[], int] = lambda: AT_WORK
    ) -> None:
        self._clock = clock
        self._at_once = at_once
        self._one: dict[AnnotatorId, anyio.Lock] = {}
        self._waiting: list[_Part] = []
        self._at_work: list[_Part] = []
        self._lately = RecentUse(_LATELY_S, clock)
        """How many turns and events each person had lately."""
        self._many_of: AnnotatorId | None = None
        """The person whose request with many events is being handled; another such request waits until it is done."""
        self._rests = False
        self._let_past = 0
        """Turns that others had while a request with many events waited."""
        self._handed_in: defaultdict[AnnotatorId, deque[tuple[float, int]]] = defaultdict(deque)
        """Times and event counts of each person's requests in the last hour."""

    @classmethod
    def at(cls, project: Callable[[], Project]) -> "Turns":
        """Return the schedule for requests to the project that `project` returns."""
        return cls(at_once=lambda: AT_WORK if project().is_on_server else AT_WORK_IN_A_FILE)

    @asynccontextmanager
    async def of(self, person: AnnotatorId, events: int) -> AsyncIterator[None]:
        """Handle one request of a user in the `with` block, after their earlier requests and before their later ones.

        `events` is the number of events in the request.

        Raises:
            TooMuch: the user sent too many events in an hour. Nothing of this request is saved.
        """
        self._count(person, events)
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
            if not lock.locked() and self._one.get(person) is lock:  # else a later request has a new one
                del self._one[person]

    @asynccontextmanager
    async def part(self, person: AnnotatorId, events: int, *, of_many: bool) -> AsyncIterator[None]:
        """Wait until a request or a part of it may be handled, then run the `with` block.

        Requests with many events (a browser's actions, such as grades) are handled in parts.

        Args:
            person: the sender of the request.
            events: the number of events in this part.
            of_many: whether it is a part of a request with more than `FEW_EVENTS`.
        """
        part = _Part(person, events, of_many, self._lately.rank(person))
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
        """Start all waiting requests, and waiting parts of requests, that may be handled now."""
        while len(self._at_work) < self._at_once() and (first := self._next()):
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
            among = [] if self._at_work else many  # it runs alone, so nobody starts before it
        return min(among, key=attrgetter("rank"), default=None)  # of equals, the earliest

    def _count(self, person: AnnotatorId, events: int) -> None:
        requests, now = self._handed_in[person], self._clock()
        while requests and requests[0][0] <= now - _HOUR_S:
            requests.popleft()
        if sum(count for _, count in requests) + events > MOST_AN_HOUR:
            wait_s = max(1, int(requests[0][0] + _HOUR_S - now) + 1) if requests else int(_HOUR_S)
            message = tr("More than {most} grades in an hour are not taken. Please wait.", most=f"{MOST_AN_HOUR:,}")
            raise TooMuch(message, wait_s)
        if events:
            requests.append((now, events))
