"""Reach a campaign that a server runs, with a personal token; see `Campaign`.

Operations that read are `GET /api/operations/NAME?ARGUMENTS`, and the others are POST with a JSON object of arguments.
A file is uploaded first, to `POST /api/files/NAME`, and then named in the arguments. This module needs nothing but the
core of ReelRank.
"""

import http.client
import os
import re
import shutil
import ssl
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from backend import __version__
from backend.api.model import Operation
from backend.core import errors
from backend.core.errors import InputError, NotAllowed, Problem, ReelRankError, ServerUnavailable, StoreUnavailable
from backend.core.messages import said

_TOKEN = re.compile(r"rr_[0-9A-Za-z]+_[0-9A-Za-z]+")
_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_RETRIES_AFTER_S = (0.5, 2.0)
"""Waits before a request that only reads is sent again, because its connection failed."""
_LONGEST_REFUSAL = 2**26
_WRONG_CALL = frozenset({400, 405, 413, 415})
_CONNECTION_ERRORS = (OSError, http.client.HTTPException)

_Answer = TypeVar("_Answer")


class Refusal(msgspec.Struct, kw_only=True):
    """The body of each answer that is an error.

    `message` is for people. An operation that refuses (422) also gives the class of its `error`, and the `problems` of
    a file.
    """

    message: str
    error: str = ""
    problems: list[Problem] = []


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because another address must not get the token."""

    def redirect_request(self, *_: Any) -> None:
        """Return None, which makes a redirect an error."""


class OverHttp:
    """A way for scripts to reach a campaign: send HTTP requests to its server. It satisfies `Transport`."""

    def __init__(
        self, address: str, token: str, operations: Mapping[str, Operation], *, timeout_s: float, allow_http: bool
    ) -> None:
        """Remember how to reach a server; nothing is sent yet.

        `operations` has the operations by name; see `Campaign` for the other arguments.

        Raises:
            ValueError: the address or the token cannot be one, or the address is `http://` on another machine.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError("the address of a server is like https://grade.example.org, and has no user name")
        if parts.query or parts.fragment:
            raise ValueError("the address of a server has no ? and no #")
        is_http = parts.scheme == "http"
        if is_http and parts.hostname not in _OWN_MACHINE and not allow_http:
            raise ValueError(
                "http:// would send the token unencrypted: use https://, or pass allow_http=True in a network you trust"
            )
        if not _TOKEN.fullmatch(token):
            raise ValueError("this is no personal token: a token begins with rr_, and the page Account makes one")
        self._address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._authorization = f"Bearer {token}"
        self._operations = operations
        self._timeout_s = timeout_s
        # A proxy for http:// would read the token. One for https:// passes on what it cannot read.
        proxies = [urllib.request.ProxyHandler({})] if is_http else []
        secure = urllib.request.HTTPSHandler(context=ssl.create_default_context())
        self._opener = urllib.request.build_opener(_NoRedirects, secure, *proxies)
        self._downloads: tempfile.TemporaryDirectory[str] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._address}>"

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call the operation of this name on the server, and return its result.

        Raises:
            ReelRankError: the operation failed; the class is the one that it raises without a server. `NotAllowed`
                also means that the token does not work.
            ServerUnavailable: the server cannot be reached, or its answer cannot be used.
            ValueError: the server cannot use an argument.
        """
        operation = self._operations[name]
        path = f"/api/operations/{name}"
        kind = operation.signature.return_annotation
        if operation.acts:
            files = {one: Path(arguments[one]) for one in operation.files if arguments.get(one) is not None}
            sent = {**arguments, **{one: self._upload(file) for one, file in files.items()}}
            answer = self._ask("POST", path, _content, msgspec.json.encode(sent), {"Content-Type": "application/json"})
        else:
            query = {one: _in_query(value) for one, value in arguments.items() if value is not None}
            path += f"?{urlencode(query, doseq=True)}" if query else ""
            if kind is Path:
                return self._ask("GET", path, self._saved)
            answer = self._ask("GET", path, _content)
        return _decoded(answer, kind)

    def close(self) -> None:
        """Delete the files that were downloaded."""
        if self._downloads is not None:
            self._downloads.cleanup()
            self._downloads = None

    def _upload(self, file: Path) -> str:
        """Send a file, and return the name by which the arguments of an operation refer to it.

        Raises:
            InputError: the file cannot be read.
        """
        try:
            content = file.open("rb")
        except OSError as error:
            raise InputError.single(file, said("cannot be read: {strerror}", strerror=error.strerror)) from None
        with content:
            size = str(os.fstat(content.fileno()).st_size)
            headers = {"Content-Type": "application/octet-stream", "Content-Length": size}
            answer = self._ask("POST", f"/api/files/{quote(file.name, safe='')}", _content, content, headers)
        return str(_decoded(answer, dict[str, str])["file"])

    def _saved(self, response: http.client.HTTPResponse) -> Path:
        """Save the body of a response as a file, and return its path; `close` deletes the file."""
        if self._downloads is None:
            self._downloads = tempfile.TemporaryDirectory(prefix="reelrank-")
        name = Path(response.headers.get_filename("") or "download").name
        file = Path(tempfile.mkdtemp(dir=self._downloads.name), name)
        with file.open("wb") as out:
            shutil.copyfileobj(response, out)
        length = response.headers.get("Content-Length")
        if length is not None and int(length) != file.stat().st_size:
            raise http.client.IncompleteRead(b"")
        return file

    def _ask(
        self,
        method: str,
        path: str,
        receive: Callable[[http.client.HTTPResponse], _Answer],
        data: bytes | IO[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> _Answer:
        """Send a request to the server, and return the result of `receive`, called with the response.

        If the server does not answer a GET request, it is sent up to 3 times. `data` is the body of the request.
        Errors do not contain the request, because it holds the token.
        """
        about = {"Accept": "application/json, */*", "User-Agent": f"reelrank/{__version__}", **(headers or {})}
        request = urllib.request.Request(f"{self._address}{path}", data, about, method=method)
        request.add_unredirected_header("Authorization", self._authorization)
        retries = iter(_RETRIES_AFTER_S if method == "GET" else ())
        while True:
            try:
                with self._opener.open(request, timeout=self._timeout_s) as response:
                    return receive(response)
            except HTTPError as error:
                raise self._error(error) from None
            except _CONNECTION_ERRORS as error:
                reason = error.reason if isinstance(error, URLError) else error
                is_final = isinstance(reason, TimeoutError | ssl.SSLCertVerificationError)
                wait_s = None if is_final else next(retries, None)
                if wait_s is None:
                    raise ServerUnavailable.said(
                        "{address} does not answer: {reason}", address=self._address, reason=_told(reason)
                    ) from None
            time.sleep(wait_s)

    def _error(self, answer: HTTPError) -> Exception:
        """Return the exception to raise for a response of the server that reports an error."""
        with answer:
            try:
                refusal = msgspec.json.decode(answer.read(_LONGEST_REFUSAL), type=Refusal)
            except (msgspec.MsgspecError, UnicodeDecodeError, *_CONNECTION_ERRORS):
                refusal = Refusal(message=f"HTTP {answer.code}")
        message = refusal.message
        if 300 <= answer.code < 400:
            place = answer.headers.get("Location", "")
            return ServerUnavailable.said("{address} has moved to {place}", address=self._address, place=place)
        if answer.code == 422:
            kind = getattr(errors, refusal.error, None)
            if kind is InputError:
                return InputError(refusal.problems)
            if isinstance(kind, type) and issubclass(kind, ReelRankError):
                return kind(message)
            return errors.ProjectError(message)
        if answer.code in (401, 403):
            return NotAllowed(message)
        if answer.code == 503 and refusal.message:
            return StoreUnavailable(message)
        if answer.code in _WRONG_CALL:
            return ValueError(message)
        return ServerUnavailable.said("{address} answers: {message}", address=self._address, message=message)


def _content(response: http.client.HTTPResponse) -> bytes:
    return response.read()


def _decoded(answer: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(answer, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ServerUnavailable.said(
            "the answer of the server cannot be read: {error}. Use the version of ReelRank that the server has.",
            error=error,
        ) from None


def _in_query(value: object) -> object:
    """Return an argument in the form for the query part of a URL: True as `true`, and so on, also within lists."""
    if isinstance(value, list | tuple):
        return [_in_query(one) for one in value]
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


def _told(reason: object) -> str:
    strerror = getattr(reason, "strerror", None)
    return strerror or str(reason) or type(reason).__name__
