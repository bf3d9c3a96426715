"""The migration to sources: every row of an older project, what its lists come from, and what the tables take then."""

import sqlite3
from pathlib import Path

import pytest

from older_database import columns, contents, make, migrate, rows

NAME = "m033_sources"
OLD_ROWS = """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (2, 'Anna', 'annotator', 1);
INSERT INTO video (video_id, name, duration_s) VALUES (1, 'v', 60);
INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (1, 1, 0, 5), (2, 1, 5, 9.5), (3, 1, 20, 30);
INSERT INTO query (query_id, text, source, split, position) VALUES
  (1, 'She waves.', 'f', 'val', 1), (2, 'He sits.', 'f', 'test', 2), (3, 'They run.', 'f', 'train', 3);
INSERT INTO candidate (query_id, rank, moment_id, similarity, encoder) VALUES
  (1, 1, 2, 0.75, 'words'), (1, 2, 1, 0.5, 'words'), (2, 1, 3, 0.25, 'words'), (3, 1, 1, 1.0, 'words');
INSERT INTO batch (batch_id, query_id, number, opened_at) VALUES (1, 1, 1, 1), (2, 1, NULL, 1);
INSERT INTO pair (pair_id, pair_key, batch_id, query_id, moment_id, rank, similarity, encoder) VALUES
  (1, 'a', 1, 1, 2, 1, 0.75, 'words'), (3, 'c', 2, 1, 3, 3, 0.125, 'words');
INSERT INTO pair (pair_id, pair_key) VALUES (2, 'b');
INSERT INTO seat (pair_id, seat_no, annotator_id) VALUES (1, 1, 2), (2, 1, 2);
INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) VALUES
  (1, 1, 2, 1, 4, 5, 'x'), (2, 1, 2, 1, 3, 5, 'u');
INSERT INTO consensus VALUES (2, 'consensus', 3, 3, 'tvr-ranking-1');
INSERT INTO event (at, kind, subject, payload) VALUES (7.5, 'candidates_chosen', 'candidates', '{}');
"""
TABLES = ("candidate", "pair", "seat", "judgement", "consensus", "batch")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database of the level before: lists, a training list, a probe's pair, one known by its number alone."""
    return make(tmp_path, NAME, OLD_ROWS)


@pytest.mark.parametrize("cut_off", [False, True])
def test_every_row_and_index_is_still_there(old: Path, cut_off: bool) -> None:
    names = columns(old, TABLES)
    indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name IN ('candidate', 'pair')"

    before, with_them = contents(old, names), set(rows(old, indexes))
    assert all(before.values())
    migrate(old, cut_off=NAME * cut_off)
    assert contents(old, names) == before
    assert set(rows(old, indexes)) == with_them | {("candidate_moment",)}  # which m036 adds
    assert rows(old, "PRAGMA foreign_key_check") == []
    assert rows(old, "SELECT part FROM batch") == [(1,), (1,)]


def test_lists_of_before_came_from_captions_those_of_training_queries_from_nothing_that_is_noted(old: Path) -> None:
    migrate(old)
    assert rows(old, "SELECT kind, name, sha256, depth, part, added_at, added_by FROM source") == [
        ("captions", "words", None, 2, 1, 7.5, None)
    ]
    assert rows(old, "SELECT query_id, moment_id, rank, score, start_s, end_s FROM candidate_source") == [
        (1, 2, 1, 0.75, 5.0, 9.5),
        (1, 1, 2, 0.5, 0.0, 5.0),
        (2, 3, 1, 0.25, 20.0, 30.0),
    ]


def test_a_project_without_lists_has_no_source(tmp_path: Path) -> None:
    file = tmp_path / "reelrank.db"
    migrate(file)
    assert rows(file, "SELECT * FROM source") == []


RUN = "INSERT INTO source (source_id, kind, name, sha256, depth, part) VALUES "
FOUND = "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) VALUES "


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE candidate SET similarity = NULL WHERE query_id = 1", "CHECK"),
        ("UPDATE pair SET similarity = NULL WHERE pair_id = 1", "CHECK"),
        ("UPDATE pair SET similarity = 0.5, encoder = 'words' WHERE pair_id = 2", "CHECK"),
        ("UPDATE pair SET rank = NULL WHERE pair_id = 1", "CHECK"),
        (f"{RUN} (9, 'run', 'mine', NULL, 20, 2)", "CHECK"),
        (f"{RUN} (9, 'captions', 'words', 'ab', 20, 2)", "CHECK"),
        (f"{RUN} (8, 'run', 'mine', 'ab', 20, 2), (9, 'run', 'mine', 'cd', 20, 2)", "UNIQUE"),
        (f"{FOUND} (2, 1, 1, 5, 0.5, 0, 5)", "FOREIGN KEY"),
        (f"{FOUND} (1, 1, 1, 1, 0.5, 0, 5)", "UNIQUE"),
    ],
)
def test_the_tables_refuse_what_cannot_be(old: Path, statement: str, problem: str) -> None:
    migrate(old)
    with pytest.raises(sqlite3.IntegrityError, match=problem):
        rows(old, statement)


def test_a_pair_that_only_runs_found_has_no_similarity(old: Path) -> None:
    migrate(old)
    rows(old, "INSERT INTO candidate (query_id, rank, moment_id) VALUES (2, 2, 1)")
    rows(old, "INSERT INTO pair (pair_id, pair_key, batch_id, query_id, moment_id, rank) VALUES (4, 'd', 1, 2, 1, 2)")
    assert rows(old, "SELECT similarity, encoder FROM pair WHERE pair_id = 4") == [(None, None)]
