"""The migration to rulings: every row of an older project, and what the tables take from then on."""

import sqlite3
from pathlib import Path

import pytest

from older_database import columns, contents, make, migrate, rows

NAME = "m026_rulings"
OLD_ROWS = """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES
  (1, 'Lea', 'lead', 1), (2, 'Anna', 'annotator', 1), (3, 'Boris', 'annotator', 1), (4, 'Carla', 'annotator', 1);
INSERT INTO video (video_id, name, duration_s) VALUES (1, 'v', 60);
INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (1, 1, 0, 5);
INSERT INTO caption (caption_id, moment_id, text, kind) VALUES (1, 1, 'She waves.', 'published');
INSERT INTO query (query_id, text, caption_id, split, position) VALUES (1, 'She waves.', 1, 'val', 1);
INSERT INTO batch (batch_id, query_id, number, opened_at) VALUES (1, 1, 1, 1);
INSERT INTO pair (pair_id, pair_key, batch_id, query_id, moment_id, rank, similarity, encoder)
  VALUES (1, 'a', 1, 1, 1, 1, 0.5, 'words');
INSERT INTO pair (pair_id, pair_key) VALUES (2, 'b');
INSERT INTO seat (pair_id, seat_no, annotator_id, lease_until, claim_no, repeat, shown_at) VALUES
  (1, 1, 2, NULL, 1, 0, 3.5), (1, 2, 3, NULL, 1, 0, NULL), (1, 3, 4, 900, 1, 0, 4.5), (1, 4, NULL, NULL, NULL, 0, NULL),
  (2, 1, 2, NULL, NULL, 0, NULL), (2, 2, 2, NULL, NULL, 1, NULL);
INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) VALUES
  (1, 1, 2, 1, 0, 5, 'x'), (1, 2, 3, 1, 4, 6, 'y'), (1, 2, 3, 2, 3, 7, 'z'), (2, 1, 2, 1, 3, 5, 'u'),
  (2, 2, 2, 1, 4, 6, 'w');
INSERT INTO adjudication (pair_id, revision, lead_id, relevance, reason, decided_at) VALUES
  (1, 1, 1, 2, 'so', 8), (1, 2, 1, 3, 'no, so', 9);
INSERT INTO consensus VALUES (1, 'adjudicated', 3, NULL, 'tvr-ranking-1'), (2, 'consensus', 4, 3.5, 'tvr-ranking-1');
INSERT INTO agenda VALUES (1, 3, 1);
"""
TABLES = ("seat", "judgement", "adjudication", "consensus", "agenda", "pair")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database of the level before, in the middle of a dispute that a lead decided."""
    return make(tmp_path, NAME, OLD_ROWS)


@pytest.mark.parametrize("cut_off", [False, True])
def test_every_row_index_and_trigger_is_still_there(old: Path, cut_off: bool) -> None:
    things = "SELECT type, name FROM sqlite_master WHERE tbl_name IN ('seat', 'agenda', 'judgement', 'adjudication')"
    names = columns(old, TABLES)
    before, with_them = contents(old, names), set(rows(old, things))
    assert all(before.values())
    migrate(old, cut_off=NAME * cut_off)
    assert contents(old, names) == before
    assert set(rows(old, things)) == with_them
    assert rows(old, "PRAGMA foreign_key_check") == []
    assert rows(old, "SELECT grade FROM standing WHERE pair_id = 1 ORDER BY seat_no") == [(0,), (3,)]


def test_the_older_decisions_stand_as_acts_of_the_lead(old: Path) -> None:
    migrate(old)
    assert rows(old, "SELECT pair_id, revision, lead_id, kind, relevance, reason, at, stands FROM lead_act") == [
        (1, 1, 1, "decided", 2, "so", 8.0, 1),
        (1, 2, 1, "decided", 3, "no, so", 9.0, 1),
    ]


ADD = "INSERT INTO ruling (pair_id, revision, lead_id, kind, takes_back, reason, ruled_at) VALUES "


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("INSERT INTO seat (pair_id, seat_no) VALUES (1, 7)", "CHECK"),
        ("UPDATE agenda SET nearest = 7", "CHECK"),
        (f"{ADD} (1, 3, 1, 're_opened', NULL, ' ', 10)", "CHECK"),
        (f"{ADD} (1, 3, NULL, 'taken_back', 2, 'why', 10)", "CHECK"),
        (f"{ADD} (1, 3, 1, 'taken_back', NULL, 'why', 10)", "CHECK"),
        (f"{ADD} (1, 3, 1, 'taken_back', 3, 'why', 10)", "CHECK"),
        (f"{ADD} (1, 3, 1, 'taken_back', 2, 'a', 10), (1, 4, 1, 'taken_back', 2, 'b', 10)", "UNIQUE"),
        (f"{ADD} (9, 1, 1, 'discard_confirmed', NULL, '', 10)", "FOREIGN KEY"),
    ],
)
def test_the_tables_refuse_what_cannot_be(old: Path, statement: str, problem: str) -> None:
    migrate(old)
    with pytest.raises(sqlite3.IntegrityError, match=problem):
        rows(old, statement)


@pytest.mark.parametrize("statement", ["UPDATE ruling SET reason = 'x'", "DELETE FROM ruling"])
def test_nothing_that_a_lead_said_is_ever_changed(old: Path, statement: str) -> None:
    migrate(old)
    rows(old, f"{ADD} (1, 3, 1, 'taken_back', 2, 'why', 10)")
    assert rows(old, "SELECT revision, stands FROM lead_act") == [(1, 1), (2, 0), (3, 0)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        rows(old, statement)
