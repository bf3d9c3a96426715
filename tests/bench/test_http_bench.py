"""Annotators over HTTP, on SQLite and on PostgreSQL, served by one process and by four.

A server as people start it; people, server processes and PostgreSQL share the machine. Never fails on a time.
"""

import os
import random
import shutil
import statistics
import time
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from backend.campaign.desk import exchange
from backend.campaign.doctor.database import move
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project import settings_file
from backend.campaign.setup.project.folder import Project, open_project
from bench import campaign
from bench.crowd import grade_and_next, likely_grade, over_assigned
from bench.http_crowd import At, Crowd
from bench.tables import sized, table
from bench.test_engines_bench import reached
from bench.test_hostile_bench import sessions_of_people
from bench.test_load import milliseconds, p95
from browser.app_server import AppServer
from postgres import Cluster

pytestmark = pytest.mark.bench

PEOPLE = 100
GRADED = 10
"""Pairs that everybody graded before."""
LASTS_S = sized(5.0, 30.0)
ADDED_MS = sized((0.0, 2.0), (0.0, 0.5, 2.0))
"""Milliseconds that are added to each round trip to PostgreSQL."""
PAIRS = sized((6_000,), (6_000, campaign.PAIRS))


class Setting(NamedTuple):
    """How one row is measured."""

    engine: str
    processes: int
    added_ms: float = 0.0

    def __str__(self) -> str:
        added = f" + {self.added_ms:g} ms" if self.added_ms else ""
        return f"{self.engine}{added}, {self.processes} process{'es' * (self.processes > 1)}"


SETTINGS = (
    *(Setting("SQLite", processes) for processes in (1, 4)),
    *(Setting("PostgreSQL", processes, added_ms) for added_ms in ADDED_MS for processes in (1, 4)),
)


class Measured(NamedTuple):
    """What one setting gave; CPU in seconds, while grades counted."""

    crowd: Crowd
    server_cpu_s: float
    database_cpu_s: float
    over_assigned: int

    def a_grade(self, cpu_s: float) -> str:
        return milliseconds(cpu_s / len(self.crowd.seconds))


def cpu_s(first: int) -> float:
    """What a process took, with those of its session and its children (each server process of PostgreSQL has its own).

    Those that have ended count, where one of these has waited for them.
    """
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except OSError:  # it has ended
            continue
        if first in (int(folder.name), int(fields[1]), int(fields[3])):
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(folder: Path, tokens: list[str], setting: Setting, database: int) -> Measured:
    """Serve a project, and let people work."""
    server = AppServer(folder, folder / "log", options=["--processes", str(setting.processes)])
    server.start()
    try:
        assert server.process is not None
        at = At(server.port, tokens, LASTS_S)
        at.begins_to_count()
        before = cpu_s(server.process.pid), cpu_s(database)
        crowd = at.found()
        after = cpu_s(server.process.pid), cpu_s(database)
    finally:
        server.stop()
    return Measured(crowd, after[0] - before[0], after[1] - before[1], over_assigned(open_project(folder)))


def begin(project: Project) -> None:
    """Let everybody grade some pairs, so that a server has the statistics of a campaign under way."""
    chance, now = random.Random(3), time.time()
    people = (one.person for one in list_people(project, OPERATOR))
    for person in (one for one in people if one.name.startswith("person ")):
        desk = exchange.desk(project, person, now=now)
        for n in range(GRADED):
            key = desk.items[0].pair
            event = GradeEvent(key, likely_grade(key, chance), f"{person.name} {n}", 3000, 3000)
            _, desk = grade_and_next(project, person, event, now)


@pytest.mark.parametrize("pairs", PAIRS)
def test_people_over_http(cluster: Cluster, tmp_path: Path, pairs: int) -> None:
    made = campaign.open_project(tmp_path / "made", pairs)
    tokens = sessions_of_people(made, PEOPLE)
    begin(made)
    made.store.close()
    moved = Path(shutil.copytree(made.folder, tmp_path / "moved", symlinks=True))
    database = cluster.new()
    move(moved, cluster.address(database), now=campaign.STARTED)
    with psycopg.connect(cluster.address(database), autocommit=True) as server:
        version = server.info.server_version // 10_000
        server.execute("ANALYZE")
    postmaster = int((cluster.folder / "data" / "postmaster.pid").read_text().split()[0])
    found: list[Measured] = []
    copied = ""
    for setting in SETTINGS:
        folder = tmp_path / "served"
        if setting.engine == "SQLite":
            shutil.copytree(made.folder, folder)
            found.append(measured(folder, tokens, setting, postmaster))
        else:
            shutil.copytree(moved, folder)
            copied = cluster.new(database, copied)
            with reached(cluster, copied, setting.added_ms) as address:
                settings_file.set_database(folder, address)
                found.append(measured(folder, tokens, setting, postmaster))
        shutil.rmtree(folder)
    table(
        f"{PEOPLE} people over HTTP at full speed; {pairs:,} pairs; PostgreSQL {version}",
        [
            [
                str(setting),
                f"{len(one.crowd.seconds) / LASTS_S:.0f}",
                milliseconds(statistics.median(one.crowd.seconds)),
                milliseconds(p95(one.crowd.seconds)),
                one.a_grade(one.server_cpu_s),
                one.a_grade(one.database_cpu_s),
                one.a_grade(one.crowd.cpu_s),
                f"{one.over_assigned} / {one.crowd.refused} / {len(one.crowd.errors)} {one.crowd.errors[:1] or ''}",
            ]
            for setting, one in zip(SETTINGS, found, strict=True)
        ],
        ("sqlite-utils", "psycopg", "starlette", "uvicorn"),
        "setting|grades a second|grade + next pair, median|p95|CPU of server processes a grade|of the database|"
        "of the people|too many grades / refused / errors",
    )
    assert not any(one.crowd.errors or one.over_assigned for one in found)
