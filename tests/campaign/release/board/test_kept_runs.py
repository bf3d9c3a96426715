"""Truths and runs that a project keeps: the same columns come back, nothing half kept, nothing changed afterwards."""

import gzip
import hashlib
import json
import sqlite3
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.doctor.database import backup, restore
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board import kept_runs
from backend.campaign.release.board.kept_runs import (
    add_run,
    add_truth,
    list_runs,
    list_truths,
    load_run,
    load_truth,
    remove_run,
    remove_truth,
)
from backend.campaign.release.board.truths import truth_of_project
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import InputError, NotAllowed, ProjectError
from backend.scoring.files.formats import read_run, read_truth, read_videos
from backend.scoring.matching.columns import Spans
from support import NOW, Judging

TRUTH = [
    {"query_id": 5, "relevant_moment": [{"video_name": "ä", "timestamp": [0, 9.25], "relevance": 4}]},
    {"query_id": "six", "relevant_moment": []},
    {"query_id": 7, "relevant_moment": [{"video_name": v, "timestamp": [1, 2], "relevance": 0} for v in ("ä", "b")]},
]
RUN = {"7": [["b", 1, 2.5, 0.1], ["z", 0.1, 0.3, -1e300]], "5": [], "six": [["b", 3, 4, 7]]}


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / name
    content = json.dumps(document).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def same(kept: Spans, read: Spans) -> None:
    for field in fields(kept):
        ours, theirs = getattr(kept, field.name), getattr(read, field.name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype, field.name
            assert np.array_equal(ours, theirs), field.name
        elif field.name != "file":
            assert ours == theirs, field.name


def events(project: Project) -> list[tuple[str, str, dict[str, object]]]:
    rows = project.store.db.conn.execute(
        "SELECT kind, subject, payload FROM event WHERE kind LIKE 'truth%' OR kind LIKE 'run_%' ORDER BY event_id"
    )
    return [(row[0], row[1], json.loads(row[2])) for row in rows]


def test_the_columns_of_a_file_come_back_as_they_were_read(corpus_project: Project, tmp_path: Path) -> None:
    truth, run = write(tmp_path, "val.json", TRUTH), write(tmp_path, "mine.v2.json.gz", RUN)
    kept = add_truth(corpus_project, OPERATOR, truth, now=NOW)
    assert (kept.name, kept.file, kept.queries, kept.moments) == ("val", "val.json", 3, 3)
    assert kept.sha256 == hashlib.sha256(truth.read_bytes()).hexdigest()
    assert add_run(corpus_project, OPERATOR, run, now=NOW).name == "mine.v2"
    again = open_project(corpus_project.folder)
    same(load_truth(again, OPERATOR, "val"), read_truth(truth))
    same(load_run(again, OPERATOR, "mine.v2"), read_run(run))
    assert load_run(again, OPERATOR, "mine.v2").file == "mine.v2"


def test_indices_are_kept_as_the_names_that_the_map_gave_them(corpus_project: Project, tmp_path: Path) -> None:
    run, videos = write(tmp_path, "run.json", {"5": [[7, 0, 1, 2]]}), write(tmp_path, "map.json", {"b": [9.5, 7]})
    with pytest.raises(InputError, match="give --videos"):
        add_run(corpus_project, OPERATOR, run, now=NOW)
    add_run(corpus_project, OPERATOR, run, videos=videos, now=NOW)
    assert load_run(corpus_project, OPERATOR, "run").videos == ("b",)
    assert events(corpus_project)[-1][2]["videos"] == hashlib.sha256(videos.read_bytes()).hexdigest()


def test_a_list_shows_what_was_added_in_its_order_and_by_whom(judging: Judging, tmp_path: Path) -> None:
    for name in ("b", "a"):
        add_run(judging.project, judging.lead, write(tmp_path, "run.json", RUN), name=name, now=NOW)
    assert [(kept.name, kept.added_by, kept.added_at) for kept in list_runs(judging.project, OPERATOR)] == [
        ("b", "Lea", NOW),
        ("a", "Lea", NOW),
    ]
    assert list_truths(judging.project, OPERATOR) == []


def test_only_leads_add_and_remove(judging: Judging, tmp_path: Path) -> None:
    path = write(tmp_path, "run.json", RUN)
    with pytest.raises(NotAllowed):
        add_run(judging.project, judging.annotators[0], path, now=NOW)
    add_run(judging.project, judging.lead, path, now=NOW)
    with pytest.raises(NotAllowed):
        remove_run(judging.project, judging.annotators[0], "run", now=NOW)
    assert len(list_runs(judging.project, OPERATOR)) == 1


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        ({"5": [["a", 0, 1, 1], ["a", 2, 2, 1]], "6": [["a", -1, 1, 1]]}, [1, 2]),
        ({"5": [["a", 0, 1, 1]], "6": [["a", 0, 1]]}, [2]),
        ({}, [None]),
    ],
    ids=["impossible moments", "shape", "no query"],
)
def test_nothing_is_kept_of_a_file_with_a_problem(
    corpus_project: Project, tmp_path: Path, document: object, rows: list[int | None]
) -> None:
    with pytest.raises(InputError) as refused:
        add_run(corpus_project, OPERATOR, write(tmp_path, "run.json", document), now=NOW)
    assert [problem.row for problem in refused.value.problems] == rows
    assert list_runs(corpus_project, OPERATOR) == []
    assert events(corpus_project) == []


