"""What each part gets, and which projects stay whole."""

import hashlib
from pathlib import Path

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import SkipEvent, SkipKind
from backend.campaign.judging.queue import record_skip
from backend.campaign.nouns import OPERATOR
from backend.campaign.parts.splitting import split
from backend.campaign.qualification.exam.model import ExamKey
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.settings_file import read_settings
from backend.core.errors import ProjectError
from support import NOW, Judging, sit

QUERIES = "SELECT query_id, text, split FROM query WHERE split <> 'train' ORDER BY position, query_id"
PAIRS = "SELECT pair_id, pair_key, query_id, rank FROM pair ORDER BY 1"


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(sql)]


def refused(project: Project, out: Path, parts: int = 2, now: float = NOW) -> str:
    with pytest.raises(ProjectError) as error:
        split(project, parts, out, now=now)
    assert not out.exists()
    return str(error.value)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_queries_are_dealt_out_and_keep_their_numbers(judging: Judging, tmp_path: Path) -> None:
    project = judging.project
    before = rows(project, QUERIES), rows(project, PAIRS)
    made = split(project, 2, tmp_path / "parts", now=NOW + 5)
    assert [part.folder for part in made] == [tmp_path / "parts" / "part-1", tmp_path / "parts" / "part-2"]
    parts = [open_project(part.folder) for part in made]
    assert [rows(part, QUERIES) for part in parts] == [before[0][0::2], before[0][1::2]]
    assert sorted(row for part in parts for row in rows(part, PAIRS)) == before[1]
    assert [(part.val + part.test, part.pairs) for part in made] == [(2, 40), (1, 20)]
    for part in parts:
        assert doctor(part, now=NOW + 6).findings == ()
        for shared in ("SELECT * FROM moment", "SELECT * FROM caption", "SELECT * FROM query WHERE split = 'train'"):
            assert sorted(map(repr, rows(part, shared))) == sorted(map(repr, rows(project, shared)))
        assert list_people(part, OPERATOR) == list_people(project, OPERATOR)
        assert read_settings(part.folder).database == ""
    assert (rows(project, QUERIES), rows(project, PAIRS)) == before


def test_the_project_does_not_change(judging: Judging, tmp_path: Path) -> None:
    judging.project.store.close()

    def state() -> dict[str, str]:
        files = [file for file in judging.project.folder.rglob("*") if file.is_file()]
        return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    before = state()
    project = open_project(judging.project.folder)
    split(project, 3, tmp_path / "parts", now=NOW)
    project.store.close()
    assert state() == before


def test_a_project_on_which_people_work_stays_whole(judging: Judging, tmp_path: Path) -> None:
    project, pair = judging.project, judging.pairs()[0].pair
    sit(project, judging.annotators[0], [pair], now=NOW)
    assert "has 1 pair on desks, so it stays one project" in refused(project, tmp_path / "parts")
    judging.grade(0, pair, 3)
    assert "has grades, so it stays one project" in refused(project, tmp_path / "parts", now=NOW + 9999)


def test_skips_and_exams_keep_a_project_whole(judging: Judging, tmp_path: Path) -> None:
    project, pair = judging.project, judging.pairs()[0].pair
    sit(project, judging.annotators[0], [pair], now=NOW)
    event = SkipEvent(pair, SkipKind.SKIP, "it is too dark", "a key")
    record_skip(project.store, judging.annotators[0], event, now=NOW)  # type: ignore[arg-type]
    judging.give_videos_files()
    set_exam(project, OPERATOR, queries=1, pairs=2, seed=1, key=ExamKey.OWN, now=NOW + 5)
    said = refused(project, tmp_path / "parts", now=NOW + 9999)
    assert "has skips, an exam or a calibration round, so it stays one project" in said


def test_a_lease_that_ended_does_not_count(judging: Judging, tmp_path: Path) -> None:
    pair = judging.pairs()[0].pair
    sit(judging.project, judging.annotators[0], [pair], now=NOW)
    made = split(judging.project, 2, tmp_path / "parts", now=NOW + 9999)
    for part in made:
        assert rows(open_project(part.folder), "SELECT count(*) FROM seat WHERE annotator_id IS NOT NULL") == [(0,)]


def test_a_part_is_not_split_again_and_none_is_empty(judging: Judging, tmp_path: Path) -> None:
    assert "has 3 validation and test queries, too few for 4 parts" in refused(judging.project, tmp_path / "out", 4)
    (part, *_) = split(judging.project, 3, tmp_path / "parts", now=NOW)
    assert "is part 1 of 3 already" in refused(open_project(part.folder), tmp_path / "out")
    with pytest.raises(ProjectError, match="exists already and is not empty"):
        split(judging.project, 3, tmp_path / "parts", now=NOW)
