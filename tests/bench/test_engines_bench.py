"""Annotators at full speed on SQLite and on PostgreSQL, whose server may be some way off.

As in `test_load`, annotators are threads of one process. A round trip to the server takes what `slow_link` adds.
"""

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from backend.campaign.doctor.database import move
from backend.campaign.setup.project import settings_file
from bench import campaign
from bench.crowd import Load, simulate
from bench.tables import sized, table
from bench.test_load import alone, milliseconds, p95
from postgres import Cluster

pytestmark = pytest.mark.bench

PAIRS, PEOPLE = 6_000, (25, 100)
LASTS_S = sized(10.0, 30.0)
ROUND_TRIPS_MS = (0.0, 0.5, 2.0)
"""Milliseconds that are added to each round trip to the server, one setting after the other."""
SOCKET = ".s.PGSQL.5432"


@contextmanager
def reached(cluster: Cluster, database: str, round_trip_ms: float) -> Iterator[str]:
    """The address of a database behind a link that adds so much to each round trip."""
    if not round_trip_ms:
        yield cluster.address(database)
        return
    with TemporaryDirectory() as folder:
        command = [sys.executable, Path(__file__).with_name("slow_link.py"), f"{folder}/{SOCKET}"]
        delay = [cluster.folder / SOCKET, str(round_trip_ms / 2e3)]
        with subprocess.Popen([*command, *delay], stdout=subprocess.PIPE) as link:
            assert link.stdout is not None
            assert link.stdout.readline()
            yield cluster.address(database).replace(str(cluster.folder), folder)
            link.terminate()


def test_full_speed_on_either_engine(cluster: Cluster, tmp_path: Path) -> None:
    made = campaign.open_project(tmp_path / "made", PAIRS)
    made.store.close()
    moved = Path(shutil.copytree(made.folder, tmp_path / "moved"))
    database = cluster.new()
    move(moved, cluster.address(database), now=campaign.STARTED)
    with psycopg.connect(cluster.address(database), autocommit=True) as server:
        version = server.info.server_version // 10_000
        server.execute("ANALYZE")
    columns: list[tuple[str, Load]] = []
    for people in PEOPLE:
        folder = Path(shutil.copytree(made.folder, tmp_path / f"{people}"))
        columns.append((f"{people}, SQLite", alone(simulate, folder, people, 0.0, LASTS_S)))
        for added_ms in ROUND_TRIPS_MS:
            folder = Path(shutil.copytree(moved, tmp_path / f"{people}-{added_ms}"))
            with reached(cluster, cluster.new(database), added_ms) as address:
                settings_file.set_database(folder, address)
                load = alone(simulate, folder, people, 0.0, LASTS_S)
            columns.append((f"{people}, PostgreSQL {version}, + {added_ms:g} ms", load))
    loads = [load for _, load in columns]
    table(
        f"Annotators at full speed in one process; {PAIRS:,} pairs",
        [
            ["grades a second", *(f"{len(load.seconds) / load.wall_s:.0f}" for load in loads)],
            ["grade + next pair, median", *(milliseconds(statistics.median(load.seconds)) for load in loads)],
            ["p95", *(milliseconds(p95(load.seconds)) for load in loads)],
            ["CPU of the process a grade", *(milliseconds(load.cpu_s / len(load.seconds)) for load in loads)],
            ["pairs with too many grades", *(str(load.over_assigned) for load in loads)],
            ["refused / errors", *(f"{load.refused} / {len(load.errors)}" for load in loads)],
        ],
        ("sqlite-utils", "psycopg"),
        "|".join(["annotators", *(what for what, _ in columns)]),
    )
    assert not any(load.errors or load.over_assigned or load.refused for load in loads)
