"""nginx on this machine, for tests of what stands in front of the app."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def running(folder: Path, servers: str, port: int) -> Iterator[None]:
    """Run nginx with these blocks of its http section until the end; skip the test where there is none.

    Args:
        folder: an empty one for its files.
        servers: what would be a file of conf.d.
        port: one that it listens on.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("no nginx on the PATH")
    places = "".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {places}\n{servers}}}"
    )
    with (folder / "log").open("wb") as log:
        nginx = subprocess.Popen([program, "-p", folder, "-c", configuration], stderr=log, stdout=log)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert nginx.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.02)
        yield
    finally:
        nginx.send_signal(signal.SIGTERM)
        nginx.wait()
