"""Eight people in eight processes want the same pairs at the same moment."""

import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.setup.project.folder import Project
from bench import campaign

PROCESSES, PAIRS = 8, 300
FEWER_PAIRS = 40
"""A statement to a database server takes longer; `make bench` races for 300 pairs there."""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On a disk, where writing takes its time, and not in memory like the folders of other tests."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize(
    ("engine", "pairs"),
    [
        ("sqlite", FEWER_PAIRS),
        pytest.param("sqlite", PAIRS, marks=pytest.mark.long),
        pytest.param("postgresql", FEWER_PAIRS, marks=pytest.mark.long),
    ],
)
def test_eight_processes_give_every_pair_exactly_the_grades_it_needs(
    pairs: int, tmp_path: Path, kept: Callable[[Path], Project]
) -> None:
    assert race(tmp_path, pairs, kept) >= 2 * pairs


def race(folder: Path, pairs: int, kept: Callable[[Path], Project]) -> int:
    """Let them begin, and look at what they left; how many grades were given."""
    project = campaign.open_project(folder / "project", pairs)
    people = campaign.add_annotators(project, PROCESSES)
    project.store.close()
    project = kept(project.folder)
    project.store.close()
    worker = Path(__file__).with_name("race_worker.py")
    names = [person.name for person in people]
    done = subprocess.run(
        [sys.executable, worker, project.folder, *names], capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    assert [found["errors"] for found in said] == [[]] * PROCESSES  # "database is locked" would be one
    assert sum(found["refused"] for found in said) == 0
    assert sum(found["met_again"] for found in said) == 0

    sql = project.store.db.conn
    grades: dict[int, dict[int, int]] = defaultdict(dict)
    rows = sql.execute("SELECT pair_id, seat_no, annotator_id, grade FROM judgement").fetchall()
    for pair, seat_no, _, grade in rows:
        assert seat_no not in grades[pair]
        grades[pair][seat_no] = grade
    assert len(grades) == pairs
    assert len({(row[0], row[2]) for row in rows}) == len(rows) == sum(len(found["graded"]) for found in said)
    apart = {pair for pair, given in grades.items() if abs(given[1] - given[2]) > 1}
    assert len(apart) > pairs / 10
    assert all(sorted(given) == ([1, 2, 3, 4] if pair in apart else [1, 2]) for pair, given in grades.items())
    seats = sql.execute("SELECT pair_id, seat_no, annotator_id FROM seat WHERE lease_until IS NULL").fetchall()
    assert {tuple(row) for row in seats} == {(row[0], row[1], row[2]) for row in rows}
    assert sql.execute("SELECT count(*) FROM seat").fetchone()[0] == len(rows)
    assert doctor(project, now=time.time()).findings == ()
    project.store.close()
    return len(rows)
