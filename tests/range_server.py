"""A web server that sends parts of files, counts what it sends, and can be told to fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


@dataclass
class Ranges:
    """Where it is, and what it did: `sent` bytes of bodies. `refuse` is a status for everything from now on."""

    address: str = ""
    sent: int = 0
    refuse: int = 0
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(folder: Path) -> Iterator[Ranges]:
    """The files of a folder, on a free port of this machine."""
    told = Ranges()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            file = folder / self.path.lstrip("/")
            status = told.refuse or (200 if file.is_file() else 404)
            data = file.read_bytes() if status == 200 else b""
            told.asked.append(self.headers.get("Range", self.command))
            part, total = data, len(data)
            if status == 200 and (span := self.headers.get("Range")):
                start, end = span.removeprefix("bytes=").split("-")
                status, part = 206, data[int(start) : int(end) + 1]
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{int(start) + len(part) - 1}/{total}")
            self.send_header("Content-Length", str(len(part)))
            self.send_header("ETag", f'"{md5(data).hexdigest()}"')
            self.end_headers()
            if self.command == "GET":
                told.sent += len(part)
                self.wfile.write(part)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
