"""Leads open, decline and take back: what each leaves, what it refuses, and what the second of two leads is told."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.campaign.desk.exchange import desk, record_grades, record_skips, shown
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging import queue
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.nouns import OPERATOR, Person
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.model import QueryFilter, QueryShow
from backend.campaign.review.queries import find_queries, list_queries, query_pairs
from backend.campaign.selection.batches.model import NextState, RuleWord
from backend.campaign.selection.batches.next_batch import (
    decline_batch,
    next_batch,
    open_batch,
    take_back_decline,
    undo_batch,
)
from backend.campaign.selection.batches.suggestions import batch_shares
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import PairKey, QueryId
from backend.encoders import sentence
from backend.store.connection import writing
from support import NOW, Judging, WordEncoder


def queries(judging: Judging) -> list[QueryId]:
    return [query.query_id for query in list_queries(judging.project, OPERATOR)]


def tables(judging: Judging, *without: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables but the log."""
    db = judging.project.store.db.conn
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    left = {*names} - {"event", "sqlite_sequence", "_sqlite_migrations", *without}
    return {name: sorted(map(tuple, db.execute(f'SELECT * FROM "{name}"')), key=repr) for name in left}


def told(judging: Judging, kind: str) -> list[dict[str, Any]]:
    rows = judging.project.store.db.conn.execute("SELECT payload FROM event WHERE kind = ? ORDER BY event_id", [kind])
    return [json.loads(row[0]) for row in rows]


def well(judging: Judging) -> bool:
    return doctor(judging.project, now=NOW + 60).findings == ()


def test_the_page_reads_what_the_rule_says(settled: Judging) -> None:
    found = [next_batch(settled.project, settled.lead, query) for query in queries(settled)]
    assert [one.reading.words for one in found] == [
        "mean 2.4 (needs 2.0), 3 of 5 graded 3 or more: open",
        "mean 2.4 (needs 2.0), 2 of 5 graded 3 or more: open",
        "mean 0.8 (needs 2.0), 0 of 5 graded 3 or more: do not open",
    ]
    assert {(one.number, one.pairs, one.state, one.opened) for one in found} == {(2, 20, NextState.READY, None)}
    with pytest.raises(ProjectError, match="there is no query 999 with candidates"):
        next_batch(settled.project, settled.lead, QueryId(999))


def test_opening_notes_what_the_rule_said(settled: Judging) -> None:
    project, query = settled.project, queries(settled)[2]
    assert open_batch(project, settled.lead, query, reason="  the rare  one ", now=NOW) == 20
    [opened] = told(settled, "batch_opened")
    assert opened.pop("last")["judgement_id"] == settled.rows("SELECT max(judgement_id) FROM judgement")[0][0]
    assert [opened] == [
        {
            **{"number": 2, "pairs": 20, "rule": 1, "reason": "the rare one"},
            "says": "mean 0.8 (needs 2.0), 0 of 5 graded 3 or more: do not open",
        }
    ]
    found = next_batch(project, settled.lead, query)
    assert (found.number, found.unsettled, found.state) == (3, 20, NextState.ENDED)
    assert found.opened is not None
    assert (found.opened.number, found.opened.by, found.opened.at, found.opened.kept) == (2, "Lea", NOW, "")
    assert found.reading.word is RuleWord.UNTOLD


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations([0, 1, 2]), st.lists(st.sampled_from([2, 3, 0]), unique=True), st.booleans())
def test_opened_and_taken_back_is_as_if_nothing_had_been(
    settled: Judging, order: list[int], people: list[int], leave: bool
) -> None:
    """Also where pairs lie ahead on people's desks, and whether or not they sign out before."""
    project, ids = settled.project, queries(settled)
    before = tables(settled)
    for nth in order:
        open_batch(project, settled.lead, ids[nth], now=NOW)
    held = 0
    for who in people:
        held += len(desk(project, settled.annotators[who], now=NOW).items)
        if leave:
            queue.sign_off(project.store, settled.annotators[who], now=NOW)
    assert held == 7 * len(people)
    for nth in reversed(order[1:]):
        assert undo_batch(project, settled.lead, ids[nth], "too early", number=2, now=NOW) == 20
    assert well(settled)
    undo_batch(project, settled.lead, ids[order[0]], "too early", number=2, now=NOW)
    assert tables(settled) == before
    assert well(settled)


