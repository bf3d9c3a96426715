"""The clips of the guideline's examples: for everybody who is signed in, and nothing of them but the moment itself."""

from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.clip_queue import Priority
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.clips import clip_response, cut_clip, not_shown, refused
from annotate_app.session.bodies import small_number
from annotate_app.session.guard import person_of
from backend.campaign.qualification.guideline.examples import example_clip
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, StoreUnavailable, VideoUnreadable
from backend.media.jobs import ClipJob


class Examples:
    """The route that the guideline's panel asks for clips; the guard lets only people with a session come here."""

    def __init__(self, project: Callable[[], Project], clips: ClipWorker[ClipJob]) -> None:
        self._project = project
        self._clips = clips

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route("/examples/{grade}.mp4", self.clip)]

    async def clip(self, request: Request) -> Response:
        """The clip of one grade's example, whole or by Range; cut now if it is not there yet.

        `?v=N` asks for one choice: a page that is older than the present one gets nothing rather than a clip that
        its words do not belong to.
        """
        wanted = request.query_params.get("v")
        version, grade = small_number(wanted or ""), small_number(request.path_params["grade"])
        if grade is None or (wanted is not None and version is None):
            return refused(404, "this is not the number of an example")
        person = person_of(request)
        try:
            find = partial(example_clip, self._project(), person, grade, version)
            job = await cut_clip(request, self._clips, find, Priority.CONTEXT)
        except StoreUnavailable:
            raise  # the guard answers
        except VideoUnreadable as error:
            return await not_shown(self._project(), person, error)
        except ProjectError as refusal:
            return refused(404, str(refusal))
        return clip_response(job)
