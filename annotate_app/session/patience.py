"""What the requests of one person may cost everybody else: so many at a time, and no storm of refused ones.

A page has two or three requests under way and is hardly ever refused anything. Whoever sends much more waits: what is
too much at a time is refused before any of it is read, and whoever is refused again and again gets each refusal late,
so that a program that asks anew at once asks once a second on every connection, not hundreds of times. What only reads
is left alone: a page of many clips that cannot be shown is no storm.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from annotate_app.language import tr
from annotate_app.session.bodies import TooMuch
from backend.ground.ids import AnnotatorId

MOST_AT_ONCE = 8
"""Posted requests of one person, under way at a time; files that are uploaded are not among them."""
FREE_REFUSALS = 30
"""In a minute, told at once."""
HELD_S = 1.0
"""For how long each further one is held back."""
_MINUTE_S = 60.0


class Patience:
    """Of one front end; used in one event loop. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._under_way: defaultdict[AnnotatorId, int] = defaultdict(int)
        self._refused: defaultdict[AnnotatorId, deque[float]] = defaultdict(deque)

    @contextmanager
    def under_way(self, person: AnnotatorId) -> Iterator[None]:
        """A posted request.

        Raises:
            TooMuch: this person has `MOST_AT_ONCE` under way.
        """
        if self._under_way[person] >= MOST_AT_ONCE:
            raise TooMuch(tr("Too many requests at once. Please wait a moment."), 1)
        self._under_way[person] += 1
        try:
            yield
        finally:
            self._under_way[person] -= 1
            if not self._under_way[person]:
                del self._under_way[person]

    async def refused(self, person: AnnotatorId) -> None:
        """A request that changes something is about to be refused; comes back when it may be told."""
        lately, now = self._refused[person], self._clock()
        while lately and lately[0] <= now - _MINUTE_S:
            lately.popleft()
        if len(lately) < FREE_REFUSALS:
            lately.append(now)
        else:
            await anyio.sleep(HELD_S)
