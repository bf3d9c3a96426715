"""Queries are looked at before they are there, changed and removed while nothing hangs on them."""

import json
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.review.queries import take_back_queries
from backend.campaign.review.status import next_step
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import (
    change_query,
    count_drawn_queries,
    draw_queries,
    drawn_queries,
    remove_queries,
)
from backend.campaign.selection.queries.model import OwnFile
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import Overtaken, ProjectError
from backend.store.connection import writing
from support import NOW, Judging


def typed(text: str, split: Split = Split.TEST) -> OwnFile:
    return OwnFile(text.encode(), "typed queries", split)


def state(project: Project) -> list[tuple[object, ...]]:
    tables = ("query", "event")
    return [tuple(row) for name in tables for row in project.store.db.conn.execute(f"SELECT * FROM {name}")]


def told(project: Project) -> list[tuple[object, ...]]:
    rows = project.store.db.conn.execute("SELECT actor, kind, payload FROM event ORDER BY event_id")
    return [(actor, kind, json.loads(payload)) for actor, kind, payload in rows]


@pytest.fixture
def mine(corpus_project: Project) -> Project:
    draw_queries(corpus_project, OPERATOR, val=2, own=typed("A cat sits.\nIt rains.\n"), seed=5, now=NOW)
    return corpus_project


def test_a_dry_run_says_what_the_draw_then_does_and_writes_nothing(corpus_project: Project) -> None:
    before = state(corpus_project)
    wanted = {"val": 3, "test": 2, "seed": 5, "own": typed("A cat sits.\n")}
    seen = draw_queries(corpus_project, OPERATOR, dry_run=True, now=NOW, **wanted)  # type: ignore[arg-type]
    assert seen.dry_run
    assert state(corpus_project) == before
    done = draw_queries(corpus_project, OPERATOR, now=NOW, **wanted)  # type: ignore[arg-type]
    assert (done.val, done.test, done.train, done.removed) == (seen.val, seen.test, seen.train, seen.removed)
    there = [(query.text, query.split) for query in drawn_queries(corpus_project, OPERATOR, most=99)]
    assert [*seen.first] == [*done.first] == there
    assert len(there) == 6


def test_without_captions_there_are_own_queries_alone(tmp_path: Path) -> None:
    project = init_project(tmp_path / "empty", encoder="minilm")
    with pytest.raises(
        ProjectError,
        match=r"no captions to draw from: add them on the page Set up or run .* or bring queries of your own",
    ):
        draw_queries(project, OPERATOR, test=1, own=typed("A cat sits."), now=NOW)
    report = draw_queries(project, OPERATOR, own=typed("A cat sits.\nIt rains.\n", Split.VAL), now=NOW)
    assert (report.val, report.test, report.train, report.own) == (2, 0, 0, 2)
    assert [kind for _, kind, _ in told(project)] == ["queries_added"]
    assert next_step(project, OPERATOR).startswith("reelrank candidates")
    assert draw_queries(project, OPERATOR, own=typed("Snow."), now=NOW).test == 1


def test_queries_are_listed_by_words_and_parts(mine: Project) -> None:
    texts = [query.text for query in drawn_queries(mine, OPERATOR, most=99)]
    assert texts[:2] == ["A cat sits.", "It rains."]
    assert count_drawn_queries(mine, OPERATOR) == len(texts) == 4
    assert [query.text for query in drawn_queries(mine, OPERATOR, first=1, most=2)] == texts[1:3]
    found = drawn_queries(mine, OPERATOR, "SITS cat", most=99)
    assert [(query.text, query.source) for query in found] == [("A cat sits.", "typed queries")]
    assert count_drawn_queries(mine, OPERATOR, "%") == 0


def test_a_query_is_changed_and_removed_with_who_did_it(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    take_back_queries(project, lead, now=NOW)
    draw_queries(project, lead, own=typed("A cat sits.\nIt rains.\n"), now=NOW)
    cat, rain = drawn_queries(project, lead, most=9)
    assert change_query(project, lead, cat.query_id, " A cat sleeps. ", Split.VAL, seen=cat.text, now=NOW)
    assert not change_query(project, lead, cat.query_id, "A cat sleeps.", Split.VAL, seen="A cat sleeps.", now=NOW)
    assert remove_queries(project, lead, [rain.query_id], now=NOW) == 1
    assert remove_queries(project, lead, [rain.query_id], now=NOW) == 0
    left = drawn_queries(project, lead, most=9)
    assert [(query.query_id, query.text, query.split) for query in left] == [(cat.query_id, "A cat sleeps.", Split.VAL)]
    assert told(project)[-2:] == [
        (lead.annotator_id, "query_changed", {"before": "A cat sits.", "text": "A cat sleeps.", "split": "val"}),
        (lead.annotator_id, "queries_removed", {"queries": 1, "texts": ["It rains."]}),
    ]
    assert choose_candidates(project, lead, now=NOW).queries == 1


def test_what_another_query_has_or_somebody_else_changed_is_not_taken(mine: Project) -> None:
    cat, rain, drawn, _ = drawn_queries(mine, OPERATOR, most=9)
    training = mine.store.db.conn.execute("SELECT text FROM query WHERE split = 'train'").fetchone()[0]
    before = state(mine)

    def change(text: str, seen: str) -> None:
        change_query(mine, OPERATOR, cat.query_id, text, Split.VAL, seen=seen, now=NOW)

    for text, said in (
        (" ", "the text is empty"),
        (rain.text, "has a test query with this text"),
        (drawn.text, "has a val query with this text"),
        (training, "has a train query with this text"),
    ):
        with pytest.raises(ProjectError, match=said):
            change(text, cat.text)
    with pytest.raises(Overtaken, match=r"changed this query to “A cat sits\.”"):
        change("A dog sits.", "A cow sits.")
    assert state(mine) == before
    remove_queries(mine, OPERATOR, [cat.query_id], now=NOW)
    with pytest.raises(Overtaken, match="this query is gone"):
        change("A dog sits.", cat.text)


def test_queries_with_candidates_stay_as_they_are(judging: Judging) -> None:
    first = drawn_queries(judging.project, judging.lead, most=1)[0]
    with pytest.raises(ProjectError, match="candidate lists already exist"):
        change_query(judging.project, judging.lead, first.query_id, "A cat.", Split.VAL, seen=first.text, now=NOW)
    with pytest.raises(ProjectError, match="candidate lists already exist"):
        remove_queries(judging.project, judging.lead, [first.query_id], now=NOW)
    with writing(judging.project.store) as db:
        assert db.conn.execute("SELECT count(*) FROM query WHERE split <> 'train'").fetchone()[0] == 3


def test_where_moments_have_no_captions_own_queries_come_next(corpus_project: Project) -> None:
    with writing(corpus_project.store) as db:
        db.conn.execute("DELETE FROM caption")
    assert next_step(corpus_project, OPERATOR).endswith("--from FILE")
