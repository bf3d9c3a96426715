"""Whose turn it is to hand things in: no person's requests hold up somebody else's key press.

What a page sends is a few events and takes milliseconds. A body made by hand may carry hundreds, and somebody may send
many at once: a person's requests are therefore taken one after the other, those of many events one at a time in the
whole process, and nobody hands in more in an hour than people can do.
"""

from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from annotate_app.session.bodies import TooMuch
from backend.ground.ids import AnnotatorId

MOST_EVENTS = 100
"""In one request; a page sends 50 at most."""
MOST_AN_HOUR = 5_000
"""Events that one person hands in through one front end; a grade a second is 3,600."""
MOST_WAITING = 4
"""Requests of one person that wait for the one before; a page has one under way, and another as it closes."""
FEW_EVENTS = 5
"""So many are handed in beside everybody else's; more wait for each other."""
_HOUR_S = 3_600.0


class Turns:
    """Of one front end; used in one event loop."""

    def __init__(self) -> None:
        self._one: dict[AnnotatorId, anyio.Lock] = {}
        self._here: defaultdict[AnnotatorId, int] = defaultdict(int)
        """A person's requests that are under way or wait."""
        self._handed_in: defaultdict[AnnotatorId, deque[tuple[float, int]]] = defaultdict(deque)
        """When and how many, of the last hour."""
        self._many: anyio.Lock | None = None

    @asynccontextmanager
    async def of(self, person: AnnotatorId, events: int, *, now: float) -> AsyncIterator[None]:
        """Waits for this person's turn to hand in so many events, and is it.

        Raises:
            TooMuch: none of it is taken; the guard answers.
        """
        self._admit(person, events, now)
        self._many = self._many or anyio.Lock()  # belongs to the event loop it is first used in
        lock = self._one.setdefault(person, anyio.Lock())
        self._here[person] += 1
        try:
            async with lock:
                if events <= FEW_EVENTS:
                    yield
                else:
                    async with self._many:
                        yield
        finally:
            self._here[person] -= 1
            if not self._here[person]:
                del self._here[person], self._one[person]

    def _admit(self, person: AnnotatorId, events: int, now: float) -> None:
        if self._here.get(person, 0) > MOST_WAITING:
            raise TooMuch("Too many requests at once. Please wait a moment.", 1)
        lately = self._handed_in[person]
        while lately and lately[0][0] <= now - _HOUR_S:
            lately.popleft()
        if sum(count for _, count in lately) + events > MOST_AN_HOUR:
            wait_s = max(1, int(lately[0][0] + _HOUR_S - now) + 1) if lately else int(_HOUR_S)
            raise TooMuch(f"More than {MOST_AN_HOUR:,} grades in an hour are not taken. Please wait.", wait_s)
        if events:
            lately.append((now, events))