def test_pairs_that_lay_ahead_are_given_back_and_the_log_says_so(settled: Judging) -> None:
    project, carla, query = settled.project, settled.annotators[2], queries(settled)[0]
    open_batch(project, settled.lead, query, now=NOW)
    pairs = {item.pair for item in desk(project, carla, now=NOW).items}
    assert len(pairs) == 7
    undo_batch(project, settled.lead, query, "opened by mistake", number=2, now=NOW + 5)
    assert desk(project, carla, now=NOW + 6).items == ()
    [returned] = told(settled, "seats_returned")
    assert (len(returned["pairs"]), returned["why"]) == (7, "a batch was taken back")
    assert told(settled, "batch_undone") == [{"number": 2, "pairs": 20, "reason": "opened by mistake"}]
    assert batch_shares(project, OPERATOR) == {"val": {"1": 2}, "test": {"1": 1}}


def test_a_batch_is_taken_back_with_what_a_model_said_about_it(settled: Judging) -> None:
    project, query = settled.project, queries(settled)[0]
    open_batch(project, settled.lead, query, now=NOW)
    with writing(project.store) as db:
        db.conn.execute(
            "INSERT INTO model_grade (pair_id, query, model, host, prompt_version, outcome, grade, reason, requests, "
            "asked_at) SELECT pair_id, 'q', 'eye', 'h', 'p', 'graded', 3, 'It sits.', 1, 0 FROM pair"
        )
    undo_batch(project, settled.lead, query, "opened by mistake", number=2, now=NOW + 5)
    assert settled.rows("SELECT pair_id FROM model_grade ORDER BY 1") == settled.rows(
        "SELECT pair_id FROM pair ORDER BY 1"
    )


@pytest.mark.parametrize("did", ["graded", "skipped", "shown", "shown long ago", "refused"])
def test_a_batch_stays_once_somebody_has_worked_on_it(settled: Judging, did: str) -> None:
    project, query = settled.project, queries(settled)[0]
    carla = settled.annotators[2]
    open_batch(project, settled.lead, query, now=NOW)
    pair = desk(project, carla, now=NOW).items[0].pair
    later = NOW + 5
    if did == "graded":
        settled.grade(2, pair, 3, at=later)
        why = r"people have worked on it \(1 × grade\)"
    elif did == "skipped":
        record_skips(project, carla, [SkipEvent(pair, SkipKind.SKIP, "no", "key-1")], now=later)
        why = r"people have worked on it \(1 × skip\)"
    elif did == "refused":
        assert record_grades(project, carla, [GradeEvent(pair, 9, "key-9", 1)], now=later)[0].status == "refused"
        why = "the activity log already mentions its pairs"
    else:
        shown(project, carla, pair, now=later)
        later += 100_000 * (did == "shown long ago")
        why = "a pair of it is on the screen of Carla"
    before = tables(settled)
    with pytest.raises(ProjectError, match=rf"^batch 2 of query {query} cannot be taken back: {why}$"):
        undo_batch(project, settled.lead, query, "too early", number=2, now=later)
    assert tables(settled) == before
    found = next_batch(project, settled.lead, query).opened
    assert found is not None
    assert found.kept


