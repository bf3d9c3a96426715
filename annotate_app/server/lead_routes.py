"""Routes for leads: the rewrite queue, menu counts, clips of any moment, and uploads.

Files that leads send are streamed onto the disk of the project, whole or not at all. Videos go to `videos/` of the
project's folder, annotation files to `files/`. A file may be larger than the memory; it arrives under its name once all
of it is there, and takes nobody else's name.
"""

import errno
import math
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import marked, tr
from annotate_app.server.answers import ClipRoutes, Sent, clip_response, cut_clip, json_answer, refused, takes
from annotate_app.server.clip_worker import Priority
from annotate_app.session.guard import is_own_page, person_of
from annotate_app.session.request_limits import chunks as sent_chunks
from backend.campaign.corpus.captions.decisions import decide_rewrite, rewrite_queue, take_back_rewrite
from backend.campaign.corpus.captions.model import TakenDecision
from backend.campaign.corpus.moments.editing import moment_clip, moment_thumbnail
from backend.campaign.nouns import Person
from backend.campaign.setup.people.permissions import lead_of
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import own_folder
from backend.core.errors import NotAllowed, ReelRankError, StoreUnavailable, VideoUnreadable
from backend.core.file_system import leads_out, make_private, make_private_folder
from backend.core.typed_text import nfc
from backend.media.jobs import ClipJob
from backend.media.video_folder import EXTENSIONS as VIDEO_EXTENSIONS

Waiting = Callable[[Project, Person], dict[str, Any]]
"""Answer with the counts of the menu. The verb checks that the caller is a lead."""
Find = Callable[[Project, Person, str, float, float], ClipJob]


class _Decision(Sent, kw_only=True):
    """Body of POST /rewriting/decision; without a text the rewrite is rejected."""

    caption: int
    text: str | None


class Rewriting:
    """The routes that the page Captions talks to: each decision is answered with the queue as it is then."""

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


GIB = 2**30
KEPT_FREE_BYTES = GIB
"""An upload leaves so much room on the disk: people go on grading, and the database needs some."""
_AT_ONCE_BYTES = 2**20
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class UploadKind:
    """What may be sent: into which folder of the project, with which extensions, how large at most, in bytes."""

    folder: str
    what: str
    extensions: tuple[str, ...]
    most_bytes: int


KINDS = {
    "videos": UploadKind("videos", "a video", VIDEO_EXTENSIONS, 50 * GIB),
    "files": UploadKind("files", marked("an annotation file"), (".json", ".jsonl", ".csv", ".txt"), 2 * GIB),
    "pooled": UploadKind("pooled", "a run", (".json", ".jsonl", ".csv", ".txt", ".trec", ".gz"), 2 * GIB),
}


def sent_files(project: Project, kind: str) -> list[Path]:
    """The files of a kind that were sent so far, by name. Links out of the folder were sent by nobody."""
    folder = project.folder / KINDS[kind].folder
    if not folder.is_dir():
        return []
    files = (path for path in folder.iterdir() if path.suffix.lower() in KINDS[kind].extensions and path.is_file())
    return sorted(path for path in files if not path.name.startswith(".") and not leads_out(path, folder))


