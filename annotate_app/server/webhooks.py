"""Send webhook messages in a worker process beside the server, and look for events to report.

A round looks for events and sends the messages that are due; see `backend.campaign.monitoring.webhooks.rounds`. No
request waits for a round. The worker starts with the first round that has something to do, and ends after it was idle
for a while. Several servers of one project may do this at once.
"""

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import lru_cache
from pathlib import Path

import anyio

from annotate_app.session.threads import in_thread
from backend.campaign.monitoring.webhooks.rounds import is_due, last_change, work_round
from backend.campaign.setup.project.folder import Project, open_project
from backend.core import processes
from backend.core.errors import ReelRankError

EVERY_S = 5.0
"""The time from one round to the next."""
LOOK_EVERY_S = 20.0
"""News are looked for at most so often, and only after something happened."""
FLAGS_EVERY_S = 600.0
"""Quality flags are computed at most so often, because that reads all grades."""
_NICENESS, _KEPT_S = 10, 300
_LOG = logging.getLogger(__name__)


class Rounds:
    """Runs the rounds of one server process. A round looks for events and sends messages to webhooks.

    `project` is called in each round to get the project; `clock` returns seconds since 1970.
    """

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = lambda: time.time()) -> None:
        self._project = project
        self._clock = clock
        self._pool: Executor | None = None
        self._looked: tuple[object, float] = (None, 0.0)
        """What had happened when news were last looked for, and the time."""
        self._flagged: tuple[object, float] = (None, 0.0)
        """The same of quality flags."""

    async def run(self) -> None:
        """Run a round every few seconds, until this task is cancelled."""
        while True:
            await anyio.sleep(EVERY_S)
            try:
                await in_thread(self.step)
            except ReelRankError:
                pass  # no project yet, or its database cannot be used just now: the next round tries again
            except Exception:
                if processes.is_ending():
                    return
                _LOG.exception("A round of webhooks failed")
                self._pool = None

    def step(self) -> int | None:
        """Run one round, and return how many messages were delivered; None if there was nothing to do."""
        project, now = self._project(), self._clock()
        change = last_change(project)
        if change is None:
            return None
        with_flags = self._is_time(self._flagged, change, FLAGS_EVERY_S)
        looks = with_flags or self._is_time(self._looked, change, LOOK_EVERY_S)
        if not looks and not is_due(project, now=now):
            return None
        if self._pool is None:
            self._pool = processes.pool(1, os.nice, (_NICENESS,), kept_s=_KEPT_S)
        delivered = self._pool.submit(_round, project.folder, looks, with_flags).result()
        if looks:
            self._looked = (change, now)
        if with_flags:
            self._flagged = (change, now)
        return delivered

    def _is_time(self, before: tuple[object, float], change: object, every_s: float) -> bool:
        return before[0] != change and abs(self._clock() - before[1]) >= every_s


def _round(folder: Path, looks: bool, with_flags: bool) -> int:
    return work_round(_opened(folder), looks=looks, with_flags=with_flags)


@lru_cache(maxsize=1)
def _opened(folder: Path) -> Project:
    return open_project(folder)
