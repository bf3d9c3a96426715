"""An S3 storage of this machine (moto's), which counts what it sends and can be told to fail."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from moto.core.model_instances import reset_model_data
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
from werkzeug.wrappers import Response


class _Quiet(MotoRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - its own name
        pass


@dataclass
class S3:
    """Where it is, and what it did: `sent` bytes of bodies to whoever read. `refuse` is a status for all from now on.

    `asked` has (method, place, range) of every request; the place is `/bucket/key`.
    """

    port: int = 0
    sent: int = 0
    refuse: int = 0
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs in its environment to speak to it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }

    def bucket(self, name: str) -> str:
        """A new bucket: `s3://NAME-PORT`, a name that no other server of this machine had for it."""
        with urlopen(Request(f"{self.endpoint}/{name}-{self.port}", method="PUT"), timeout=30):
            return f"s3://{name}-{self.port}"

    def fill(self, bucket: str, files: Mapping[str, bytes]) -> None:
        """Put something into it: key -> content."""
        for key, data in files.items():
            place = f"{self.endpoint}/{bucket.removeprefix('s3://')}/{quote(key)}"
            with urlopen(Request(place, data, {"Content-Type": "video/mp4"}, method="PUT"), timeout=30):
                pass


@contextmanager
def serving_s3() -> Iterator[S3]:
    """An empty one, on a free port of this machine."""
    told = S3()
    moto = DomainDispatcherApplication(create_backend_app)

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        told.asked.append((method, environ["PATH_INFO"], environ.get("HTTP_RANGE", "")))
        if told.refuse:
            return Response(status=told.refuse)(environ, start_response)
        return _counted(moto(environ, start_response), told if method == "GET" else S3())

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
    told.port = server.server_port
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        reset_model_data()


def _counted(parts: Iterable[bytes], told: S3) -> Iterator[bytes]:
    for part in parts:
        told.sent += len(part)
        yield part