class Uploads:
    """The route that takes files; only leads pass."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        address = "/lead/uploads/{kind}/{name}"
        return [Route(address, self.ask, methods=["GET"]), Route(address, self.take, methods=["PUT"])]

    async def ask(self, request: Request) -> Response:
        """Whether a file of `?size=BYTES` would be taken: what is refused in the middle of a body few browsers tell."""
        return await self._prepared(request, request.query_params.get("size", "")) or Response(status_code=204)

    async def take(self, request: Request) -> Response:
        """The body as a file of this name; 409 where there is one already, 413 too large, 507 no room."""
        name = nfc(request.path_params["name"])
        refusal = await self._prepared(request, request.headers.get("content-length", ""))
        if refusal is not None:
            return refusal
        try:
            return await self._receive(request, KINDS[request.path_params["kind"]], name)
        except ClientDisconnect:
            return refused(400, tr("{name} arrived incomplete. Send it again.", name=name))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                return refused(507, _no_room(name))
            return refused(
                500,
                tr("{name} cannot be written ({strerror}). Nothing was kept.", name=name, strerror=error.strerror),
            )

    async def _prepared(self, request: Request, announced: str) -> Response | None:
        """Who asks is let through, and there is a place for a file of this size; otherwise the refusal."""
        if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
            return refused(403, tr("This request did not come from a page of this server."))
        project = self._project()
        await run_in_threadpool(lead_of, project, person_of(request))
        kind, name = KINDS.get(request.path_params["kind"]), nfc(request.path_params["name"])
        if kind is None:
            return refused(404, tr("This kind of file cannot be uploaded."))
        if message := wrong_name(kind, name):
            return refused(400, message)
        size = int(announced) if announced.isascii() and announced.isdecimal() else 0
        if size > kind.most_bytes:
            return refused(413, _too_large(kind, name))
        target = project.folder / kind.folder / name
        try:
            make_private_folder(target.parent)
        except OSError as error:
            return refused(500, tr("{name} cannot be written ({strerror}).", name=name, strerror=error.strerror))
        if target.exists():
            return refused(409, _there(name))
        if shutil.disk_usage(target.parent).free < size + KEPT_FREE_BYTES:
            return refused(507, _no_room(name))
        return None

    async def _receive(self, request: Request, kind: UploadKind, name: str) -> Response:
        target = self._project().folder / kind.folder / name
        with ExitStack() as stack:
            part = await run_in_threadpool(_part, target, stack)
            received, chunks = 0, bytearray()
            async for chunk in sent_chunks(request):
                received += len(chunk)
                chunks += chunk
                if received > kind.most_bytes:
                    return refused(413, _too_large(kind, name))
                if len(chunks) >= _AT_ONCE_BYTES:
                    await run_in_threadpool(_write, part, bytes(chunks), target)
                    chunks.clear()
            await run_in_threadpool(_write, part, bytes(chunks), target)
            if not received:
                return refused(400, tr("{name} is empty.", name=name))
            await run_in_threadpool(part.close)
            if target.exists():  # somebody else sent one meanwhile
                return refused(409, _there(name))
            make_private(Path(part.name))
            Path(part.name).replace(target)
        return Response(status_code=201)


def wrong_name(kind: UploadKind, name: str) -> str:
    """What is wrong with the name of a file; an empty text if nothing is."""
    if name != PurePosixPath(name).name or "\\" in name or name.startswith(".") or not name.isprintable():
        return tr("{name!r} is not a valid file name.", name=name)
    if len(name.encode()) > _LONGEST_NAME:
        return tr("The name {name}… is too long. Shorten it.", name=name[:40])
    if PurePosixPath(name).suffix.lower() not in kind.extensions:
        return tr(
            "{name} is not {what}: its name must end in one of {endings}.",
            name=name,
            what=tr(kind.what),
            endings=", ".join(kind.extensions),
        )
    return ""


def _part(target: Path, stack: ExitStack) -> IO[bytes]:
    """A file to write into, gone with the stack unless it went to its place."""
    own = stack.enter_context(own_folder(target))
    return stack.enter_context((own / "part").open("wb"))  # no extension: nobody takes it for a video


def _write(part: IO[bytes], data: bytes, target: Path) -> None:
    if shutil.disk_usage(target.parent).free < len(data) + KEPT_FREE_BYTES:
        raise OSError(errno.ENOSPC, tr("no room"))
    part.write(data)
    part.flush()


def _there(name: str) -> str:
    return tr("{name} exists already. If this is another file, rename it.", name=name)


def _too_large(kind: UploadKind, name: str) -> str:
    return tr(
        "{name} is larger than the limit of {gib} GiB. Copy it to the server instead.",
        name=name,
        gib=kind.most_bytes // GIB,
    )


def _no_room(name: str) -> str:
    return tr(
        "The server's disk has no room for {name}. Nothing was kept. Make room, then send it again.",
        name=name,
    )
