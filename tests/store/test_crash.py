"""Whatever has a receipt is there, once, however often the writing process, or the database it writes to, is killed.

SIGKILL takes a process away between any two instructions, but not what it has given to the operating system; against
a power cut stands `synchronous = FULL` (test_connection.py sees that it is set). Of ten kills about eight land while
a transaction is open or being committed; the worker tells of each. A database that is killed is PostgreSQL's server,
whose front end goes on.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.store import connection
from bench import campaign
from postgres import Cluster

pytestmark = pytest.mark.long
KILLS, USUAL_KILLS, FEWER_KILLS = 200, 60, 8
"""Front ends to kill. With SQLite, `make test-long` kills KILLS and `make test-all` USUAL_KILLS. With PostgreSQL both
kill FEWER_KILLS, and `make bench` KILLS."""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On a disk, where writing takes its time, and not in memory like the folders of other tests."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize(
    ("engine", "kills"),
    [("sqlite", KILLS if "REELRANK_KILLS" in os.environ else USUAL_KILLS), ("postgresql", FEWER_KILLS)],
)
def test_kills_lose_nothing_and_double_nothing(kills: int, tmp_path: Path, kept: Callable[[Path], Project]) -> None:
    survive(tmp_path, kills, kept)


@pytest.mark.parametrize("engine", ["postgresql"])
def test_a_database_that_is_killed_loses_nothing_and_doubles_nothing(
    tmp_path: Path, kept: Callable[[Path], Project], cluster: Cluster
) -> None:
    survive(tmp_path, FEWER_KILLS // 2, kept, cluster)


def survive(
    folder: Path, kills: int, kept: Callable[[Path], Project], cluster: Cluster | None = None
) -> dict[str, dict[str, int]]:
    """Kill the front end, or the cluster if one is given, and look at what is left.

    Returns:
        How many kills found what: `stood` (a transaction was open, ...), `acts`, and `kept` what was saved.
    """
    project = campaign.open_project(folder / "project", 46 * campaign.BATCH, moments=400)
    campaign.add_annotators(project, 6)
    lead = people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=campaign.STARTED)
    settled_before = set()
    for query in list_queries(project, OPERATOR)[:30]:  # so that there are batches to open
        for pair in query_pairs(project, OPERATOR, query.query_id):
            adjudicate(project, lead, pair.pair, 1, f"before {pair.pair}", now=campaign.STARTED)
            settled_before.add(f"before {pair.pair}")
    project.store.close()
    kept(project.folder).store.close()
    (folder / "receipts").touch()
    (folder / "attempts").touch()
    worker, here = Path(__file__).with_name("crash_worker.py"), Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, worker, folder, str(kills), "1", *([cluster.folder] if cluster else [])],
        capture_output=True,
        text=True,
        timeout=300 + 5 * kills,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (here.parent, here)))},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert sum(told["stood"].values()) == kills
    assert kills - told["stood"].get("outside", 0) > kills / 3  # else nothing is tested

    project = open_project(folder / "project")
    sql = project.store.db.conn
    attempts = {line["key"]: line for line in map(json.loads, (folder / "attempts").read_text().splitlines())}
    receipts = [json.loads(line) for line in (folder / "receipts").read_text().splitlines()]
    saved = {line["key"] for line in receipts if line["status"] == "saved"}
    refused = {line["key"] for line in receipts if line["status"] == "refused"}
    assert len(saved) > kills
    assert not saved & refused
    names = {row.person.annotator_id: row.person.name for row in list_people(project, OPERATOR)}
    stored: Counter[str] = Counter()
    for key, pair, who, grade in sql.execute(
        "SELECT event_key, pair_key, annotator_id, grade FROM judgement JOIN pair USING (pair_id)"
    ):
        stored[key] += 1
        assert attempts[key] == {"kind": "grade", "who": names[who], "pair": pair, "value": grade, "key": key}
    stored.update(row[0] for row in sql.execute("SELECT event_key FROM skip"))
    stored.update(row[0] for row in sql.execute("SELECT reason FROM adjudication"))
    assert max(stored.values()) == 1
    batches = {key for key, attempt in attempts.items() if attempt["kind"] == "batch"}
    assert saved - batches <= set(stored)
    # Every grade and skip was handed in until it had a receipt, so nothing else is there; a lead's act is not repeated.
    decisions = {key for key, attempt in attempts.items() if attempt["kind"] == "decision"}
    assert set(stored) - decisions - settled_before <= saved
    assert not refused & set(stored)
    opened = sql.execute("SELECT count(*) FROM batch WHERE number = 2").fetchone()[0]
    assert len(saved & batches) <= opened <= len(batches)
    assert doctor(project, now=campaign.STARTED + 60 * kills).findings == ()
    for copy in folder.glob("backup-*.db"):
        connection.open_store(copy).close()
    project.store.close()
    return told | {"kept": {"saved": len(saved), "refused": len(refused), "attempts": len(attempts)}}
