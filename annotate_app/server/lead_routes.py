"""Routes for leads: decisions on rewritten captions, counts in the menu, clips of any moment, and uploads.

An upload is streamed to the project's disk, so it may be larger than the memory. Videos go to `videos/` of the
project's folder, annotation files to `files/`, runs to `pooled/`. A file gets its name only once it is complete, and
never replaces another file.
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

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import marked, tr
from annotate_app.server.answers import (
    ClipRoutes,
    RequestBody,
    clip_response,
    cut_clip,
    error_response,
    json_answer,
    takes,
)
from annotate_app.server.clip_worker import Priority
from annotate_app.session.guard import is_own_page, person_of
from annotate_app.session.request_limits import chunks as sent_chunks
from annotate_app.session.threads import in_thread
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
"""Function that returns the counts of the menu. It checks that the caller is a lead."""
Find = Callable[[Project, Person, str, float, float], ClipJob]


class _Decision(RequestBody, kw_only=True):
    """Body of POST /rewriting/decision: a caption's id, and the text to use. A `text` of None rejects the rewrite."""

    caption: int
    text: str | None


class Rewriting:
    """Routes with which leads accept or reject rewritten captions on the page Captions.

    Every answer has the rewrites that still wait for a decision.
    """

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.time) -> None:
        self._project = project
        self._clock = clock

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        return [
            Route("/rewriting/decision", self.decision, methods=["POST"]),
            Route("/rewriting/undo", self.undo, methods=["POST"]),
        ]

    @takes(_Decision)
    async def decision(self, request: Request, sent: _Decision) -> Response:
        """Record a lead's decision about a rewritten caption; answer with the rewrites that still wait.

        If the decision is not possible, the answer's `message` says why.
        """
        person, project = person_of(request), self._project()

        def act() -> None:
            decide_rewrite(project, person, sent.caption, sent.text, now=self._clock())

        return await in_thread(self._answer, request, act)

    @takes(RequestBody)
    async def undo(self, request: Request, sent: RequestBody) -> Response:
        """Undo the last decision of this lead; answer with the rewrites that wait, and the decision in `taken_back`."""
        person, project = person_of(request), self._project()
        return await in_thread(self._answer, request, lambda: take_back_rewrite(project, person, now=self._clock()))

    def _answer(self, request: Request, decide: Callable[[], TakenDecision | None]) -> Response:
        taken_back, message = None, ""
        try:
            taken_back = decide()
        except (NotAllowed, StoreUnavailable):
            raise  # the guard answers
        except ReelRankError as refusal:
            message = str(refusal)
        queue = rewrite_queue(self._project(), person_of(request))
        return json_answer({"queue": queue, "message": message, "taken_back": taken_back})


def menu_route(project: Callable[[], Project], waiting: Waiting) -> BaseRoute:
    """Return the route `GET /lead/waiting`, which sends leads the counts of waiting work for their menu.

    `waiting` returns these counts for a project and a lead.
    """

    async def answer(request: Request) -> Response:
        if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
            return error_response(403, "This request did not come from a page of this server.")
        person = person_of(request)

        def count() -> dict[str, Any]:
            return waiting(project(), lead_of(project(), person))

        return json_answer(await in_thread(count))

    return Route("/lead/waiting", answer)


