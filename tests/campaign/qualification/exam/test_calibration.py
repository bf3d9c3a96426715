"""A calibration round: graded blind before exam and work, talked about, and never any part of the ground truth."""

import csv
import io

import pytest

from backend.campaign.desk.exchange import record_grades
from backend.campaign.judging.model import DeskState, GradeEvent
from backend.campaign.judging.staffing import pause_person
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam.answer_key import use_exam
from backend.campaign.qualification.exam.model import ExamPhase, ExamPurpose
from backend.campaign.qualification.exam.results import exam_outcomes, my_exam
from backend.campaign.qualification.exam.setting import (
    ExamReport,
    end_exam,
    end_trial,
    start_trial,
    trial_csv,
    trial_round,
)
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import my_replies
from backend.campaign.review.queries import list_queries
from backend.campaign.review.status import status_counts
from backend.core.errors import ProjectError
from backend.core.ids import PairKey, QueryId
from exam_rounds import Round
from support import NOW, PARTLY


def start(fresh: Round, *, queries: int = 1, pairs: int = 3, chosen: tuple[QueryId, ...] = ()) -> ExamReport:
    return start_trial(fresh.project, fresh.lead, queries=queries, pairs=pairs, chosen=chosen, now=NOW)


def answer(fresh: Round, who: int, name: PairKey, grade: int, note: str | None, *, nth: int = 0) -> None:
    event = GradeEvent(name, grade, f"{who} {name} {grade} {nth}", 700, note=note)
    for _ in range(2):  # sent twice, kept once
        assert record_grades(fresh.project, fresh.person(who), [event], now=NOW)[0].status == "saved"


def read(fresh: Round) -> list[tuple[int, list[tuple[str, int, str]]]]:
    found = trial_round(fresh.project, fresh.lead)
    assert found is not None
    return [(pair.spread, [(one.name, one.grade, one.note) for one in pair.answers]) for pair in found.pairs]


def test_it_comes_before_the_exam_and_the_exam_before_work(fresh: Round) -> None:
    fresh.hold(queries=1, pairs=1)
    start(fresh)
    found = fresh.desk(0).exam
    assert (found.purpose, found.phase, found.items, found.queries) == (ExamPurpose.CALIBRATION, ExamPhase.FIRST, 3, 1)
    fresh.grade_all(0, 2)
    assert fresh.phase(0) is ExamPhase.ANSWERED
    after = fresh.act(0, "hand_in").exam
    assert (after.purpose, after.phase, after.attempt) == (ExamPurpose.EXAM, ExamPhase.FIRST, 1)
    fresh.act(0, "start")
    assert fresh.phase(0) is ExamPhase.ANSWERING
    end_exam(fresh.project, fresh.lead, now=NOW)
    assert (fresh.desk(0).state, fresh.desk(0).exam) == (DeskState.READY, None)
    waiting = fresh.desk(1).exam
    assert waiting.purpose is ExamPurpose.CALIBRATION, "everybody takes it"


def test_who_is_paused_takes_no_trial_either(fresh: Round) -> None:
    start(fresh)
    pause_person(fresh.project, fresh.lead, fresh.person(0).annotator_id, "a rest", now=NOW)
    assert fresh.act(0, "start").state is DeskState.PAUSED
    assert fresh.rows("SELECT count(*) FROM exam_attempt") == [(0,)]


def test_leads_read_all_grades_and_notes_the_farthest_apart_first(fresh: Round) -> None:
    start(fresh)
    grades = {0: (3, 3, 0), 1: (3, 1, 4)}
    for who in grades:
        fresh.act(who, "start")
    order = fresh.items()
    for who, given in grades.items():
        while items := fresh.desk(who).items:
            at = order.index(fresh.pair_of(who, items[0].pair))
            answer(fresh, who, items[0].pair, given[at], f"{who} on {at} <b>" if at < 2 else None)
    one, two = (fresh.person(who).name for who in grades)
    assert read(fresh) == [
        (4, [(one, 0, ""), (two, 4, "")]),
        (2, [(one, 3, "0 on 1 <b>"), (two, 1, "1 on 1 <b>")]),
        (0, [(one, 3, "0 on 0 <b>"), (two, 3, "1 on 0 <b>")]),
    ]
    found = trial_round(fresh.project, fresh.lead)
    assert found is not None
    fresh.act(0, "hand_in")
    again = trial_round(fresh.project, fresh.lead)
    assert {(person.name, person.answered, person.finished) for person in again.people} >= {
        (one, 3, True),
        (two, 3, False),
    }
    rows = list(csv.DictReader(io.StringIO(trial_csv(fresh.project, fresh.lead, names=False))))
    assert len(rows) == 6
    assert {row["annotator"] for row in rows}.isdisjoint({one, two})
    assert len({row["annotator"] for row in rows}) == 2, "each the same number throughout"
    assert [(row["grade"], row["note"]) for row in rows][2:4] == [("3", "0 on 1 <b>"), ("1", "1 on 1 <b>")]
    assert one in trial_csv(fresh.project, fresh.lead)


