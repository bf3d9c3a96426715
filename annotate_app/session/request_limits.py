"""Limit the size of requests, each user's concurrent and refused requests, and password attempts from one address.

Bodies: a body that no page of this server would send is refused with a message, before a route handles it. The limits
are its size, its nesting, the size of its numbers, and the time it takes to arrive.

Requests: a page has two or three requests under way and is hardly ever refused. A request beyond a user's limit is
refused before it is read. If refusals are more frequent than pages cause, they are delayed: the server sends
`REFUSALS_A_SECOND` of them to all users together, first to the user who was refused least. This slows down a program
that repeats its requests, however many accounts it uses. A user who is refused only once at such a time waits a moment.
Refusals of requests that only read are not delayed: a page with many broken clips is no attack.

Passwords: only a few are checked at a time, because a check takes much processor time. The sources of attempts
(addresses or known browsers) take turns. So a flood of sign-ins from one source does not use up the CPU, and does not
keep others from signing in.
"""

import asyncio
import itertools
import math
import time
from bisect import insort
from collections import OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TypeVar
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request

from annotate_app.language import tr, trn
from backend.core.ids import AnnotatorId

MAX_FORM_BYTES = 8 * 1024
MAX_JSON_BYTES = 256 * 1024
"""Four times the largest body of a page. Pages send less than 64 KiB, which a browser still sends for a closed tab."""
DEEPEST = 8
"""Largest number of nested lists and objects; pages send four."""
LARGEST = 2**53 - 1
"""Largest integer that JavaScript represents exactly; the smallest allowed number is its negative."""
LONGEST = 10_000
"""Largest number of characters in a text; texts that people write are limited to 500."""
BODY_S = 30.0
"""Seconds that a form or JSON may take to arrive; even slow connections take less than one."""
SILENT_S = 60.0
"""Seconds that an upload may pause between two pieces."""

_Kind = TypeVar("_Kind")


class BodyRefused(Exception):
    """Raised for a request body that no page of this server would send. The message tells the user why."""


