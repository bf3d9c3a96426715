"""Watch a front end: health checks, and metrics for Prometheus.

Two addresses tell whatever looks after a front end whether the process answers, and whether it can serve. They ask for
no sign-in and tell nothing of the campaign. What costs something is looked at once a second at most.

The metrics are grades, the time an exchange takes, waiting for clips, and queues. They have an address and a thread of
their own, and only where `reelrank serve --metrics` names one: figures tell about a campaign, so the address that
browsers use has none of them. Where none is named, nothing is counted. Each front end counts by itself, from its start;
adding up is Prometheus's business.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from annotate_app.server.clip_worker import ClipWorker
from annotate_app.session.addresses import HEALTH_PATH, READY_PATH
from backend.campaign.judging.model import GradeEvent, Receipt
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.server import not_ready
from backend.core.server_options import place_of
from backend.media.jobs import ClipJob

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

EXCHANGE_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Bounds of the buckets, in seconds: an exchange is to take less than 0.05."""
WAIT_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""The same for clips: nobody waits for one that was cut ahead."""
_HOLDS_S = 1.0
"""For so long an answer is good for everybody."""
_PATIENCE_S = 5.0
"""A database that says nothing for longer is away; whoever asks usually waits no longer either."""
_HEADERS = {"Cache-Control": "no-store"}


class Counts:
    """The counters of one front end."""

    def __init__(self, registry: "CollectorRegistry") -> None:
        from prometheus_client import Counter, Gauge, Histogram

        self._grades = Counter(
            "reelrank_grades", "Grades sent by desks, answers of exams among them.", ["outcome"], registry=registry
        )
        self._exchange = Histogram(
            "reelrank_exchange_seconds",
            "From a request of a desk that was read to its answer.",
            buckets=EXCHANGE_S,
            registry=registry,
        )
        self._wait = Histogram(
            "reelrank_clip_wait_seconds",
            "How long a desk waited for a clip that was not there.",
            buckets=WAIT_S,
            registry=registry,
        )
        self._queue = Gauge("reelrank_clip_queue", "Clips that wait to be cut.", ["cutter", "order"], registry=registry)

    def exchanged(self, seconds: float, grades: Collection[GradeEvent], receipts: Sequence[Receipt]) -> None:
        """A desk was answered: in how much time, and what became of its grades (skips have receipts, too)."""
        self._exchange.observe(seconds)
        if grades:
            keys = {event.key for event in grades}
            for receipt in receipts:
                if receipt.key in keys:
                    self._grades.labels(receipt.status.value).inc()

    def waited(self, seconds: float) -> None:
        """Somebody has the clip that they waited for, or knows that there is none."""
        self._wait.observe(seconds)

    def watch(self, cutters: Mapping[str, ClipWorker[ClipJob]]) -> None:
        """Tell the queues of these, by name, as they are whenever somebody asks."""
        for name, cutter in cutters.items():
            for number, order in enumerate(("urgent", "later")):
                self._queue.labels(name, order).set_function(partial(_queued, cutter, number))


def _queued(cutter: ClipWorker[ClipJob], number: int) -> float:
    return cutter.queued[number]


counts: Counts | None = None
"""None where nothing is counted."""


def begin(address: str, cutters: Mapping[str, ClipWorker[ClipJob]]) -> None:
    """Count from here on, and answer at `HOST:PORT`; an empty address counts nothing.

    Raises:
        OSError: nobody can listen there.
    """
    global counts
    if not address:
        return
    from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, start_http_server

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    begun = Counts(registry)
    begun.watch(cutters)
    host, port = place_of(address)
    start_http_server(port, host, registry)
    counts = begun


class Health:
    """The routes; `project` is called late, `clock` counts seconds from anywhere."""

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.monotonic) -> None:
        self._project = project
        self._clock = clock
        self._turn: anyio.Lock | None = None
        self._known: tuple[float, Sequence[str]] | None = None

    def routes(self) -> list[BaseRoute]:
        """To be put into the app."""
        return [Route(HEALTH_PATH, self.healthy), Route(READY_PATH, self.ready)]

    async def healthy(self, _request: Request) -> Response:
        """The process answers: 200 and `ok`. Where this fails, start it anew."""
        return PlainTextResponse("ok\n", headers=_HEADERS)

    async def ready(self, _request: Request) -> Response:
        """200 and `ready`, or 503 and what is missing (see `not_ready`). Where this fails, send nobody here."""
        # A lock belongs to the event loop it is first used in, so it is not made at import.
        self._turn = self._turn or anyio.Lock()
        async with self._turn:
            if self._known is None or self._clock() - self._known[0] > _HOLDS_S:
                self._known = None
                found = await self._look()
                self._known = (self._clock(), found)
            lacking = self._known[1]
        if lacking:
            return PlainTextResponse(f"not ready: {', '.join(lacking)}\n", 503, {**_HEADERS, "Retry-After": "5"})
        return PlainTextResponse("ready\n", headers=_HEADERS)

    async def _look(self) -> Sequence[str]:
        with anyio.move_on_after(_PATIENCE_S):
            return await anyio.to_thread.run_sync(lambda: not_ready(self._project()), abandon_on_cancel=True)
        return ("database",)
