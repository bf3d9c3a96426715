"""The app's own routes: the annotator's desk as JSON, and clips by range; sessions come from session_routes.

Every store call runs in a thread, every cut in the clip worker's process; nothing here blocks the event loop.
What a verb refuses is answered by the guard: 403 not allowed, 503 no database just now.
`docs/decisions` tells the protocol between the player and these routes.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.server import monitoring
from annotate_app.server.annotator_routes import DescribeRoutes, Examples, PracticeRoutes
from annotate_app.server.answers import (
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
    not_shown,
    parts,
    takes,
)
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.server.lead_routes import Moments, Rewriting, Uploads, Waiting, menu_route
from annotate_app.session.guard import person_of
from annotate_app.session.request_limits import TooMuch
from annotate_app.session.routes import Sessions
from backend.campaign.desk import exchange
from backend.campaign.desk.clips import (
    clip_elsewhere,
    clip_for,
    gif_for,
    report_broken,
    report_clip,
    reported_clip,
    storyboard_for,
)
from backend.campaign.judging.model import Desk, GradeEvent, Receipt, ReceiptStatus, SkipEvent, SkipKind
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import ExamDesk
from backend.campaign.qualification.exam.taking import Act as ExamAct
from backend.campaign.setup.project.folder import Project
from backend.core.errors import (
    NoRoom,
    NotAllowed,
    StorageUnavailable,
    StoreUnavailable,
    VideoUnreadable,
)
from backend.core.ids import PairKey
from backend.media.jobs import ClipJob

_LOG = logging.getLogger(__name__)


class _Exchange(Sent):
    """Body of POST /desk/exchange."""

    grades: Annotated[list[GradeEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)
    skips: Annotated[list[SkipEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)
    shown: PairKey | None = None
    window: Annotated[str, msgspec.Meta(max_length=64)] = ""
    takes: bool = False


class _Shown(Sent, kw_only=True):
    """Body of POST /desk/shown."""

    pair: PairKey


class _Broken(Sent, kw_only=True):
    """Body of POST /desk/broken."""

    pair: PairKey
    what: str = ""


class _Exam(Sent, kw_only=True):
    """Body of POST /desk/exam."""

    act: ExamAct


class Desks(ClipRoutes):
    """The routes an annotator's player talks to."""

    def __init__(
        self, project: Callable[[], Project], clips: ClipWorker[ClipJob], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(project, clips, clock)
        self._turns = Turns()
        self._background: set[asyncio.Task[None]] = set()

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [
            Route("/desk/exchange", self.exchange, methods=["POST"]),
            Route("/desk/shown", self.shown, methods=["POST"]),
            Route("/desk/broken", self.broken, methods=["POST"]),
            Route("/desk/exam", self.exam, methods=["POST"]),
            Route("/desk/guideline", self.guideline, methods=["POST"]),
            Route("/desk/recent", self.recent),
            Route("/clips/{pair}.mp4", self.clip),
            Route("/clips/{pair}.webp", self.storyboard),
            Route("/clips/{pair}.gif", self.gif),
        ]

    @takes(_Exchange)
    async def exchange(self, request: Request, sent: _Exchange) -> Response:
        """Takes what the browser has not seen acknowledged, answers with receipts and the fresh desk."""
        person, now, began = person_of(request), self._clock(), time.perf_counter()
        me, events = person.annotator_id, len(sent.grades) + len(sent.skips)
        receipts: list[Receipt] = []
        grades, skips = sent.grades, sent.skips
        async with self._turns.of(me, events, now=now):
            if many := events > FEW_EVENTS:
                receipts += await self._in_parts(exchange.record_grades, person, grades, now=now)
                receipts += await self._in_parts(exchange.record_skips, person, skips, now=now)
                grades, skips, events = [], [], 0
            async with self._turns.part(me, events, of_many=many):
                taken, desk = await run_in_threadpool(
                    exchange.exchange,
                    self._project(),
                    person,
                    grades,
                    skips,
                    now=now,
                    shown=sent.shown,
                    window=sent.window,
                    takes=sent.takes,
                )
        receipts += taken
        if monitoring.counts is not None:
            monitoring.counts.exchanged(time.perf_counter() - began, sent.grades, receipts)
        saved = {receipt.key for receipt in receipts if receipt.status is ReceiptStatus.SAVED}
        broken = [skip.pair for skip in sent.skips if skip.kind is SkipKind.BROKEN_CLIP and skip.key in saved]
        self._behind(self._try_reported(person, broken))
        return self._answer(person, receipts, desk)

    async def _in_parts(
        self,
        take: Callable[..., list[Receipt]],
        person: Person,
        events: Sequence[GradeEvent] | Sequence[SkipEvent],
        *,
        now: float,
    ) -> list[Receipt]:
        receipts: list[Receipt] = []
        for some in parts(events):
            async with self._turns.part(person.annotator_id, len(some), of_many=True):
                receipts += await run_in_threadpool(take, self._project(), person, some, now=now)
        return receipts

    @takes(_Shown)
    async def shown(self, request: Request, sent: _Shown) -> Response:
        """The first frame of a clip was painted. The answer is empty, whatever others do with the pair."""
        await run_in_threadpool(exchange.shown, self._project(), person_of(request), sent.pair, now=self._clock())
        return Response(status_code=204)

    @takes(_Broken)
    async def broken(self, request: Request, sent: _Broken) -> Response:
        """A clip that could not be loaded or played in the browser: this person's report, and the server tries it."""
        person, now = person_of(request), self._clock()
        async with self._turns.of(person.annotator_id, 1, now=now):
            taken = await run_in_threadpool(report_broken, self._project(), person, sent.pair, sent.what, now=now)
            desk = await run_in_threadpool(exchange.desk, self._project(), person, now=now)
        self._behind(self._try_reported(person, [sent.pair] if taken else []))
        return self._answer(person, [], desk)

    @takes(_Exam)
    async def exam(self, request: Request, sent: _Exam) -> Response:
        """Begins the exam, hands it in, or goes on from its result; its answers come with the exchange."""
        person = person_of(request)
        desk = await run_in_threadpool(exchange.exam_act, self._project(), person, sent.act, now=self._clock())
        return self._answer(person, [], desk)

    async def recent(self, request: Request) -> Response:
        """The person's last grades that they may still change, as items of a desk."""
        person, now = person_of(request), self._clock()
        items = await run_in_threadpool(exchange.recent_grades, self._project(), person, now=now)
        return json_answer({"items": items})

    @answers_refusals
    @takes(SeenGuideline)
    async def guideline(self, request: Request, sent: SeenGuideline) -> Response:
        """Somebody was shown a version of the guideline, to its end."""
        person = person_of(request)
        desk = await run_in_threadpool(
            exchange.read_guideline, self._project(), person, sent.version, now=self._clock()
        )
        return self._answer(person, [], desk)

    async def clip(self, request: Request) -> Response:
        """One clip, whole or by Range; cut now if it is not there yet.

        `?context=1` is the moment with the seconds around it. Two headers tell how many seconds lie before and after
        the moment, never where in the video it is. A context that cannot be cut says nothing about the moment's own
        clip, so it is not reported.

        An annotator's browser may be sent to the bucket of clips; with `?here=1` it has the clip from here.
        """
        person, pair = person_of(request), PairKey(request.path_params["pair"])
        context = request.query_params.get("context") == "1"
        try:
            if not context and request.query_params.get("here") != "1":
                way = await run_in_threadpool(clip_elsewhere, self._project(), person, pair, now=self._clock())
                if way is not None:
                    return RedirectResponse(way, 307, {"Cache-Control": "no-store"})
            find = partial(clip_for, self._project(), person, pair, context=context)
            job = await cut_clip(request, self._clips, find, Priority.CONTEXT if context else Priority.DESK)
        except VideoUnreadable as error:
            if not context:
                await self._report(person, pair, error)
            return await not_shown(self._project(), person, error)
        around = {"X-ReelRank-Before": f"{job.before_s:.3f}", "X-ReelRank-After": f"{job.after_s:.3f}"}
        return clip_response(job, headers=around if context else None)

    @answers_refusals
    async def storyboard(self, request: Request) -> Response:
        """The storyboard of a clip. Where none can be made the clip tells why, so nothing is reported."""
        find = partial(storyboard_for, self._project(), person_of(request), PairKey(request.path_params["pair"]))
        return clip_response(await cut_clip(request, self._clips, find, Priority.EXTRA))

    @answers_refusals
    async def gif(self, request: Request) -> Response:
        """The moment as a GIF, for leads to show to others; made after what people at the desk wait for."""
        find = partial(gif_for, self._project(), person_of(request), PairKey(request.path_params["pair"]))
        return clip_response(await cut_clip(request, self._clips, find, Priority.EXTRA))

    def _answer(self, person: Person, receipts: Sequence[Receipt], desk: Desk[ExamDesk]) -> Response:
        self._behind(self._cut_ahead(person, [item.pair for item in desk.items]))
        return json_answer({"receipts": receipts, "desk": desk})

    def _behind(self, work: Coroutine[None, None, None]) -> None:
        """Does something that no answer waits for."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _try_reported(self, person: Person, pairs: Sequence[PairKey]) -> None:
        """Makes the clips that somebody reported as broken: one that cannot be made is kept back from everybody."""
        for pair in pairs:
            try:
                find = partial(reported_clip, self._project(), person, pair)
                job, is_there = await run_in_threadpool(look, find)
                if not is_there:
                    await asyncio.shield(self._clips.ask(job, person.annotator_id, Priority.AHEAD))
            except VideoUnreadable as error:
                with suppress(StoreUnavailable):
                    await self._report(person, pair, error)
            except (NotAllowed, NoRoom, StorageUnavailable, StoreUnavailable, TooMuch) as error:
                _LOG.info("The reported clip of %s was not tried: %s", pair, error)

    async def _cut_ahead(self, person: Person, pairs: Sequence[PairKey]) -> None:
        """Has the clips of a desk cut in its order, before anybody asks for them."""

        def missing() -> list[tuple[PairKey, ClipJob]]:
            found = []
            for pair in pairs:
                try:
                    job, is_there = look(partial(clip_for, self._project(), person, pair))
                except VideoUnreadable as error:
                    report_clip(self._project(), person, pair, str(error), now=self._clock())
                except NotAllowed:
                    pass  # graded or given back in the meantime
                else:
                    if not is_there and not clip_elsewhere(self._project(), person, pair, now=self._clock()):
                        found.append((pair, job))
            return found

        try:
            jobs = await run_in_threadpool(missing)
        except StoreUnavailable:
            return  # whoever asks for the clip is told, and the next exchange tries again
        asked = []
        with suppress(TooMuch):  # the others are cut when they are asked for
            for pair, job in jobs:
                asked.append((pair, self._clips.ask(job, person.annotator_id, Priority.AHEAD)))
        for pair, future in asked:
            try:
                await asyncio.shield(future)
            except TooMuch:
                pass  # it made room for a clip that this person waits for
            except VideoUnreadable as error:
                with suppress(StoreUnavailable):
                    await self._report(person, pair, error)
            except (NoRoom, StorageUnavailable) as error:
                _LOG.error("%s", error)
                return  # nothing is wrong with the clips: whoever asks for one is told, and Progress tells the lead
            except Exception:
                _LOG.exception("Cutting the clip of %s failed", pair)

    async def _report(self, person: Person, pair: PairKey, error: VideoUnreadable) -> None:
        # It may have left their desk in the meantime; whoever gets it next finds out.
        with suppress(NotAllowed):
            await run_in_threadpool(report_clip, self._project(), person, pair, str(error), now=self._clock())


def own_routes(
    project: Callable[[], Project],
    clips: ClipWorker[ClipJob],
    waiting: Waiting,
    videos: ClipWorker[ClipJob] | None = None,
) -> list[BaseRoute]:
    """All routes of the app that are not Streamlit's.

    Args:
        project: the one that is served.
        clips: cuts clips.
        waiting: what the menu of a lead tells.
        videos: cuts whole videos, which may take minutes, while somebody waits for a clip; without one, `clips` does.
    """
    return [
        *Sessions(project).routes(),
        *Desks(project, clips).routes(),
        *DescribeRoutes(project, videos or clips).routes(),
        *Examples(project, clips).routes(),
        *Moments(project, clips).routes(),
        *PracticeRoutes(project, clips).routes(),
        *Rewriting(project).routes(),
        *Uploads(project).routes(),
        menu_route(project, waiting),
    ]