def test_a_correction_keeps_changes_or_takes_back_the_note(fresh: Round) -> None:
    start(fresh, pairs=1)
    name = fresh.act(0, "start").items[0].pair
    person = fresh.person(0).name
    for nth, (grade, note, stands) in enumerate(
        [(3, "first", "first"), (2, None, "first"), (1, "second", "second"), (1, "", "")]
    ):
        answer(fresh, 0, name, grade, note, nth=nth)
        assert read(fresh) == [(0, [(person, grade, stands)])]
        previous = fresh.desk(0).previous
        assert (previous.grade, previous.note) == (grade, stands)


def test_an_exam_takes_no_notes(fresh: Round) -> None:
    fresh.hold(queries=1, pairs=1)
    name = fresh.act(0, "start").items[0].pair
    answer(fresh, 0, name, 3, "nobody would read this")
    assert fresh.rows("SELECT count(*) FROM answer_note") == [(0,)]


def test_others_see_nothing_of_it(fresh: Round) -> None:
    start(fresh)
    fresh.act(0, "start")
    while items := fresh.desk(0).items:
        answer(fresh, 0, items[0].pair, 4, "zebra")
    assert "zebra" not in str(fresh.act(1, "start"))
    assert "zebra" not in str(my_work(fresh.project, fresh.person(1), now=NOW))
    assert my_replies(fresh.project, fresh.person(1), now=NOW) == []


def test_nothing_of_it_is_a_judgement_a_result_or_released(fresh: Round) -> None:
    start(fresh)
    for who in (0, 1):
        fresh.act(who, "start")
        while items := fresh.desk(who).items:
            answer(fresh, who, items[0].pair, 3, "zebra")
        fresh.act(who, "hand_in")
    assert end_trial(fresh.project, fresh.lead, now=NOW)
    assert not end_trial(fresh.project, fresh.lead, now=NOW)
    assert fresh.rows("SELECT count(*) FROM judgement") == [(0,)]
    assert my_exam(fresh.project, fresh.person(0)).attempts == ()
    assert exam_outcomes(fresh.project, fresh.lead).people == ()
    with pytest.raises(ProjectError, match="no exam of open pairs"):
        use_exam(fresh.project, fresh.lead, now=NOW)
    for who in (2, 3):  # the others settle everything
        fresh.handed_out(who)
    folder = fresh.project.folder / "out"
    export_release(fresh.project, fresh.lead, folder, PARTLY, now=NOW + 10_000)
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not any(b"zebra" in file.read_bytes() for file in files)
    assert len(read(fresh)) == 3, "it stays to be read"


def test_its_pairs_are_set_aside_and_afterwards_go_to_who_did_not_answer_them(fresh: Round) -> None:
    start(fresh, pairs=2)
    tried = set(fresh.items())
    assert status_counts(fresh.project, OPERATOR)["pairs"]["set_aside"] == 2
    fresh.finish(0, 3)
    assert fresh.handed_out(0).isdisjoint(tried)
    end_trial(fresh.project, fresh.lead, now=NOW)
    assert fresh.handed_out(0).isdisjoint(tried), "they may have talked about it"
    assert fresh.handed_out(1) >= tried


def test_a_clip_of_a_trial_that_is_over_takes_no_answer(fresh: Round) -> None:
    start(fresh)
    name = fresh.act(0, "start").items[0].pair
    end_trial(fresh.project, fresh.lead, now=NOW)
    assert fresh.answer(0, name, 3).status == "refused"
    assert fresh.desk(0).state is DeskState.READY


def test_queries_may_be_chosen(fresh: Round) -> None:
    query = max(one.query_id for one in list_queries(fresh.project, fresh.lead))
    report = start(fresh, queries=3, pairs=4, chosen=(query,))
    assert (report.items, report.queries) == (4, 1)
    found = trial_round(fresh.project, fresh.lead)
    assert {pair.query_id for pair in found.pairs} == {query}
    assert sorted(pair.rank for pair in found.pairs) == [1, 2, 3, 4]


def test_what_is_refused(fresh: Round) -> None:
    with pytest.raises(ProjectError, match="query 998, 999 has no open pair to ask"):
        start(fresh, chosen=(QueryId(999), QueryId(998)))
    assert trial_round(fresh.project, fresh.lead) is None
    assert trial_csv(fresh.project, fresh.lead) == ""
    start(fresh)
    with pytest.raises(ProjectError, match="already open: end it first"):
        start(fresh)
    assert fresh.rows("SELECT count(*) FROM exam") == [(1,)]


def test_a_new_one_may_begin_when_one_is_over_and_asks_everybody_again(fresh: Round) -> None:
    start(fresh)
    before = set(fresh.items())
    fresh.finish(0, 3)
    end_trial(fresh.project, fresh.lead, now=NOW)
    start(fresh)
    assert before.isdisjoint(fresh.items()), "what somebody answered is not asked again"
    found = fresh.desk(0).exam
    assert (found.purpose, found.attempt) == (ExamPurpose.CALIBRATION, 2)
