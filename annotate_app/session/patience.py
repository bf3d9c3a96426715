"""What the requests of one person may cost everybody else: so many at a time, and no storm of refused ones.

A page has two or three requests under way and is hardly ever refused anything. Whoever sends much more waits: what is
too much at a time is refused before any of it is read, and when refusals come faster than pages cause them, each is
told late: so many a second to all people together, first to who was refused least. A program that asks anew at once is
slowed down by that, however many accounts it has; somebody who is refused once beside it waits a moment. What only
reads is left alone: a page of many clips that cannot be shown is no storm.
"""

import asyncio
import itertools
import time
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from annotate_app.language import tr
from annotate_app.session.bodies import TooMuch
from annotate_app.session.lately import Lately
from backend.core.ids import AnnotatorId

MOST_AT_ONCE = 8
"""Posted requests of one person, under way at a time; files that are uploaded are not among them."""
MOST_CLIPS_AT_ONCE = 64
"""Requests of one person for clips and pictures, under way at a time. A page asks for 25 at most."""
TOLD_AT_ONCE = 30
"""Refusals of all people together that are told without a wait, after a time without any."""
TOLD_A_SECOND = 10.0
"""Those after them."""
MOST_HELD = 500
"""Refusals that wait to be told; with one more, that of whoever was refused most is told at once."""
_LATELY_S = 30.0


class Patience:
    """Of one front end; used in one event loop. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._under_way: defaultdict[tuple[AnnotatorId, int], int] = defaultdict(int)
        self._refused = Lately(_LATELY_S, clock)
        self._free, self._reckoned = float(TOLD_AT_ONCE), clock()
        """How many may be told at once, and since when that is so."""
        self._held: list[tuple[float, int, asyncio.Future[None]]] = []
        """By how often somebody was refused lately, and by when they came."""
        self._numbers = itertools.count()

    @contextmanager
    def under_way(self, person: AnnotatorId, most: int = MOST_AT_ONCE) -> Iterator[None]:
        """Count a request while it is handled: a posted one, or with `MOST_CLIPS_AT_ONCE` one for a clip.

        Raises:
            TooMuch: this person has `most` of them under way.
        """
        key = person, most
        if self._under_way[key] >= most:
            raise TooMuch(tr("Too many requests at once. Please wait a moment."), 1)
        self._under_way[key] += 1
        try:
            yield
        finally:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]

    async def refused(self, person: AnnotatorId) -> None:
        """A request that changes something is about to be refused; comes back when it may be told."""
        before = self._refused.of(person)
        self._refused.add(person, 1)
        now = self._clock()
        self._free = min(TOLD_AT_ONCE, self._free + (now - self._reckoned) * TOLD_A_SECOND)
        self._reckoned = now
        if self._free >= 1 and not self._held:
            self._free -= 1
            return
        told = asyncio.get_running_loop().create_future()
        mine = (before, next(self._numbers), told)
        insort(self._held, mine)
        if len(self._held) == 1:
            self._later()
        elif len(self._held) > MOST_HELD:
            self._held.pop()[2].set_result(None)
        try:
            await told
        finally:
            if mine in self._held:  # who asked is gone
                self._held.remove(mine)

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(1 / TOLD_A_SECOND, self._tell)

    def _tell(self) -> None:
        if self._held:
            self._held.pop(0)[2].set_result(None)
            self._free, self._reckoned = 0.0, self._clock()
        if self._held:
            self._later()
