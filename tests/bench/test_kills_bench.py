"""More of what the suite does a little of on PostgreSQL: kills of each side, and the race for their pairs."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from backend.campaign.setup.project.folder import Project
from bench.tables import sized, table
from postgres import ENGINES, Cluster
from store.test_crash import KILLS, survive
from store.test_race import PAIRS, PROCESSES, race

pytestmark = pytest.mark.bench
Kept = Callable[[Path], Project]
OF_EACH = sized(25, KILLS)
RACED = sized(100, PAIRS)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On a disk, like those of the suite."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("engine", ["postgresql"])
@pytest.mark.parametrize("killed", ["front end", "database"])
def test_kills(killed: str, tmp_path: Path, kept: Kept, cluster: Cluster) -> None:
    told = survive(tmp_path, OF_EACH, kept, cluster if killed == "database" else None)
    table(
        f"{OF_EACH} kills of the {killed}, PostgreSQL",
        [[f"{of}: {what}", str(count)] for of, counts in told.items() for what, count in counts.items()],
        ("sqlite-utils", "psycopg"),
        "what|how many",
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_race(engine: str, tmp_path: Path, kept: Kept) -> None:
    begun = time.perf_counter()
    grades = race(tmp_path, RACED, kept)
    table(
        f"{PROCESSES} processes race for {RACED} pairs, {engine}",
        [["grades", str(grades)], ["all of it", f"{time.perf_counter() - begun:.1f} s"]],
        ("sqlite-utils", "psycopg"),
        "what|once",
    )
