"""Read from the head of a request which campaign and which process it is for. All functions are pure."""

import re
import zlib
from collections.abc import Sequence

HOME_COOKIE = "reelrank_process"
"""The cookie with the number of the process that serves a browser. It grants nothing: any process may answer."""
MOST_HEAD_BYTES = 64 * 1024
"""The largest head that is read here, which is what the server accepts too. A longer one is handed over as it is."""
_END = re.compile(rb"\n\r?\n")
_COOKIES = re.compile(rb"\ncookie:([^\r\n]*)", re.IGNORECASE)
_HOME = re.compile(rb"(?:^|;)\s*(?:__Host-|__Secure-)?" + HOME_COOKIE.encode() + rb"=(\d{1,4})\s*(?=;|$)")
_FIRST_PART = re.compile(rb"[A-Z]+ /([^/? ]*)")


def is_enough(head: bytes) -> bool:
    r"""Return whether the received bytes are enough to hand a connection over.

    They are if the head of the request is whole, if it is too long, or if they cannot be a request.

    >>> is_enough(b""), is_enough(b"GET / HTTP/1.1\r\n"), is_enough(b"GET / HTTP/1.1\r\n\r\n"), is_enough(b"\x16")
    (False, False, True, True)
    """
    if not head:
        return False
    return len(head) > MOST_HEAD_BYTES or not head[:1].isupper() or _END.search(head) is not None


def cookies_of(head: bytes) -> bytes:
    """Return the values of all Cookie headers in the head of a request, joined as one."""
    headers = _END.split(head, maxsplit=1)[0]
    return b";".join(match.strip() for match in _COOKIES.findall(headers))


def home_of(cookies: bytes) -> int | None:
    """Return the number of the process that the cookies of a request name; None if they name none.

    Of several such cookies the first counts: a browser sends the one with the longest path first.

    >>> home_of(b"a=1; __Host-reelrank_process=2; reelrank_process=3"), home_of(b"my_reelrank_process=2")
    (2, None)
    """
    found = _HOME.search(cookies)
    return int(found[1]) if found else None


def first_part(head: bytes) -> str:
    r"""Return the first part of the path of a request, which names a campaign; "" if the path has none.

    >>> first_part(b"GET /films/grade?x=/a HTTP/1.1"), first_part(b"GET /?next=/films HTTP/1.1"), first_part(b"\x16")
    ('films', '', '')
    """
    found = _FIRST_PART.match(head)
    return found[1].decode("latin-1") if found else ""


def chosen(ready: Sequence[int], cookies: bytes, turn: int) -> int:
    """Return the number of the process that gets a connection.

    A browser stays at its process while that one is ready. If not, all its requests go to the same other one. Whoever
    has no process yet gets the next one in turn.

    Args:
        ready: the numbers of the processes that are ready, in ascending order; at least one.
        cookies: the cookies of the request.
        turn: how many connections without a process came before.

    >>> chosen([0, 2], b"reelrank_process=2", 0), chosen([0, 2], b"", 0), chosen([0, 2], b"", 1), chosen([0, 2], b"", 2)
    (2, 0, 2, 0)
    """
    home = home_of(cookies)
    if home is not None and home in ready:
        return home
    return ready[(turn if home is None else zlib.crc32(cookies)) % len(ready)]
