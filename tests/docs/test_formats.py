"""The page of formats names every field of a release, and none that is not there."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.monitoring.model_judge import rows as model_grades
from backend.campaign.monitoring.model_judge.model import AnswerOutcome, Judge, ModelAnswer
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.exporting import export_form
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.queries import list_queries
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.store.connection import writing
from support import NOW, PARTLY, Judging

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def told(text: str) -> dict[str, dict[str, str]]:
    """What the tables of the page name, by file: each field with the rest of its line."""
    found: dict[str, dict[str, str]] = {}
    for section in re.split("^#{2,3} ", text, flags=re.MULTILINE)[1:]:
        title, *lines = section.splitlines()
        rows = [line for line in lines if line.startswith("| `")]
        fields = {
            name: rest
            for first, _, rest in (row[1:].partition("|") for row in rows)
            for name in re.findall(r"`([^`]+)`", first)
        }
        found |= dict.fromkeys(re.findall(r"`([^`]+)`", title), fields)
    return found


def fields(document: list[dict[str, Any]]) -> set[str]:
    """The fields of queries, and of their moments."""
    moments = {f"relevant_moment[].{name}" for one in document for moment in one["relevant_moment"] for name in moment}
    return {name for one in document for name in one} | moments


@pytest.fixture
def release(judging: Judging, tmp_path: Path) -> Path:
    """One with everything that is not in every release."""
    project, lead = judging.project, judging.lead
    queries = list_queries(project, OPERATOR)
    place = project.store.db.conn.execute("SELECT name FROM video").fetchone()[0]
    (tmp_path / "ours.json").write_text(json.dumps({one.query_id: [[place, 0.0, 1.0, 0.5]] for one in queries}))
    pool_candidates(project, lead, [tmp_path / "ours.json"], again=True, now=NOW)
    for pair in judging.pairs():
        for who in (0, 1):
            judging.grade(who, pair.pair, 3)
    db = project.store.db
    pair, text = db.conn.execute("SELECT pair_id, text FROM pair JOIN query USING (query_id)").fetchone()
    answer = ModelAnswer(pair, text, AnswerOutcome.GRADED, 3, "A man sits.", 9, 9, None, NOW)
    with writing(project.store):
        model_grades.add(db, Judge("eye", "judge-1"), "host", [answer])
    options = replace(PARTLY, with_published=True, with_model_grades=True)
    export_release(project, OPERATOR, tmp_path / "release", options, now=NOW)
    return tmp_path / "release"


def test_every_field_of_a_release_is_told_of(release: Path) -> None:
    found: dict[str, set[str]] = {}
    for file in release.glob("*.json"):
        document = json.loads(file.read_text())
        found[file.name] = fields(document) if isinstance(document, list) else set(document)
    del found["video_corpus.json"]
    for file in release.glob("*.csv"):
        with file.open() as lines:
            found[file.name] = set(next(csv.reader(lines)))
    assert {"val.json", "manifest.json", "model-grades.json", "raw_annotation.csv", "train_top01.json"} < set(found)
    page = told(PAGE.read_text("utf-8"))
    assert {name: names - set(page[name]) for name, names in found.items() if names - set(page[name])} == {}
    missing = {(name, field) for name, names in found.items() for field in set(page[name]) - names}
    assert {one for one in missing if "only" not in page[one[0]][one[1]]} == set()


@pytest.mark.parametrize("form", ["trec", "qvhighlights"])
def test_every_file_and_field_of_another_form_is_told_of(release: Path, judging: Judging, form: str) -> None:
    out = release.parent / form
    export_form(judging.project, OPERATOR, out, form, PARTLY)
    page = PAGE.read_text("utf-8").partition("## A release in other forms")[2]
    names = set()
    for file in out.iterdir():
        names.add(file.name)
        if file.suffix == ".csv":
            names |= set(file.read_text().splitlines()[0].split(","))
        if file.suffix == ".jsonl":
            names |= {name for line in file.read_text().splitlines() for name in json.loads(line)}
    names -= {"README.md", "manifest.json"}
    assert len(names) > 6
    assert [name for name in names if f"`{name}`" not in page] == []