class Moments(ClipRoutes):
    """Routes for the clip and the thumbnail of any moment, for the pages of leads."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        return [Route("/moments.mp4", self.clip), Route("/moments.webp", self.thumbnail)]

    async def clip(self, request: Request) -> Response:
        """Send the clip of the moment `?video=NAME&start=S&end=S` (seconds), or an HTTP Range of it.

        If there is no clip yet, it is cut first.
        """
        try:
            return await self._answer(request, moment_clip)
        except VideoUnreadable as error:
            return error_response(404, str(error))

    async def thumbnail(self, request: Request) -> Response:
        """Send a small picture of the moment `?video=NAME&start=S&end=S` (seconds), or 204 if none can be made."""
        try:
            return await self._answer(request, moment_thumbnail)
        except VideoUnreadable:
            return Response(status_code=204)

    async def _answer(self, request: Request, find: Find) -> Response:
        query = request.query_params
        try:
            start_s, end_s = float(query.get("start", "")), float(query.get("end", ""))
        except ValueError:
            return error_response(400, "A moment needs a start and an end in seconds.")
        if not (math.isfinite(start_s) and math.isfinite(end_s) and 0 <= start_s < end_s):
            return error_response(400, f"[{start_s}, {end_s}) is no moment of a video.")
        person, video = person_of(request), query.get("video", "")
        find_clip = partial(find, self._project(), person, video, start_s, end_s)
        return clip_response(await cut_clip(request, self._clips, find_clip, Priority.EXTRA))


GIB = 2**30
KEPT_FREE_BYTES = GIB
"""Space that an upload leaves free on the disk, in bytes: grading continues, and the database needs room."""
_AT_ONCE_BYTES = 2**20
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class UploadKind:
    """A kind of file that leads may upload.

    Attributes:
        folder: where files go, within the project's folder.
        what: the name of the kind in messages, such as "a video".
        extensions: the allowed endings of file names.
        most_bytes: the largest size of a file, in bytes.
    """

    folder: str
    what: str
    extensions: tuple[str, ...]
    most_bytes: int


KINDS = {
    "videos": UploadKind("videos", "a video", VIDEO_EXTENSIONS, 50 * GIB),
    "files": UploadKind("files", marked("an annotation file"), (".json", ".jsonl", ".csv", ".txt"), 2 * GIB),
    "pooled": UploadKind("pooled", "a run", (".json", ".jsonl", ".csv", ".txt", ".trec", ".gz"), 2 * GIB),
}
SENT_BY_PROGRAMS = UploadKind("cache/sent", "", (), 2 * GIB)
"""Files that a program sends for one call, which are deleted after it. Their names may end in anything."""


def sent_files(project: Project, kind: str) -> list[Path]:
    """Return the uploaded files of a kind, sorted by name, without symbolic links that lead out of the folder.

    `kind` is `videos`, `files` (annotation files) or `pooled` (runs).
    """
    folder = project.folder / KINDS[kind].folder
    if not folder.is_dir():
        return []
    files = (path for path in folder.iterdir() if path.suffix.lower() in KINDS[kind].extensions and path.is_file())
    return sorted(path for path in files if not path.name.startswith(".") and not leads_out(path, folder))


class Uploads:
    """Routes for uploading a file, for leads only."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        address = "/lead/uploads/{kind}/{name}"
        return [Route(address, self.ask, methods=["GET"]), Route(address, self.take, methods=["PUT"])]

    async def ask(self, request: Request) -> Response:
        """Answer 204 if a file of `?size=BYTES` would be accepted, or the error that uploading it would give.

        Few browsers report an error that arrives while they send a body, so pages ask first.
        """
        return await self._refusal(request, request.query_params.get("size", "")) or Response(status_code=204)

    async def take(self, request: Request) -> Response:
        """Store the request's body as a file with the name in the address.

        Answers 201, or 409 if the file exists, 413 if it is too large, and 507 if the disk has no room.
        """
        refusal = await self._refusal(request, request.headers.get("content-length", ""))
        if refusal is not None:
            return refusal
        kind = KINDS[request.path_params["kind"]]
        target = self._project().folder / kind.folder / nfc(request.path_params["name"])
        return await receive_file(request, kind, target) or Response(status_code=201)

    async def _refusal(self, request: Request, announced: str) -> Response | None:
        """Return the error response to an upload, or None if it may start; create the folder for it.

        `announced` is the size in bytes that the browser states, as text.
        """
        if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
            return error_response(403, tr("This request did not come from a page of this server."))
        project = self._project()
        await in_thread(lead_of, project, person_of(request))
        kind, name = KINDS.get(request.path_params["kind"]), nfc(request.path_params["name"])
        if kind is None:
            return error_response(404, tr("This kind of file cannot be uploaded."))
        if message := wrong_name(kind, name):
            return error_response(400, message)
        return cannot_store(kind, project.folder / kind.folder / name, announced)


