"""Read each annotator's progress and results in the exam; let them retake it or work without it.

All results are computed from attempts, answers and the retakes and exemptions that leads granted. *Reads* exams,
attempts, answers, waivers (granted retakes and exemptions), annotator. *Writes* exam_ruling, events.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b

from backend.campaign.judging.filling import QUEUE_LENGTH
from backend.campaign.judging.model import Desk, DeskItem, DeskState
from backend.campaign.judging.rules import ITEM_NAME
from backend.campaign.nouns import Annotator, Lead, Operator, Person, Role
from backend.campaign.qualification.answers.rows import exam_candidates
from backend.campaign.qualification.answers.rules import misses
from backend.campaign.qualification.exam import planning
from backend.campaign.qualification.exam.model import (
    EXAM_EXEMPTED,
    EXAM_RETAKE,
    Exam,
    ExamDesk,
    ExamItem,
    ExamMiss,
    ExamPhase,
    ExamPurpose,
    ExamResult,
)
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.attempts import Attempt
from backend.campaign.qualification.exam.rules.marking import Answer, Estimate, Outcome, mark, outcome, together
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.events import Event
from backend.core.ids import AnnotatorId, PairKey, QueryId
from backend.core.messages import said
from backend.core.text_files import csv_text
from backend.store import events
from backend.store.connection import Database, reading, writing


@dataclass(frozen=True, slots=True)
class Missed:
    """An item that an annotator missed: their grade, the right grade, and the explanation.

    `again` is the grade that they gave after reading the explanation; None if they gave none.
    """

    pair: PairKey
    query_id: QueryId
    query: str
    own: int
    right: int
    explanation: str
    again: int | None


@dataclass(frozen=True, slots=True)
class ExamAttempt:
    """One attempt at an exam.

    `result` is None, and `by_grade` and `missed` are empty, until the attempt is handed in and the exam has its answer
    key. `by_grade` has, for each grade of the scale, (items missed, items answered) among the items with this right
    grade.
    """

    number: int
    started_at: float
    handed_in_at: float | None
    items: int
    answered: int
    result: ExamResult | None
    by_grade: tuple[tuple[int, int], ...]
    missed: tuple[Missed, ...]


@dataclass(frozen=True, slots=True)
class ExamPerson:
    """An annotator with their exam attempts.

    `phase` is their progress in the current exam; None if there is no exam. `reason` says why a lead exempted them; it
    is empty if no lead did.
    """

    person: Person
    phase: ExamPhase | None
    reason: str
    attempts: tuple[ExamAttempt, ...]


@dataclass(frozen=True, slots=True)
class PersonOutcome:
    """One annotator's miss rates and kappas in the first attempt that they handed in.

    The attempt may belong to the current exam or an earlier one, if that exam has its answer key.
    """

    person: Person
    exam_id: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ExamOutcomes:
    """The miss rates and kappas of everybody who handed in an exam, sorted by name.

    `together` has the mean of each figure over these annotators.
    """

    people: tuple[PersonOutcome, ...]
    together: Outcome


@permissions.in_charge
def exam_results(project: Project, by: Lead | Operator) -> list[ExamPerson]:
    """Return the progress, attempts and missed items of everybody who could take the exam, sorted by name."""
    with reading(project.store) as db:
        exam = exams.open_exam(db)
        return [_exam_person(db, person, exam) for person in exam_candidates(db)]


@permissions.annotator_only
def my_exam(project: Project, person: Annotator) -> ExamPerson:
    """Return an annotator's own attempts and results."""
    with reading(project.store) as db:
        return _exam_person(db, person, exams.open_exam(db))


@permissions.in_charge
def exam_outcomes(project: Project, by: Lead | Operator) -> ExamOutcomes:
    """Return the miss rates and kappas of everybody's first attempt, and their means, with confidence intervals."""
    with reading(project.store) as db:
        outcomes = [
            person_outcome
            for person in exam_candidates(db)
            if (person_outcome := _first_outcome(db, person)) is not None
        ]
    return ExamOutcomes(tuple(outcomes), together([person_outcome.outcome for person_outcome in outcomes]))


