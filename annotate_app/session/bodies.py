"""The door for everything that browsers send: how much, how deep, how large its numbers are, how long it may take.

A body that no page of this server sends is refused here, with a sentence, before any of it reaches a route's own work.
"""

from collections.abc import AsyncIterator
from typing import TypeVar
from urllib.parse import parse_qsl

import anyio
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from annotate_app.language import tr

MAX_FORM_BYTES = 8 * 1024
MAX_JSON_BYTES = 256 * 1024
"""Four times what a page sends at most, which keeps below the 64 KiB that outlive it."""
DEEPEST = 8
"""Lists and objects inside each other; pages send four."""
LARGEST = 2**53 - 1
"""The largest number that a browser tells from the next one; its negative is the smallest."""
LONGEST = 10_000
"""Signs of a text; what people write is kept to 500."""
BODY_S = 30.0
"""For a form or JSON to arrive; also slow lines take less than a second."""
SILENT_S = 60.0
"""For the next bytes of a file that is uploaded."""

_Kind = TypeVar("_Kind")


class BodyRefused(Exception):
    """A body that no page of this server sends, and why, in words for a person."""


class TooMuch(Exception):
    """Too much at once, or in an hour: what to do, in words for a person, and for how many seconds to wait."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s


async def chunks(request: Request) -> AsyncIterator[bytes]:
    """The pieces of a body as they come; 408 where none comes for `SILENT_S`."""
    stream = request.stream()
    try:
        while True:
            with anyio.fail_after(SILENT_S):
                piece = await anext(stream, None)
            if piece is None:
                return
            yield piece
    except TimeoutError as error:
        raise HTTPException(408, tr("Nothing came for too long.")) from error


async def body(request: Request, limit: int) -> bytes:
    """The request's body; more than `limit` bytes are refused with 413 before they are read, a slow one with 408."""
    received = bytearray()
    try:
        with anyio.fail_after(BODY_S):
            async for piece in request.stream():
                received += piece
                if len(received) > limit:
                    raise HTTPException(413, tr("Too much was sent at once."))
    except TimeoutError as error:
        raise HTTPException(408, tr("This took too long to arrive.")) from error
    return bytes(received)


async def form(request: Request) -> dict[str, str]:
    """The fields of a posted form; a field sent twice counts with its last value.

    NUL, which no person types, becomes a sign that databases keep: such a name is simply an unknown one.
    """
    raw = await body(request, MAX_FORM_BYTES)
    try:
        fields = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=10, errors="strict")
        return {name: value.replace("\0", "\ufffd") for name, value in fields}
    except ValueError as error:
        raise HTTPException(400, tr("The form could not be read.")) from error


async def json_body(request: Request, kind: type[_Kind]) -> _Kind:
    """The body of a request as a value of `kind`.

    Raises:
        BodyRefused: it is no JSON, no `kind`, or nothing that a browser's script could mean.
        HTTPException: 413 too large, 408 too slow.
    """
    return parsed(await body(request, MAX_JSON_BYTES), kind)


def parsed(raw: bytes, kind: type[_Kind]) -> _Kind:
    """JSON as a value of `kind`.

    Raises:
        BodyRefused: it is no JSON (NaN and half of a surrogate pair are none), no `kind`, nested deeper than `DEEPEST`,
            has a number beyond `LARGEST`, a text longer than `LONGEST`, or the sign with the number 0, which PostgreSQL
            cannot keep.

    >>> parsed(b'[1, 2.5]', list[float])
    [1.0, 2.5]
    >>> parsed(b'{"grade": 99999999999999999999}', dict)
    Traceback (most recent call last):
    annotate_app.session.bodies.BodyRefused: The request could not be read: a number in it is too large.
    """
    try:
        found = msgspec.json.decode(raw)
        sent = msgspec.convert(found, kind)  # first, because it is the faster one to refuse what is long
        if why := _wrong(found):
            raise BodyRefused(_unread(f"{why}."))
        return sent
    except msgspec.MsgspecError as error:
        raise BodyRefused(_unread(error)) from error
    except UnicodeDecodeError as error:
        raise BodyRefused(_unread("it is not UTF-8.")) from error
    except RecursionError as error:
        raise BodyRefused(_unread(f"{_DEEP}.")) from error


_DEEP = "it is nested too deeply"


def _unread(error: object) -> str:
    return tr("The request could not be read: {error}", error=error)


def _wrong(found: object) -> str:
    """What no page sends, in a body as it was read; an empty text where there is nothing."""
    level: list[object] = [found]
    for _ in range(DEEPEST + 1):
        below: list[object] = []
        for one in level:
            if isinstance(one, str):
                if "\0" in one:
                    return "a text in it holds the sign with the number 0"
                if len(one) > LONGEST:
                    return "a text in it is too long"
            elif isinstance(one, int | float):
                if abs(one) > LARGEST:
                    return "a number in it is too large"
            elif isinstance(one, list):
                below += one
            elif isinstance(one, dict):
                below += one
                below += one.values()
        if not below:
            return ""
        level = below
    return _DEEP


def small_number(text: str) -> int | None:
    """A number from an address; None for what is none, or has more digits than anything here is numbered with.

    >>> small_number("3"), small_number("-1"), small_number("9" * 5000)
    (3, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 15 else None
