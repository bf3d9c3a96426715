"""Routes below /api/, for programs. Only requests with a valid personal token reach them.

A token of the scope `read` allows only GET requests, and every change in the database is refused. Each operation of
`reelrank.Campaign` has an address: GET if it reads, POST if it acts. It runs as the owner of the token (`person_of`)
and calls functions that check permissions. So a program can do nothing that the owner may not do.

Operations that may take long run in a process of their own, so that they slow down nobody who grades.
"""

import asyncio
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, get_origin

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import as_json, marked, tr, translate_message
from annotate_app.server.answers import error_response, json_answer
from annotate_app.server.lead_routes import SENT_BY_PROGRAMS, cannot_store, receive_file, wrong_name
from annotate_app.session.addresses import base_path
from annotate_app.session.guard import person_of, token_of
from annotate_app.session.request_limits import MAX_JSON_BYTES, BodyRefused, body, parsed, parsed_query
from annotate_app.session.threads import in_thread
from backend.api.campaign import OPERATIONS
from backend.api.model import Caller, Needs, Operation
from backend.api.openapi import Me, SentFile, arguments_of, document, method_of
from backend.api.over_http import Refusal
from backend.campaign.nouns import Person
from backend.campaign.setup.people.permissions import lead_of
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import limited_to
from backend.core import processes
from backend.core.days import lasts
from backend.core.errors import InputError, NotAllowed, Problem, ProjectError, ReelRankError, StoreUnavailable
from backend.core.messages import as_text, said
from backend.core.typed_text import nfc

_NOTHING = marked("Nothing is at this address.")
_METHOD = marked("This operation answers {method} alone.")
_NO_JSON = marked("Send the arguments as a JSON object, with the header Content-Type: application/json.")
LONG = frozenset(
    {
        *("import_corpus", "import_videos", "rewrite_captions", "draw_queries", "choose_candidates", "agreement"),
        *("preview_release", "make_release", "add_truth", "add_run", "leaderboard"),
    }
)
"""Operations that run in a process of their own."""
_MOST_LONG = 2
"""The most of these processes at a time; further requests wait."""
_NICENESS = 10
"""Niceness of these processes, as of background jobs."""
_UNUSED_S = 24 * 3600.0
"""Seconds until a file that was sent, and that no operation used, is deleted."""
_REFERENCE = re.compile(r"([0-9a-f]{32})/([^/\\\0]+)")


class Programs:
    """Routes below /api/: they tell whose token a program has, run operations of a campaign, and store files for it."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._long = asyncio.Semaphore(_MOST_LONG)

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class; the last one answers any address below /api/ that has no other route."""
        return [
            Route("/api/me", self.me),
            Route("/api/openapi.json", self.openapi),
            Route("/api/operations/{name}", self.operation, methods=["GET", "POST"]),
            Route("/api/files/{name}", self.file, methods=["POST"]),
            Route("/api/{rest:path}", _nothing),
        ]

    async def me(self, request: Request) -> Response:
        """Answer which user the request's token belongs to, and what the token may do.

        `expires_at` is in seconds since 1970.
        """
        token = token_of(request)
        return json_answer(
            Me(token.owner.name, token.owner.role.value, token.name, token.scope.value, token.expires_at)
        )

    async def openapi(self, request: Request) -> Response:
        """Answer with an OpenAPI document, which describes all routes for programs."""
        return json_answer(document(base_path()))

    async def operation(self, request: Request) -> Response:
        """Call an operation with the arguments of the request, and answer with its result.

        The answer is 422 if the operation refuses. Its `error` is then the class of the error, and `problems` lists
        what is wrong with a file.
        """
        operation = OPERATIONS.get(request.path_params["name"])
        if operation is None:
            return error_response(404, tr(_NOTHING))
        method = method_of(operation)
        if request.method != method:
            refusal = error_response(405, tr(_METHOD, method=method))
            refusal.headers["Allow"] = method
            return refusal
        if operation.needs is not Needs.ANNOTATOR:  # before an argument is looked at
            await in_thread(lead_of, self._project(), person_of(request))
        try:
            arguments = await _arguments(request, operation)
        except BodyRefused as refused:
            return error_response(400, str(refused))
        except HTTPException as refused:
            return error_response(refused.status_code, refused.detail)
        folder = self._project().folder / SENT_BY_PROGRAMS.folder / str(person_of(request).annotator_id)
        with _sent_files(folder) as file_of:
            try:
                for name in operation.files:
                    if arguments[name] is not None:
                        arguments[name] = file_of(arguments[name])
                answer = await self._answer(request, operation, arguments)
            except (NotAllowed, StoreUnavailable):
                raise  # the guard answers
            except ReelRankError as refused:
                return _refused(refused, [file.parent for file in arguments.values() if isinstance(file, Path)])
        if isinstance(answer, Path):
            return FileResponse(answer, filename=answer.name, headers={"Cache-Control": "no-store"})
        return Response(answer, headers={"Cache-Control": "no-store"}, media_type="application/json")

    async def _answer(self, request: Request, operation: Operation, arguments: dict[str, Any]) -> bytes | Path:
        person, project = person_of(request), self._project()
        if operation.name not in LONG:
            return await in_thread(_result, project, person, operation.name, arguments)
        call = partial(result_apart, project.folder, person, token_of(request).scope, operation.name, arguments)
        async with self._long:
            return await asyncio.wrap_future(await in_thread(processes.alone, call, niceness=_NICENESS))

    async def file(self, request: Request) -> Response:
        """Store the request's body as a file for a later operation; answer with a reference to pass as its argument.

        The reference can be used once.
        """
        person, project = person_of(request), self._project()
        await in_thread(lead_of, project, person)
        name = nfc(request.path_params["name"])
        if message := wrong_name(SENT_BY_PROGRAMS, name):
            return error_response(400, message)
        folder = project.folder / SENT_BY_PROGRAMS.folder / str(person.annotator_id)
        await in_thread(_delete_unused, folder)
        target = folder / secrets.token_hex(16) / name
        size = request.headers.get("content-length", "")
        refusal = cannot_store(SENT_BY_PROGRAMS, target, size)
        refusal = refusal or await receive_file(request, SENT_BY_PROGRAMS, target)
        if refusal is not None:
            shutil.rmtree(target.parent, ignore_errors=True)
            return refusal
        answer = json_answer(SentFile(f"{target.parent.name}/{name}"))
        answer.status_code = 201
        return answer