def exam_outcomes_csv(outcomes: ExamOutcomes) -> str:
    """Return exam outcomes as CSV: one row per annotator, and a last row with the means."""
    figures = [field.name for field in fields(Outcome) if field.type is Estimate]
    parts = {"": "value", "_low": "low", "_high": "high", "_n": "n", "_reason": "reason"}
    head = [f"{figure}{ending}" for figure in figures for ending in parts]

    def row(attempt: Outcome) -> list[object]:
        estimates: list[Estimate] = [getattr(attempt, figure) for figure in figures]
        return [
            attempt.answers,
            attempt.missed,
            *(getattr(estimate, part) for estimate in estimates for part in parts.values()),
        ]

    rows = [["person", result.person.name, result.exam_id, *row(result.outcome)] for result in outcomes.people]
    rows.append(["all", "", "", *row(outcomes.together)])
    return csv_text(["of", "name", "exam", "answers", "missed", *head], rows, for_people=True)


def _first_outcome(db: Database, person: Person) -> PersonOutcome | None:
    handed_in = (
        attempt
        for attempt in attempts.all_of(db, person.annotator_id)
        if attempt.handed_in_at is not None and attempt.keyed
    )
    first = next(handed_in, None)
    if first is None:
        return None
    again = attempts.explained_answers(db, first.attempt_id)
    answers = [
        Answer(item.own, item.right, again.get(item.item_id))
        for item in exams.items(db, first.exam_id, first.attempt_id)
        if item.own is not None and item.right is not None
    ]
    return PersonOutcome(person, first.exam_id, outcome(answers, first.tolerance))


def _exam_person(db: Database, person: Person, exam: Exam | None) -> ExamPerson:
    phase = standing(db, person, exam).phase if exam else None
    waiver = attempts.newest_waiver(db, person.annotator_id) if phase is ExamPhase.EXEMPT else None
    own_attempts = tuple(_attempt(db, attempt) for attempt in attempts.all_of(db, person.annotator_id))
    return ExamPerson(person, phase, waiver.reason if waiver else "", own_attempts)


def _attempt(db: Database, attempt: Attempt) -> ExamAttempt:
    items = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    answered = [item for item in items if item.own is not None]
    done = attempt.handed_in_at is not None and attempt.keyed
    missed_items = [item for item in answered if is_missed(item, attempt)] if done else []
    answers_by_grade, missed = Counter(item.right for item in answered), Counter(item.right for item in missed_items)
    return ExamAttempt(
        attempt.number,
        attempt.started_at,
        attempt.handed_in_at,
        items=len(items),
        answered=len(answered),
        result=result(items, attempt) if done else None,
        by_grade=tuple((missed[grade], answers_by_grade[grade]) for grade in project_rows.scale(db).grades)
        if done
        else (),
        missed=tuple(_missed(item) for item in missed_items),
    )


def _missed(item: ExamItem) -> Missed:
    own, right = item.own or 0, item.right or 0  # a missed item has both
    return Missed(item.pair_key, item.query_id, item.query, own, right, item.explanation, item.again)


