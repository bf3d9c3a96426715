"""Serve the websocket of a page: count it, read its messages as fast as the user's budget allows, clean the answers."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotate_app.session import websocket_limits
from annotate_app.session.websocket_limits import OpenPages, RunBudget
from annotate_app.session.websocket_messages import NotOurs, kind_of, without_machine
from annotate_app.session.websocket_sessions import KeptSessions
from backend.campaign.nouns import Person

_RERUN = "rerun_script"
_UNSUPPORTED, _TOO_BIG, _NOT_OURS = 1003, 1009, 1002


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
