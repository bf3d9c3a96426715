"""How a server ends that is asked to (SIGTERM, Ctrl-C): what is under way is finished, then nothing of it is left.

uvicorn takes no more connections, sends pages away and waits for the requests under way; the exchange of a grade is
one of them. After a few seconds it is told to wait no longer: a slow download must not keep a machine from going down.
Then the app's own processes end (see `parallel.end_all`), and the process leaves with 0.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from backend.ground import parallel

_LOG = logging.getLogger(__name__)
GRACE_S = 5.0
"""For requests under way. systemd kills after 90 s, a container engine after 10."""
LAST_S = 8.0
"""After the signal the process is gone by then, whatever a thread waits for: a transaction cut off leaves nothing."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def leave(_number: int, _frame: FrameType | None) -> None:
    """Ends the process with 0: what a signal does before the server runs, and after it has stopped."""
    raise SystemExit(0)


def leave_in_time() -> None:
    """Called when the server has begun, in its main thread: from now on a signal is answered within `LAST_S`."""
    for number in SIGNALS:
        its_own = signal.getsignal(number)
        if threading.current_thread() is threading.main_thread() and callable(its_own):
            signal.signal(number, _Answer(its_own))


class _Answer:
    """Of a signal: what the server does itself, and a clock."""

    def __init__(self, its_own: Callable[[int, FrameType | None], Any]) -> None:
        self._its_own = its_own

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._its_own(number, frame)
        _after(GRACE_S, self._wait_no_longer)
        _after(LAST_S, _leave_now)

    def _wait_no_longer(self) -> None:
        _LOG.warning("requests were still under way %.0f s after the server was asked to stop", GRACE_S)
        self._its_own(signal.SIGINT, None)  # the second one is uvicorn's sign to wait for nobody


def _after(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


def _leave_now() -> None:
    parallel.end_all(patience_s=0)
    os._exit(0)
