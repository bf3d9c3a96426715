"""What larger campaigns are reckoned with: bytes of moments and judgements, and what everything costs at their size."""

import shutil
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from backend.campaign.doctor.database import backup
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging import verdicts
from backend.campaign.monitoring.progress.inbox import waits
from backend.campaign.monitoring.progress.progress import progress, stuck
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.model import QueryFilter
from backend.campaign.review.queries import find_queries
from backend.campaign.review.status import review_counts, status_counts
from backend.campaign.setup.project.folder import Project, open_project
from bench import campaign
from bench.tables import sized, table
from bench.test_load import looked_for

pytestmark = pytest.mark.bench

TIMES = sized(2, 10)
NOW = 1_790_000_000.0


def cpu_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def size_of(project: Project) -> int:
    """Bytes of the database, closed and put in order."""
    project.store.db.conn.execute("VACUUM")
    project.store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (project.folder / "reelrank.db").stat().st_size


@pytest.fixture
def settled_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A settled campaign of TVR-Ranking's size, to be copied."""
    return campaign.settled_folder(tmp_path_factory.getbasetemp())


def test_bytes_of_a_moment_and_of_a_judgement(tmp_path: Path, settled_folder: Path) -> None:
    pairs = 20_000
    few, many = (
        size_of(campaign.open_project(tmp_path / str(moments), pairs, moments=moments)) for moments in (20_000, 120_000)
    )
    settled = open_project(Path(shutil.copytree(settled_folder, tmp_path / "settled")))
    judgements = settled.store.db.conn.execute("SELECT count(*) FROM judgement").fetchone()[0]
    with_them = size_of(settled)
    unjudged = size_of(
        campaign.open_project(tmp_path / "open", (campaign.QUERIES + campaign.FRESH_QUERIES) * campaign.BATCH)
    )
    table(
        "Bytes in the database",
        [
            ("a moment with its caption", f"{(many - few) / 100_000:.0f}"),
            ("a judgement, its seat and its share of the consensus", f"{(with_them - unjudged) / judgements:.0f}"),
        ],
        ("sqlite-utils",),
        "what|bytes",
    )


def test_a_campaign_several_times_as_large(tmp_path: Path, settled_folder: Path) -> None:
    acts: list[tuple[str, Callable[[Project], object]]] = [
        ("open it, pages checked", lambda project: open_project(project.folder).store.close()),
        ("status counts", lambda project: status_counts(project, OPERATOR)),
        ("progress, with its forecast", lambda project: progress(project, OPERATOR, now=NOW)),
        ("what is stuck", lambda project: stuck(project, OPERATOR)),
        ("what waits for a lead", lambda project: waits(project, OPERATOR)),
        ("a page of the lead's queries", lambda project: find_queries(project, OPERATOR, QueryFilter())),
        ("what leads decide", lambda project: review_counts(project, OPERATOR)),
        ("agreement board, figures alone", lambda project: agreement_board(project, OPERATOR, resamples=0)),
        ("consensus made anew", lambda project: verdicts.rebuild_verdicts(project.store)),
        ("backup", lambda project: backup(project, project.folder / "backup.db")),
        ("doctor", lambda project: doctor(project, now=NOW)),
        ("release", lambda project: export_release(project, OPERATOR, project.folder / "out", now=NOW)),
    ]
    columns = []
    for times in (1, TIMES):
        folder = tmp_path / str(times)
        project = (
            open_project(Path(shutil.copytree(settled_folder, folder)))
            if times == 1
            else campaign.settled_project(folder, times)
        )
        (steady,) = campaign.add_annotators(project, 1, "steady")
        inside, across = looked_for(project, steady, 20)
        columns.append(
            [
                f"{size_of(project) / 1e6:,.0f} MB",
                *(f"{1000 * statistics.median(took):.1f} ms" for took in (inside, across)),
                *(f"{cpu_of(partial(act, project)):.2f} s" for _, act in acts),
            ]
        )
        shutil.rmtree(project.folder)
    what = ("database", "grade + next in a batch", "grade + first of a new batch", *(name for name, _ in acts))
    judged = campaign.QUERIES * campaign.BATCH
    table(
        "CPU of one thread, once",
        list(zip(what, *columns, strict=True)),
        ("sqlite-utils",),
        f"what|{judged:,} pairs, {2 * judged:,} grades|{TIMES} times as many",
    )
