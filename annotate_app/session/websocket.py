"""Serve the websocket of a page: count it, read its messages as fast as the user's budget allows, clean the answers."""

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime

from annotate_app.session import websocket_limits
from annotate_app.session.websocket_limits import OpenPages, RunBudget
from backend.campaign.nouns import Person, Role

_RERUN = "rerun_script"
_UNSUPPORTED, _TOO_BIG, _NOT_OURS = 1003, 1009, 1002
_OF_ALL = frozenset({"rerun_script", "stop_script", "app_heartbeat"})
# What else Streamlit would do for anybody who asks: empty everybody's caches, read the server's git, write files beside
# the app for programs that write code.
_SENT_BY = {Role.ANNOTATOR: _OF_ALL, Role.LEAD: _OF_ALL | {"file_urls_request", "backend_operation_request"}}
_NAMELESS = "-"
_OWNER_KEY = "reelrank_owner"


class Pages:
    """The open pages of one server; used in one event loop."""

    def __init__(self) -> None:
        self._open = OpenPages()
        self._budget = RunBudget()
        self._sessions = KeptSessions()

    def most(self, person: Person) -> int:
        """Return how many pages a user may have open."""
        return websocket_limits.LIMITS[person.role].pages

    def are_too_many(self, person: Person) -> bool:
        """Return whether this user can open no further page."""
        return self._open.is_full(person.annotator_id, websocket_limits.LIMITS[person.role])

    async def serve(self, app: ASGIApp, person: Person, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Run Streamlit's part of a websocket within this user's limits.

        Args:
            app: what answers behind the guard.
            person: whom the guard let in.
            token: of the sign-in; a session of another sign-in is not resumed.
            scope: of the websocket, as for any ASGI app.
            receive: reads from the page.
            send: writes to the page.
        """
        limits = websocket_limits.LIMITS[person.role]
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
                cost = 1 if kind == _RERUN else websocket_limits.OTHER_MESSAGE
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
    """A message that is none of Streamlit's."""


def kind_of(data: bytes, role: Role) -> str:
    """Return which message a page sent, or an empty text for one that no page of this role sends.

    Raises:
        NotOurs: these bytes are no message.
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
    """Take out of an answer where the server's files are, and which versions and machine it runs on.

    Streamlit sends them at the beginning of every run, for its own statistics, which are off.
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
