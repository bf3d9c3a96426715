"""Check passwords a few at a time, fairly by where they come from: a flood of sign-ins takes neither CPU nor turns."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.to_thread

from annotate_app.language import trn
from annotate_app.session.bodies import TooMuch

MOST_CHECKS = 2
"""At a time: argon2 takes a tenth of a second of a core, on purpose."""
MOST_WAITING = 16
"""Attempts from one address, or of one known browser, that wait or are checked."""
FULL_S = 10

_T = TypeVar("_T")


class FairChecks:
    """Of one front end; used in one event loop. Addresses, and known browsers, have their turns one after the other."""

    def __init__(self) -> None:
        self._under_way: defaultdict[str, int] = defaultdict(int)
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        self._checking = 0

    @contextmanager
    def under_way(self, source: str) -> Iterator[None]:
        """Count an attempt from a source until it is done, also while it is held back.

        Raises:
            TooMuch: `MOST_WAITING` attempts of this source are under way.
        """
        if self._under_way[source] >= MOST_WAITING:
            raise TooMuch(too_many(FULL_S), FULL_S)
        self._under_way[source] += 1
        try:
            yield
        finally:
            self._under_way[source] -= 1
            if not self._under_way[source]:
                del self._under_way[source]

    async def check(self, source: str, check: Callable[[], _T]) -> _T:
        """Run a slow check in a thread when it is this source's turn."""
        turn = anyio.Event()
        self._waiting.setdefault(source, deque()).append(turn)
        self._begin()
        try:
            await turn.wait()
            return await anyio.to_thread.run_sync(check)
        finally:
            if turn.is_set():
                self._checking -= 1
            else:  # whoever asked is gone
                self._waiting[source].remove(turn)
            self._begin()

    def _begin(self) -> None:
        while self._checking < MOST_CHECKS and self._waiting:
            source, turns = self._waiting.popitem(last=False)
            if turns:
                self._checking += 1
                turns.popleft().set()
            if turns:
                self._waiting[source] = turns  # behind all others


def too_many(wait_s: int) -> str:
    """What somebody is told who has to wait."""
    return trn("Too many attempts. Try again in {n} second.", "Too many attempts. Try again in {n} seconds.", wait_s)
