"""What Prometheus asks a front end: grades, the time an exchange takes, waiting for clips, and queues.

Answered at an address of its own, in a thread of its own, and only where `reelrank serve --metrics` names one: figures
tell about a campaign, so the address that browsers use has none of them. Where none is named, nothing is counted.
Each front end counts by itself, from its start; adding up is Prometheus's business.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from annotate_app.server.clip_worker import ClipWorker
from backend.campaign.judging.model import GradeEvent, Receipt
from backend.core.server_options import place_of
from backend.media.jobs import ClipJob

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

EXCHANGE_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Bounds of the buckets, in seconds: an exchange is to take less than 0.05."""
WAIT_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""The same for clips: nobody waits for one that was cut ahead."""


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


_counts: Counts | None = None


def begin(address: str, cutters: Mapping[str, ClipWorker[ClipJob]]) -> None:
    """Count from here on, and answer at `HOST:PORT`; an empty address counts nothing.

    Raises:
        OSError: nobody can listen there.
    """
    global _counts
    if not address:
        return
    from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, start_http_server

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    counts = Counts(registry)
    counts.watch(cutters)
    host, port = place_of(address)
    start_http_server(port, host, registry)
    _counts = counts


def exchanged(seconds: float, grades: Collection[GradeEvent], receipts: Sequence[Receipt]) -> None:
    """See `Counts.exchanged`."""
    if _counts is not None:
        _counts.exchanged(seconds, grades, receipts)


def waited(seconds: float) -> None:
    """See `Counts.waited`."""
    if _counts is not None:
        _counts.waited(seconds)
