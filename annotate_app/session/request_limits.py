"""Limit what a request may carry, how many requests a user has, and how many passwords an address has checked.

A body that no page of this server sends is refused here, with a sentence, before any of it reaches a route's own work:
by how much it is, how deep, how large its numbers are, and how long it takes.

A page has two or three requests under way and is hardly ever refused anything. A request beyond the limit is refused
before any of it is read. Refusals that come faster than pages cause them are delayed: the server sends so many a
second to all users together, first to whoever was refused least. That slows down a program that repeats its requests
at once, however many accounts it has; somebody who is refused once beside it waits a moment. Requests that only read
are not delayed: a page of many clips that cannot be shown is no attack.

Passwords are checked a few at a time, in turn by where they come from: a flood of sign-ins takes neither CPU nor turns.
"""

import asyncio
import itertools
import math
import time
from bisect import insort
from collections import OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from annotate_app.language import tr, trn
from backend.core.ids import AnnotatorId

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
    annotate_app.session.request_limits.BodyRefused: The request could not be read: a number in it is too large.
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


MOST_AT_ONCE = 8
"""Posted requests of one person, under way at a time; files that are uploaded are not among them."""
MOST_CLIPS_AT_ONCE = 64
"""Requests of one person for clips and pictures, under way at a time. A page asks for 25 at most."""
TOLD_AT_ONCE = 30
"""Refusals of all people together that are told without a wait, after a time without any."""
TOLD_A_SECOND = 10.0
"""Those after them."""
MOST_HELD = 500
"""Refusals that wait to be told; with one more, that of whoever was refused most is told at once."""
_LATELY_S = 30.0
MOST_CHECKS = 2
"""At a time: argon2 takes a tenth of a second of a core, on purpose."""
MOST_WAITING = 16
"""Attempts from one address, or of one known browser, that wait or are checked."""
FULL_S = 10

_T = TypeVar("_T")


class RequestLimits:
    """Concurrent and rejected requests of each user at one front end; used in one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._under_way: defaultdict[tuple[AnnotatorId, int], int] = defaultdict(int)
        self._refused = RecentUse(_LATELY_S, clock)
        self._free, self._reckoned = float(TOLD_AT_ONCE), clock()
        """How many may be told at once, and since when that is so."""
        self._held: list[tuple[float, int, asyncio.Future[None]]] = []
        """By how often somebody was refused lately, and by when they came."""
        self._numbers = itertools.count()

    @contextmanager
    def under_way(self, person: AnnotatorId, most: int = MOST_AT_ONCE) -> Iterator[None]:
        """Count a request while it is handled: a posted one, or with `MOST_CLIPS_AT_ONCE` one for a clip.

        Raises:
            TooMuch: this person has `most` of them under way.
        """
        key = person, most
        if self._under_way[key] >= most:
            raise TooMuch(tr("Too many requests at once. Please wait a moment."), 1)
        self._under_way[key] += 1
        try:
            yield
        finally:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]

    async def refused(self, person: AnnotatorId) -> None:
        """A request that changes something is about to be refused; comes back when it may be told."""
        before = self._refused.of(person)
        self._refused.add(person, 1)
        now = self._clock()
        self._free = min(TOLD_AT_ONCE, self._free + (now - self._reckoned) * TOLD_A_SECOND)
        self._reckoned = now
        if self._free >= 1 and not self._held:
            self._free -= 1
            return
        told = asyncio.get_running_loop().create_future()
        mine = (before, next(self._numbers), told)
        insort(self._held, mine)
        if len(self._held) == 1:
            self._later()
        elif len(self._held) > MOST_HELD:
            self._held.pop()[2].set_result(None)
        try:
            await told
        finally:
            if mine in self._held:  # who asked is gone
                self._held.remove(mine)

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(1 / TOLD_A_SECOND, self._tell)

    def _tell(self) -> None:
        if self._held:
            self._held.pop(0)[2].set_result(None)
            self._free, self._reckoned = 0.0, self._clock()
        if self._held:
            self._later()


class RecentUse:
    """Per-user usage that halves every `half_s` seconds, for fair scheduling; `clock` gives seconds.

    >>> now = [0.0]
    >>> usage = RecentUse(10.0, lambda: now[0])
    >>> usage.add(AnnotatorId(1), 8)
    >>> now[0] = 20.0
    >>> usage.add(AnnotatorId(1), 1)
    >>> usage.of(AnnotatorId(1)), usage.of(AnnotatorId(2))
    (3.0, 0.0)
    """

    def __init__(self, half_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._half_s = half_s
        self._clock = clock
        self._sums: dict[AnnotatorId, tuple[float, float]] = {}
        """What is left, and when that was reckoned."""

    def of(self, person: AnnotatorId) -> float:
        """Return what is left of a user's usage."""
        left, at = self._sums.get(person, (0.0, 0.0))
        return left * math.pow(0.5, (self._clock() - at) / self._half_s)

    def add(self, person: AnnotatorId, amount: float) -> None:
        """Add to a user's usage."""
        self._sums[person] = (self.of(person) + amount, self._clock())


class FairChecks:
    """Run password checks in turn by address or known browser; used in one event loop."""

    def __init__(self) -> None:
        self._under_way: defaultdict[str, int] = defaultdict(int)
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        self._checking = 0

    @contextmanager
    def under_way(self, source: str) -> Iterator[None]:
        """Count an attempt from a source until it is done, also while it is held back.

        Raises:
            TooMuch: `MOST_WAITING` attempts of this source are under way.
        """
        if self._under_way[source] >= MOST_WAITING:
            raise TooMuch(too_many(FULL_S), FULL_S)
        self._under_way[source] += 1
        try:
            yield
        finally:
            self._under_way[source] -= 1
            if not self._under_way[source]:
                del self._under_way[source]

    async def check(self, source: str, check: Callable[[], _T]) -> _T:
        """Run a slow check in a thread when it is this source's turn."""
        turn = anyio.Event()
        self._waiting.setdefault(source, deque()).append(turn)
        self._begin()
        try:
            await turn.wait()
            return await anyio.to_thread.run_sync(check)
        finally:
            if turn.is_set():
                self._checking -= 1
            else:  # whoever asked is gone
                self._waiting[source].remove(turn)
            self._begin()

    def _begin(self) -> None:
        while self._checking < MOST_CHECKS and self._waiting:
            source, turns = self._waiting.popitem(last=False)
            if turns:
                self._checking += 1
                turns.popleft().set()
            if turns:
                self._waiting[source] = turns  # behind all others


def too_many(wait_s: int) -> str:
    """What somebody is told who has to wait."""
    return trn("Too many attempts. Try again in {n} second.", "Too many attempts. Try again in {n} seconds.", wait_s)
