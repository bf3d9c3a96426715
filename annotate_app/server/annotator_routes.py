"""Routes for annotators besides grading: the page Describe, practice pairs, and example clips of the guideline.

A practice pair is a query and a clip with a known grade, and the guideline is the annotators' instructions.

On the page Describe, annotators mark moments in a video and write a sentence for each. `GET /describe/work` returns all
that the page needs to start. `POST /describe/exchange` saves the annotator's actions, and answers for each whether it
was saved. The browser gives each action a key, so sending an action twice changes nothing.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.answers import (
    ASKED_AGAIN,
    FEW_EVENTS,
    MOST_EVENTS,
    ClipRoutes,
    RequestBody,
    SeenGuideline,
    Turns,
    answers_refusals,
    check_clip,
    clip_response,
    cut_clip,
    error_response,
    json_answer,
    takes,
)
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.session.guard import person_of
from annotate_app.session.request_limits import TooMuch, small_number
from annotate_app.session.threads import in_thread
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


class _Exchange(RequestBody):
    """Body of POST /describe/exchange: the annotator's actions on the page Describe."""

    events: Annotated[list[DescribeEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)


class DescribeRoutes(ClipRoutes):
    """Routes of the page Describe, on which annotators mark moments in a video and write a sentence for each.

    The functions that the routes call check that the user may describe.
    """

    def __init__(
        self, project: Callable[[], Project], clips: ClipWorker[ClipJob], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(project, clips, clock)
        self._turns = Turns.at(project)
        self._failed: dict[Path, BaseException] = {}
        """Errors of clips that were requested ahead, by path, until a request reports them."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        return [
            Route("/describe/work", self.work),
            Route("/describe/exchange", self.exchange, methods=["POST"]),
            Route("/describe/guideline", self.guideline, methods=["POST"]),
            Route("/describe/videos/{video}.mp4", self.clip),
            Route("/describe/videos/{video}.json", self.frames),
            Route("/describe/videos/{video}/ready", self.ready),
        ]

    async def work(self, request: Request) -> Response:
        """Answer with what the page Describe shows to this user: videos to describe, and the user's descriptions."""
        return json_answer(await in_thread(describe_work, self._project(), person_of(request)))

    @takes(_Exchange)
    async def exchange(self, request: Request, sent: _Exchange) -> Response:
        """Save the user's actions on the page Describe, and answer which were saved.

        The answer also has the descriptions that leads sent back. The browser sends an action again until an answer
        confirms it.
        """
        person, now = person_of(request), self._clock()
        me, events = person.annotator_id, len(sent.events)
        async with self._turns.of(me, events), self._turns.part(me, events, of_many=events > FEW_EVENTS):
            taken = await in_thread(describe_exchange, self._project(), person, sent.events, now=now)
        return json_answer(taken)

    @answers_refusals
    @takes(SeenGuideline)
    async def guideline(self, request: Request, sent: SeenGuideline) -> Response:
        """Record that the user was shown a version of the guideline; the answer is empty."""
        person = person_of(request)
        await in_thread(note_describing_seen, self._project(), person, sent.version, now=self._clock())
        return Response(status_code=204)

    @answers_refusals
    async def clip(self, request: Request) -> Response:
        """Send a whole video as a clip whose first frame is at 0 s, or an HTTP Range of it.

        If there is no such clip yet, it is cut first.
        """
        return clip_response(await cut_clip(request, self._clips, self._find(request), Priority.EXTRA))

    @answers_refusals
    async def ready(self, request: Request) -> Response:
        """Answer `{"ready": true}` if the video's clip is cut; otherwise start cutting it and answer false."""
        job, is_there = await in_thread(check_clip, self._find(request))
        if not is_there:
            if (error := self._failed.pop(job.path, None)) is not None:
                raise error  # where nothing is wrong with the video, the guard answers, and the page asks again
            future = self._clips.ask(job, person_of(request).annotator_id, Priority.AHEAD)
            future.add_done_callback(partial(self._made, job.path))
        return json_answer({"ready": is_there})

    @answers_refusals
    async def frames(self, request: Request) -> Response:
        """Send the times of all frames of the video, in seconds on the video's own time line."""
        person, video = person_of(request), request.path_params["video"]
        times = await in_thread(describe_frames, self._project(), person, video)
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


class _Answer(RequestBody, kw_only=True):
    """Body of POST /practice/{name}: the chosen grade, and a key that the browser makes once for each answer."""

    grade: int
    key: str


class PracticeRoutes(ClipRoutes):
    """Routes of the tutorial's practice pairs, for all signed-in users.

    A practice pair is a query and a clip with a known grade and an explanation.
    """

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        return [
            Route("/practice/{name}.mp4", self.clip),
            Route("/practice/{name}", self.answer, methods=["POST"]),
        ]

    @answers_refusals
    async def clip(self, request: Request) -> Response:
        """Send the clip of a practice pair, or an HTTP Range of it. If there is no clip yet, it is cut first."""
        person, name = person_of(request), request.path_params["name"]
        return clip_response(await cut_clip(request, self._clips, lambda: practice_clip(self._project(), person, name)))

    @answers_refusals
    @takes(_Answer)
    async def answer(self, request: Request, sent: _Answer) -> Response:
        """Save a user's grade of a practice pair, and answer with the right grade and why.

        Grades of practice pairs never count as judgements.
        """
        person, name = person_of(request), request.path_params["name"]
        return json_answer(
            await in_thread(answer_practice, self._project(), person, name, sent.grade, sent.key, now=self._clock())
        )


class Examples(ClipRoutes):
    """Route for the example clips of the guideline (the annotators' instructions), for all signed-in users."""

    def routes(self) -> list[BaseRoute]:
        """Return the route of this class, to be added to the app."""
        return [Route("/examples/{grade}.mp4", self.clip)]

    @answers_refusals
    async def clip(self, request: Request) -> Response:
        """Send the guideline's example clip for a grade, or an HTTP Range of it.

        If there is no clip yet, it is cut first. `?v=N` names a version of the example. A page that shows an outdated
        version gets an error, not a clip that does not match its text.
        """
        number = request.query_params.get("v")
        version, grade = small_number(number or ""), small_number(request.path_params["grade"])
        if grade is None or (number is not None and version is None):
            return error_response(404, "this is not the number of an example")
        find = partial(example_clip, self._project(), person_of(request), grade, version)
        return clip_response(await cut_clip(request, self._clips, find, Priority.CONTEXT))
