"""Whose turn it is to hand things in: no person's requests hold up somebody else's key press.

What a page sends is a few events and takes milliseconds. A body made by hand may carry a hundred, and somebody may send
several at once: a person's requests are therefore taken one after the other, those of many events one at a time in the
whole process, and nobody hands in more in an hour than people can do. How many may come at all, the guard says.
"""

from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from annotate_app.language import tr
from annotate_app.session.bodies import TooMuch
from backend.ground.ids import AnnotatorId

MOST_EVENTS = 100
"""In one request; a page sends 50 at most."""
MOST_AN_HOUR = 5_000
"""Events that one person hands in through one front end; a grade a second is 3,600."""
FEW_EVENTS = 5
"""So many are handed in beside everybody else's; more wait for each other."""
_HOUR_S = 3_600.0


class Turns:
    """Of one front end; used in one event loop."""

    def __init__(self) -> None:
        self._one: dict[AnnotatorId, anyio.Lock] = {}
        self._handed_in: defaultdict[AnnotatorId, deque[tuple[float, int]]] = defaultdict(deque)
        """When and how many, of the last hour."""
        self._many: anyio.Lock | None = None

    @asynccontextmanager
    async def of(self, person: AnnotatorId, events: int, *, now: float) -> AsyncIterator[None]:
        """Waits for this person's turn to hand in so many events, and is it.

        Raises:
            TooMuch: none of it is taken; the guard answers.
        """
        self._count(person, events, now)
        self._many = self._many or anyio.Lock()  # belongs to the event loop it is first used in
        lock = self._one.setdefault(person, anyio.Lock())
        try:
            async with lock:
                if events <= FEW_EVENTS:
                    yield
                else:
                    async with self._many:
                        yield
        finally:
            if not lock.locked():
                self._one.pop(person, None)

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
