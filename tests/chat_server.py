"""A local endpoint that speaks the chat protocol, and misbehaves as a test wants it to."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support import PEOPLE


@dataclass(frozen=True)
class Asked:
    """One request: how manyeth (from 1), its captions, its temperature, its key, and all that was sent."""

    number: int
    captions: tuple[str, ...]
    temperature: float
    authorization: str
    body: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Answer:
    """A well-formed answer with this text; tokens are those of a request with `tokens`, or untold."""

    text: str
    tokens: tuple[int, int] | None = (100, 10)
    finish: str = "stop"
    refusal: str | None = None


@dataclass(frozen=True)
class Refuse:
    """An HTTP error."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "no"
    code: str | None = None


@dataclass(frozen=True)
class Raw:
    """Status 200 with any body."""

    body: bytes
    kind: str = "application/json"


class Stall:
    """No answer until the server stops."""


class Drop:
    """The connection is closed without a word."""


Act = Answer | Refuse | Raw | Stall | Drop


def well(asked: Asked) -> Act:
    """What a good model answers: each line under its number, without names."""
    return Answer(lines(without_names(caption) for caption in asked.captions))


def lines(texts: Any) -> str:
    """Numbered lines."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def without_names(caption: str) -> str:
    """Somebody instead of everybody of the small project."""
    return re.sub("|".join(PEOPLE), "Somebody", caption)


class ChatServer(ThreadingHTTPServer):
    """On a free port; `asked` are all requests in their order, and `act` decides on each."""

    daemon_threads = True

    def __init__(self, act: Callable[[Asked], Act]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.act = act
        self.asked: list[Asked] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.sent = threading.Event()
        """Set with the first answer on its way."""

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def captions(self) -> list[str]:
        """Every caption that was asked, as often as it was."""
        return [caption for asked in self.asked for caption in asked.captions]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who gives up a request hangs up: nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        # With most prompts the captions have numbers; a prompt without numbers has one a line. Pictures have none.
        captions = tuple(re.findall(r"^(?:\d+\. )?(.*)$", content if isinstance(content, str) else "", re.MULTILINE))
        with self.server.lock:
            number = len(self.server.asked) + 1
            key = self.headers.get("Authorization", "")
            asked = Asked(number, captions, body["temperature"], key, body)
            self.server.asked.append(asked)
        act = self.server.act(asked)
        if isinstance(act, Stall):
            self.server.over.wait()
        if isinstance(act, Stall | Drop):
            self.close_connection = True
            return
        if isinstance(act, Refuse):
            self._send(
                act.status, json.dumps({"error": {"message": act.message, "code": act.code}}).encode(), act.headers
            )
        elif isinstance(act, Raw):
            self._send(200, act.body, {"Content-Type": act.kind})
        else:
            self._send(200, json.dumps(_completion(act, body["model"])).encode(), {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.server.sent.set()

    def log_message(self, *args: object) -> None:
        """Nothing."""


def _completion(answer: Answer, model: str) -> dict[str, Any]:
    told = {"prompt_tokens": 0, "completion_tokens": 0}
    if answer.tokens:
        told = {"prompt_tokens": answer.tokens[0], "completion_tokens": answer.tokens[1]}
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
        **({"usage": {**told, "total_tokens": sum(told.values())}} if answer.tokens else {}),
    }


@contextmanager
def serving(act: Callable[[Asked], Act] = well) -> Iterator[ChatServer]:
    """A server that runs meanwhile."""
    server = ChatServer(act)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        with suppress(OSError):
            server.server_close()