def test_a_relevance_that_is_no_grade_is_refused(corpus_project: Project, tmp_path: Path) -> None:
    moment = {"video_name": "a", "timestamp": [0, 1], "relevance": 2.5}
    path = write(tmp_path, "val.json", [{"query_id": 1, "relevant_moment": [moment]}])
    with pytest.raises(InputError, match=r"val\.json, row 1: query 1, moment 1: relevance 2\.5 is not one of"):
        add_truth(corpus_project, OPERATOR, path, now=NOW)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("run", "This was done at 14:13 UTC by the command line"),
        (" run ", "This was done at 14:13 UTC"),
        ("  ", "the name has no visible characters"),
        ("a\x07b", "the name has no visible characters"),
        ("x" * 101, "the name has 101 characters"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(
    corpus_project: Project, tmp_path: Path, name: str, message: str
) -> None:
    path = write(tmp_path, "run.json", RUN)
    add_run(corpus_project, OPERATOR, path, now=NOW)
    with pytest.raises(ProjectError, match=message):
        add_run(corpus_project, OPERATOR, path, name=name, now=NOW)
    assert len(list_runs(corpus_project, OPERATOR)) == 1


def test_a_kept_run_is_never_changed_only_removed_with_an_event(corpus_project: Project, tmp_path: Path) -> None:
    add_truth(corpus_project, OPERATOR, write(tmp_path, "val.json", TRUTH), now=NOW)
    add_run(corpus_project, OPERATOR, write(tmp_path, "run.json", RUN), now=NOW)
    for table in ("kept_truth", "kept_run"):
        with pytest.raises(sqlite3.IntegrityError, match=f"{table} is never changed"):
            corpus_project.store.db.conn.execute(f"UPDATE {table} SET name = 'other'")
    assert remove_run(corpus_project, OPERATOR, "run", now=NOW + 1).file == "run.json"
    with pytest.raises(ProjectError, match="no run called run; the project has none yet"):
        load_run(corpus_project, OPERATOR, "run")
    with pytest.raises(ProjectError, match="no ground truth called run; the project has val"):
        remove_truth(corpus_project, OPERATOR, "run", now=NOW)
    remove_truth(corpus_project, OPERATOR, "val", now=NOW)
    assert [(kind, subject) for kind, subject, _ in events(corpus_project)] == [
        ("truth_added", "kept_truth:val"),
        ("run_added", "kept_run:run"),
        ("run_removed", "kept_run:run"),
        ("truth_removed", "kept_truth:val"),
    ]


def test_blobs_of_another_length_than_the_counts_cannot_be_kept(corpus_project: Project, tmp_path: Path) -> None:
    add_run(corpus_project, OPERATOR, write(tmp_path, "run.json", RUN), now=NOW)
    db = corpus_project.store.db.conn
    names = [row[1] for row in db.execute("PRAGMA table_info(kept_run)") if row[1] not in ("kept_run_id", "name")]
    for column in ("offsets", "video", "start_s", "end_s", "row", "score", "query_rows"):
        values = ", ".join(f"substr({name}, 2)" if name == column else name for name in names)
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            db.execute(f"INSERT INTO kept_run (name, {', '.join(names)}) SELECT 'x', {values} FROM kept_run")


def test_a_project_with_kept_runs_is_well_and_comes_back_from_a_backup(corpus_project: Project, tmp_path: Path) -> None:
    add_run(corpus_project, OPERATOR, write(tmp_path, "run.json", RUN), now=NOW)
    assert doctor(corpus_project, now=NOW).well
    backup(corpus_project, tmp_path / "copy.db")
    remove_run(corpus_project, OPERATOR, "run", now=NOW)
    corpus_project.store.close()
    restore(corpus_project.folder, tmp_path / "copy.db", now=NOW)
    assert [kept.name for kept in list_runs(open_project(corpus_project.folder), OPERATOR)] == ["run"]


def test_the_truth_of_a_project_is_what_its_release_holds(judging: Judging, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no val query is finished and has a settled pair"):
        truth_of_project(judging.project, OPERATOR, "val")
    for n, pair in enumerate(judging.pairs()):
        for who, grade in enumerate((n % 5,) * 2 if n % 3 else (0, 4, 0, 4)):
            judging.grade(who, pair.pair, grade)
    export_release(judging.project, OPERATOR, tmp_path / "release", now=NOW)
    for split in ("val", "test"):
        released = read_truth(tmp_path / "release" / f"{split}.json")
        # The leaderboard takes durations from the project, for every truth alike.
        own = replace(truth_of_project(judging.project, OPERATOR, split), durations=released.durations)
        same(own, released)
    with pytest.raises(ProjectError, match="'train' is not val or test"):
        truth_of_project(judging.project, OPERATOR, "train")


def test_the_real_runs_are_kept_with_their_names(corpus_project: Project, shared: Path) -> None:
    folder = shared / "data" / "tvr_ranking"
    map_file = folder / "video_name_duration_id.json"
    for path in sorted((folder / "runs").glob("*.json")):
        kept = add_run(corpus_project, OPERATOR, path, videos=map_file, now=NOW)
        assert (kept.queries, kept.moments) == (500, 20_000)
        same(load_run(corpus_project, OPERATOR, kept.name), read_run(path, read_videos(map_file)))


def test_a_kept_run_is_found_by_either_form_of_its_name(corpus_project: Project, tmp_path: Path) -> None:
    path = write(tmp_path, "run.json", RUN)
    assert add_run(corpus_project, OPERATOR, path, name="cafe\u0301", now=NOW).name == "caf\u00e9"
    with pytest.raises(ProjectError, match="This was done at"):
        add_run(corpus_project, OPERATOR, path, name="caf\u00e9", now=NOW)
    for unseen in ("a\u200bb", "\u3164", "a\ufe0f"):
        with pytest.raises(ProjectError, match="the name has no visible characters"):
            add_run(corpus_project, OPERATOR, path, name=unseen, now=NOW)
    with sqlite3.connect(corpus_project.folder / "reelrank.db") as db:  # as an earlier release kept it
        db.execute("DROP TRIGGER kept_run_no_update")
        db.execute("UPDATE kept_run SET name = 'cafe\u0301', videos = json('[\"b\", \"A\u0308\"]')")
    assert kept_runs.load_run(corpus_project, OPERATOR, "caf\u00e9").videos == ("b", "\u00c4")
    assert remove_run(corpus_project, OPERATOR, "caf\u00e9", now=NOW)
