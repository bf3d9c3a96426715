"""Exams and trials set, taken, closed, used and ended in any order, while others work: what must hold afterwards.

Twelve pairs, four annotators, a lead. What the rules say is written here a second time, over the rows of the tables.
"""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from backend.campaign.desk import exchange
from backend.campaign.doctor import examination
from backend.campaign.doctor import rows as doctor
from backend.campaign.judging.model import Desk, GradeEvent
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.exam.answer_key import close_exam_round, use_exam
from backend.campaign.qualification.exam.model import ExamKey, ExamPurpose
from backend.campaign.qualification.exam.results import exempt_from_exam, grant_retake, my_exam
from backend.campaign.qualification.exam.setting import end_exam, end_trial, set_exam, start_trial
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import NotAllowed, ProjectError
from backend.core.ids import PairKey
from support import NOW

EXAMPLES, FEWER_EXAMPLES = 30, 6
"""How many random campaigns `make test-long` and `make test` play through."""
WHO = st.integers(0, 3)
GRADE = st.integers(0, 4)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, make_twelve_pairs: Callable[..., Path]) -> Path:
    """The project as every example finds it."""
    return make_twelve_pairs(tmp_path_factory.mktemp("rounds"), "Anna", "Boris", "Carla", "Dev")


class Rounds(RuleBasedStateMachine):
    """The acts of four annotators and a lead."""

    def __init__(self, template: Path) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=template.parent))
        self.project = open_project(Path(shutil.copytree(template, self.folder / "project")))
        self.sql = self.project.store.db.conn
        self.sql.execute("PRAGMA synchronous = 0")  # nobody pulls the plug here
        self.keys = {row[0]: PairKey(row[1]) for row in self.sql.execute("SELECT pair_id, pair_key FROM pair")}
        found = self.sql.execute("SELECT annotator_id, name, role FROM annotator ORDER BY annotator_id").fetchall()
        self.lead, *self.people = [Person(row[0], row[1], Role(row[2])) for row in found]
        self.presses = count()
        self.now = NOW
        self.blind: dict[tuple[int, int, int], int] = {}
        """(exam, person, pair): the last blind grade of the first attempt."""

    def teardown(self) -> None:
        findings = {finding.check for finding in examination.doctor(self.project, now=self.now).findings}
        assert findings <= {"videos"}, findings
        self.project.store.close()
        shutil.rmtree(self.folder)

    # Acts of the lead

    @rule(
        key=st.sampled_from(("median", "median", "own", "settled")), queries=st.integers(1, 2), pairs=st.integers(1, 4)
    )
    def lead_sets_an_exam(self, key: str, queries: int, pairs: int) -> None:
        self.lead_may(
            lambda: set_exam(
                self.project, self.lead, queries=queries, pairs=pairs, most_missed=50, key=ExamKey(key), now=self.now
            )
        )

    @rule(pairs=st.integers(1, 2))
    def lead_sets_a_trial(self, pairs: int) -> None:
        self.lead_may(lambda: start_trial(self.project, self.lead, queries=1, pairs=pairs, now=self.now))

    @initialize(key=st.sampled_from(("median", "median", "own")), pairs=st.integers(1, 4))
    def a_round_begins(self, key: str, pairs: int) -> None:
        self.lead_sets_an_exam(key, 2, pairs)

    @precondition(lambda self: self.held("median", "own", closed=False))
    @rule(
        grades=st.lists(GRADE, min_size=2, max_size=3),
        then=st.sampled_from(((), ("use",), ("end", "work"), ("end", "work", "use"), ("use", "end", "work"))),
        grade=GRADE,
    )
    def a_round_goes_through(self, grades: list[int], then: tuple[str, ...], grade: int) -> None:
        for person, grade in zip(self.people, grades, strict=False):
            self.takes_all(person, grade)
        if self.held("own"):
            self.lead_gives_the_key(grades[0])
        self.lead_closes_the_round()
        for act in then:
            if act == "use":
                self.lead_uses_the_answers()
            elif act == "end":
                self.lead_ends_it(ExamPurpose.EXAM)
            else:
                for who in (3, 0):
                    self.somebody_works(who, grade, 3)

    @precondition(lambda self: self.held("median", closed=False))
    @rule()
    def lead_closes_the_round(self) -> None:
        self.lead_may(lambda: close_exam_round(self.project, self.lead, now=self.now))

    @rule()
    def lead_uses_the_answers(self) -> None:
        self.lead_may(lambda: use_exam(self.project, self.lead, now=self.now))

    @rule(purpose=st.sampled_from(ExamPurpose))
    def lead_ends_it(self, purpose: ExamPurpose) -> None:
        end = end_trial if purpose is ExamPurpose.CALIBRATION else end_exam
        end(self.project, self.lead, now=self.now)

    @precondition(lambda self: self.held("own"))
    @rule(grade=GRADE)
    def lead_gives_the_key(self, grade: int) -> None:
        self.takes_all(self.lead, grade)

    @precondition(lambda self: not self.held("own"))
    @rule()
    def a_lead_finds_no_desk(self) -> None:
        with pytest.raises(NotAllowed):
            exchange.desk(self.project, self.lead, now=self.now)

    @precondition(lambda self: self.held("median", "own", "settled"))
    @rule(who=WHO, exempted=st.booleans())
    def lead_rules_about_somebody(self, who: int, exempted: bool) -> None:
        me = self.people[who].annotator_id
        if exempted:
            self.lead_may(lambda: exempt_from_exam(self.project, self.lead, me, "knows it", now=self.now))
        else:
            self.lead_may(lambda: grant_retake(self.project, self.lead, me, now=self.now))

    # Acts of annotators

    @precondition(lambda self: self.held("median", "own", "settled"))
    @rule(who=WHO, grade=GRADE)
    def somebody_takes_the_exam(self, who: int, grade: int) -> None:
        self.takes_all(self.people[who], grade)

    @rule(who=WHO, grade=GRADE)
    def somebody_begins_or_goes_on(self, who: int, grade: int) -> None:
        person = self.people[who]
        desk = exchange.exam_act(self.project, person, ExamAct.START, now=self.now)
        desk = exchange.exam_act(self.project, person, ExamAct.GO_ON, now=self.now)
        if desk.items:
            self.grade(person, desk, grade)

    @rule(who=WHO, grade=GRADE, again=st.integers(1, 3))
    def somebody_works(self, who: int, grade: int, again: int) -> None:
        for _ in range(again):
            desk = exchange.desk(self.project, self.people[who], now=self.now)
            if desk.exam is None and desk.items:
                self.grade(self.people[who], desk, grade)

    @rule(who=WHO, pair=st.integers(0, 11), grade=GRADE)
    def somebody_brings_a_grade_of_any_pair(self, who: int, pair: int, grade: int) -> None:
        """Out of an old page: it may be refused, and never counts where it must not."""
        key = self.keys[sorted(self.keys)[pair]]
        event = GradeEvent(key, grade, f"press-{next(self.presses)}")
        exchange.record_grades(self.project, self.people[who], [event], now=self.now)

    @rule(seconds=st.sampled_from((1.0, 1_000.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    # What must hold

    @invariant()
    def no_seat_is_lost_and_no_pair_has_three_first_judgements(self) -> None:
        seats: dict[int, list[int]] = {}
        for pair, seat in self.sql.execute("SELECT pair_id, seat_no FROM seat ORDER BY pair_id, seat_no"):
            seats.setdefault(pair, []).append(seat)
        assert seats.keys() == self.keys.keys()
        assert all(numbers in ([1, 2], [1, 2, 3, 4]) for numbers in seats.values())
        first = Counter(
            row[0] for row in self.sql.execute("SELECT pair_id FROM judgement WHERE revision = 1 AND seat_no <= 2")
        )
        assert all(number <= 2 for number in first.values())

    @invariant()
    def nobody_holds_a_pair_of_an_exam_or_one_that_they_know(self) -> None:
        held = self.sql.execute("SELECT pair_id, annotator_id FROM seat WHERE lease_until >= ?", [self.now]).fetchall()
        asked = {
            row[0]
            for row in self.sql.execute(
                "SELECT i.pair_id FROM exam_item i JOIN exam e ON e.exam_id = i.exam_id WHERE e.ended_at IS NULL"
            )
        }
        known = {
            tuple(row)
            for row in self.sql.execute(
                "SELECT i.pair_id, t.annotator_id FROM exam_answer n JOIN exam_item i ON i.item_id = n.item_id "
                "JOIN exam_attempt t ON t.attempt_id = n.attempt_id"
            )
        }
        assert not asked & {row[0] for row in held}
        assert not known & {tuple(row) for row in held}

    @invariant()
    def judgements_out_of_exams_are_blind_first_answers_and_others_are_of_people_who_did_not_know(self) -> None:
        for pair, who, grade, key, exam in self.sql.execute(
            "SELECT j.pair_id, j.annotator_id, j.grade, j.event_key, (SELECT t.exam_id FROM exam_answer n "
            "JOIN exam_attempt t USING (attempt_id) WHERE 'exam:' || n.event_key = j.event_key) FROM judgement j"
        ):
            if key.startswith("exam:"):
                assert self.blind[exam, who, pair] == grade
                assert self.sql.execute("SELECT used_at FROM exam WHERE exam_id = ?", [exam]).fetchone()[0] is not None

    @invariant()
    def the_agenda_is_as_the_rows_say(self) -> None:
        assert doctor.wrong_agenda(self.project.store.db) == []

    @invariant()
    def no_key_and_no_result_before_their_time(self) -> None:
        early = self.sql.execute(
            "SELECT count(*) FROM exam_item i JOIN exam e ON e.exam_id = i.exam_id "
            "WHERE e.closed_at IS NULL AND i.right_grade IS NOT NULL"
        ).fetchone()[0]
        assert early == 0
        if self.held("median", "own", closed=False):
            for person in self.people:
                found = my_exam(self.project, person)
                held = self.sql.execute(
                    "SELECT t.number FROM exam_attempt t JOIN exam e ON e.exam_id = t.exam_id WHERE t.annotator_id = ? "
                    "AND e.ended_at IS NULL AND e.purpose = 'exam'",
                    [person.annotator_id],
                ).fetchall()
                mine = [one for one in found.attempts if (one.number,) in {tuple(row) for row in held}]
                assert all(one.result is None and not one.missed for one in mine)

    # Hands

    def lead_may(self, act: Any) -> None:
        """What a lead asks for may be refused in words; then nothing has changed."""
        before = list(self.sql.iterdump()) if next(self.presses) % 7 == 0 else None
        try:
            act()
        except ProjectError:
            if before is not None:
                assert list(self.sql.iterdump()) == before

    def held(self, *keys: str, closed: bool | None = None) -> bool:
        row = self.sql.execute(
            "SELECT key_from, closed_at IS NOT NULL FROM exam WHERE ended_at IS NULL AND purpose = 'exam'"
        ).fetchone()
        return row is not None and row[0] in keys and closed in (None, bool(row[1]))

    def takes_all(self, person: Person, grade: int) -> None:
        desk = exchange.exam_act(self.project, person, ExamAct.START, now=self.now)
        while desk.exam is not None and desk.exam.phase == "answering":
            desk = self.grade(person, desk, (grade + desk.items[0].position) % 5)
        exchange.exam_act(self.project, person, ExamAct.HAND_IN, now=self.now)

    def grade(self, person: Person, desk: Desk, grade: int) -> Desk:
        item = desk.items[0]
        event = GradeEvent(item.pair, grade, f"press-{next(self.presses)}")
        answered = desk.exam is not None and desk.exam.phase == "answering"
        (receipt,), desk = exchange.exchange(self.project, person, [event], [], now=self.now)
        assert receipt.status == "saved", receipt
        if answered:
            exam, pair, number = self.sql.execute(
                "SELECT t.exam_id, i.pair_id, t.number FROM exam_answer n JOIN exam_attempt t USING (attempt_id) "
                "JOIN exam_item i USING (item_id) WHERE n.event_key = ?",
                [event.key],
            ).fetchone()
            first = self.sql.execute(
                "SELECT min(number) FROM exam_attempt WHERE exam_id = ? AND annotator_id = ?",
                [exam, person.annotator_id],
            ).fetchone()[0]
            if number == first:
                self.blind[exam, person.annotator_id, pair] = grade
        return desk


@pytest.mark.parametrize("examples", [FEWER_EXAMPLES, pytest.param(EXAMPLES, marks=pytest.mark.long)])
def test_whatever_leads_and_people_do_no_seat_is_lost_and_no_exam_pair_is_handed_out(
    template: Path, examples: int
) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        lambda: Rounds(template),
        settings=settings(
            max_examples=int(os.environ.get("REELRANK_EXAMPLES", examples)),
            stateful_step_count=20,
            deadline=None,
            derandomize="REELRANK_EXAMPLES" not in os.environ,
            print_blob=True,
            database=None,
            phases=(Phase.generate,),
        ),
    )
