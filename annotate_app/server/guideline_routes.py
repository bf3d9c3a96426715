"""Routes of the guideline's examples and of the practice, for everybody who is signed in: clips, and right answers."""

from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.answers import (
    ClipRoutes,
    Sent,
    answers_refusals,
    clip_response,
    cut_clip,
    json_answer,
    refused,
    takes,
)
from annotate_app.server.clip_worker import Priority
from annotate_app.session.bodies import small_number
from annotate_app.session.guard import person_of
from backend.campaign.qualification.guideline.examples import example_clip
from backend.campaign.qualification.tutorial.practising import answer_practice, practice_clip


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
