"""The migrations that make tables anew: every row of an older project, and what the tables take from then on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.store import connection
from backend.store.engine import SqliteDatabase
from backend.store.schema import migrations

EXAM, RULINGS, SOURCES, CLOSED = "m016_exam_rounds", "m026_rulings", "m033_sources", "m044_closed_seat"
OLD_ROWS = {
    # An exam that is over, and one that is held.
    EXAM: """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (1, 'Lea', 'lead', 1), (2, 'Anna', 'annotator', 1);
INSERT INTO pair (pair_id, pair_key) VALUES (1, 'a'), (2, 'b');
INSERT INTO exam VALUES (1, 10.5, 1, 'settled pairs', 3, 20, 30), (2, 40, NULL, 'key.csv', NULL, 10, NULL);
INSERT INTO exam_item VALUES (1, 1, 1, 4, ''), (2, 1, 2, 0, 'nobody is there'), (3, 2, 1, 4, '');
INSERT INTO exam_attempt VALUES (1, 1, 2, 1, 'aaaa', 11, 12, 13), (2, 2, 2, 2, 'bbbb', 41, NULL, NULL);
INSERT INTO exam_answer VALUES
  (1, 1, 1, 0, 3, 11, 900, 'x'), (1, 2, 1, 0, 4, 11, 800, 'y'), (1, 2, 2, 1, 0, 14, 0, 'z'),
  (2, 3, 1, 0, 4, 42, 0, 'w');
INSERT INTO exam_ruling VALUES (1, 2, 1, 'retake', '', 1, 20);
""",
    # In the middle of a dispute that a lead decided.
    RULINGS: """
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
""",
    # Lists, a training list, a probe's pair, one known by its number alone.
    SOURCES: """
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
""",
    CLOSED: """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES
  (1, 'Lea', 'lead', 1), (2, 'Anna', 'annotator', 1), (3, 'Boris', 'annotator', 1);
INSERT INTO pair (pair_id, pair_key) VALUES (1, 'decided'), (2, 'open'), (3, 'taken back');
INSERT INTO seat (pair_id, seat_no, annotator_id, lease_until, claim_no) VALUES
  (1, 1, 2, NULL, 1), (1, 2, 3, 900, 1), (1, 3, NULL, NULL, NULL), (2, 1, 2, NULL, 2), (2, 2, NULL, NULL, NULL),
  (3, 1, NULL, NULL, NULL);
INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) VALUES
  (1, 1, 2, 1, 0, 5, 'x'), (2, 1, 2, 1, 4, 6, 'y');
INSERT INTO adjudication (pair_id, revision, lead_id, relevance, reason, decided_at) VALUES
  (1, 1, 1, 2, 'so', 8), (3, 1, 1, 3, 'so', 9);
INSERT INTO ruling (pair_id, revision, lead_id, kind, takes_back, reason, ruled_at) VALUES
  (3, 2, 1, 'taken_back', 1, 'not so', 10)
""",
}
TABLES = {
    EXAM: ("exam", "exam_item", "exam_attempt", "exam_answer", "exam_ruling"),
    RULINGS: ("seat", "judgement", "adjudication", "consensus", "agenda", "pair"),
    SOURCES: ("candidate", "pair", "seat", "judgement", "consensus", "batch"),
}


def make(folder: Path, before: str, statements: str) -> Path:
    """Make a database as it was before a migration, with these rows."""
    file = folder / "reelrank.db"
    with closing(sqlite3.connect(file)) as conn:
        migrations.apply(SqliteDatabase(conn), stop_before=before)
        for statement in statements.strip().split(";\n"):
            conn.execute(statement)
        conn.commit()
    return file


def rows(file: Path, sql: str) -> list[tuple[object, ...]]:
    """Read a database, or change it as far as its rules let anybody."""
    with closing(sqlite3.connect(file)) as conn:
        conn.execute("PRAGMA foreign_keys = 1")
        found = conn.execute(sql).fetchall()
        conn.commit()
    return found


def columns(file: Path, tables: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of tables, as a query names them."""
    return {table: ", ".join(str(row[1]) for row in rows(file, f"PRAGMA table_info({table})")) for table in tables}


