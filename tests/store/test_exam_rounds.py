"""The migration of exams to rounds: rows of an older project with an exam, and what the tables take from then on."""

import sqlite3
from pathlib import Path

import pytest

from backend.store import connection
from older_database import columns, contents, make, migrate, rows

NAME = "m016_exam_rounds"
OLD_ROWS = """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (1, 'Lea', 'lead', 1), (2, 'Anna', 'annotator', 1);
INSERT INTO pair (pair_id, pair_key) VALUES (1, 'a'), (2, 'b');
INSERT INTO exam VALUES (1, 10.5, 1, 'settled pairs', 3, 20, 30), (2, 40, NULL, 'key.csv', NULL, 10, NULL);
INSERT INTO exam_item VALUES (1, 1, 1, 4, ''), (2, 1, 2, 0, 'nobody is there'), (3, 2, 1, 4, '');
INSERT INTO exam_attempt VALUES (1, 1, 2, 1, 'aaaa', 11, 12, 13), (2, 2, 2, 2, 'bbbb', 41, NULL, NULL);
INSERT INTO exam_answer VALUES
  (1, 1, 1, 0, 3, 11, 900, 'x'), (1, 2, 1, 0, 4, 11, 800, 'y'), (1, 2, 2, 1, 0, 14, 0, 'z'),
  (2, 3, 1, 0, 4, 42, 0, 'w');
INSERT INTO exam_ruling VALUES (1, 2, 1, 'retake', '', 1, 20);
"""
TABLES = ("exam", "exam_item", "exam_attempt", "exam_answer", "exam_ruling")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database of the level before, with an exam that is over and one that is held."""
    return make(tmp_path, NAME, OLD_ROWS)


@pytest.mark.parametrize("cut_off", [False, True])
def test_every_row_is_still_there_and_what_had_a_key_has_it(old: Path, cut_off: bool) -> None:
    names = columns(old, TABLES)
    before = contents(old, names)
    assert all(before.values())
    migrate(old, cut_off=NAME * cut_off)
    assert contents(old, names) == before
    assert rows(old, "SELECT exam_id, purpose, key_from, closed_at, used_at FROM exam ORDER BY 1") == [
        (1, "exam", "settled", 10.5, None),
        (2, "exam", "settled", 40.0, None),
    ]
    assert rows(old, "PRAGMA foreign_key_check") == []


def test_what_is_set_aside_and_what_people_know_follow_from_the_old_rows(old: Path) -> None:
    migrate(old)
    assert rows(old, "SELECT pair_id FROM set_aside") == [(1,)], "pair 2 was asked in an exam that is over"
    assert rows(old, "SELECT DISTINCT pair_id, annotator_id FROM known_pair ORDER BY 1") == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("INSERT INTO exam (set_at, source, most_missed) VALUES (50, 'open pairs', 20)", "UNIQUE"),
        ("UPDATE exam SET used_at = 60 WHERE exam_id = 1", "CHECK"),
        ("INSERT INTO exam (set_at, source, most_missed, purpose) VALUES (50, 'open pairs', 0, 'trial')", "CHECK"),
        (
            "INSERT INTO exam (set_at, source, most_missed, purpose, key_from, closed_at) "
            "VALUES (50, 'open pairs', 0, 'trial', 'none', 51)",
            "CHECK",
        ),
    ],
    ids=["a second exam", "settled pairs used", "a trial with a key", "a trial whose key is there"],
)
def test_the_tables_refuse_what_cannot_be(old: Path, statement: str, problem: str) -> None:
    migrate(old)
    with pytest.raises(sqlite3.IntegrityError, match=problem):
        rows(old, statement)


def test_a_trial_may_be_held_beside_an_exam_with_attempts_counted_anew(tmp_path: Path) -> None:
    store = connection.create(tmp_path / "new.db")
    for statement in OLD_ROWS.strip().split(";\n")[:2]:
        store.db.conn.execute(statement)
    add = "INSERT INTO exam (set_at, source, most_missed, purpose, key_from) VALUES (1, 'open pairs', 20, ?, ?)"
    store.db.conn.execute(add, ["exam", "median"])
    store.db.conn.execute(add, ["trial", "none"])
    store.db.conn.execute("INSERT INTO exam_item (exam_id, pair_id) VALUES (1, 1), (2, 2)")
    store.db.conn.execute(
        "INSERT INTO exam_attempt (exam_id, annotator_id, number, attempt_key, started_at) "
        "VALUES (1, 2, 1, 'a', 1), (2, 2, 1, 'b', 1)"
    )
    assert [row[0] for row in store.db.conn.execute("SELECT pair_id FROM set_aside ORDER BY 1")] == [1, 2]
    assert list(store.db.conn.execute("SELECT * FROM known_pair")) == [], "nothing is answered yet"
