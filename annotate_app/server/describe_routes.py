"""The routes of the page Describe: what there is to describe, whole videos with their frames, and what was written.

`GET /describe/work` answers with everything that the page begins with; `POST /describe/exchange` takes events and tells
what became of each. An event is named by a key that the browser made, so that sending one again changes nothing.
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

from annotate_app.language import as_json
from annotate_app.server.clip_queue import Priority
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.clips import ASKED_AGAIN, clip_response, cut_clip, look, not_shown, refused
from annotate_app.server.sending import Sent, sent_by
from annotate_app.server.turns import FEW_EVENTS, MOST_EVENTS, Turns
from annotate_app.session.bodies import TooMuch
from annotate_app.session.guard import person_of
from backend.campaign.corpus.describing.model import DescribeEvent
from backend.campaign.corpus.describing.work import (
    describe_clip,
    describe_exchange,
    describe_frames,
    describe_work,
    note_describing_seen,
)
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NoRoom, ProjectError, StorageUnavailable, StoreUnavailable, VideoUnreadable
from backend.media.jobs import ClipJob


class _Exchange(Sent):
    """Body of POST /describe/exchange."""

    events: Annotated[list[DescribeEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)


class _Read(Sent, kw_only=True):
    """Body of POST /describe/guideline."""

    version: int


class DescribeRoutes:
    """The routes that a describer's page talks to; the gate lets only those through for whom describing is open."""

    def __init__(
        self,
        project: Callable[[], Project],
        clips: ClipWorker[ClipJob],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._project = project
        self._clips = clips
        self._clock = clock
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
        return _answer(await run_in_threadpool(describe_work, self._project(), person_of(request)))

    async def exchange(self, request: Request) -> Response:
        """Takes what the browser has not seen acknowledged; tells what is saved, what cannot count, what came back."""
        sent = await sent_by(request, _Exchange)
        if isinstance(sent, Response):
            return sent
        person, now = person_of(request), self._clock()
        me, events = person.annotator_id, len(sent.events)
        async with self._turns.of(me, events, now=now), self._turns.part(me, events, of_many=events > FEW_EVENTS):
            taken = await run_in_threadpool(describe_exchange, self._project(), person, sent.events, now=now)
        return _answer(taken)

    async def guideline(self, request: Request) -> Response:
        """The person was shown a version of the guideline. The answer is empty."""
        sent = await sent_by(request, _Read)
        if isinstance(sent, Response):
            return sent
        person = person_of(request)
        try:
            await run_in_threadpool(note_describing_seen, self._project(), person, sent.version, now=self._clock())
        except StoreUnavailable:
            raise  # the guard answers
        except ProjectError as refusal:
            return refused(404, str(refusal))
        return Response(status_code=204)

    async def clip(self, request: Request) -> Response:
        """The whole video, its first frame at 0, whole or by Range; made now if it is not there yet."""
        try:
            return clip_response(await cut_clip(request, self._clips, self._find(request), Priority.EXTRA))
        except StoreUnavailable:
            raise
        except VideoUnreadable as error:
            return await not_shown(self._project(), person_of(request), error)
        except ProjectError as refusal:
            return refused(404, str(refusal))

    async def ready(self, request: Request) -> Response:
        """Whether the video's clip is there; if not, it is being made from now on."""
        try:
            job, is_there = await run_in_threadpool(look, self._find(request))
        except StoreUnavailable:
            raise
        except VideoUnreadable as error:
            return await not_shown(self._project(), person_of(request), error)
        except ProjectError as refusal:
            return refused(404, str(refusal))
        if not is_there:
            if (why := self._failed.pop(job.path, None)) is not None:
                if isinstance(why, (NoRoom, StorageUnavailable)):
                    raise why  # the guard answers, and the page asks again: nothing is wrong with the video
                if isinstance(why, VideoUnreadable):
                    return await not_shown(self._project(), person_of(request), why)
                raise why
            asked = self._clips.ask(job, person_of(request).annotator_id, Priority.AHEAD)
            asked.add_done_callback(partial(self._made, job.path))
        return _answer({"ready": is_there})

    async def frames(self, request: Request) -> Response:
        """The times of all frames of the video, in seconds on its own time line."""
        person, video = person_of(request), request.path_params["video"]
        try:
            times = await run_in_threadpool(describe_frames, self._project(), person, video)
        except StoreUnavailable:
            raise
        except VideoUnreadable as error:
            return await not_shown(self._project(), person_of(request), error)
        except ProjectError as refusal:
            return refused(404, str(refusal))
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


def _answer(content: object) -> Response:
    return Response(as_json(content), headers={"Cache-Control": "no-store"}, media_type="application/json")
