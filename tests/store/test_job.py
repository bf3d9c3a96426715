"""The migration to the table of jobs: the one job that an older project kept is in it."""

from pathlib import Path

import pytest
from older_database import make, migrate, rows

KEPT = """
INSERT INTO annotator (annotator_id, name, role, created_at) VALUES (1, 'Lea', 'lead', 1);
INSERT INTO long_work (one, work_key, step, title, begun_by, began_at, heard_at, state, what, done, total, asked)
VALUES (1, 'a key', '{step}', 'Counting', 1, 5, 9, '{state}', 'counting', 1, 3, '{{"file": "a.csv"}}')
"""


@pytest.mark.parametrize(
    ("step", "state", "kind", "subject"),
    [("videos", "done", "set up", "videos"), ("release", "under way", "release", "")],
)
def test_the_job_of_an_older_project_stays(tmp_path: Path, step: str, state: str, kind: str, subject: str) -> None:
    file = make(tmp_path, "m046_job", KEPT.format(step=step, state=state))
    migrate(file)
    (job,) = rows(file, "SELECT * FROM job")
    assert job[:10] == (1, "a key", kind, subject, 1, "Counting", 1, 5.0, 9.0, state)
    assert job[10:] == ("counting", 1, 3, "", "{}", '{"file": "a.csv"}')
    assert rows(file, "SELECT name FROM sqlite_master WHERE name = 'long_work'") == []


def test_a_project_without_a_job_has_none(tmp_path: Path) -> None:
    file = make(tmp_path, "m046_job", "")
    migrate(file)
    assert rows(file, "SELECT * FROM job") == []
