"""A PostgreSQL of the tests' own, in a folder; skipped where there is none."""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
USER = "postgres"
ENGINES = ("sqlite", "postgresql")
"""For tests of what differs between the engines."""
SQLITE_FIRST = ("sqlite", pytest.param("postgresql", marks=pytest.mark.long))
"""For all other tests of both engines: PostgreSQL waits for `make test-long`."""
MEMORY = Path("/dev/shm")
PATIENCE_S = 120.0
_SETTINGS = (
    *("listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=300"),
    *("shared_buffers=64MB", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0"),
)
"""What is lost when the power fails is nothing that a test can see."""


def binary(name: str) -> str | None:
    """A program of PostgreSQL's; Debian keeps most of them off the PATH."""
    found = shutil.which(name)
    return found or next((str(folder / name) for folder in reversed(BINARIES) if (folder / name).exists()), None)


class Cluster:
    """A server with nobody's data, which listens in its folder alone."""

    def __init__(self, folder: Path | None = None) -> None:
        # Sockets have short names, and folders of tests are nobody else's.
        memory = MEMORY if os.access(MEMORY, os.W_OK) else None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="reelrank-", dir=memory))
        self._numbers = itertools.count(1)
        self._passing: list[str] = []
        if folder:  # of another process, which made it
            return
        if os.getuid() == 0:  # it refuses to be run by the one who may do everything
            shutil.chown(self.folder, USER)
        self._run(
            "initdb", "-D", self.folder / "data", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync", "-U", USER
        )

    def start(self) -> None:
        """Begin; what was cut short is made whole, and the server answers when this returns."""
        options = " ".join(f"-c {one}" for one in (*_SETTINGS, f"unix_socket_directories={self.folder}"))
        self._run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w", "-o", options, "start")
        deadline = time.monotonic() + PATIENCE_S
        while True:  # it may be up, and not yet as whole as it has to be to let anybody in
            try:
                return psycopg.connect(self.address("postgres")).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.05)

    def stop(self, how: str = "fast") -> None:
        """End; `immediate` is as if it were killed."""
        self._run("pg_ctl", "-D", self.folder / "data", "-m", how, "-w", "stop")

    def kill(self) -> None:
        """End as by `immediate`, at this very moment: no program has to be started first."""
        noted = self.folder / "data" / "postmaster.pid"
        os.kill(int(noted.read_text().split()[0]), signal.SIGQUIT)
        deadline = time.monotonic() + PATIENCE_S
        while noted.exists():  # it takes its note away last
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.005)

    def remove(self) -> None:
        """End, and leave nothing."""
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def address(self, database: str) -> str:
        """Where a database of it is."""
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def new(self, template: str = "template1", instead_of: str = "", *, stays: bool = False) -> str:
        """A database, empty or a copy of another one, perhaps instead of one that is dropped; its name.

        Each takes 9 MB of memory, so it is there until the tests of its file have run, unless it `stays`.
        """
        name = f"d{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as server:
            if instead_of:
                server.execute(f"DROP DATABASE {instead_of} WITH (FORCE)".encode())
                self._passing.remove(instead_of)
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND %s <> 'template1'",
                [template, template],
            )
            # To log every page of the copy takes three times as long. Servers before version 15 never do.
            copying = " STRATEGY file_copy" if server.info.server_version >= 150000 else ""
            server.execute(f"CREATE DATABASE {name} TEMPLATE {template}{copying}".encode())
        if not stays:
            self._passing.append(name)
        return name

    def drop(self) -> None:
        """Drop all databases that do not stay."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as server:
            while self._passing:
                server.execute(f"DROP DATABASE IF EXISTS {self._passing.pop()} WITH (FORCE)".encode())

    def _run(self, program: str, *arguments: object) -> None:
        command = [binary(program) or program, *map(str, arguments)]
        done = subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            user=USER if os.getuid() == 0 else None,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
