"""Fifty annotators at one front end on SQLite, and at two on PostgreSQL, in one run: what a grade takes over HTTP."""

import os
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app_server import AppServer
from backend.campaign.doctor.database import move
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import open_project
from bench.tables import sized, table
from browser.test_desk_bench import THINK_S, Machine, campaign_of, crowd_at, crowd_names, cut_all, spread
from postgres import Cluster

pytestmark = pytest.mark.bench

PEOPLE = 50
LASTS_S = sized(10.0, 60.0)


def measured(servers: list[AppServer]) -> tuple[list[dict[str, Any]], float, float]:
    """Everybody at work, as many at each front end.

    Returns:
        What the crowd of each saw, seconds of CPU of a front end per grade, and the load at the end.
    """
    names = crowd_names(PEOPLE)
    seen: list[dict[str, Any]] = [{} for _ in servers]
    pids = [server.process.pid for server in servers if server.process is not None]
    assert len(pids) == len(servers)
    with ExitStack() as crowds:
        for place, server in enumerate(servers):
            crowds.enter_context(crowd_at(server.url, seen[place], names[place :: len(servers)]))
        before = sum(Machine(pid).cpu_s() for pid in pids)
        time.sleep(LASTS_S)
        cpu = sum(Machine(pid).cpu_s() for pid in pids) - before
        load = os.getloadavg()[0]
    return seen, cpu, load


def test_fifty_people(serve: Callable[[Path], AppServer], cluster: Cluster, tmp_path: Path) -> None:
    project = campaign_of(tmp_path / "file", crowd_names(PEOPLE))
    cut_all(project)
    project.store.close()
    moved = Path(shutil.copytree(project.folder, tmp_path / "moved"))
    address = cluster.address(cluster.new())
    move(moved, address, now=time.time())
    with psycopg.connect(address, autocommit=True) as server:
        version = server.info.server_version // 10_000
    columns = []
    for folder, fronts in ((project.folder, 1), (moved, 2)):
        servers = [serve(folder) for _ in range(fronts)]
        seen, cpu, load = measured(servers)
        for server_ in servers:
            server_.stop()
        taken = [took for one in seen for took in one["exchange_ms"]]
        errors = [error for one in seen for error in one["errors"]]
        after = open_project(folder)
        stored = status_counts(after, OPERATOR)["judgements"]
        assert doctor(after, now=time.time()).findings == ()
        after.store.close()
        columns.append(
            [
                str(len(taken)),
                spread(taken),
                f"{cpu / len(taken) * 1e3:.1f} ms",
                f"{sum(one['refused'] for one in seen)} / {sum(one['ran_dry'] for one in seen)}",
                f"{len(errors)} {errors[:2] or ''}".strip(),
                f"{load:.1f}",
            ]
        )
        assert stored >= len(taken)
    what = (
        *("grades", "grade and next desk: median / p95 / longest", "CPU of front ends a grade"),
        *("grades refused / desks without work", "errors", "load"),
    )
    table(
        f"{PEOPLE} annotators at {THINK_S:.0f} s a grade",
        [[line, *values] for line, *values in zip(what, *columns, strict=True)],
        ("streamlit", "psycopg"),
        "|".join(["", "one front end, SQLite", f"two front ends, PostgreSQL {version}"]),
    )