@permissions.in_charge
def grant_retake(project: Project, by: Lead | Operator, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let an annotator take the current exam once more. This also withdraws an exemption.

    Raises:
        ProjectError: no exam is held; there is no such annotator; they can take the exam already; or they have handed
            in and there is no answer key yet.
    """
    with writing(project.store) as db:
        exam, person = _person(db, annotator_id)
        status = standing(db, person, exam)
        if status.phase in (ExamPhase.FIRST, ExamPhase.ANSWERING, ExamPhase.ANSWERED):
            raise ProjectError(said("{name} can already take the exam", name=person.name))
        if status.phase is ExamPhase.WAITING:
            raise ProjectError(
                said("{name} has handed in and waits for the answer key: close the exam first", name=person.name)
            )
        after = status.attempt.number if status.attempt else 0
        attempts.add_waiver(db, annotator_id, "retake", "", by=by.annotator_id, after_attempt=after, at=now)
        _tell(db, EXAM_RETAKE, by, f"annotator:{annotator_id}", {"after_attempt": after}, now)


@permissions.in_charge
def exempt_from_exam(
    project: Project, by: Lead | Operator, annotator_id: AnnotatorId, reason: str, *, now: float
) -> None:
    """Let an annotator work without having passed the exam, and record the reason.

    Raises:
        ProjectError: no exam is held, there is no such annotator, or the reason is blank.
    """
    reason = planning.one_line(reason)
    if not reason:
        raise ProjectError(said("an exemption needs a reason: write one sentence about why"))
    with writing(project.store) as db:
        _, person = _person(db, annotator_id)
        exempt(db, by, person.annotator_id, reason, now=now)


def exempt(db: Database, by: Lead | Operator, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Record that an annotator may work without having passed the exam. The reason is not checked."""
    attempt = attempts.newest(db, annotator_id)
    after = attempt.number if attempt else 0
    attempts.add_waiver(db, annotator_id, "exempt", reason, by=by.annotator_id, after_attempt=after, at=now)
    _tell(db, EXAM_EXEMPTED, by, f"annotator:{annotator_id}", {"reason": reason}, now)


def _person(db: Database, annotator_id: AnnotatorId) -> tuple[Exam, Person]:
    exam, person = exams.open_exam(db), people.by_id(db, annotator_id)
    if exam is None:
        raise ProjectError(said("no exam is open in this project"))
    if person is None or person.role is not Role.ANNOTATOR:
        raise ProjectError(said("only annotators take the exam: reload the page"))
    return exam, person


def _tell(
    db: Database, event: Event, by: Lead | Operator, subject: str, payload: Mapping[str, object], now: float
) -> None:
    events.record(db, event, at=now, actor=by.annotator_id, subject=subject, payload=payload)


@dataclass(frozen=True, slots=True)
class ExamStanding:
    """An annotator's progress in the exam, with their newest attempt and its items in the order shown.

    `attempt` is None before the first attempt. `items` is empty if the annotator may begin an attempt, or is exempt.
    """

    phase: ExamPhase
    attempt: Attempt | None
    items: Sequence[ExamItem] = ()


def standing(db: Database, person: Person, exam: Exam) -> ExamStanding:
    """Return an annotator's progress in an exam or a calibration round.

    The progress in an exam depends on their newest attempt, and on the newest retake or exemption that a lead granted.
    The result of an attempt at an earlier exam still counts. An attempt does not count if its exam ended before it was
    handed in, or ended without an answer key. Then the annotator takes the new exam. A calibration round is either
    finished or not; it has no result.
    """
    if exam.purpose is ExamPurpose.CALIBRATION:
        return _in_calibration(db, person, exam)
    waiver, attempt = attempts.newest_waiver(db, person.annotator_id), attempts.newest(db, person.annotator_id)
    if waiver is not None and waiver.kind == "exempt":
        return ExamStanding(ExamPhase.EXEMPT, attempt)
    if attempt is None or not (attempt.held or (attempt.handed_in_at is not None and attempt.keyed)):
        return ExamStanding(ExamPhase.FIRST, attempt)
    if attempt.handed_in_at is not None and waiver is not None and waiver.after_attempt == attempt.number:
        return ExamStanding(ExamPhase.FIRST, attempt)
    items = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    if attempt.handed_in_at is None:
        return ExamStanding(_answering(items), attempt, items)
    if not attempt.keyed:
        return ExamStanding(ExamPhase.WAITING, attempt, items)
    if attempt.read_at is None:
        return ExamStanding(ExamPhase.RESULT, attempt, items)
    if any(to_look_at_again(item, attempt) and not item.blocked for item in items):
        return ExamStanding(ExamPhase.AGAIN, attempt, items)
    return ExamStanding(ExamPhase.PASSED if result(items, attempt).passed else ExamPhase.FAILED, attempt, items)


def _in_calibration(db: Database, person: Person, exam: Exam) -> ExamStanding:
    attempt = attempts.newest(db, person.annotator_id, ExamPurpose.CALIBRATION)
    if attempt is None or attempt.exam_id != exam.exam_id:
        return ExamStanding(ExamPhase.FIRST, attempt)
    items = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    return ExamStanding(ExamPhase.DONE if attempt.handed_in_at is not None else _answering(items), attempt, items)


def _answering(items: Sequence[ExamItem]) -> ExamPhase:
    left = any(item.own is None and not item.blocked for item in items)
    return ExamPhase.ANSWERING if left else ExamPhase.ANSWERED


def in_order(items: Sequence[ExamItem], attempt: Attempt) -> list[ExamItem]:
    """Return the items of an attempt in the order in which the annotator sees them.

    Queries, and the items within each query, are shuffled by the attempt's secret `order_key`. Items of the same query
    stay together.
    """

    def position(label: str) -> bytes:
        return blake2b(f"{attempt.order_key}:{label}".encode(), digest_size=8).digest()

    return sorted(items, key=lambda item: (position(f"query {item.query_id}"), position(f"item {item.item_id}")))


def result(items: Sequence[ExamItem], attempt: Attempt) -> ExamResult:
    """Return the result of an attempt: how many answers miss the right grade, whether it passes, and its kappas."""
    answers = [(item.own, item.right) for item in items if item.own is not None and item.right is not None]
    return mark(answers, attempt.most_missed, attempt.tolerance, attempt.rule_version)


def is_missed(item: ExamItem, attempt: Attempt) -> bool:
    """Return whether the answer to an item differs from the right grade by more than the tolerance."""
    return item.own is not None and item.right is not None and misses(item.own, item.right, attempt.tolerance)


def to_look_at_again(item: ExamItem, attempt: Attempt) -> bool:
    """Return whether an annotator must grade a missed item again, after reading its explanation.

    They must until their new grade is within the tolerance of the right grade.
    """
    still = item.again is None or item.right is None or misses(item.again, item.right, attempt.tolerance)
    return is_missed(item, attempt) and still


def build_desk(exam: Exam, status: ExamStanding, today: int, in_all: int) -> Desk[ExamDesk]:
    """Return what an annotator's grading page shows of the exam: the next items, and the progress or result.

    `today` and `in_all` are how many grades the person gave today and in all.
    """
    attempt = status.attempt
    exam_desk = ExamDesk(
        phase=status.phase,
        attempt=attempt.number if attempt else 0,
        items=exam.showable,
        queries=exam.queries,
        answered=sum(item.own is not None for item in status.items),
        most_missed=exam.most_missed,
        tolerance=exam.tolerance,
        purpose=exam.purpose,
        may_count=exam.key_from.comes_later,
    )
    queue: list[DeskItem] = []
    previous: DeskItem | None = None
    if attempt is None or status.phase is ExamPhase.FIRST:
        drawn_later = attempt is not None and exam.purpose is ExamPurpose.EXAM and exam.closed_at is not None
        queries = 0 if drawn_later else exam.queries
        exam_desk = replace(exam_desk, attempt=exam_desk.attempt + 1, queries=queries)
    elif attempt.handed_in_at is None:
        to_answer = [
            (item, name) for item, name in _named(status.items, attempt) if item.own is not None or not item.blocked
        ]
        desk_items = [_on_desk(name, item, nth, len(to_answer)) for nth, (item, name) in enumerate(to_answer, 1)]
        queue = [desk_item for desk_item in desk_items if desk_item.grade is None][:QUEUE_LENGTH]
        previous = next((desk_item for desk_item in reversed(desk_items) if desk_item.grade is not None), None)
        exam_desk = replace(exam_desk, items=len(to_answer), most_missed=attempt.most_missed)
    elif attempt.keyed:
        missed = [(item, name) for item, name in _named(status.items, attempt, again=True) if is_missed(item, attempt)]
        to_do = [(nth, item, name) for nth, (item, name) in enumerate(missed, 1) if to_look_at_again(item, attempt)]
        if status.phase is ExamPhase.AGAIN:
            to_do = [(nth, item, name) for nth, item, name in to_do if not item.blocked][:QUEUE_LENGTH]
            queue = [replace(_on_desk(name, item, nth, len(missed)), grade=None) for nth, item, name in to_do]
        exam_desk = replace(
            exam_desk,
            most_missed=attempt.most_missed,
            result=result(status.items, attempt).score,
            missed=tuple(_miss(item, name) for _, item, name in to_do) if queue else (),
        )
    state = DeskState.READY if queue else DeskState.EXAM
    return Desk(state, tuple(queue), previous, today, in_all, exam=exam_desk)


def find_item(db: Database, key: PairKey) -> tuple[Attempt, ExamItem, bool] | None:
    """Return the exam item with this name in the browser, as (attempt, item, whether it is graded again after a miss).

    Returns None if there is no such item.
    """
    match = ITEM_NAME.fullmatch(key)
    attempt = attempts.by_key(db, match[1]) if match else None
    if match is None or attempt is None:
        return None
    items = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    nth = int(match[2])
    return (attempt, items[nth - 1], bool(match[3])) if 1 <= nth <= len(items) else None


def _named(items: Sequence[ExamItem], attempt: Attempt, *, again: bool = False) -> list[tuple[ExamItem, PairKey]]:
    """Return the items of an attempt in order, each with its name in the browser.

    With `again`, the names are those for grading missed items again.
    """
    ending = "r" if again else ""
    return [(item, PairKey(f"{attempt.key}-{nth}{ending}")) for nth, item in enumerate(items, 1)]


def _on_desk(name: PairKey, item: ExamItem, nth: int, total: int) -> DeskItem:
    return DeskItem(name, item.query, nth, total, item.duration_s, item.own, item.whole, item.note)


def _miss(item: ExamItem, name: PairKey) -> ExamMiss:
    return ExamMiss(name, item.own or 0, item.right or 0, item.explanation, item.again)
