"""Tie each of Streamlit's page sessions to the sign-in that opened it.

A page that loses its connection comes back with the id of its session and goes on where it was. The id is no secret on
a shared computer, and the session holds what the page showed. So Streamlit is told who opens a session and who comes
back to it, and gives anybody else a new one. It also keeps the sessions of closed pages for two minutes: no more than a
few of one user.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

from streamlit.runtime import Runtime

from backend.campaign.nouns import Person

_OWNER_KEY = "reelrank_owner"


class _Opening:
    """A websocket that is being opened: who opens it, and the session that Streamlit gives it."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.session_id = ""


_opening: ContextVar[_Opening | None] = ContextVar("opening", default=None)


def bind_sessions(runtime: Runtime) -> None:
    """Let Streamlit compare the owner of every session with whoever connects to it; called once, at the start."""
    connect: Any = runtime.connect_session

    def connect_as_owner(*args: Any, user_info: Any, **more: Any) -> str:
        opening = _opening.get()
        if opening is None:
            raise RuntimeError("a session was asked for past the guard")
        session_id: str = connect(*args, user_info={**user_info, _OWNER_KEY: opening.owner}, **more)
        opening.session_id = session_id
        return session_id

    runtime.connect_session = connect_as_owner  # type: ignore[method-assign, assignment]


def owner(person: Person, token: str) -> str:
    """Return what tells the sessions of this sign-in, in this role, from all others."""
    return sha256(f"{person.annotator_id}/{person.role.value}/{token}".encode()).hexdigest()


class KeptSessions:
    """The sessions of closed pages, by user; used in one event loop."""

    def __init__(self) -> None:
        self._closed: defaultdict[int, deque[str]] = defaultdict(deque)

    @contextmanager
    def one_page(self, person: Person, token: str, most: int) -> Iterator[None]:
        """Run Streamlit's websocket inside; afterwards, end the oldest sessions beyond the `most` that are kept."""
        opening = _Opening(owner(person, token))
        reset = _opening.set(opening)
        try:
            yield
        finally:
            _opening.reset(reset)
            if opening.session_id:
                self._close_oldest(person.annotator_id, opening.session_id, most)

    def _close_oldest(self, user: int, session_id: str, most: int) -> None:
        closed = self._closed[user]
        if session_id in closed:
            closed.remove(session_id)
        closed.append(session_id)
        while len(closed) > most:
            runtime, oldest = Runtime.instance(), closed.popleft()
            if not runtime.is_active_session(oldest):  # else its page came back
                runtime.close_session(oldest)
