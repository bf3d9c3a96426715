"""Monitor a server process: health checks, and metrics for Prometheus.

Load balancers and process managers ask two addresses: whether the process responds, and whether it can serve. They
need no sign-in and reveal nothing about the campaign. Costly checks run once a second at most.

The metrics are the number of grades, the time to save grades and answer, the wait for clips, and the length of clip
queues. They have their own address and thread, and exist only with `reelrank serve --metrics`. They reveal figures
about a campaign, so they are never served at the address that browsers use. Each process counts from its own start, and
Prometheus adds the counts up.
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
from backend.campaign.setup.serving.server import missing_for_serving
from backend.core.server_options import place_of
from backend.media.jobs import ClipJob

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

EXCHANGE_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Histogram buckets for the time of an exchange, in seconds. An exchange should take less than 0.05."""
WAIT_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Histogram buckets for the wait for a clip, in seconds. Nobody waits for a clip that was cut ahead."""
_HOLDS_S = 1.0
"""How long a readiness answer is reused, in seconds."""
_PATIENCE_S = 5.0
"""Timeout for the database, in seconds. Load balancers usually wait no longer either."""
_HEADERS = {"Cache-Control": "no-store"}


class Counts:
    """The Prometheus metrics of one server process."""

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
        self._overtaken = Gauge(
            "reelrank_transactions_overtaken",
            "Transactions that the database server ended for another one's sake; each began again.",
            registry=registry,
        )

    def exchanged(self, seconds: float, grades: Collection[GradeEvent], receipts: Sequence[Receipt]) -> None:
        """Record a request in which a browser sent grades: the time to answer it, and whether each grade was saved.

        `receipts` are the server's answers to grades and skips; those to skips are not counted.
        """
        self._exchange.observe(seconds)
        if grades:
            keys = {event.key for event in grades}
            for receipt in receipts:
                if receipt.key in keys:
                    self._grades.labels(receipt.status.value).inc()

    def waited(self, seconds: float) -> None:
        """Record how many seconds somebody waited for a clip, whether or not they got it."""
        self._wait.observe(seconds)

    def watch(self, cutters: Mapping[str, ClipWorker[ClipJob]], project: Callable[[], Project]) -> None:
        """Report the queue lengths of these clip workers, by name, and the database whenever Prometheus asks."""
        self._overtaken.set_function(lambda: project().store.overtaken)
        for name, cutter in cutters.items():
            for number, order in enumerate(("urgent", "later")):
                self._queue.labels(name, order).set_function(partial(_queued, cutter, number))


def _queued(cutter: ClipWorker[ClipJob], number: int) -> float:
    return cutter.queued[number]


counts: Counts | None = None
"""The counters of this process; None if monitoring is off."""


def begin(address: str, cutters: Mapping[str, ClipWorker[ClipJob]], project: Callable[[], Project]) -> None:
    """Start counting, and serve the metrics at the address `HOST:PORT`. If the address is empty, do nothing.

    `project` returns the open project.

    Raises:
        OSError: the server cannot listen at this address.
    """
    global counts
    if not address:
        return
    from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, start_http_server

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    new_counts = Counts(registry)
    new_counts.watch(cutters, project)
    host, port = place_of(address)
    start_http_server(port, host, registry)
    counts = new_counts


class Health:
    """The routes of the health checks.

    `project` returns the open project and is called for each check. `clock` returns monotonic seconds.
    """

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.monotonic) -> None:
        self._project = project
        self._clock = clock
        self._turn: anyio.Lock | None = None
        self._known: tuple[float, Sequence[str]] | None = None

    def routes(self) -> list[BaseRoute]:
        """Return the routes of this class, to be added to the app."""
        return [Route(HEALTH_PATH, self.healthy), Route(READY_PATH, self.ready)]

    async def healthy(self, _request: Request) -> Response:
        """Answer 200 and `ok`: the process responds. A process that does not answer should be restarted."""
        return PlainTextResponse("ok\n", headers=_HEADERS)

    async def ready(self, _request: Request) -> Response:
        """Answer 200 and `ready` if this process can serve, or 503 and what is missing, such as the database.

        A load balancer should send no users to a process that answers 503.
        """
        # A lock belongs to the event loop that uses it first, so it is not created at import.
        self._turn = self._turn or anyio.Lock()
        async with self._turn:
            if self._known is None or self._clock() - self._known[0] > _HOLDS_S:
                self._known = None
                missing = await self._look()
                self._known = (self._clock(), missing)
            missing_now = self._known[1]
        if missing_now:
            return PlainTextResponse(f"not ready: {', '.join(missing_now)}\n", 503, {**_HEADERS, "Retry-After": "5"})
        return PlainTextResponse("ready\n", headers=_HEADERS)

    async def _look(self) -> Sequence[str]:
        with anyio.move_on_after(_PATIENCE_S):
            return await anyio.to_thread.run_sync(lambda: missing_for_serving(self._project()), abandon_on_cancel=True)
        return ("database",)
