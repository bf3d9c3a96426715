"""Grades as columns, against reading the rows one by one."""

import random
import secrets
import sqlite3
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.monitoring.quality import rows as quality_rows
from backend.campaign.monitoring.quality.rules.pairs import standing
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.setup.project.folder import Project
from support import NOW, Judging


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Grades and corrections, some without a measured time."""
    rng = random.Random(3)
    for n in range(60):
        me = judging.annotators[rng.randrange(4)]
        items = desk(judging.project, me, now=NOW + 20 * n).items
        for _ in range(rng.choice((1, 1, 2, 3))):
            elapsed = rng.choice((None, 300, 9000))
            event = GradeEvent(items[0].pair, rng.randrange(5), secrets.token_hex(8), rng.randrange(1, 300), elapsed)
            record_grades(judging.project, me, [event], now=NOW + 20 * n + 15)
    return judging


def test_the_columns_are_the_rows(worked: Judging) -> None:
    found = quality_rows.given(worked.project.store.db)
    with sqlite3.connect(worked.project.folder / "reelrank.db") as db:
        rows = db.execute(
            "SELECT pair_id, seat_no, annotator_id, grade, graded_at, active_ms, coalesce(elapsed_ms, -1) "
            "FROM judgement ORDER BY graded_at, judgement_id"
        ).fetchall()
    read = zip(
        *(found.pair, found.seat, found.annotator, found.grade, found.at, found.active_ms, found.elapsed_ms),
        strict=True,
    )
    assert len(rows) > 80
    assert [tuple(one) for one in read] == rows
    assert found.timed.all()


def test_an_empty_project_has_empty_columns(corpus_project: Project) -> None:
    found = standing(quality_rows.given(corpus_project.store.db))
    assert len(found) == 0
    assert [len(column) for column in quality_rows.clips(corpus_project.store.db)] == [0, 0, 0]


def test_clips_are_the_moments_of_pairs(judging: Judging) -> None:
    pair, length_s, whole = quality_rows.clips(judging.project.store.db)
    reviews = sorted(judging.pairs(), key=lambda one: one.pair_id)
    assert pair.tolist() == [one.pair_id for one in reviews]
    assert length_s.tolist() == pytest.approx([one.end_s - one.start_s for one in reviews], abs=1e-3)
    assert not whole.any()


def test_a_file_that_does_not_say_when_leaves_grades_without_a_time(corpus_project: Project, tmp_path: Path) -> None:
    (tmp_path / "told.csv").write_text(
        "pair_id,worker,relevance,graded_at\n1,1,3,2026-02-01T10:00:00Z\n1,2,3,2026-02-01T11:00:00Z\n"
    )
    (tmp_path / "untold.csv").write_text("pair_id,worker,relevance\n2,1,3\n2,2,4\n")
    import_judgements(corpus_project, tmp_path / "told.csv", now=NOW)
    import_judgements(corpus_project, tmp_path / "untold.csv", now=NOW + 5)
    found = quality_rows.given(corpus_project.store.db)
    assert found.pair.tolist() == [1, 1, 2, 2]
    assert found.timed.tolist() == [True, True, False, False]
