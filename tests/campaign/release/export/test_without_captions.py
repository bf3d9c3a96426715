"""Moments that nobody described: null wherever their caption stood, from the lead's pages to a release and back."""

import csv
import json
from pathlib import Path

import pytest

from backend.campaign.corpus.captions.decisions import waiting_rewrites
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.diffing import diff_releases
from backend.campaign.release.export.exporting import export_form
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.importing import import_release
from backend.campaign.release.export.validating import validate_release
from backend.campaign.release.statistics.from_project import project_statistics
from backend.campaign.review.queries import list_queries
from backend.campaign.setup.project.folder import open_project
from backend.store.connection import writing
from support import NOW, PARTLY, Judging

LATER = NOW + 86_400


def bare(judging: Judging, *, every: int) -> set[int]:
    """Take the captions of each `every`-th moment away, as if it had come from shots; queries are people's own then."""
    with writing(judging.project.store) as db:
        db.execute("DELETE FROM query WHERE split = 'train'")
        db.execute("UPDATE query SET caption_id = NULL, source = 'own.txt'")
        db.execute("DELETE FROM caption WHERE moment_id % ? = 0", [every])
        db.execute("UPDATE moment SET origin = 'shots' WHERE moment_id % ? = 0", [every])
        return {row[0] for row in db.execute("SELECT moment_id FROM moment WHERE origin = 'shots'").fetchall()}


def graded(judging: Judging) -> None:
    for who in (0, 1):
        for pair in judging.pairs()[:25]:
            judging.grade(who, pair.pair, 3)


def captions(file: Path) -> list[str | None]:
    return [m["caption"] for one in json.loads(file.read_text()) for m in one["relevant_moment"]]


@pytest.mark.parametrize("every", [1, 2])
def test_a_release_has_null_for_them_is_valid_and_comes_back(judging: Judging, tmp_path: Path, every: int) -> None:
    lost = bare(judging, every=every)
    graded(judging)
    project = judging.project
    export_release(project, OPERATOR, tmp_path / "first", PARTLY, now=NOW)
    found = captions(tmp_path / "first" / "val.json") + captions(tmp_path / "first" / "test.json")
    assert len(found) == 25
    if every == 1:
        assert set(found) == {None}
    else:
        assert 0 < found.count(None) < 25
        assert all(found.count(text) for text in found if text is not None)
    card = (tmp_path / "first" / "README.md").read_text()
    assert f"Moments that nobody described: {len(lost)}; their captions are null." in card
    assert validate_release(tmp_path / "first").problems == []
    import_release(tmp_path / "first", tmp_path / "again", encoder="minilm", now=LATER)
    again = open_project(tmp_path / "again")
    assert doctor(again, now=LATER).findings == ()
    export_release(again, OPERATOR, tmp_path / "second", PARTLY, now=LATER)
    for name in ("val.json", "test.json", "raw_annotation.csv", "raw_query_moment_pair.csv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name
    difference = diff_releases(tmp_path / "first", tmp_path / "second")
    assert difference.pairs == ()
    again.store.close()


def test_a_rewritten_caption_that_is_kept_back_is_empty_and_none_is_null(judging: Judging, tmp_path: Path) -> None:
    bare(judging, every=2)
    with writing(judging.project.store) as db:
        db.execute(
            "INSERT INTO caption (moment_id, text, kind, source_caption_id, rule_version, accepted, decided_at) "
            "SELECT moment_id, text, 'rewritten', caption_id, 'by-hand', caption_id % 3 <> 0, 1.0 FROM caption"
        )
    graded(judging)
    export_release(judging.project, OPERATOR, tmp_path / "first", PARTLY, now=NOW)
    found = captions(tmp_path / "first" / "val.json")
    assert {None, ""} < set(found)
    assert validate_release(tmp_path / "first").problems == []
    import_release(tmp_path / "first", tmp_path / "again", encoder="minilm", now=LATER)
    again = open_project(tmp_path / "again")
    export_release(again, OPERATOR, tmp_path / "second", PARTLY, now=LATER)
    assert captions(tmp_path / "second" / "val.json") == found
    assert waiting_rewrites(again) == []
    again.store.close()


@pytest.mark.parametrize("form", ["trec", "parquet", "qvhighlights"])
def test_other_forms_of_it_hold_the_same_pairs(judging: Judging, tmp_path: Path, form: str) -> None:
    bare(judging, every=2)
    graded(judging)
    export_form(judging.project, OPERATOR, tmp_path / form, form, PARTLY)
    if form == "trec":
        assert len((tmp_path / form / "val.qrels").read_text().splitlines()) > 10
        with (tmp_path / form / "val.csv").open(newline="") as file:
            assert next(csv.DictReader(file))


def test_a_lead_sees_that_there_is_none_and_statistics_count_moments(judging: Judging) -> None:
    bare(judging, every=2)
    pairs = [pair for query in list_queries(judging.project, judging.lead) for pair in judging.pairs()]
    assert {pair.caption is None for pair in pairs} == {True, False}
    half = project_statistics(judging.project, OPERATOR)
    assert half.moments == 48
    assert half.pairs == 24
    bare(judging, every=1)
    none = project_statistics(judging.project, OPERATOR)
    assert (none.moments, none.pairs) == (48, 48)
    assert none.notes == ("no moment has a caption, so each moment is counted as one pair",)
