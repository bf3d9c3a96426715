"""Check the personal tokens of requests below /api/, sent in the header `Authorization: Bearer rr_...`.

A valid token is never delayed. An invalid one counts as a failed attempt to sign in from the same network address, and
too many failures are slowed down. This makes guessing slow, and also stops programs that keep using a revoked token.
"""

import time
from collections.abc import Awaitable, Callable
from urllib.parse import unquote_plus

import anyio
from starlette.requests import HTTPConnection

from annotate_app.session.request_limits import FairChecks, TooMuch, source_of, too_many
from annotate_app.session.threads import in_thread
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.shared_state import begin_attempt
from backend.campaign.setup.tokens.model import PersonalToken
from backend.campaign.setup.tokens.personal_tokens import holds_token, token_for

_NAME = ""
"""The name under which failed tokens are counted; nobody's account has it."""


class Bearers:
    """Checks the tokens of requests at one server process; used in one event loop.

    `project` is called for each request to get the project. `clock` returns seconds since 1970, and `sleep` waits for a
    number of seconds.
    """

    def __init__(
        self,
        project: Callable[[], Project],
        clock: Callable[[], float] = lambda: time.time(),
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._project = project
        self._clock = clock
        self._sleep = sleep
        self._failing = FairChecks()

    async def token_of(self, connection: HTTPConnection) -> PersonalToken | None:
        """Return the valid token of a request; None if it has no token or an invalid one.

        A token in the request's address makes the result None too, because addresses end up in logs and histories.

        Raises:
            TooMuch: the token is invalid, and so were too many others that came from the same source before.
        """
        sent = connection.headers.getlist("authorization")
        scheme, _, text = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
        query = connection.scope["query_string"].decode("latin-1")
        if scheme.lower() != "bearer" or holds_token(unquote_plus(f"{connection.scope['path']}?{query}")):
            return None
        now = self._clock()
        token = await in_thread(token_for, self._project(), text.strip(" "), now=now)
        if token is None:
            await self._count_failure(source_of(connection), now)
        return token

    async def _count_failure(self, address: str, now: float) -> None:
        with self._failing.under_way(address):
            delay = await in_thread(begin_attempt, self._project(), _NAME, address, None, now=now)
            if delay.refused_s:
                raise TooMuch(too_many(delay.refused_s), delay.refused_s)
            if delay.held_s:
                await self._sleep(delay.held_s)
