"""How often a password may be tried: failures counted in memory, by name and by client address."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator


class Attempts:
    """Counts sign-in attempts in a sliding window.

    An attempt counts from the moment it begins, not when it has failed: a hundred requests sent at once are
    not a hundred free guesses while the first is still being checked. A success takes the name's count back.

    Example:
        >>> seconds = iter([0.0, 1.0, 2.0, 301.0]).__next__
        >>> attempts = Attempts(seconds, per_name=2)
        >>> [attempts.begin("Ana", "10.0.0.1") for _ in range(4)]
        [0, 0, 298, 0]
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        per_name: int = 8,
        per_address: int = 40,
        window_s: float = 300.0,
    ) -> None:
        self._clock = clock
        self._limits = {"name": per_name, "address": per_address}
        self._window_s = window_s
        self._times: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)

    def begin(self, name: str, address: str) -> int:
        """Counts one attempt; returns 0, or the whole seconds to wait when there were too many (uncounted)."""
        now = self._clock()
        self._forget_old(now)
        keys = list(self._keys(name, address))
        waits = [
            self._times[key][0] + self._window_s - now
            for key in keys
            if key in self._times and len(self._times[key]) >= self._limits[key[0]]
        ]
        if waits:
            return math.ceil(max(waits))
        for key in keys:
            self._times[key].append(now)
        return 0

    def succeeded(self, name: str, address: str) -> None:
        """Forgets the failures of a name, and the attempt just counted for the address."""
        name_key, address_key = self._keys(name, address)
        self._times.pop(name_key, None)
        if self._times.get(address_key):
            self._times[address_key].pop()

    @staticmethod
    def _keys(name: str, address: str) -> Iterator[tuple[str, str]]:
        yield "name", name.strip().casefold()
        yield "address", address

    def _forget_old(self, now: float) -> None:
        for key, times in list(self._times.items()):
            while times and times[0] <= now - self._window_s:
                times.popleft()
            if not times:
                del self._times[key]
