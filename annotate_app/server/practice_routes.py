"""Practice: the clips of its pairs, for everybody who is signed in, and what is right once somebody has answered."""

import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.language import as_json
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.clips import clip_response, cut_clip, not_shown, refused
from annotate_app.server.sending import Sent, sent_by
from annotate_app.session.guard import person_of
from backend.campaign.qualification.guideline.practising import answer_practice, practice_clip
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, StoreUnavailable, VideoUnreadable
from backend.media.jobs import ClipJob


class _Answer(Sent, kw_only=True):
    """Body of POST /practice/{key}."""

    grade: int
    key: str


class PracticeRoutes:
    """The routes that the tutorial talks to; the guard lets only people with a session come here."""

    def __init__(
        self,
        project: Callable[[], Project],
        clips: ClipWorker[ClipJob],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._project = project
        self._clips = clips
        self._clock = clock

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/practice/{name}.mp4", self.clip),
            Route("/practice/{name}", self.answer, methods=["POST"]),
        ]

    async def clip(self, request: Request) -> Response:
        """The clip of a practice pair, whole or by Range; cut now if it is not there yet."""
        person, name = person_of(request), request.path_params["name"]
        try:
            return clip_response(
                await cut_clip(request, self._clips, lambda: practice_clip(self._project(), person, name))
            )
        except VideoUnreadable as error:
            return await not_shown(self._project(), person, error)

    async def answer(self, request: Request) -> Response:
        """Takes an answer and tells at once what is right, and why; never a judgement."""
        sent = await sent_by(request, _Answer)
        if isinstance(sent, Response):
            return sent
        person, name = person_of(request), request.path_params["name"]
        try:
            told = await run_in_threadpool(
                answer_practice, self._project(), person, name, sent.grade, sent.key, now=self._clock()
            )
        except StoreUnavailable:
            raise  # the guard answers
        except ProjectError as refusal:
            return refused(404, str(refusal))
        content = as_json(told)
        return Response(content, headers={"Cache-Control": "no-store"}, media_type="application/json")