def cannot_store(kind: UploadKind, target: Path, announced: str) -> Response | None:
    """Return the error response to an upload, or None if it may start; create the folder for it.

    `target` is where the file goes. `announced` is the size in bytes that the sender states, as text.
    """
    name = target.name
    size = int(announced) if announced.isascii() and announced.isdecimal() and len(announced) < 20 else 0
    if size > kind.most_bytes:
        return error_response(413, _too_large(kind, name))
    try:
        make_private_folder(target.parent)
    except OSError as error:
        return error_response(500, tr("{name} cannot be written ({strerror}).", name=name, strerror=error.strerror))
    if target.exists():
        return error_response(409, _already_exists(name))
    if shutil.disk_usage(target.parent).free < size + KEPT_FREE_BYTES:
        return error_response(507, _no_room(name))
    return None


async def receive_file(request: Request, kind: UploadKind, target: Path) -> Response | None:
    """Store the body of a request as the file `target`; return None, or the error response if that fails."""
    try:
        return await _receive(request, kind, target)
    except ClientDisconnect:
        return error_response(400, tr("{name} arrived incomplete. Send it again.", name=target.name))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return error_response(507, _no_room(target.name))
        return error_response(
            500,
            tr("{name} cannot be written ({strerror}). Nothing was kept.", name=target.name, strerror=error.strerror),
        )


async def _receive(request: Request, kind: UploadKind, target: Path) -> Response | None:
    name = target.name
    with ExitStack() as stack:
        part = await in_thread(_part, target, stack)
        received, chunks = 0, bytearray()
        async for chunk in sent_chunks(request):
            received += len(chunk)
            chunks += chunk
            if received > kind.most_bytes:
                return error_response(413, _too_large(kind, name))
            if len(chunks) >= _AT_ONCE_BYTES:
                await in_thread(_write, part, bytes(chunks), target)
                chunks.clear()
        await in_thread(_write, part, bytes(chunks), target)
        if not received:
            return error_response(400, tr("{name} is empty.", name=name))
        await in_thread(part.close)
        if target.exists():  # another lead uploaded one of this name in the meantime
            return error_response(409, _already_exists(name))
        make_private(Path(part.name))
        Path(part.name).replace(target)
    return None


def wrong_name(kind: UploadKind, name: str) -> str:
    """Return what is wrong with the name of a file of this kind, or "" if it is valid."""
    if name != PurePosixPath(name).name or "\\" in name or name.startswith(".") or not name.isprintable():
        return tr("{name!r} is not a valid file name.", name=name)
    if len(name.encode()) > _LONGEST_NAME:
        return tr("The name {name}… is too long. Shorten it.", name=name[:40])
    if kind.extensions and PurePosixPath(name).suffix.lower() not in kind.extensions:
        return tr(
            "{name} is not {what}: its name must end in one of {endings}.",
            name=name,
            what=tr(kind.what),
            endings=", ".join(kind.extensions),
        )
    return ""


def _part(target: Path, stack: ExitStack) -> IO[bytes]:
    """Open a temporary file for an upload. When `stack` is closed, it is deleted unless it was moved to `target`."""
    own = stack.enter_context(own_folder(target))
    return stack.enter_context((own / "part").open("wb"))  # without an extension, nothing takes it for a video


def _write(part: IO[bytes], data: bytes, target: Path) -> None:
    if shutil.disk_usage(target.parent).free < len(data) + KEPT_FREE_BYTES:
        raise OSError(errno.ENOSPC, tr("no room"))
    part.write(data)
    part.flush()


def _already_exists(name: str) -> str:
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
