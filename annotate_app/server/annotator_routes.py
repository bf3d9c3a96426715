"""Routes of annotators' pages beside the desk: describing, practice, and the guideline's examples.

`GET /describe/work` answers with everything that the page Describe begins with; `POST /describe/exchange` takes events
and tells what became of each. An event is named by a key that the browser made, so that sending one again changes
nothing.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.answers import (
    ASKED_AGAIN,
    FEW_EVENTS,
    MOST_EVENTS,
    ClipRoutes,
    SeenGuideline,
    Sent,
    Turns,
    answers_refusals,
    clip_response,
    cut_clip,
    json_answer,
    look,
    refused,
    takes,
)
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.session.guard import person_of
from annotate_app.session.request_limits import TooMuch, small_number
from backend.campaign.corpus.describing.model import DescribeEvent
from backend.campaign.corpus.describing.work import (
    describe_clip,
    describe_exchange,
    describe_frames,
    describe_work,
    note_describing_seen,
)
from backend.campaign.qualification.guideline.practice_pairs import answer_practice, practice_clip
from backend.campaign.qualification.guideline.versions import example_clip
from backend.campaign.setup.project.folder import Project
from backend.media.jobs import ClipJob


class _Exchange(Sent):
    """Body of POST /describe/exchange."""

    events: Annotated[list[DescribeEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)


class DescribeRoutes(ClipRoutes):
    """The routes of the page Describe; its verbs let only those in for whom describing is open."""

    def __init__(
        self, project: Callable[[], Project], clips: ClipWorker[ClipJob], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(project, clips, clock)
        self._turns = Turns()
        self._failed: dict[Path, BaseException] = {}
        """Why a clip that was asked for ahead could not be made, until that is told."""

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/describe/work", self.work),
            Route("/describe/exchange", self.exchange, methods=["POST"]),
            Route("/describe/guideline", self.guideline, methods=["POST"]),
            Route("/describe/videos/{video}.mp4", self.clip),
            Route("/describe/videos/{video}.json", self.frames),
            Route("/describe/videos/{video}/ready", self.ready),
        ]

    async def work(self, request: Request) -> Response:
        """What the person may describe."""
        return json_answer(await run_in_threadpool(describe_work, self._project(), person_of(request)))

    @takes(_Exchange)
    async def exchange(self, request: Request, sent: _Exchange) -> Response:
        """Takes what the browser has not seen acknowledged; tells what is saved, what cannot count, what came back."""
        person, now = person_of(request), self._clock()
        me, events = person.annotator_id, len(sent.events)
        async with self._turns.of(me, events, now=now), self._turns.part(me, events, of_many=events > FEW_EVENTS):
            taken = await run_in_threadpool(describe_exchange, self._project(), person, sent.events, now=now)
        return json_answer(taken)

    @answers_refusals
    @takes(SeenGuideline)
    async def guideline(self, request: Request, sent: SeenGuideline) -> Response:
        """The person was shown a version of the guideline. The answer is empty."""
        person = person_of(request)
        await run_in_threadpool(note_describing_seen, self._project(), person, sent.version, now=self._clock())
        return Response(status_code=204)

    @answers_refusals
    async def clip(self, request: Request) -> Response:
        """The whole video, its first frame at 0, whole or by Range; made now if it is not there yet."""
        return clip_response(await cut_clip(request, self._clips, self._find(request), Priority.EXTRA))

    @answers_refusals
    async def ready(self, request: Request) -> Response:
        """Whether the video's clip is there; if not, it is being made from now on."""
        job, is_there = await run_in_threadpool(look, self._find(request))
        if not is_there:
            if (why := self._failed.pop(job.path, None)) is not None:
                raise why  # where nothing is wrong with the video, the guard answers, and the page asks again
            asked = self._clips.ask(job, person_of(request).annotator_id, Priority.AHEAD)
            asked.add_done_callback(partial(self._made, job.path))
        return json_answer({"ready": is_there})

    @answers_refusals
    async def frames(self, request: Request) -> Response:
        """The times of all frames of the video, in seconds on its own time line."""
        person, video = person_of(request), request.path_params["video"]
        times = await run_in_threadpool(describe_frames, self._project(), person, video)
        return Response(
            msgspec.json.encode(times), headers={"Cache-Control": ASKED_AGAIN}, media_type="application/json"
        )

    def _made(self, path: Path, future: asyncio.Future[Path]) -> None:
        if future.cancelled() or isinstance(error := future.exception(), TooMuch):
            return  # the page asks again
        if error is not None:
            self._failed[path] = error

    def _find(self, request: Request) -> Callable[[], ClipJob]:
        person, video = person_of(request), request.path_params["video"]
        return lambda: describe_clip(self._project(), person, video)


class _Answer(Sent, kw_only=True):
    """Body of POST /practice/{key}."""

    grade: int
    key: str


class PracticeRoutes(ClipRoutes):
    """The routes that the tutorial talks to; the guard lets only people with a session come here."""

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/practice/{name}.mp4", self.clip),
            Route("/practice/{name}", self.answer, methods=["POST"]),
        ]

    @answers_refusals
    async def clip(self, request: Request) -> Response:
        """The clip of a practice pair, whole or by Range; cut now if it is not there yet."""
        person, name = person_of(request), request.path_params["name"]
        return clip_response(await cut_clip(request, self._clips, lambda: practice_clip(self._project(), person, name)))

    @answers_refusals
    @takes(_Answer)
    async def answer(self, request: Request, sent: _Answer) -> Response:
        """Takes an answer and tells at once what is right, and why; never a judgement."""
        person, name = person_of(request), request.path_params["name"]
        return json_answer(
            await run_in_threadpool(
                answer_practice, self._project(), person, name, sent.grade, sent.key, now=self._clock()
            )
        )


class Examples(ClipRoutes):
    """The route that the guideline's panel asks for clips; the guard lets only people with a session come here."""

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route("/examples/{grade}.mp4", self.clip)]

    @answers_refusals
    async def clip(self, request: Request) -> Response:
        """The clip of one grade's example, whole or by Range; cut now if it is not there yet.

        `?v=N` asks for one choice: a page that is older than the present one gets nothing rather than a clip that
        its words do not belong to.
        """
        wanted = request.query_params.get("v")
        version, grade = small_number(wanted or ""), small_number(request.path_params["grade"])
        if grade is None or (wanted is not None and version is None):
            return refused(404, "this is not the number of an example")
        find = partial(example_clip, self._project(), person_of(request), grade, version)
        return clip_response(await cut_clip(request, self._clips, find, Priority.CONTEXT))
