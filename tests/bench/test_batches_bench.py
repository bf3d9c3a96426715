"""Accepting the rule's suggestions for as many queries as TVR-Ranking has, while people grade: `make bench`.

Never fails on a time.
"""

import multiprocessing
import shutil
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.batches.suggestions import accept_suggestions, batch_shares, batch_suggestions
from backend.campaign.setup.project.folder import Project, open_project
from bench import campaign
from bench.crowd import Beside, Load, simulate
from bench.tables import sized, table, timed
from bench.test_load import alone, milliseconds, p95

pytestmark = pytest.mark.bench

ANNOTATORS, THINK_S = 25, 2.0
LASTS_S = sized(6.0, 30.0)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first batch of every query is settled, and every next one worth opening."""
    return campaign.settled_folder(tmp_path_factory.getbasetemp())


def accept(project: Project) -> None:
    seen = batch_suggestions(project, OPERATOR)
    accept_suggestions(project, OPERATOR, seen, now=time.time())


def by_page(project: Project, over: threading.Event) -> None:
    """In the server's own process, as a lead's page does it, again and again on as many queries as are left."""
    over.wait(THINK_S)
    accept(project)
    over.set()


def in_process(folder: Path) -> None:
    accept(open_project(folder))


def by_command(project: Project, over: threading.Event) -> None:
    """In another process, as `reelrank batches accept` does it."""
    over.wait(THINK_S)
    process = multiprocessing.get_context("spawn").Process(target=in_process, args=(project.folder,))
    process.start()
    process.join()
    over.set()


def test_accepting_all_suggestions(settled: Path, tmp_path: Path) -> None:
    project = open_project(Path(shutil.copytree(settled, tmp_path / "alone")))
    looked = timed(lambda: batch_suggestions(project, OPERATOR))
    begun = time.perf_counter()
    accept(project)
    took = time.perf_counter() - begun
    shares = timed(lambda: batch_shares(project, OPERATOR))
    table(
        f"{campaign.QUERIES:,} suggestions, {campaign.QUERIES * campaign.BATCH:,} pairs",
        [
            ("what the rule says of all queries", f"{looked:.2f} s", ""),
            ("accepting all of it", f"{took:.1f} s", f"{took / campaign.QUERIES * 1e3:.1f} ms a query, rests included"),
            ("queries with one and two batches", f"{shares * 1e3:.0f} ms", ""),
        ],
        ("sqlite-utils",),
    )
    kinds: dict[str, Beside | None] = {"nobody accepts": None, "on the page": by_page, "by command": by_command}
    found: dict[str, Load] = {}
    for name, beside in kinds.items():
        folder = Path(shutil.copytree(settled, tmp_path / name))
        found[name] = alone(simulate, folder, ANNOTATORS, THINK_S, LASTS_S, beside)
        shutil.rmtree(folder)
    lines: list[tuple[str, Callable[[Load], str]]] = [
        ("grades", lambda load: f"{len(load.seconds):,}"),
        ("median", lambda load: milliseconds(statistics.median(load.seconds))),
        ("p95", lambda load: milliseconds(p95(load.seconds))),
        ("longest", lambda load: milliseconds(max(load.seconds))),
        ("errors", lambda load: str(len(load.errors))),
    ]
    table(
        f"Grade + next pair of {ANNOTATORS} annotators, think time {THINK_S:.0f} s, while all suggestions are accepted",
        [(what, *(say(load) for load in found.values())) for what, say in lines],
        ("sqlite-utils",),
        head="|".join(("grade + next pair", *found)),
    )
    assert not any(load.errors or load.over_assigned or load.refused for load in found.values())
