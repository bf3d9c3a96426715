"""Routes of the grading page: an annotator's next pairs as JSON, and their clips.

`own_routes` collects these and all other routes of the app. Every database call runs in a thread, and every clip is cut
in another process, so nothing here blocks the event loop. `annotate_app.session.guard` turns errors into responses: 403
if the user may not do something, 503 if the database is unavailable. `docs/decisions` describes the protocol between
the grading page and these routes.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.server import monitoring
from annotate_app.server.annotator_routes import DescribeRoutes, Examples, PracticeRoutes
from annotate_app.server.answers import (
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
    json_answer,
    parts,
    takes,
    unreadable_response,
)
from annotate_app.server.api import Programs
from annotate_app.server.clip_worker import ClipWorker, Priority
from annotate_app.server.lead_routes import Moments, Rewriting, Uploads, Waiting, menu_route
from annotate_app.session.guard import person_of
from annotate_app.session.request_limits import TooMuch
from annotate_app.session.routes import Sessions
from annotate_app.session.threads import in_thread
from backend.campaign.desk import exchange
from backend.campaign.desk.clips import (
    clip_elsewhere,
    clip_for,
    desk_clips,
    gif_for,
    report_broken,
    report_clip,
    reported_clip,
    storyboard_for,
)
from backend.campaign.judging.model import Desk, GradeEvent, Receipt, ReceiptStatus, SkipEvent, SkipKind
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import ExamDesk
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.setup.project.folder import Project
from backend.core.errors import (
    NoRoom,
    NotAllowed,
    StorageUnavailable,
    StoreUnavailable,
    VideoUnreadable,
)
from backend.core.ids import AnnotatorId, PairKey
from backend.media.jobs import ClipJob, is_cut

_LOG = logging.getLogger(__name__)


class _Exchange(RequestBody):
    """Body of POST /desk/exchange, which saves an annotator's work.

    Attributes:
        grades: the grades that the server has not confirmed yet.
        skips: the skipped pairs that the server has not confirmed yet.
        shown: the pair whose clip is on screen.
        window: the name that the browser window gave itself.
        takes: whether grading moves to this window, if the user has several.
    """

    grades: Annotated[list[GradeEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)
    skips: Annotated[list[SkipEvent], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(default_factory=list)
    shown: PairKey | None = None
    window: Annotated[str, msgspec.Meta(max_length=64)] = ""
    takes: bool = False


class _Shown(RequestBody, kw_only=True):
    """Body of POST /desk/shown: the pair whose clip is displayed."""

    pair: PairKey


class _Broken(RequestBody, kw_only=True):
    """Body of POST /desk/broken: the pair whose clip is broken, and what the user or browser says about it."""

    pair: PairKey
    what: str = ""


class _Exam(RequestBody, kw_only=True):
    """Body of POST /desk/exam: whether to start the qualification exam, hand it in, or close its result."""

    act: ExamAct


class Desks(ClipRoutes):
    """Routes of the grading page. A desk holds the pairs (each a query and a clip) for an annotator to grade next."""

    def __init__(
        self, project: Callable[[], Project], clips: ClipWorker[ClipJob], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(project, clips, clock)
        self._turns = Turns.at(project)
        self._background: set[asyncio.Task[None]] = set()
        self._there: dict[AnnotatorId, frozenset[PairKey]] = {}
        """Pairs of each person's desk whose clips were there when the pair came to the desk."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the grading page, each with the method that answers it."""
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
        """Save the grades and skips in the request; answer with a receipt for each, and the pairs to grade next.

        A receipt says whether a grade or skip was saved. The browser sends each again until it has a receipt.
        """
        person, now, began = person_of(request), self._clock(), time.perf_counter()
        me, events = person.annotator_id, len(sent.grades) + len(sent.skips)
        receipts: list[Receipt] = []
        grades, skips = sent.grades, sent.skips
        async with self._turns.of(me, events):
            if many := events > FEW_EVENTS:
                receipts += await self._in_parts(exchange.record_grades, person, grades, now=now)
                receipts += await self._in_parts(exchange.record_skips, person, skips, now=now)
                grades, skips, events = [], [], 0
            async with self._turns.part(me, events, of_many=many):
                taken, desk = await in_thread(
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
        if broken:
            self._in_background(self._try_reported(person, broken))
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
        for part in parts(events):
            async with self._turns.part(person.annotator_id, len(part), of_many=True):
                receipts += await in_thread(take, self._project(), person, part, now=now)
        return receipts

    @takes(_Shown)
    async def shown(self, request: Request, sent: _Shown) -> Response:
        """Record that the browser displayed the first frame of a clip. The answer is always empty."""
        await in_thread(exchange.shown, self._project(), person_of(request), sent.pair, now=self._clock())
        return Response(status_code=204)

    @takes(_Broken)
    async def broken(self, request: Request, sent: _Broken) -> Response:
        """Save a user's report that a clip does not load or play, and try to cut that clip again on the server.

        The answer has the pairs to grade next.
        """
        person, now = person_of(request), self._clock()
        async with self._turns.of(person.annotator_id, 1):
            taken = await in_thread(report_broken, self._project(), person, sent.pair, sent.what, now=now)
            desk = await in_thread(exchange.desk, self._project(), person, now=now)
        if taken:
            self._in_background(self._try_reported(person, [sent.pair]))
        return self._answer(person, [], desk)

    @takes(_Exam)
    async def exam(self, request: Request, sent: _Exam) -> Response:
        """Start the qualification exam, hand it in, or close its result; answer with the pairs to grade next.

        The answers to the exam are saved by `exchange`.
        """
        person = person_of(request)
        desk = await in_thread(exchange.exam_act, self._project(), person, sent.act, now=self._clock())
        return self._answer(person, [], desk)

    async def recent(self, request: Request) -> Response:
        """Answer with the user's newest grades that they may still change, each with the query of its pair."""
        person, now = person_of(request), self._clock()
        items = await in_thread(exchange.recent_grades, self._project(), person, now=now)
        return json_answer({"items": items})

    @answers_refusals
    @takes(SeenGuideline)
    async def guideline(self, request: Request, sent: SeenGuideline) -> Response:
        """Record that the user read a version of the guideline to its end; answer with the pairs to grade next."""
        person = person_of(request)
        desk = await in_thread(exchange.read_guideline, self._project(), person, sent.version, now=self._clock())
        return self._answer(person, [], desk)

    async def clip(self, request: Request) -> Response:
        """Send the clip of a pair, or an HTTP Range of it. If there is no clip yet, it is cut first.

        `?context=1` requests the moment with the seconds around it. Two headers give the number of seconds before and
        after the moment, but nothing tells where in the video it is. If this longer clip cannot be cut, the pair is not
        reported as broken, because the clip of the moment itself may be fine.

        If clips are kept in a storage bucket, an annotator's browser may be redirected there. `?here=1` requests the
        clip from this server.
        """
        person, pair = person_of(request), PairKey(request.path_params["pair"])
        context = request.query_params.get("context") == "1"
        try:
            may_redirect = self._project().settings.clips.signed_s > 0
            if may_redirect and not context and request.query_params.get("here") != "1":
                bucket_url = await in_thread(clip_elsewhere, self._project(), person, pair, now=self._clock())
                if bucket_url is not None:
                    return RedirectResponse(bucket_url, 307, {"Cache-Control": "no-store"})
            find = partial(clip_for, self._project(), person, pair, context=context)
            job = await cut_clip(request, self._clips, find, Priority.CONTEXT if context else Priority.DESK)
        except VideoUnreadable as error:
            if not context:
                await self._report(person, pair, error)
            return await unreadable_response(self._project(), person, error)
        around = {"X-ReelRank-Before": f"{job.before_s:.3f}", "X-ReelRank-After": f"{job.after_s:.3f}"}
        return clip_response(job, headers=around if context else None)

    @answers_refusals
    async def storyboard(self, request: Request) -> Response:
        """Send the storyboard of a pair's clip: one picture with several of its frames.

        A storyboard that cannot be made does not mark the pair as broken; only a clip that cannot be made does.
        """
        find = partial(storyboard_for, self._project(), person_of(request), PairKey(request.path_params["pair"]))
        return clip_response(await cut_clip(request, self._clips, find, Priority.EXTRA))

    @answers_refusals
    async def gif(self, request: Request) -> Response:
        """Send the moment of a pair as a GIF, for leads to show to others.

        Clips that annotators wait for are cut first.
        """
        find = partial(gif_for, self._project(), person_of(request), PairKey(request.path_params["pair"]))
        return clip_response(await cut_clip(request, self._clips, find, Priority.EXTRA))

    def _answer(self, person: Person, receipts: Sequence[Receipt], desk: Desk[ExamDesk]) -> Response:
        pairs = [item.pair for item in desk.items]
        there = self._there.pop(person.annotator_id, frozenset()) & frozenset(pairs)
        if there:
            self._there[person.annotator_id] = there
        if new := [pair for pair in pairs if pair not in there]:
            self._in_background(self._cut_ahead(person, new))
        return json_answer({"receipts": receipts, "desk": desk})

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        """Run a coroutine in the background, after the response."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _try_reported(self, person: Person, pairs: Sequence[PairKey]) -> None:
        """Cut the clips that a user reported as broken. If a clip cannot be cut, its pair is no longer handed out."""
        for pair in pairs:
            try:
                find = partial(reported_clip, self._project(), person, pair)
                job, is_there = await in_thread(check_clip, find)
                if not is_there:
                    await asyncio.shield(self._clips.ask(job, person.annotator_id, Priority.AHEAD))
            except VideoUnreadable as error:
                with suppress(StoreUnavailable):
                    await self._report(person, pair, error)
            except (NotAllowed, NoRoom, StorageUnavailable, StoreUnavailable, TooMuch) as error:
                _LOG.info("The reported clip of %s was not tried: %s", pair, error)

    async def _cut_ahead(self, person: Person, pairs: Sequence[PairKey]) -> None:
        """Have the missing clips of a user's next pairs cut, in their order, before the browser requests them.

        Each exchange asks again for those that were not there, whose cut may have failed.
        """

        def check() -> tuple[set[PairKey], list[tuple[PairKey, ClipJob]]]:
            there, uncut = set[PairKey](), list[tuple[PairKey, ClipJob]]()
            for pair, job in desk_clips(self._project(), person, pairs):
                with suppress(NotAllowed):  # graded or given back in the meantime
                    if isinstance(job, VideoUnreadable):
                        report_clip(self._project(), person, pair, str(job), now=self._clock())
                    elif is_cut(job) or clip_elsewhere(self._project(), person, pair, now=self._clock()):
                        there.add(pair)
                    else:
                        uncut.append((pair, job))
            return there, uncut

        try:
            there, jobs = await in_thread(check)
        except StoreUnavailable:
            return  # the request for the clip reports it, and the next exchange tries again
        if there:
            self._there[person.annotator_id] = self._there.get(person.annotator_id, frozenset()) | there
        futures = []
        with suppress(TooMuch):  # the others are cut when the browser requests them
            for pair, job in jobs:
                futures.append((pair, self._clips.ask(job, person.annotator_id, Priority.AHEAD)))
        for pair, future in futures:
            try:
                await asyncio.shield(future)
            except TooMuch:
                pass  # it was dropped for a clip that this person waits for
            except VideoUnreadable as error:
                with suppress(StoreUnavailable):
                    await self._report(person, pair, error)
            except (NoRoom, StorageUnavailable) as error:
                _LOG.error("%s", error)
                return  # the clips are fine: requests report the storage, and Progress tells the lead
            except Exception:
                _LOG.exception("Cutting the clip of %s failed", pair)

    async def _report(self, person: Person, pair: PairKey, error: VideoUnreadable) -> None:
        # The pair may have left their desk in the meantime; the next person who gets it reports it.
        with suppress(NotAllowed):
            await in_thread(report_clip, self._project(), person, pair, str(error), now=self._clock())


def own_routes(
    project: Callable[[], Project],
    clips: ClipWorker[ClipJob],
    waiting: Waiting,
    videos: ClipWorker[ClipJob] | None = None,
) -> list[BaseRoute]:
    """Return all routes of the app that are not Streamlit's.

    Args:
        project: returns the project that is served.
        clips: cuts clips.
        waiting: returns the counts in a lead's menu.
        videos: cuts the whole videos of the page Describe, which may take minutes; None lets `clips` cut them.
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
        *Programs(project).routes(),
    ]
