"""Serve the websocket of a page within the user's limits: open pages, script runs, and size of messages.

Streamlit draws a page by running a script, again after each input. A run takes about ten milliseconds of Python, in
which other requests wait. So every user has a budget of script runs, shared by all their pages. A message beyond the
budget is not refused: the server reads it later, and the page waits. The limits allow an annotator to open eight pages
at once, and they slow down a program that sends as fast as it can.
"""

import asyncio
import heapq
import itertools
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime

from annotate_app.session.request_limits import RecentUse
from backend.campaign.nouns import Person, Role
from backend.core.ids import AnnotatorId

_RERUN = "rerun_script"
_UNSUPPORTED, _TOO_BIG, _NOT_OURS = 1003, 1009, 1002
_OF_ALL = frozenset({"rerun_script", "stop_script", "app_heartbeat"})
# Other messages would let any page clear all caches, read the server's git repository, or write files beside the app.
_SENT_BY = {Role.ANNOTATOR: _OF_ALL, Role.LEAD: _OF_ALL | {"file_urls_request", "backend_operation_request"}}
_NAMELESS = "-"
_OWNER_KEY = "reelrank_owner"


class Pages:
    """Serves the websockets of all open pages of one server process; used in one event loop."""

    def __init__(self) -> None:
        self._open = OpenPages()
        self._budget = RunBudget()
        self._sessions = KeptSessions()

    def most(self, person: Person) -> int:
        """Return how many pages this user may have open at a time."""
        return LIMITS[person.role].pages

    def are_too_many(self, person: Person) -> bool:
        """Return whether this user has as many pages open as they may."""
        return self._open.is_full(person.annotator_id, LIMITS[person.role])

    async def serve(self, app: ASGIApp, person: Person, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Connect the websocket of a page to Streamlit, within this user's limits, until it is closed.

        Args:
            app: the ASGI app that contains Streamlit.
            person: the signed-in user.
            token: the session token; a Streamlit session that began with another token is not resumed.
            scope: the scope of the websocket, as for any ASGI app.
            receive: reads a message from the page.
            send: sends a message to the page.
        """
        limits = LIMITS[person.role]
        is_closed = False

        async def close(code: int, reason: str) -> Message:
            nonlocal is_closed
            is_closed = True
            await send({"type": "websocket.close", "code": code, "reason": reason})
            return {"type": "websocket.disconnect", "code": code}

        async def receive_in_time() -> Message:
            while True:
                message = await receive()
                if message["type"] == "websocket.connect":
                    await self._budget.wait(person.annotator_id, limits, 1)
                if message["type"] != "websocket.receive":
                    return message
                data = message.get("bytes")
                if data is None:
                    return await close(_UNSUPPORTED, "messages are binary")
                if len(data) > limits.message_bytes:
                    return await close(_TOO_BIG, f"a message has {limits.message_bytes} bytes at most")
                try:
                    kind = kind_of(data, person.role)
                except NotOurs:
                    return await close(_NOT_OURS, "not a message of a page")
                cost = 1 if kind == _RERUN else OTHER_MESSAGE
                await self._budget.wait(person.annotator_id, limits, cost)
                if kind:
                    return message

        async def send_cleaned(message: Message) -> None:
            if is_closed:
                return  # a script that still runs writes to a page that is gone
            if message["type"] == "websocket.send" and message.get("bytes") is not None:
                message = {**message, "bytes": without_machine(message["bytes"])}
            await send(message)

        with (
            self._open.one_more(person.annotator_id),
            self._sessions.one_page(person, token, limits.kept_sessions),
        ):
            await app(scope, receive_in_time, send_cleaned)


class NotOurs(Exception):
    """Raised for bytes from a browser that no Streamlit page would send."""


def kind_of(data: bytes, role: Role) -> str:
    """Return the type of a message from a page, such as `rerun_script`; "" if no page of this role sends the type.

    Raises:
        NotOurs: these bytes are not a message of Streamlit.
    """
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise NotOurs from error
    kind = message.WhichOneof("type") or ""
    if kind not in _SENT_BY[role]:
        return ""
    if kind == "backend_operation_request":
        operation = message.backend_operation_request
        if not (operation.HasField("deferred_file") or operation.HasField("dataframe_chunk")):
            return ""
    return str(kind)


def without_machine(data: bytes) -> bytes:
    """Return a message from the server to a page, without file paths, software versions and other facts of the server.

    Streamlit sends these at the start of every run for its usage statistics, which are off.
    """
    message = ForwardMsg.FromString(data)
    kind = message.WhichOneof("type")
    if kind == "new_session":
        new = message.new_session
        new.main_script_path = new.name
        for section in (new.initialize.environment_info, new.initialize.user_info):
            for field in section.DESCRIPTOR.fields:
                if field.type == field.TYPE_STRING:
                    setattr(section, field.name, _NAMELESS)
        return bytes(message.SerializeToString())
    if kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
        error = message.session_event.script_compilation_exception
        error.ClearField("stack_trace")
        error.ClearField("message")
        return bytes(message.SerializeToString())
    return data


class _Opening:
    """A websocket that is being opened: the hash of its owner, and the id of the session that Streamlit gives it."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.session_id = ""


_opening: ContextVar[_Opening | None] = ContextVar("opening", default=None)


def bind_sessions(runtime: Runtime) -> None:
    """Make Streamlit let only the owner of a session reconnect to it. Call this once, at the start of the server."""
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
    """Return a hash that identifies the owner of Streamlit sessions: a user with their role and session token."""
    return sha256(f"{person.annotator_id}/{person.role.value}/{token}".encode()).hexdigest()


class KeptSessions:
    """The Streamlit sessions of closed pages, kept for a while for each user; used in one event loop."""

    def __init__(self) -> None:
        self._closed: defaultdict[int, deque[str]] = defaultdict(deque)

    @contextmanager
    def one_page(self, person: Person, token: str, most: int) -> Iterator[None]:
        """Run a page's websocket in the `with` block, then end the user's oldest sessions of closed pages.

        At most `most` sessions of closed pages remain.
        """
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
            if not runtime.is_active_session(oldest):  # otherwise its page reconnected
                runtime.close_session(oldest)


OTHER_MESSAGE = 0.1
"""Cost of a message that runs no script, such as a heartbeat, in script runs."""


@dataclass(frozen=True)
class Limits:
    """Limits of one user's websockets.

    Attributes:
        pages: open pages at a time.
        burst: script runs without delay after a quiet time.
        runs_per_s: script runs a second in the long run.
        message_bytes: the largest size of one message, in bytes; messages of the app's pages have a few kilobytes.
        kept_sessions: the number of closed pages whose state is kept for a reconnect, for two minutes at most.
    """

    pages: int
    burst: float
    runs_per_s: float
    message_bytes: int
    kept_sessions: int


LIMITS = {
    Role.ANNOTATOR: Limits(pages=8, burst=24, runs_per_s=2, message_bytes=64 * 1024, kept_sessions=4),
    Role.LEAD: Limits(pages=24, burst=120, runs_per_s=20, message_bytes=2 * 1024 * 1024, kept_sessions=12),
}
LARGEST_MESSAGE_BYTES = max(limits.message_bytes for limits in LIMITS.values())
"""Largest message that the server reads, in bytes, whoever sends it."""
SCRIPTS_AT_ONCE = 1
"""Script runs of all annotators at a time. Each further one would slow down all other requests."""
LONGEST_WAIT_S = 30.0
"""Seconds after which a script runs without a turn: a run that hangs must not stop all others."""
_HALF_LIFE_S = 10.0


class RunBudget:
    """The number of script runs that each user may start now; it grows with time. Used in one event loop.

    `clock` returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: dict[AnnotatorId, tuple[float, float]] = {}
        """Runs left, and the time of that count. A negative number counts runs that the user's pages wait for."""

    def take(self, user: AnnotatorId, limits: Limits, cost: float) -> float:
        """Take `cost` script runs from a user's budget, and return the seconds to wait before running them.

        The budget grows by `runs_per_s` a second up to `burst`. It may become negative, so that the user waits.

        >>> now = [0.0]
        >>> budget = RunBudget(lambda: now[0])
        >>> limits = Limits(pages=1, burst=2, runs_per_s=4, message_bytes=1, kept_sessions=1)
        >>> [budget.take(AnnotatorId(1), limits, 1) for _ in range(4)]
        [0.0, 0.0, 0.25, 0.5]
        >>> now[0] = 1.0
        >>> budget.take(AnnotatorId(1), limits, 1)
        0.0
        """
        now = self._clock()
        left, at = self._left.get(user, (limits.burst, now))
        left = min(limits.burst, left + (now - at) * limits.runs_per_s) - cost
        self._left[user] = (left, now)
        return max(0.0, -left / limits.runs_per_s)

    async def wait(self, user: AnnotatorId, limits: Limits, cost: float) -> None:
        """Take `cost` script runs from a user's budget, and wait until they may be run."""
        if wait_s := self.take(user, limits, cost):
            await asyncio.sleep(wait_s)


class OpenPages:
    """Counts the open websockets of each user; used in one event loop."""

    def __init__(self) -> None:
        self._open: Counter[AnnotatorId] = Counter()

    def is_full(self, user: AnnotatorId, limits: Limits) -> bool:
        """Return whether the user has as many pages open as the limits allow."""
        return self._open[user] >= limits.pages

    @contextmanager
    def one_more(self, user: AnnotatorId) -> Iterator[None]:
        """Count one more open page of this user while the `with` block runs."""
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


class ScriptTurns:
    """Lets only `at_once` page scripts of annotators run at a time.

    Of the users who wait, the one whose scripts recently took least time goes first. Used in the threads in which
    Streamlit runs scripts. A thread that already has a turn does not wait for another.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = at_once
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, int, threading.Event]] = []
        """Heap of waiting runs, by how long the user's scripts ran lately, then by arrival."""
        self._numbers = itertools.count()
        self._ran = RecentUse(_HALF_LIFE_S, clock)
        self._here = threading.local()

    @contextmanager
    def of(self, user: AnnotatorId) -> Iterator[None]:
        """Wait for a turn to run a script of this user, and hold it while the `with` block runs.

        After `LONGEST_WAIT_S` the block runs without a turn.
        """
        if getattr(self._here, "has_turn", False):
            yield
            return
        self._wait(user)
        self._here.has_turn, began = True, self._clock()
        try:
            yield
        finally:
            self._here.has_turn = False
            with self._lock:
                self._ran.add(user, self._clock() - began)
                if self._waiting:
                    heapq.heappop(self._waiting)[2].set()
                else:
                    self._free += 1

    def _wait(self, user: AnnotatorId) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            entry = (self._ran.rank(user), next(self._numbers), threading.Event())
            heapq.heappush(self._waiting, entry)
        if not entry[2].wait(LONGEST_WAIT_S):
            with self._lock:
                if entry in self._waiting:
                    self._waiting.remove(entry)
                    heapq.heapify(self._waiting)
                    self._free -= 1