async def _nothing(_request: Request) -> Response:
    return error_response(404, tr(_NOTHING))


async def _arguments(request: Request, operation: Operation) -> dict[str, Any]:
    """Return the arguments that a request has for an operation, checked against its signature.

    Raises:
        BodyRefused: an argument is missing, unknown, or of another type.
        HTTPException: 413 too large, 408 too slow, 415 not JSON.
    """
    kind = arguments_of(operation)
    if operation.acts:
        raw = await body(request, MAX_JSON_BYTES)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, tr(_NO_JSON))
        sent = parsed(raw, kind)
    else:
        parameters, query = operation.signature.parameters, request.query_params
        lists = {name for name, one in parameters.items() if get_origin(one.annotation) in (list, Sequence)}
        last = {name: query.getlist(name) if name in lists else query[name] for name in query}
        if twice := [name for name in query if name not in lists and len(query.getlist(name)) > 1]:
            raise BodyRefused(tr("The request could not be read: {error}", error=f"{twice[0]} is given twice."))
        sent = parsed_query(last, kind)
    return {name: getattr(sent, name) for name in operation.signature.parameters}


@contextmanager
def _sent_files(folder: Path) -> Iterator[Callable[[str], Path]]:
    """Provide a function that finds a file that a program sent earlier; delete the files it found afterwards.

    The function takes the reference that the program got for the file, and returns the file's path. It raises a
    `ProjectError` if there is no such file. `folder` holds the files of one user.
    """
    used: list[Path] = []

    def file_of(reference: str) -> Path:
        match = _REFERENCE.fullmatch(reference)
        path = folder / match[1] / match[2] if match and not wrong_name(SENT_BY_PROGRAMS, match[2]) else None
        if path is None or not path.is_file():
            raise ProjectError(said("send the file first: POST it to /api/files/NAME, and use the answer once"))
        used.append(path.parent)
        return path

    try:
        yield file_of
    finally:
        for one in used:
            shutil.rmtree(one, ignore_errors=True)


def _delete_unused(folder: Path) -> None:
    """Delete files in `folder` that programs sent long ago for an operation that they never called."""
    for one in folder.glob("*/"):
        if not lasts(one.stat().st_mtime, _UNUSED_S, now=time.time()):
            shutil.rmtree(one, ignore_errors=True)


def _refused(refusal: ReelRankError, folders: list[Path]) -> Response:
    """Return the response to an operation that is refused. Files in `folders` are named without their folder."""

    def shown(text: str) -> str:
        message = translate_message(text)
        for folder in folders:
            message = message.replace(f"{folder}/", "")
        return message

    problems = refusal.problems if isinstance(refusal, InputError) else ()
    content = Refusal(
        error=type(refusal).__name__,
        message=shown(str(refusal)),
        problems=[Problem(shown(one.file), one.row, shown(one.message)) for one in problems],
    )
    return Response(as_json(content), 422, {"Cache-Control": "no-store"}, "application/json")


def _result(project: Project, by: Caller, name: str, arguments: dict[str, Any]) -> bytes | Path:
    """Call an operation, and return its result as JSON, or as the path of a file."""
    result = OPERATIONS[name].function(project, by, **arguments)
    return result if isinstance(result, Path) else msgspec.json.encode(result, enc_hook=as_text)


def result_apart(folder: Path, person: Person, scope: TokenScope, name: str, arguments: dict[str, Any]) -> bytes | Path:
    """Open the project, call an operation, and return its result; for a process that has nothing open yet.

    The result is JSON or the path of a file. `person` and `scope` are the owner and the scope of the token.
    """
    project = open_project(folder)
    try:
        with limited_to(scope):
            return _result(project, person, name, arguments)
    finally:
        project.store.close()
