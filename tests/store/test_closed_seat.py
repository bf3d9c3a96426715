"""The migration to closed seats: those of pairs that a lead had decided are closed, and no others."""

from pathlib import Path

from older_database import make, migrate, rows

NAME = "m044_closed_seat"
OLD_ROWS = """
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
"""


def test_the_seats_of_decided_pairs_are_closed(tmp_path: Path) -> None:
    file = make(tmp_path, NAME, OLD_ROWS)
    in_order = "SELECT * FROM seat ORDER BY pair_id, seat_no"
    before = rows(file, in_order)
    migrate(file)
    after = rows(file, in_order)
    assert [row[:-1] for row in after] == before
    assert [row[:2] for row in after if row[-1]] == [(1, 2), (1, 3)]
