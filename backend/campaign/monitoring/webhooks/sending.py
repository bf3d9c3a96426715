"""Send signed HTTP requests to addresses that leads typed, without giving access to the server's own network.

A lead may type any host name, and it may resolve to any IP address, another one each time. So this module resolves the
name, checks all its addresses, and connects to one of the checked addresses. It does not follow redirects, and does not
use proxies that the environment names.

Messages are signed according to the specification Standard Webhooks (https://www.standardwebhooks.com, version 1).
"""

import base64
import binascii
import hmac
import http.client
import socket
import ssl
import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from backend import __version__
from backend.campaign.monitoring.webhooks.model import LONGEST_URL
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.text_files import visible

SECRET_PREFIX = "whsec_"
SECRET_BYTES = range(24, 65)
ANSWER_S = 10.0
"""The longest wait for a single step, such as connecting."""
TOTAL_S = 20.0
"""The longest time for a request, however slowly the answer comes."""
MOST_PLACES = 4
"""The most addresses of a name that are tried."""
LONGEST_ERROR = 200
"""The most characters that are kept of an error."""
_PORTS = {"https": 443, "http": 80}
_NAT64, _GLOBAL = ip_network("64:ff9b::/96"), ip_network("2000::/3")
_OF_CLOUDS = ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32")
"""Addresses with which machines at Oracle and at Azure ask for their own credentials."""


class NotSent(Exception):
    """The request was not sent, or got no answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a webhook's address; `path` includes the query string."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def named(self) -> str:
        """The value of the HTTP header `Host`: the host name, with the port unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def target_of(url: str, inside: Collection[str] = ()) -> Target:
    """Check the address of a webhook, and return its parts.

    Args:
        url: the address that a lead typed.
        inside: hosts of the server's own network that the operator allows; these may also be addressed by http.

    Raises:
        ProjectError: it is no http or https address, has a user name, or uses http for a host that is not in `inside`.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except (ValueError, UnicodeError) as error:
        raise ProjectError(said("this is not the address of a webhook: {error}", error=error)) from error
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise ProjectError(said("the address has to be plain ASCII of at most {most} characters", most=LONGEST_URL))
    if parts.scheme not in _PORTS or not host:
        raise ProjectError(said("write an address such as https://example.org/hook"))
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise ProjectError(said("the address may not have a user name: messages are signed instead"))
    if parts.scheme != "https" and host not in inside:
        raise ProjectError(said("the address has to begin with https://, so that nobody reads the messages"))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or _PORTS[parts.scheme], path)


def proper_secret(text: str) -> bytes:
    """Decode the secret of a webhook, and return its bytes.

    The text has to be `whsec_`, followed by 24 to 64 bytes in base64.

    Raises:
        ProjectError: the text has another form.

    >>> proper_secret("whsec_" + 32 * "A") == bytes(24)
    True
    """
    try:
        key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(SECRET_PREFIX) or len(key) not in SECRET_BYTES:
        raise ProjectError(said("a secret is whsec_ and 24 to 64 bytes in base64: leave the field empty to get one"))
    return key


def signature(secret: str, message_key: str, timestamp: int, body: str) -> str:
    """Return the header `webhook-signature` of a message: HMAC-SHA256 over its key, its time and its body.

    The time is part of it, so that a receiver can refuse a request that somebody recorded and sends again.
    `timestamp` is in seconds since 1970. The example is that of the specification.

    >>> signature(
    ...     "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ...     "msg_p5jXN8AQM9LWM0D4loKWxJek",
    ...     1614265330,
    ...     '{"test": 2432232314}',
    ... )
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    signed = f"{message_key}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.digest(proper_secret(secret), signed, "sha256")).decode()


