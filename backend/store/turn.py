"""A lock that threads get in the order in which they came."""

import threading
from collections import deque


class Turn:
    """A lock with a queue.

    Python's own goes to whoever asks when it is free, and a thread that writes a hundred times in a row asks again
    before anybody else has woken up: a key press waited for all of it, where now it waits for one transaction.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()
        """Each is held, until it is that thread's turn."""

    def acquire(self, timeout: float) -> bool:
        """Whether it is this thread's turn before so many seconds have passed."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        if mine.acquire(timeout=timeout):
            return True
        with self._guard:
            if mine not in self._waiting:  # it came just now
                return True
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """The next one's turn."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False
