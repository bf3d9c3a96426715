"""A release of pooled candidates: it names what found each pair, is valid, and comes back the same."""

import csv
import json
from pathlib import Path

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.importing import import_release
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import query_pairs
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from backend.store import connection
from support import NOW, PARTLY, Judging, WordEncoder, person_of

SAME = ("val.json", "test.json", "raw_annotation.csv", "raw_query_moment_pair.csv")


@pytest.fixture
def pooled(judging: Judging, tmp_path: Path) -> Judging:
    """A run found, of the first query, ranks 2 and 30 of the list; all pairs are settled."""
    project = judging.project
    query = judging.pairs()[0].query_id
    places = project.store.db.conn.execute(
        "SELECT v.name, m.start_s, m.end_s FROM candidate JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) WHERE query_id = ? AND rank IN (2, 30) ORDER BY rank",
        [query],
    ).fetchall()
    (tmp_path / "ours.json").write_text(json.dumps({query: [[*place, 0.5] for place in places]}))
    pool_candidates(project, judging.lead, [tmp_path / "ours.json"], again=True, now=NOW)
    for pair in judging.pairs():
        for who in (0, 1):
            judging.grade(who, pair.pair, pair.rank % 5)
    return judging


def test_it_names_what_found_each_pair_and_comes_back(
    pooled: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    first, second = tmp_path / "first", tmp_path / "second"
    export_release(pooled.project, OPERATOR, first, now=NOW)
    with (first / "raw_query_moment_pair.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if "ours" in row["sources"]]
    assert [(row["rank"], row["sources"]) for row in rows] == [
        ("2", "ours 1; captions 2"),
        ("30", "ours 2; captions 30"),
    ]
    manifest = json.loads((first / "manifest.json").read_text())
    assert [(one["kind"], one["name"], one["part"]) for one in manifest["sources"]] == [
        ("captions", "words-64", 1),
        ("run", "ours", 2),
    ]
    assert "Candidates chosen by `words-64`, `ours`" in (first / "README.md").read_text()
    assert validate_release(first).problems == []
    import_release(first, tmp_path / "again", encoder="minilm", now=NOW + 1)
    again = open_project(tmp_path / "again")
    export_release(again, OPERATOR, second, now=NOW + 2)
    for name in SAME:
        assert (second / name).read_bytes() == (first / name).read_bytes(), name
    assert json.loads((second / "manifest.json").read_text())["sources"] == manifest["sources"]
    assert doctor(again, now=NOW + 3).findings == ()


def test_a_release_of_captions_alone_says_nothing_of_sources(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    adjudicate(judging.project, judging.lead, judging.pairs()[0].pair, 3, "seen it", seen=0, now=NOW)
    export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, now=NOW)
    with (tmp_path / "out" / "raw_query_moment_pair.csv").open() as file:
        assert "sources" not in next(csv.reader(file))
    assert "sources" not in json.loads((tmp_path / "out" / "manifest.json").read_text())


def test_a_project_that_had_nothing_but_videos_and_questions_is_released_and_comes_back(tmp_path: Path) -> None:
    """No caption, no encoder: what two runs found for a person's own query is graded."""
    project = init_project(tmp_path / "project", encoder="minilm")
    with connection.writing(project.store) as db:
        db.conn.executemany("INSERT INTO video (name, duration_s) VALUES (?, 60)", [("a",), ("b",)])
    (tmp_path / "queries.txt").write_text("Somebody pours coffee.\n")
    draw_queries(project, OPERATOR, val=0, test=0, own=tmp_path / "queries.txt", now=NOW)
    query = project.store.db.conn.execute("SELECT query_id FROM query").fetchone()[0]
    found = {"x": [["a", 3, 9, 0.9], ["b", 0, 5, 0.8]], "y": [["b", 0, 4.5, 7.5], ["b", 20, 31, 3.5]]}
    for name, predictions in found.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({query: predictions}))
    files = [tmp_path / "x.json", tmp_path / "y.json"]
    report = pool_candidates(project, OPERATOR, files, captions=False, now=NOW)
    assert (report.candidates, report.moments, report.pairs) == (3, 3, 3)
    add_person(project, OPERATOR, "Lea", Role.LEAD, now=NOW)
    for pair in query_pairs(project, OPERATOR, query):
        adjudicate(project, person_of(project, "Lea"), pair.pair, pair.rank, "seen it", seen=0, now=NOW)
    first, second = tmp_path / "first", tmp_path / "second"
    export_release(project, OPERATOR, first, now=NOW)
    assert validate_release(first).problems == []
    (truth,) = json.loads((first / "test.json").read_text()) + json.loads((first / "val.json").read_text())
    fields = ("video_name", "timestamp", "similarity", "relevance")
    assert [tuple(one[name] for name in fields) for one in truth["relevant_moment"]] == [
        ("b", [0.0, 4.5], None, 1),  # both runs have it, one of them at its first rank
        ("a", [3.0, 9.0], None, 2),
        ("b", [20.0, 31.0], None, 3),
    ]
    import_release(first, tmp_path / "again", encoder="minilm", now=NOW + 1)
    export_release(open_project(tmp_path / "again"), OPERATOR, second, now=NOW + 2)
    for name in SAME:
        assert (second / name).read_bytes() == (first / name).read_bytes(), name