def contents(file: Path, names: dict[str, str]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of tables in these columns."""
    return {table: rows(file, f"SELECT {found} FROM {table} ORDER BY {found}") for table, found in names.items()}


def migrate(file: Path, *, cut_off: str = "") -> None:
    """Bring a database to the present level, after one try at a migration that was cut off at its end."""
    with closing(sqlite3.connect(file)) as conn:
        db = SqliteDatabase(conn)
        if cut_off:
            next(one for one in migrations._migrations if one.name == cut_off).fn(db)
        migrations.apply(db)


@pytest.fixture
def old(tmp_path: Path, name: str) -> Path:
    """A database of the level before a migration."""
    return make(tmp_path, name, OLD_ROWS[name])


@pytest.mark.parametrize("cut_off", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_every_row_index_and_trigger_is_still_there(old: Path, name: str, cut_off: bool) -> None:
    marks = ", ".join(f"'{table}'" for table in TABLES[name] if name != EXAM)
    things = f"SELECT type, name FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name IN ({marks})"
    names = columns(old, TABLES[name])
    before, with_them = contents(old, names), set(rows(old, things))
    assert all(before.values())
    migrate(old, cut_off=name * cut_off)
    assert contents(old, names) == before
    assert set(rows(old, things)) >= with_them
    assert rows(old, "PRAGMA foreign_key_check") == []


RULING = "INSERT INTO ruling (pair_id, revision, lead_id, kind, takes_back, reason, ruled_at) VALUES "
RUN = "INSERT INTO source (source_id, kind, name, sha256, depth, part) VALUES "
FOUND = "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) VALUES "


@pytest.mark.parametrize(
    ("name", "statement", "problem"),
    [
        (EXAM, "INSERT INTO exam (set_at, source, most_missed) VALUES (50, 'open pairs', 20)", "UNIQUE"),
        (EXAM, "UPDATE exam SET used_at = 60 WHERE exam_id = 1", "CHECK"),
        (EXAM, "INSERT INTO exam (set_at, source, most_missed, purpose) VALUES (50, 'open', 0, 'trial')", "CHECK"),
        (
            EXAM,
            "INSERT INTO exam (set_at, source, most_missed, purpose, key_from, closed_at) "
            "VALUES (50, 'open pairs', 0, 'trial', 'none', 51)",
            "CHECK",
        ),
        (RULINGS, "INSERT INTO seat (pair_id, seat_no) VALUES (1, 7)", "CHECK"),
        (RULINGS, "UPDATE agenda SET nearest = 7", "CHECK"),
        (RULINGS, f"{RULING} (1, 3, 1, 're_opened', NULL, ' ', 10)", "CHECK"),
        (RULINGS, f"{RULING} (1, 3, NULL, 'taken_back', 2, 'why', 10)", "CHECK"),
        (RULINGS, f"{RULING} (1, 3, 1, 'taken_back', NULL, 'why', 10)", "CHECK"),
        (RULINGS, f"{RULING} (1, 3, 1, 'taken_back', 3, 'why', 10)", "CHECK"),
        (RULINGS, f"{RULING} (1, 3, 1, 'taken_back', 2, 'a', 10), (1, 4, 1, 'taken_back', 2, 'b', 10)", "UNIQUE"),
        (RULINGS, f"{RULING} (9, 1, 1, 'discard_confirmed', NULL, '', 10)", "FOREIGN KEY"),
        (SOURCES, "UPDATE candidate SET similarity = NULL WHERE query_id = 1", "CHECK"),
        (SOURCES, "UPDATE pair SET similarity = NULL WHERE pair_id = 1", "CHECK"),
        (SOURCES, "UPDATE pair SET similarity = 0.5, encoder = 'words' WHERE pair_id = 2", "CHECK"),
        (SOURCES, "UPDATE pair SET rank = NULL WHERE pair_id = 1", "CHECK"),
        (SOURCES, f"{RUN} (9, 'run', 'mine', NULL, 20, 2)", "CHECK"),
        (SOURCES, f"{RUN} (9, 'captions', 'words', 'ab', 20, 2)", "CHECK"),
        (SOURCES, f"{RUN} (8, 'run', 'mine', 'ab', 20, 2), (9, 'run', 'mine', 'cd', 20, 2)", "UNIQUE"),
        (SOURCES, f"{FOUND} (2, 1, 1, 5, 0.5, 0, 5)", "FOREIGN KEY"),
        (SOURCES, f"{FOUND} (1, 1, 1, 1, 0.5, 0, 5)", "UNIQUE"),
    ],
)
def test_the_tables_refuse_what_cannot_be(old: Path, statement: str, problem: str) -> None:
    migrate(old)
    with pytest.raises(sqlite3.IntegrityError, match=problem):
        rows(old, statement)


@pytest.mark.parametrize("name", [EXAM])
def test_what_had_a_key_has_it_and_what_is_set_aside_follows_from_the_old_rows(old: Path) -> None:
    migrate(old)
    assert rows(old, "SELECT exam_id, purpose, key_from, closed_at, used_at FROM exam ORDER BY 1") == [
        (1, "exam", "settled", 10.5, None),
        (2, "exam", "settled", 40.0, None),
    ]
    assert rows(old, "SELECT pair_id FROM set_aside") == [(1,)], "pair 2 was asked in an exam that is over"
    assert rows(old, "SELECT DISTINCT pair_id, annotator_id FROM known_pair ORDER BY 1") == [(1, 2), (2, 2)]


def test_a_trial_may_be_held_beside_an_exam_with_attempts_counted_anew(tmp_path: Path) -> None:
    store = connection.create(tmp_path / "new.db")
    for statement in OLD_ROWS[EXAM].strip().split(";\n")[:2]:
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


@pytest.mark.parametrize("name", [RULINGS])
def test_the_older_decisions_stand_as_acts_of_the_lead(old: Path) -> None:
    migrate(old)
    assert rows(old, "SELECT grade FROM standing WHERE pair_id = 1 ORDER BY seat_no") == [(0,), (3,)]
    assert rows(old, "SELECT pair_id, revision, lead_id, kind, relevance, reason, at, stands FROM lead_act") == [
        (1, 1, 1, "decided", 2, "so", 8.0, 1),
        (1, 2, 1, "decided", 3, "no, so", 9.0, 1),
    ]


@pytest.mark.parametrize("name", [RULINGS])
@pytest.mark.parametrize("statement", ["UPDATE ruling SET reason = 'x'", "DELETE FROM ruling"])
def test_nothing_that_a_lead_said_is_ever_changed(old: Path, statement: str) -> None:
    migrate(old)
    rows(old, f"{RULING} (1, 3, 1, 'taken_back', 2, 'why', 10)")
    assert rows(old, "SELECT revision, stands FROM lead_act") == [(1, 1), (2, 0), (3, 0)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        rows(old, statement)


@pytest.mark.parametrize("name", [SOURCES])
def test_lists_of_before_came_from_captions_those_of_training_queries_from_nothing_that_is_noted(old: Path) -> None:
    migrate(old)
    assert rows(old, "SELECT part FROM batch") == [(1,), (1,)]
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


@pytest.mark.parametrize("name", [SOURCES])
def test_a_pair_that_only_runs_found_has_no_similarity(old: Path) -> None:
    migrate(old)
    rows(old, "INSERT INTO candidate (query_id, rank, moment_id) VALUES (2, 2, 1)")
    rows(old, "INSERT INTO pair (pair_id, pair_key, batch_id, query_id, moment_id, rank) VALUES (4, 'd', 1, 2, 1, 2)")
    assert rows(old, "SELECT similarity, encoder FROM pair WHERE pair_id = 4") == [(None, None)]


@pytest.mark.parametrize("name", [CLOSED])
def test_the_seats_of_decided_pairs_are_closed(old: Path) -> None:
    in_order = "SELECT * FROM seat ORDER BY pair_id, seat_no"
    before = rows(old, in_order)
    migrate(old)
    after = rows(old, in_order)
    assert [row[:-1] for row in after] == before
    assert [row[:2] for row in after if row[-1]] == [(1, 2), (1, 3)]


KEPT_JOB = """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (1, 'Lea', 'lead', 1);
INSERT INTO long_work (one, work_key, step, title, begun_by, began_at, heard_at, state, what, done, total, asked)
VALUES (1, 'a key', '{step}', 'Counting', 1, 5, 9, '{state}', 'counting', 1, 3, '{{"file": "a.csv"}}')
"""


@pytest.mark.parametrize(
    ("step", "state", "kind", "subject"),
    [("videos", "done", "set up", "videos"), ("release", "under way", "release", "")],
)
def test_the_job_of_an_older_project_stays(tmp_path: Path, step: str, state: str, kind: str, subject: str) -> None:
    file = make(tmp_path, "m046_job", KEPT_JOB.format(step=step, state=state))
    migrate(file)
    (job,) = rows(file, "SELECT * FROM job")
    assert job[:10] == (1, "a key", kind, subject, 1, "Counting", 1, 5.0, 9.0, state)
    assert job[10:16] == ("counting", 1, 3, "", "{}", '{"file": "a.csv"}')
    assert rows(file, "SELECT name FROM sqlite_master WHERE name = 'long_work'") == []


def test_a_project_without_a_job_has_none(tmp_path: Path) -> None:
    file = make(tmp_path, "m046_job", "")
    migrate(file)
    assert rows(file, "SELECT * FROM job") == []