def test_a_batch_stays_once_a_release_lists_its_pairs(
    settled: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers are given again once they are gone, and two releases would mean two pairs by one number."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    project, query = settled.project, queries(settled)[0]
    export_release(project, OPERATOR, tmp_path / "before", now=NOW)
    open_batch(project, settled.lead, query, now=NOW + 1)
    undo_batch(project, settled.lead, query, "too early", number=2, now=NOW + 2)
    open_batch(project, settled.lead, query, now=NOW + 3)
    export_release(project, OPERATOR, tmp_path / "since", now=NOW + 4)
    with pytest.raises(ProjectError, match="cannot be taken back: a release made since then has its pairs"):
        undo_batch(project, settled.lead, query, "too early", number=2, now=NOW + 5)


@pytest.mark.parametrize("did", ["released", "refused"])
def test_what_came_after_a_batch_holds_it_although_the_clock_was_set_back(
    settled: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: tuple[float, float], did: str
) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    project, query, (before, after) = settled.project, queries(settled)[0], jump
    export_release(project, OPERATOR, tmp_path / "earlier", now=after)
    open_batch(project, settled.lead, query, now=before)
    assert undo_batch(project, settled.lead, query, "nothing came after it", number=2, now=after) == 20
    open_batch(project, settled.lead, query, now=before)
    if did == "released":
        export_release(project, OPERATOR, tmp_path / "later", now=after)
    else:
        pair = next(one.pair for one in query_pairs(project, OPERATOR, query) if not one.grades)
        event = GradeEvent(PairKey(pair), 9, "key-9", 1)
        assert record_grades(project, settled.annotators[2], [event], now=after)[0].status == "refused"
    with pytest.raises(ProjectError, match=r"cannot be taken back: (a release made since|the activity log)"):
        undo_batch(project, settled.lead, query, "too early", number=2, now=after)


def test_a_first_batch_and_one_before_the_newest_stay(settled: Judging) -> None:
    query = queries(settled)[0]
    with pytest.raises(ProjectError, match="a first batch stays as long as its query"):
        undo_batch(settled.project, settled.lead, query, "why", number=1, now=NOW)
    with pytest.raises(Overtaken, match=r"batch 2 of this query is not open \(any more\)"):
        undo_batch(settled.project, settled.lead, query, "why", number=2, now=NOW)


def test_what_is_declined_is_not_opened_until_that_is_taken_back(settled: Judging, max_: Person) -> None:
    project, lead, query = settled.project, settled.lead, queries(settled)[0]
    with pytest.raises(ProjectError, match="declining a batch needs a reason"):
        decline_batch(project, lead, query, "  ", number=2, now=NOW)
    decline_batch(project, lead, query, "all of one show", number=2, now=NOW)
    found = next_batch(project, max_, query)
    assert (found.state, found.declined and found.declined.reason) == (NextState.DECLINED, "all of one show")
    for act in (
        lambda: open_batch(project, max_, query, now=NOW + 130),
        lambda: decline_batch(project, max_, query, "no", number=2, now=NOW + 130),
    ):
        with pytest.raises(Overtaken, match=r"^Lea declined batch 2 of this query 2 minutes ago \(“all of one show”\)"):
            act()
    assert well(settled)
    take_back_decline(project, max_, query, "it is two shows", number=2, now=NOW + 200)
    with pytest.raises(Overtaken, match=r"^Max took this decision back 1 minute ago$"):
        take_back_decline(project, lead, query, "again", number=2, now=NOW + 265)
    with pytest.raises(Overtaken, match=r"^You took this decision back just now$"):
        take_back_decline(project, max_, query, "again", number=2, now=NOW + 201)
    assert open_batch(project, max_, query, now=NOW + 300) == 20
    assert [one["reason"] for one in told(settled, "batch_declined")] == ["all of one show"]
    assert [one["reason"] for one in told(settled, "batch_decline_ended")] == ["it is two shows"]


def test_what_is_declined_is_in_a_list_of_its_own(settled: Judging) -> None:
    project, lead, (first, second, third) = settled.project, settled.lead, queries(settled)

    def listed(show: QueryShow) -> list[QueryId]:
        return [one.query_id for one in find_queries(project, lead, QueryFilter(show))]

    assert (listed(QueryShow.NEXT_BATCH), listed(QueryShow.DECLINED)) == ([first, second, third], [])
    decline_batch(project, lead, second, "enough of it", number=2, now=NOW)
    assert (listed(QueryShow.NEXT_BATCH), listed(QueryShow.DECLINED)) == ([first, third], [second])
    take_back_decline(project, lead, second, "not enough", number=2, now=NOW)
    assert (listed(QueryShow.NEXT_BATCH), listed(QueryShow.DECLINED)) == ([first, second, third], [])


def test_declined_and_taken_back_may_be_declined_again(settled: Judging) -> None:
    project, lead, query = settled.project, settled.lead, queries(settled)[0]
    for nth in range(3):
        decline_batch(project, lead, query, f"reason {nth}", number=2, now=NOW + nth)
        with pytest.raises(sqlite3.IntegrityError):
            project.store.db.conn.execute(
                "INSERT INTO declined_batch (query_id, number, declined_at, reason) VALUES (?, 2, 0, 'x')", [query]
            )
        take_back_decline(project, lead, query, "no", number=2, now=NOW + nth)
    with pytest.raises(ProjectError, match="nobody has declined batch 3 of query"):
        take_back_decline(project, lead, query, "no", number=3, now=NOW)


def test_the_doctor_finds_an_open_batch_that_was_declined(settled: Judging) -> None:
    project, query = settled.project, queries(settled)[0]
    open_batch(project, settled.lead, query, now=NOW)
    project.store.db.conn.execute(
        "INSERT INTO declined_batch (query_id, number, declined_at, reason) VALUES (?, 2, 0, 'x')", [query]
    )
    assert [finding.check for finding in doctor(project, now=NOW).findings] == ["declined batches"]


def test_nothing_is_decided_about_a_batch_that_cannot_be_opened(judging: Judging) -> None:
    query = queries(judging)[0]
    for number, why in ((2, "20 of its pairs are not settled yet"), (3, "batch 2 comes first")):
        with pytest.raises(ProjectError, match=f"batch {number} of query {query} cannot be declined: {why}"):
            decline_batch(judging.project, judging.lead, query, "why", number=number, now=NOW)
        with pytest.raises(ProjectError, match=f"batch {number} of query {query} cannot be opened: {why}"):
            open_batch(judging.project, judging.lead, query, number=number, now=NOW)
    assert next_batch(judging.project, judging.lead, query).state is NextState.UNSETTLED