class TooMuch(Exception):
    """Raised for too many requests at once or in an hour. `wait_s` is how many seconds to wait before the next try."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s


async def chunks(request: Request) -> AsyncIterator[bytes]:
    """Yield the pieces of a request's body as they arrive.

    Raises:
        HTTPException: 408 if no piece arrives for `SILENT_S` seconds.
    """
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
    """Return the body of a request.

    Raises:
        HTTPException: 413 if it has more than `limit` bytes, 408 if it takes more than `BODY_S` seconds.
    """
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
    """Return the fields of a posted form; if a field was sent twice, the last value counts.

    NUL is replaced by U+FFFD, because databases cannot store it. Nobody types NUL, so a name with it is simply unknown.

    Raises:
        HTTPException: 413 too large, 408 too slow, 400 not a form.
    """
    raw = await body(request, MAX_FORM_BYTES)
    try:
        fields = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=10, errors="strict")
        return {name: value.replace("\0", "\ufffd") for name, value in fields}
    except ValueError as error:
        raise HTTPException(400, tr("The form could not be read.")) from error


async def json_body(request: Request, kind: type[_Kind]) -> _Kind:
    """Return the JSON body of a request, parsed as a value of the type `kind`.

    Raises:
        BodyRefused: see `parsed`.
        HTTPException: 413 too large, 408 too slow.
    """
    return parsed(await body(request, MAX_JSON_BYTES), kind)


def parsed(raw: bytes, kind: type[_Kind]) -> _Kind:
    """Parse JSON as a value of the type `kind`.

    Raises:
        BodyRefused: the text is not JSON, does not match `kind`, or is nested deeper than `DEEPEST`. Or it contains a
            number beyond `LARGEST`, a text longer than `LONGEST`, NaN, half of a surrogate pair, or NUL, which
            PostgreSQL cannot store.

    >>> parsed(b'[1, 2.5]', list[float])
    [1.0, 2.5]
    >>> parsed(b'{"grade": 99999999999999999999}', dict)
    Traceback (most recent call last):
    annotate_app.session.request_limits.BodyRefused: The request could not be read: a number in it is too large.
    """
    try:
        content = msgspec.json.decode(raw)
        sent = msgspec.convert(content, kind)  # first, because it refuses long bodies faster
        if why := _problem_in(content):
            raise BodyRefused(_parse_error(f"{why}."))
        return sent
    except msgspec.MsgspecError as error:
        raise BodyRefused(_parse_error(error)) from error
    except UnicodeDecodeError as error:
        raise BodyRefused(_parse_error("it is not UTF-8.")) from error
    except RecursionError as error:
        raise BodyRefused(_parse_error(f"{_DEEP}.")) from error


def parsed_query(query: Mapping[str, str | list[str]], kind: type[_Kind]) -> _Kind:
    """Convert the parameters of an address, which are texts, to a value of the type `kind`.

    Raises:
        BodyRefused: a parameter does not match `kind`, or `parsed` would refuse its value.
    """
    try:
        sent = msgspec.convert(query, kind, strict=False)
    except msgspec.MsgspecError as error:
        raise BodyRefused(_parse_error(error)) from error
    if why := _problem_in(msgspec.to_builtins(sent)):
        raise BodyRefused(_parse_error(f"{why}."))
    return sent


_DEEP = "it is nested too deeply"


def _parse_error(error: object) -> str:
    return tr("The request could not be read: {error}", error=error)


def _problem_in(content: object) -> str:
    """Return what makes decoded JSON unacceptable, or "" if nothing does."""
    level: list[object] = [content]
    for _ in range(DEEPEST + 1):
        below: list[object] = []
        for value in level:
            if isinstance(value, str):
                if "\0" in value:
                    return "a text in it holds the sign with the number 0"
                if len(value) > LONGEST:
                    return "a text in it is too long"
            elif isinstance(value, int | float):
                if not abs(value) <= LARGEST:  # also true of NaN
                    return "a number in it is too large"
            elif isinstance(value, list):
                below += value
            elif isinstance(value, dict):
                below += value
                below += value.values()
        if not below:
            return ""
        level = below
    return _DEEP


def small_number(text: str) -> int | None:
    """Return a number in an address, given as text; None if it is not a whole number or has more than 15 digits.

    >>> small_number("3"), small_number("-1"), small_number("9" * 5000)
    (3, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 15 else None


MOST_AT_ONCE = 8
"""Posted requests of one person under way at a time; uploads do not count."""
MOST_CLIPS_AT_ONCE = 64
"""Requests of one person for clips and pictures under way at a time. A page makes 25 at most."""
MOST_PROGRAMS_AT_ONCE = 4
"""Requests with a person's tokens under way at a time. They count apart, so that programs never stop the browser."""
REFUSALS_AT_ONCE = 30
"""Refusals of all people together that are sent without delay after a quiet time."""
REFUSALS_A_SECOND = 10.0
"""Refusals a second that are sent after those."""
MOST_DELAYED_REFUSALS = 500
"""Largest number of delayed refusals. Beyond it, the one for the person who was refused most is sent at once."""
_LATELY_S = 30.0
MOST_CHECKS = 2
"""Password checks at a time: argon2 takes a tenth of a second of a core, on purpose."""
MOST_WAITING = 16
"""Attempts from one address or one known browser that may wait or be checked at a time."""
FULL_S = 10

_T = TypeVar("_T")


class RequestLimits:
    """Limits each user's concurrent requests to one server process, and delays refusals when there are many.

    Used in one event loop. `clock` returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._under_way: defaultdict[tuple[AnnotatorId, int], int] = defaultdict(int)
        self._refused = RecentUse(_LATELY_S, clock)
        self._free, self._reckoned = float(REFUSALS_AT_ONCE), clock()
        """How many refusals may be sent without delay, and the time of that count."""
        self._held: list[tuple[float, int, asyncio.Future[None]]] = []
        """Delayed refusals, sorted by how often the user was refused lately, then by arrival."""
        self._numbers = itertools.count()

    @contextmanager
    def under_way(self, person: AnnotatorId, most: int = MOST_AT_ONCE) -> Iterator[None]:
        """Count a request as under way while the `with` block runs; a user may have `most` at a time.

        Requests with different `most` are counted separately: `MOST_CLIPS_AT_ONCE` for clips, `MOST_AT_ONCE` for posted
        requests.

        Raises:
            TooMuch: this user has `most` such requests under way.
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

    async def delay_refusal(self, person: AnnotatorId) -> None:
        """Wait before a user's request is refused, so that a program cannot repeat refused requests quickly.

        Call it for requests that would change something. There is no wait while refusals are rare.
        """
        before = self._refused.of(person)
        self._refused.add(person, 1)
        now = self._clock()
        self._free = min(REFUSALS_AT_ONCE, self._free + (now - self._reckoned) * REFUSALS_A_SECOND)
        self._reckoned = now
        if self._free >= 1 and not self._held:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        entry = (before, next(self._numbers), turn)
        insort(self._held, entry)
        if len(self._held) == 1:
            self._later()
        elif len(self._held) > MOST_DELAYED_REFUSALS:
            self._held.pop()[2].set_result(None)
        try:
            await turn
        finally:
            if entry in self._held:  # the request was cancelled
                self._held.remove(entry)

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(1 / REFUSALS_A_SECOND, self._tell)

    def _tell(self) -> None:
        if self._held:
            self._held.pop(0)[2].set_result(None)
            self._free, self._reckoned = 0.0, self._clock()
        if self._held:
            self._later()


class RecentUse:
    """Counts how much each user recently used of something, such as requests; old usage fades.

    Amounts are added up, and the sum halves every `half_s` seconds.

    It serves fair scheduling: users who used least come first. `clock` returns monotonic seconds.

    >>> now = [0.0]
    >>> usage = RecentUse(10.0, lambda: now[0])
    >>> usage.add(AnnotatorId(1), 8)
    >>> now[0] = 20.0
    >>> usage.add(AnnotatorId(1), 1)
    >>> usage.of(AnnotatorId(1)), usage.of(AnnotatorId(2)), usage.rank(AnnotatorId(1)) > usage.rank(AnnotatorId(2))
    (3.0, 0.0, True)
    """

    def __init__(self, half_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._half_s = half_s
        self._clock = clock
        self._sums: dict[AnnotatorId, tuple[float, float]] = {}
        """Remaining usage of each user, and the time at which it was computed."""

    def of(self, person: AnnotatorId) -> float:
        """Return a user's recent usage: the sum of their amounts, each halved for every `half_s` seconds of its age."""
        left, at = self._sums.get(person, (0.0, 0.0))
        return left * math.pow(0.5, (self._clock() - at) / self._half_s)

    def rank(self, person: AnnotatorId) -> float:
        """Return a number by which users sort as by their recent usage, now and at any later time."""
        left, at = self._sums.get(person, (0.0, 0.0))
        return math.log2(left) + at / self._half_s if left else -math.inf

    def add(self, person: AnnotatorId, amount: float) -> None:
        """Add an amount to a user's usage."""
        self._sums[person] = (self.of(person) + amount, self._clock())


class FairChecks:
    """Runs password checks so that their sources take turns. A source is an address or a known browser.

    Used in one event loop.
    """

    def __init__(self) -> None:
        self._under_way: defaultdict[str, int] = defaultdict(int)
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        self._checking = 0

    @contextmanager
    def under_way(self, source: str) -> Iterator[None]:
        """Count a password attempt as under way while the `with` block runs, including any delay before the check.

        `source` is the address or known browser that makes the attempt.

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
        """Run a password check in a thread when it is its source's turn, and return the result of the check.

        `source` is the address or known browser that makes the attempt.
        """
        turn = anyio.Event()
        self._waiting.setdefault(source, deque()).append(turn)
        self._begin()
        try:
            await turn.wait()
            return await anyio.to_thread.run_sync(check)
        finally:
            if turn.is_set():
                self._checking -= 1
            else:  # the request was cancelled
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


def source_of(connection: HTTPConnection) -> str:
    """Return where a request comes from, to count attempts: its IPv4 address, or the /64 network of its IPv6 address.

    Behind a proxy, the address comes from the proxy's headers if the server trusts it (see docs/operations.md).
    """
    host = connection.client.host if connection.client else ""
    try:
        ip = ip_address(host)
    except ValueError:
        return host
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is None:
        return str(ip_network(f"{ip.compressed.partition('%')[0]}/64", strict=False))
    return host


def too_many(wait_s: int) -> str:
    """Return the message for too many attempts, with the number of seconds to wait."""
    return trn("Too many attempts. Try again in {n} second.", "Too many attempts. Try again in {n} seconds.", wait_s)
