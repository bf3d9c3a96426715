"""A real `reelrank serve` for browser tests: starts, dies when told to, comes back on the same port; its sign-in."""

import json
import os
import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import BrowserContext, Page

from support import free_port

START_S = 90.0


class Server(Protocol):
    """A process that serves, as far as tests ask for it."""

    pid: int

    def poll(self) -> int | None:
        """None while it lives."""

    def send_signal(self, sig: int) -> None:
        """Do this to it."""

    def wait(self) -> int:
        """Come back when it has ended."""


class Nursery:
    """A process that has imported what a server needs and forks servers; see nursery.py. It ends with the tests."""

    def __init__(self, folder: Path) -> None:
        self._address = folder / "nursery"
        checkout = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("nursery.py"), self._address],
            env={**os.environ, "PYTHONPATH": str(checkout)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "nursery.log").open("ab"),
        )

    def serve(self, project: Path, port: int, log: Path) -> "Forked":
        """Fork a server of this project."""
        if self._process.stdout is not None and not self._process.stdout.closed:
            assert self._process.stdout.readline() == b"ready\n", self._address.with_suffix(".log").read_text()
            self._process.stdout.close()
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(self._address))
            with asking.makefile("rw") as line:
                line.write(json.dumps({"folder": str(project), "port": port, "log": str(log)}) + "\n")
                line.flush()
                return Forked(int(line.readline()))

    def stop(self) -> None:
        """No test needs it any more."""
        self._process.kill()
        self._process.wait()


class Forked:
    """A process that is not our child, by a handle which no later process with its number can get."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """None while it lives; how it ended, only its parent knows."""
        return 0 if select.select([self._handle], [], [], 0)[0] else None

    def send_signal(self, sig: int) -> None:
        """Do this to it, unless it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, sig)

    def wait(self) -> int:
        """Come back when it has ended."""
        select.select([self._handle], [], [])
        return 0


class AppServer:
    """The app over one project folder, on a free port of this machine where none is given.

    `program` is the command line of ReelRank, this checkout's where none is named; `cwd` and `env` are what it sees.
    With a `nursery` it comes from there. `options` are more options of `reelrank serve`.
    """

    def __init__(
        self,
        project: Path,
        log: Path,
        *,
        program: Sequence[str] = (sys.executable, "-m", "backend"),
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        port: int | None = None,
        nursery: Nursery | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self.project = project
        self.log = log
        self._program, self._cwd, self._env, self._nursery = program, cwd, env, nursery
        self._options = options
        self.port = free_port() if port is None else port
        self.process: Server | None = None
        self.wanted = False

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read the project's database past everything that the app does, or change it."""
        with closing(sqlite3.connect(self.project / "reelrank.db", timeout=30)) as db, db:
            return db.execute(sql, values).fetchall()

    def new_project_link(self) -> str:
        """Return the one-time link that creates the project, as the terminal has it."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if found := re.search(r"http\S+/session/new-project/\S+", self.log.read_text()):
                return found[0]
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def start(self) -> None:
        """Start and wait until it answers; on failure say what it said."""
        self.wanted = True
        self.process = self._begun()
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        self.kill()
        raise AssertionError(f"the server did not come up; it said:\n{self.log.read_text()}")

    def _begun(self) -> Server:
        if self._nursery is not None:
            return self._nursery.serve(self.project, self.port, self.log)
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*self._program, "serve", str(self.project), "--port", str(self.port), *self._options],
                cwd=self._cwd,
                env=self._env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def revive(self) -> None:
        """Start again what died and was not stopped, as a test leaves it that fails after killing it."""
        if self.wanted and (self.process is None or self.process.poll() is not None):
            self.start()

    def stop(self) -> None:
        """No test needs it any more."""
        self.wanted = False
        self.kill()

    def kill(self) -> None:
        """kill -9, as an accident would; a helper process may outlive it for a moment."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


def sign_in(page: Page, name: str, password: str) -> None:
    """Fill in the form of the sign-in page and send it; where that leads is for the test to say."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def sign_in_unseen(context: BrowserContext, url: str, name: str, password: str) -> None:
    """What the sign-in page does, for tests that begin behind it."""
    csrf = re.search(r'name="csrf" value="([^"]+)"', context.request.get(f"{url}/session/sign-in").text())
    assert csrf is not None
    fields = {"csrf": csrf[1], "name": name, "password": password}
    answer = context.request.post(f"{url}/session/sign-in", form=fields, headers={"Origin": url}, max_redirects=0)
    assert answer.status == 303, answer.text()
