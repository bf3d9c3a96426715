"""Texts that not every database keeps: refused at one door, found where an earlier release took them."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from backend.campaign.desk.clips import report_clip
from backend.campaign.doctor.database import move
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import INVITED, OPERATOR, Role, Split
from backend.campaign.qualification.guideline.versions import guideline_versions, reword_guideline
from backend.campaign.release.export import kept_releases as keeping
from backend.campaign.release.export import terms
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.selection.queries.drawing import change_query
from backend.campaign.selection.queries.rows import query_rows
from backend.campaign.selection.queries.rules import parse_own
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import open_project
from backend.core import typed_text
from backend.core.errors import InputError, ProjectError, ReelRankError, SignInRefused, TextRefused
from backend.store import events
from backend.store.connection import reading, writing
from postgres import ENGINES, Cluster
from support import NOW, Judging

BAD = ("a\0b", "\ud800", "Ünal \udfff")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_no_statement_takes_what_postgresql_would_refuse(judging: Judging) -> None:
    store = judging.project.store
    with writing(store) as db:
        for text in BAD:
            for values in ([text, 1], {"text": text, "id": 1}):
                marks = "?, ?" if isinstance(values, list) else ":text, :id"
                with pytest.raises(TextRefused, match="cannot be stored"):
                    db.conn.execute(f"SELECT 1 FROM annotator WHERE (name, annotator_id) IN (SELECT {marks})", values)
            with pytest.raises(TextRefused, match="cannot be stored"):
                db.conn.executemany("UPDATE annotator SET name = ? WHERE annotator_id = ?", [("Zoe", 1), (text, 1)])
        with pytest.raises(TextRefused):
            events.record(db, INVITED, at=NOW, actor=None, subject="s", payload={"file": "a\0"})
        assert db.conn.execute("SELECT ? || ?", ["née \\u0000", None]).fetchone()[0] is None


def test_what_people_write_and_search_is_refused_in_words(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    pair = judging.pairs()[0].pair
    for text in BAD:
        with pytest.raises(ReelRankError):
            add_person(project, lead, f"Zoe {text}", Role.ANNOTATOR, now=NOW)
        with pytest.raises(TextRefused):
            report_clip(project, lead, pair, text, now=NOW)
        with pytest.raises(SignInRefused):
            sign_in(project, f"Lea{text}", "a long password", now=NOW)


def with_nul(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "reelrank.db")) as db:
        db.execute("UPDATE annotator SET name = 'An' || char(0) || 'na' WHERE annotator_id = 2")
        db.execute("INSERT INTO event (at, kind, subject, payload) VALUES (1, 'invited', 's', '{\"x\":\"\\u0000\"}')")
        db.execute("INSERT INTO event (at, kind, subject, payload) VALUES (1, 'invited', 's', '{\"x\":\"\\\\u0000\"}')")
        db.commit()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_what_an_earlier_release_took_is_named(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    judging.project.store.close()
    folder = Path(shutil.copytree(judging.project.folder, tmp_path / "old"))
    with_nul(folder)
    project = open_project(folder)
    last = project.store.db.conn.execute("SELECT max(event_id) FROM event").fetchone()[0]
    places = ("table annotator, row 2, column name", f"table event, row {last - 1}, column payload")
    findings = {finding.check: set(finding.examples) for finding in doctor(project, now=NOW).findings}
    assert findings.keys() == {"names", "nul"}
    assert findings["nul"] == set(places)
    project.store.close()
    with pytest.raises(ProjectError) as refusal:
        move(folder, cluster.address(cluster.new()), now=NOW)
    assert all(place in str(refusal.value) for place in places)
    assert "Nothing was changed" in str(refusal.value)
    open_project(folder).store.close()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("m.jsonl", '{"video":"a","start":1,"end":2,"caption":"A \\u0000 b"}\n' * 2, ("row 1: ", "row 2: ")),
        ("m.jsonl", '{"video":"a\\u0000","start":1,"end":2,"caption":"A b"}\n', ("row 1: ",)),
        ("m.csv", "video,start,end,caption\nv,1,2,A.\nv\0x,1,2,A.\n", ("row 3: ",)),
        ("a.json", '{"v_a":{"duration":9,"timestamps":[[0,1]],"sentences":["\\u0000"]}}', ("video v_a: ",)),
        ("c.txt", "v 0 1##a \0 b.\n", ("row 1: ",)),
        ("m.jsonl", '{"video":"a","start":1,"end":2,"caption":"A \\b dog"}\n', ("row 1: U+0008",)),
        ("m.jsonl", '{"video":"a\\u001F","start":1,"end":2,"caption":"A dog"}\n', ("row 1: U+001F",)),
        ("m.csv", "video,start,end,caption\nv,1,2,A.\nv,1,2,A \x7f dog.\n", ("row 3: U+007F",)),
        ("c.txt", "v 0 1##a \x1b[0m b.\n", ("row 1: U+001B",)),
    ],
)
def test_files_are_refused_with_their_rows(
    judging: Judging, tmp_path: Path, name: str, content: str, rows: list[str]
) -> None:
    (tmp_path / name).write_text(content, newline="")
    with pytest.raises(InputError) as refusal:
        import_corpus(judging.project, OPERATOR, tmp_path / name, now=NOW)
    said = [str(problem) for problem in refusal.value.problems]
    for row, line in zip(rows, said, strict=True):
        place, _, code = row.partition("U+")
        nul = "the text contains a NUL character, which cannot be stored: remove it"
        assert place + (f"the text contains the control character U+{code}: remove it" if code else nul) in line


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("text", [" ", "\u200b\ufeff", "\u00a0\u3000", "\ufe0f\u2800\u3164", "\u202e\u2066"], ids=ascii)
def test_a_text_of_which_nothing_is_visible_is_empty(judging: Judging, tmp_path: Path, text: str) -> None:
    project, lead = judging.project, judging.lead
    files = {
        "m.jsonl": json.dumps({"video": "a", "start": 1, "end": 2, "duration": 9, "caption": text}),
        "m.csv": f'video,start,end,duration,caption\na,1,2,9,"{text}"\n',
        "n.csv": f'video,start,end,duration,caption\n"{text}",1,2,9,A dog.\n',
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=r"row [12]: the (caption|video name) is empty"):
            import_corpus(project, OPERATOR, tmp_path / name, now=NOW)
    with pytest.raises(ProjectError, match="needs a reason"):
        adjudicate(project, lead, judging.pairs()[0].pair, 2, text, now=NOW)
    lines = f"A cat sits.\n{text}\nIt rains.".encode()
    if text.strip():
        with pytest.raises(InputError, match="row 2: the text is empty"):
            parse_own(lines, "q.txt", Split.TEST, {})
    else:  # a blank line, which a box of queries may have
        assert [query.text for query in parse_own(lines, "q.txt", Split.TEST, {})] == ["A cat sits.", "It rains."]
    assert typed_text.tidy(text) == ""


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_what_leads_type_has_no_control_characters(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    with pytest.raises(ProjectError, match=r"control character U\+001B"):
        terms.set_release_terms(project, OPERATOR, citation="A paper\x1b[2J", now=NOW)
    with pytest.raises(ProjectError, match=r"control character U\+0008"):
        keeping.proper_notes("notes\b")
    grading = replace(guideline_versions(project, lead)[-1].grading, reminders=("Look\x07 twice.",))
    with pytest.raises(InputError, match=r"control character U\+0007"):
        reword_guideline(project, lead, grading, "better words", now=NOW)
    with reading(project.store) as db:
        there = query_rows(db)[0]
    for text, why in (("A cat\x7f", r"control character U\+007F"), ("\u3164", "the text is empty")):
        with pytest.raises(ProjectError, match=why):
            change_query(project, OPERATOR, there.query_id, text, Split.TEST, seen=there.text, now=NOW)