def send(url: str, secret: str, message_key: str, body: str, *, inside: Collection[str] = (), timestamp: int) -> int:
    """Send a message to a webhook, and return the HTTP status of its answer.

    Args:
        url: the address.
        secret: signs the message.
        message_key: identifies the message.
        body: JSON.
        inside: hosts of the server's own network that the operator allows.
        timestamp: the time of this attempt, in seconds since 1970.

    Raises:
        NotSent: the address is not allowed or cannot be reached.
    """
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"ReelRank/{__version__}",
        "webhook-id": message_key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, message_key, timestamp, body),
        "Connection": "close",
    }
    opened: list[socket.socket] = []
    is_over = threading.Event()
    deadline = threading.Timer(TOTAL_S, _cut, [opened, is_over])
    deadline.daemon = True
    deadline.start()
    try:
        target = target_of(url, inside)
        connection = http.client.HTTPConnection(target.host, target.port, timeout=ANSWER_S)
        connection.sock = _connected(target, opened, is_over, is_inside=target.host in inside)
        connection.request("POST", target.path, body.encode(), {"Host": target.named, **headers})
        return connection.getresponse().status
    except ProjectError as refusal:
        raise NotSent(str(refusal)) from refusal
    except (OSError, UnicodeError, http.client.HTTPException) as error:
        # The receiver may have chosen the text of the error.
        words = visible(" ".join(str(error).split())[:LONGEST_ERROR])
        raise NotSent(said("no answer: {error}", error=words or type(error).__name__)) from error
    finally:
        deadline.cancel()
        for each in opened:
            each.close()


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an IP address belongs to the public internet, not to a private or reserved range.

    An IPv6 address that contains an IPv4 address is judged by the IPv4 address.

    >>> [is_public(ip_address(a)) for a in ("93.184.216.34", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1")]
    [True, False, False, False]
    """
    if isinstance(address, IPv6Address):
        within = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            within = IPv4Address(int(address) & 0xFFFFFFFF)
        if within is not None:
            return is_public(within)
        if address not in _GLOBAL:  # Pythons differ in what they know of other networks
            return False
    if any(address in network for network in _OF_CLOUDS):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _connected(
    target: Target, opened: list[socket.socket], is_over: threading.Event, *, is_inside: bool
) -> socket.socket:
    """Connect to one of the target's IP addresses, after checking them all, and return the socket.

    Unless `is_inside`, all addresses must be public. Every opened socket is appended to `opened` at once. So the caller
    can close it even while this function still waits for the other side. Once `is_over` is set, no further address is
    tried.

    Raises:
        NotSent: an address belongs to the server's own network.
        OSError: no connection can be made.
    """
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    places = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for place in places:
        if not is_inside and not _may_reach(place):
            raise NotSent(
                said(
                    "{host} is in the server's own network. Ask whoever runs the server to add it to webhook_hosts in "
                    "reelrank.toml.",
                    host=target.host,
                )
            )
    error = OSError(f"{target.host} has no address")
    for place in places[:MOST_PLACES]:
        if is_over.is_set():
            break
        try:
            opened.append(socket.create_connection((place, target.port), timeout=ANSWER_S))
        except OSError as failure:
            error = failure
            continue
        secure: ssl.SSLSocket | None = None
        if target.scheme == "https":
            secure = ssl.create_default_context().wrap_socket(
                opened[-1], server_hostname=target.host, do_handshake_on_connect=False
            )
            opened.append(secure)
        if is_over.is_set():  # `_cut` may have come before the socket was added
            raise TimeoutError("timed out")
        if secure:
            secure.do_handshake()
        return opened[-1]
    raise error


def _may_reach(place: str) -> bool:
    """Return whether the IP address `place` is public and does not belong to this machine."""
    address = ip_address(place.partition("%")[0])
    if not is_public(address):
        return False
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as own:
            own.bind((place, 0))  # only an address of this machine can be bound
    except OSError:
        return True
    return False


def _cut(opened: list[socket.socket], is_over: threading.Event) -> None:
    is_over.set()
    for each in opened:
        with suppress(OSError):  # it is closed
            socket.socket.shutdown(each, socket.SHUT_RDWR)  # that of TLS would change what its thread works with
