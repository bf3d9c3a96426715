"""Whose turn it is to hand things in: no person's requests hold up somebody else's key press.

What a page sends is a few events and takes milliseconds. A body made by hand may carry a hundred, and somebody may send
several at once, from many accounts. So a person's requests are taken one after the other. Of those with a few events
some are at work at a time, and of those who wait whoever handed in least lately comes first. Those with many are taken
one at a time in the whole process, in small parts: each when nobody else is at work or waits, with a rest after it, so
that a key press meets one part at most and finds the machine mostly free. Only every so often a part comes before
others. Nobody hands in more in an hour than people can do. How many may come at all, the guard says.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from annotate_app.language import tr
from annotate_app.session.bodies import TooMuch
from annotate_app.session.rate_limit import RecentUse
from backend.core.ids import AnnotatorId

MOST_EVENTS = 100
"""In one request; a page sends 50 at most."""
MOST_AN_HOUR = 5_000
"""Events that one person hands in through one front end; a grade a second is 3,600."""
FEW_EVENTS = 5
"""So many are handed in beside everybody else's; more wait for each other."""
PART_EVENTS = 2
"""Of many, so many are handed in before others come first again."""
RESTS = 2.0
"""After a part of many nobody has the next one for so many times as long as it took."""
AT_WORK = 3
"""Turns at a time: more of them would wait for the database, and for Python, inside of each other."""
MANY_AFTER = 20
"""So many turns others have at most while somebody waits with many."""
_LATELY_S = 2.0
_HOUR_S = 3_600.0

_Event = TypeVar("_Event")


def parts(events: Sequence[_Event]) -> Iterator[Sequence[_Event]]:
    """Events, a few at a time.

    >>> [len(part) for part in parts(range(5))]
    [2, 2, 1]
    """
    for start in range(0, len(events), PART_EVENTS):
        yield events[start : start + PART_EVENTS]


@dataclass(eq=False)
class _Part:
    """Of a request, or all of it: waits for its turn, or has it."""

    person: AnnotatorId
    events: int
    of_many: bool
    begins: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """Of one front end; used in one event loop. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._one: dict[AnnotatorId, anyio.Lock] = {}
        self._waiting: list[_Part] = []
        self._at_work: list[_Part] = []
        self._lately = RecentUse(_LATELY_S, clock)
        """Turns and their events."""
        self._many_of: AnnotatorId | None = None
        """Who hands in many just now: one is done with that before the next one begins."""
        self._rests = False
        self._let_past = 0
        """Turns that others had while somebody waited with many."""
        self._handed_in: defaultdict[AnnotatorId, deque[tuple[float, int]]] = defaultdict(deque)
        """When and how many, of the last hour."""

    @asynccontextmanager
    async def of(self, person: AnnotatorId, events: int, *, now: float) -> AsyncIterator[None]:
        """Waits until this person's earlier requests are done; their next one waits for what is done inside.

        Raises:
            TooMuch: none of it is taken; the guard answers.
        """
        self._count(person, events, now)
        lock = self._one.setdefault(person, anyio.Lock())
        try:
            async with lock:
                try:
                    yield
                finally:
                    if self._many_of == person:
                        self._many_of = None
                        self._begin()
        finally:
            if not lock.locked():
                self._one.pop(person, None)

    @asynccontextmanager
    async def part(self, person: AnnotatorId, events: int, *, of_many: bool) -> AsyncIterator[None]:
        """Waits for the turn of a part of this person's request, and is it.

        Args:
            person: whose request it is.
            events: in this part.
            of_many: whether the request has more than `FEW_EVENTS`.
        """
        part = _Part(person, events, of_many)
        self._waiting.append(part)
        self._begin()
        try:
            await part.begins.wait()
            began = self._clock()
            yield
            if of_many:
                self._rests = True
                asyncio.get_running_loop().call_later(RESTS * (self._clock() - began), self._rested)
        finally:
            (self._waiting if part in self._waiting else self._at_work).remove(part)
            self._begin()

    def _rested(self) -> None:
        self._rests = False
        self._begin()

    def _begin(self) -> None:
        """Whoever may begin now begins."""
        while len(self._at_work) < AT_WORK and (first := self._next()):
            self._waiting.remove(first)
            self._at_work.append(first)
            self._lately.add(first.person, 1 + first.events)
            if first.of_many:
                self._many_of, self._let_past = first.person, 0
            elif any(part.of_many for part in self._waiting):
                self._let_past += 1
            first.begins.set()

    def _next(self) -> _Part | None:
        among = [part for part in self._waiting if not part.of_many]
        many = [part for part in self._waiting if part.of_many and self._many_of in (None, part.person)]
        if many and not self._rests and (not among or self._let_past >= MANY_AFTER):
            among = [] if self._at_work else many  # nobody begins before it
        return min(among, key=lambda part: self._lately.of(part.person), default=None)  # of equals the first that came

    def _count(self, person: AnnotatorId, events: int, now: float) -> None:
        lately = self._handed_in[person]
        while lately and lately[0][0] <= now - _HOUR_S:
            lately.popleft()
        if sum(count for _, count in lately) + events > MOST_AN_HOUR:
            wait_s = max(1, int(lately[0][0] + _HOUR_S - now) + 1) if lately else int(_HOUR_S)
            told = tr("More than {most} grades in an hour are not taken. Please wait.", most=f"{MOST_AN_HOUR:,}")
            raise TooMuch(told, wait_s)
        if events:
            lately.append((now, events))
