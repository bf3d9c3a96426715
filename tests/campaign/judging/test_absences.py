"""Who is paused takes no pair and no exam, keeps everything else, and goes on when a lead says so."""

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from backend.campaign.desk import exchange
from backend.campaign.judging import staffing
from backend.campaign.judging.grades import PAUSED
from backend.campaign.judging.model import DeskState, GradeEvent, ReceiptStatus
from backend.campaign.judging.staffing import pause_person, unpause_person
from backend.campaign.monitoring.progress.rows import work as rows
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.qualification.guideline.versions import examples
from backend.campaign.setup.people.accounts import accept_invitation, list_people, new_invitation
from backend.campaign.setup.people.permissions import person_for, sign_in
from backend.core.errors import Overtaken, ProjectError, StoreUnavailable
from backend.core.ids import AnnotatorId
from backend.store.connection import writing
from support import NOW, Judging


def pause(judging: Judging, who: int = 0, reason: str = "the same grade all day") -> None:
    pause_person(judging.project, judging.lead, judging.annotators[who].annotator_id, reason, now=NOW)


def go_on(judging: Judging, who: int = 0) -> None:
    unpause_person(judging.project, judging.lead, judging.annotators[who].annotator_id, now=NOW + 60)


def desk(judging: Judging, who: int = 0, at: float = NOW) -> Any:
    return exchange.desk(judging.project, judging.annotators[who], now=at)


def held(judging: Judging) -> int:
    count: int = judging.project.store.db.conn.execute(
        "SELECT count(*) FROM seat WHERE lease_until IS NOT NULL"
    ).fetchone()[0]
    return count


def test_what_they_hold_goes_back_at_once_and_nothing_is_handed_out(judging: Judging) -> None:
    first = desk(judging).items[0].pair
    judging.grade(0, first, 3)
    assert held(judging)
    pause(judging)
    assert held(judging) == 0
    empty = desk(judging)
    assert (empty.state, empty.items, empty.previous) == (DeskState.PAUSED, (), None)
    assert (empty.today, empty.in_all) == (1, 1), "what they did is still counted"
    assert held(judging) == 0
    assert desk(judging, 1).items, "everybody else works on"


def test_they_stay_signed_in_and_keep_their_work_and_the_guideline(judging: Judging) -> None:
    anna = judging.annotators[0]
    _, link = new_invitation(judging.project, judging.lead, anna.annotator_id, now=NOW)
    session = accept_invitation(judging.project, link, "a long password", now=NOW)
    pause(judging)
    assert person_for(judging.project, session, now=NOW) == anna
    assert my_work(judging.project, anna, now=NOW).in_all == 0
    assert examples(judging.project, anna) == []
    assert sign_in(judging.project, anna.name, "a long password", now=NOW)


def test_they_go_on_when_a_lead_says_so(judging: Judging) -> None:
    before = [item.pair for item in desk(judging).items]
    pause(judging)
    go_on(judging)
    after = desk(judging, at=NOW + 61)
    assert (after.state, [item.pair for item in after.items]) == (DeskState.READY, before)
    pause(judging, reason="once more")
    assert desk(judging).state is DeskState.PAUSED


def test_a_grade_given_before_the_page_heard_of_it_is_kept_in_the_log_and_does_not_count(judging: Judging) -> None:
    graded, on_screen = (item.pair for item in desk(judging).items[:2])
    judging.grade(0, graded, 3)
    pause(judging)
    events = [GradeEvent(on_screen, 2, "k1"), GradeEvent(graded, 0, "a correction")]
    receipts, told = exchange.exchange(judging.project, judging.annotators[0], events, [], now=NOW)
    assert {(receipt.status, receipt.message) for receipt in receipts} == {(ReceiptStatus.REFUSED, PAUSED)}
    assert told.state is DeskState.PAUSED
    log = judging.project.store.db.conn.execute("SELECT payload FROM event WHERE kind = 'grade_refused'").fetchall()
    assert [json.loads(row[0])["grade"] for row in log] == [2, 0]
    assert [grade.grade for grade in judging.state(graded).grades] == [3]
    assert held(judging) == 0


