"""The table of what models answered: what it keeps, what it refuses, and what its reader gives. On both engines."""

import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import backend
from backend.campaign.monitoring.model_judge import rows
from backend.campaign.monitoring.model_judge.model import AnswerOutcome, Judge, ModelAnswer
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, take_back_queries
from backend.core.ids import PairId
from backend.core.messages import said
from backend.store.connection import writing
from postgres import SQLITE_FIRST
from support import NOW, Judging

JUDGE = Judge("eye-1", "judge-1+0123456789ab")
OTHER = Judge("eye-2", "judge-1+0123456789ab")


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


def answer(
    judging: Judging, number: int, grade: int | None = 3, outcome: AnswerOutcome = AnswerOutcome.GRADED
) -> ModelAnswer:
    """What a judge answered about a pair: (by number, from 0)."""
    found = judging.project.store.db.conn.execute(
        "SELECT pair_id, text FROM pair JOIN query USING (query_id) ORDER BY pair_id LIMIT 1 OFFSET ?", [number]
    ).fetchone()
    return ModelAnswer(PairId(found[0]), found[1], outcome, grade, "A man sits.", 1200, 30, 0.002, NOW + number)


def stored(judging: Judging, judge: Judge, *answers: ModelAnswer) -> None:
    """Store answers of a judge."""
    with writing(judging.project.store) as db:
        rows.add(db, judge, "eyes.example", answers)


def test_the_reader_gives_each_grade_with_its_query_moment_and_judge(judging: Judging) -> None:
    first, third = answer(judging, 0, 3), answer(judging, 2, 0)
    stored(judging, JUDGE, third, first, answer(judging, 1, None, AnswerOutcome.REFUSED))
    stored(judging, OTHER, answer(judging, 1, 4))
    db = judging.project.store.db

    table = rows.grades(db)

    assert [(one.judge, one.pair_id, one.grade, one.reason) for one in table] == [
        (JUDGE, first.pair_id, 3, "A man sits."),
        (JUDGE, third.pair_id, 0, "A man sits."),
        (OTHER, answer(judging, 1).pair_id, 4, "A man sits."),
    ]
    expected = db.conn.execute(
        "SELECT query_id, moment_id, name, start_s, end_s FROM pair JOIN moment USING (moment_id) "
        "JOIN video USING (video_id) WHERE pair_id = ?",
        [first.pair_id],
    ).fetchone()
    one = table[0]
    assert (one.query_id, one.moment_id, one.video, one.start_s, one.end_s) == tuple(expected)
    assert rows.grades(db, OTHER) == table[2:]
    assert rows.grades(db, Judge("eye-1", "judge-2")) == []


def test_a_pair_has_one_grade_of_a_judge_and_a_grade_counts_more_than_what_failed(judging: Judging) -> None:
    failed = replace(answer(judging, 0, None, AnswerOutcome.FAILED), reason=said("an answer that was cut off"))
    stored(judging, JUDGE, failed)
    assert rows.answered(judging.project.store.db, JUDGE) == {failed.pair_id: AnswerOutcome.FAILED}

    stored(judging, JUDGE, answer(judging, 0, 2), answer(judging, 0, 4), failed)

    db = judging.project.store.db
    assert rows.answered(db, JUDGE) == {failed.pair_id: AnswerOutcome.GRADED}
    assert [one.grade for one in rows.grades(db)] == [2]
    [summary] = rows.summaries(db)
    assert (summary.judge, summary.graded, summary.refused, summary.failed) == (JUDGE, 1, 0, 2)
    assert (summary.tokens_in, summary.tokens_out) == (3 * 1200, 3 * 30)
    assert summary.cost == pytest.approx(0.006)


def test_a_grade_of_a_query_that_was_reworded_does_not_count_but_its_cost_does(judging: Judging) -> None:
    one = answer(judging, 0, 3)
    stored(judging, JUDGE, one)
    with writing(judging.project.store) as db:
        db.conn.execute(
            "UPDATE query SET text = 'A dog sleeps.' WHERE query_id = (SELECT query_id FROM pair WHERE pair_id = ?)",
            [one.pair_id],
        )
    db = judging.project.store.db
    assert rows.grades(db) == []
    assert rows.answered(db, JUDGE) == {}
    assert rows.summaries(db)[0].graded == 1

    stored(judging, JUDGE, answer(judging, 0, 1))
    assert [now.grade for now in rows.grades(db)] == [1]


@pytest.mark.parametrize(
    ("outcome", "grade"), [("graded", None), ("refused", 2), ("failed", 0), ("graded", 5), ("graded", -1), ("odd", 1)]
)
def test_the_database_refuses_rows_that_contradict_themselves(judging: Judging, outcome: str, grade: int) -> None:
    with pytest.raises(sqlite3.IntegrityError), writing(judging.project.store) as db:
        db.conn.execute(
            "INSERT INTO model_grade (pair_id, query, model, host, prompt_version, outcome, grade, reason, requests, "
            "asked_at) SELECT pair_id, 'q', 'm', 'h', 'p', ?, ?, '', 1, 0 FROM pair LIMIT 1",
            [outcome, grade],
        )


def test_a_row_never_changes_and_goes_with_its_pair(judging: Judging) -> None:
    stored(judging, JUDGE, answer(judging, 0))
    with pytest.raises(sqlite3.IntegrityError, match="never changed"), writing(judging.project.store) as db:
        db.conn.execute("UPDATE model_grade SET grade = 4")

    take_back_queries(judging.project, OPERATOR, now=NOW)

    assert list_queries(judging.project, OPERATOR) == []
    assert rows.summaries(judging.project.store.db) == []


def test_no_part_that_serves_annotators_or_settles_pairs_reads_the_table() -> None:
    """Import contracts keep these parts from its reader; this keeps the table out of their own SQL.

    Leads' lists of pairs to review know which pairs a model differs from. Annotators' parts come before them.
    """
    package = Path(backend.__file__).parent
    readers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"(FROM|JOIN)\s+model_grade\b", path.read_text())
    }
    assert "campaign/monitoring/model_judge/rows.py" in readers
    leads = ("campaign/monitoring/model_judge/", "campaign/release/", "campaign/review/rows/pair_lists.py")
    assert [name for name in readers if not name.startswith(leads)] == []