def test_the_exam_is_not_handed_out_either(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("backend.campaign.qualification.exam.taking.desk", lambda *a, **k: asked.append(a))
    monkeypatch.setattr("backend.campaign.qualification.exam.taking.take_step", lambda *a, **k: asked.append(a))
    pause(judging)
    acted = exchange.exam_act(judging.project, judging.annotators[0], ExamAct.START, now=NOW)
    assert (acted.state, acted.exam, asked) == (DeskState.PAUSED, None, [])


def test_leads_read_who_is_paused_since_when_and_why(judging: Judging) -> None:
    pause(judging)
    with writing(judging.project.store) as db:
        staffing.begin_pause(db, None, judging.annotators[1].annotator_id, "9 of 20 missed", now=NOW + 5)
    pauses = {row.person.name: row.pause for row in list_people(judging.project, judging.lead, now=NOW)}
    assert {name: (at.at, at.by, at.reason) for name, at in pauses.items() if at} == {
        judging.annotators[0].name: (NOW, judging.lead.name, "the same grade all day"),
        judging.annotators[1].name: (NOW + 5, None, "9 of 20 missed"),
    }
    go_on(judging)
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        found = db.execute(
            "SELECT kind, actor, payload FROM event WHERE kind IN ('person_paused', 'person_unpaused') "
            "ORDER BY event_id"
        ).fetchall()
    lead = judging.lead.annotator_id
    assert [(kind, actor, json.loads(payload)) for kind, actor, payload in found] == [
        ("person_paused", lead, {"reason": "the same grade all day"}),
        ("person_paused", None, {"reason": "9 of 20 missed"}),
        ("person_unpaused", lead, {}),
    ]


def test_the_forecast_does_not_reckon_with_them(judging: Judging) -> None:

    pause(judging)
    paces = rows.paces(judging.project.store.db, midnight=NOW, week_ago=NOW)
    may_work = {one.pace.name: one.may_work for one in paces}
    assert may_work.pop(judging.annotators[0].name) is False
    assert all(may_work.values())


@pytest.mark.parametrize(
    ("act", "refusal", "sentence"),
    [
        (lambda j: pause(j, reason="  "), ProjectError, "needs a reason"),
        (lambda j: pause(j, reason="x" * 401), ProjectError, "has 401 characters: use at most 400"),
        (
            lambda j: pause_person(j.project, j.lead, AnnotatorId(999), "why", now=NOW),
            ProjectError,
            "no person 999",
        ),
        (
            lambda j: pause_person(j.project, j.lead, j.lead.annotator_id, "why", now=NOW),
            ProjectError,
            "is a lead and does not grade",
        ),
        (lambda j: (pause(j), pause(j)), Overtaken, "just now: the same grade all day"),
        (lambda j: (pause(j), go_on(j), go_on(j)), Overtaken, "is not paused any more"),
    ],
    ids=["no reason", "too long", "nobody", "a lead", "twice", "not paused"],
)
def test_what_is_refused(
    judging: Judging, act: Callable[[Judging], object], refusal: type[Exception], sentence: str
) -> None:
    with pytest.raises(refusal, match=sentence):
        act(judging)
    refused_when = judging.project.store.db.conn.execute("SELECT count(*) FROM pause").fetchone()[0]
    assert refused_when == (refusal is Overtaken), "a refused act leaves nothing behind"


def test_the_database_holds_no_two_pauses_of_one_person(judging: Judging) -> None:
    from backend.campaign.setup.people import rows as people

    pause(judging)
    with pytest.raises((sqlite3.IntegrityError, StoreUnavailable)), writing(judging.project.store) as db:
        people.begin_pause(db, judging.annotators[0].annotator_id, None, "twice", at=NOW)
