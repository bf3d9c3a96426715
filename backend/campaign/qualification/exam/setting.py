"""Preview, set and end the qualification exam; start, end and read a calibration round.

*Reads* pairs, consensus. *Writes* exam, exam_item, agenda (batches with free seats), events; frees seats (annotators'
places on a pair) whose reservation has expired. The module `answer_key` stores the answer key of an exam on pairs that
nobody had graded.

In a calibration round everybody grades the same few pairs blind, and then the team discusses them. The round has no
answer key and no result. Its answers never become judgements, and are never released.

While an exam or a calibration round is open, its pairs are not handed out as work. Afterwards annotators who did not
answer these pairs may get them as work.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.answers.rows import exam_candidates, names_of
from backend.campaign.qualification.exam import planning, results
from backend.campaign.qualification.exam.model import (
    EXAM_ENDED,
    EXAM_SET,
    CalibrationPerson,
    CalibrationRound,
    Exam,
    ExamKey,
    ExamPurpose,
)
from backend.campaign.qualification.exam.planning import SEED, ExamDraw, Plan
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rules.marking import Guesses
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.events import Event
from backend.core.ids import PairKey, QueryId
from backend.core.messages import said
from backend.core.text_files import csv_text
from backend.store import events
from backend.store.connection import Database, reading, writing

HAD_GRADED = "had graded before the exam was set"


@dataclass(frozen=True, slots=True)
class ExamReport:
    """A summary of the exam or calibration round that was set.

    `asked` is how many (queries, pairs of each) were requested; None if the pairs come from a file. `grades` counts the
    items by right grade, from the lowest grade to the highest; it is empty while there is no answer key. `exempted` is
    how many annotators need not take the exam, because they had graded before.
    """

    items: int
    queries: int
    asked: tuple[int, int] | None
    grades: tuple[int, ...]
    most_missed: float
    exempted: int

    @property
    def short(self) -> str:
        """A sentence that compares the pairs requested with those available; an empty text if there are enough."""
        return planning.shortage(self.asked, self.items, self.queries)


@permissions.in_charge
def exam_held(project: Project, by: Lead | Operator) -> Exam | None:
    """Return the exam that annotators have to pass now; None if there is none."""
    return exams.open_exam(project.store.db)


@permissions.in_charge
def exam_although(project: Project, by: Lead | Operator) -> tuple[list[str], str] | None:
    """Return the ways in which guessing can pass the current exam, and the lead's reason to hold it anyway.

    Returns None if there is no exam, or guessing cannot pass it.
    """
    with reading(project.store) as db:
        exam = exams.open_exam(db)
        return exams.weakness_on_record(db, exam.exam_id) if exam else None


@permissions.in_charge
def set_exam(
    project: Project,
    by: Lead | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    newcomers_only: bool = False,
    key: ExamKey = ExamKey.SETTLED,
    spread: bool = True,
    although: str = "",
    previewed: str = "",
    now: float,
) -> ExamReport:
    """Set an exam whose pairs are drawn from settled pairs (with a final grade) or from pairs that nobody has graded.

    It replaces the current exam. The right grade of a settled pair is its relevance now. Ungraded pairs are the top
    candidates of some queries, and their right grades are determined later; nobody gets them as work while the exam is
    open. An argument of None stands for the campaign's setting.

    Args:
        project: the project.
        by: the user who sets it.
        queries: how many queries to draw.
        pairs: the most pairs to draw of each query.
        seed: the seed of the draw.
        most_missed: percent of the answers that may miss the right grade.
        newcomers_only: whether to exempt everybody who has graded in this project.
        key: where the right grades come from.
        spread: whether to draw settled pairs so that their right grades occur about equally often.
        although: for settled pairs, the reason to hold an exam that guessing passes, or nearly passes; blank for none.
        previewed: the `digest` of the preview that the lead looked at; blank if there was none.
        now: seconds since 1970.

    Raises:
        ProjectError: there is no pair to ask; a number is out of range; guessing passes the exam and no reason is
            given; or the exam differs from the one that the lead previewed.
    """
    with writing(project.store) as db:
        plan = planning.plan_draw(db, ExamDraw(queries, pairs, seed, most_missed, key, spread), now=now)
        planning.require_same(plan, previewed)
        return hold(db, by, plan, although=although, newcomers_only=newcomers_only, now=now)


@permissions.in_charge
def set_exam_from_file(
    project: Project,
    by: Lead | Operator,
    file: KeyFile,
    *,
    most_missed: float | None = None,
    although: str = "",
    newcomers_only: bool = False,
    previewed: str = "",
    now: float,
) -> ExamReport:
    """Set an exam whose pairs and right grades come from a file. It replaces the current exam.

    The pairs must be settled or discarded, because annotators must not judge pairs whose grades they were told.

    Args:
        project: the project.
        by: the user who sets it.
        file: the answer key.
        most_missed: percent of the answers that may miss the right grade; None for the campaign's setting.
        although: the reason to hold an exam that guessing passes, or nearly passes; blank for none.
        newcomers_only: whether to exempt everybody who has graded in this project.
        previewed: the `digest` of the preview that the lead looked at; blank if there was none.
        now: seconds since 1970.

    Raises:
        InputError: the file has problems, all of which are listed; nothing was changed.
        ProjectError: a number is out of range, guessing passes the exam and no reason is given, or it differs from the
            exam that the lead previewed.
    """
    with writing(project.store) as db:
        plan = planning.plan_file(db, file, most_missed=most_missed, now=now)
        planning.require_same(plan, previewed)
        return hold(db, by, plan, although=although, newcomers_only=newcomers_only, now=now)


@permissions.in_charge
def end_exam(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """End the exam, so that everybody may work, and return whether there was one.

    Attempts stay on record. Pairs that nobody had graded before the exam become work again, for annotators who have not
    answered them.
    """
    with writing(project.store) as db:
        return end(db, by, ExamPurpose.EXAM, now=now)


def hold(
    db: Database,
    by: Lead | Operator,
    plan: Plan,
    *,
    although: str = "",
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Set the planned exam or calibration round. It replaces the current exam, or the open calibration round.

    Args:
        db: the database, in a transaction.
        by: the user who sets it.
        plan: the pairs, their right grades and the pass mark.
        although: the reason to hold an exam that can be passed by guessing; blank for none.
        newcomers_only: whether to exempt everybody who has graded in this project.
        now: seconds since 1970.

    Raises:
        AlreadyDone: the open exam is the same, and nobody has begun it.
        ProjectError: guessing passes the exam, or nearly passes it, and no reason is given.
    """
    asked = events.asked(plan=plan, although=although, newcomers_only=newcomers_only)
    held = exams.open_exam(db, plan.key.purpose)
    if held and not attempts.any_of(db, held.exam_id):  # a new exam would be the same, and nobody has begun this one
        events.refuse_if_done(db, EXAM_SET, now=now, subject=f"exam:{held.exam_id}", asked=asked)
    reserve = planning.check_guessing(db, plan.right, plan.most_missed, although) if plan.right else {}
    end(db, by, plan.key.purpose, now=now, replaced=True)
    for pair_id, _, _ in plan.items:
        seats.free_held(db, pair_id)  # nobody grades what the exam explains
    exam_id = exams.add(
        db,
        plan.items,
        at=now,
        by=by.annotator_id,
        source=plan.source,
        seed=plan.seed,
        most_missed=plan.most_missed,
        key_from=plan.key,
    )
    _refresh_agenda(db, exam_id)
    veterans = attempts.graded_before(db) if newcomers_only else []
    for annotator_id in veterans:
        results.exempt(db, by, annotator_id, HAD_GRADED, now=now)
    exam = exams.by_id(db, exam_id)
    queries = exam.queries if exam else 0
    payload: dict[str, object] = {"source": plan.source, "seed": plan.seed, "items": len(plan.items)}
    payload |= {"queries": queries, "most_missed": plan.most_missed, "exempted": len(veterans), "key": plan.key}
    payload["asked"] = asked
    _tell(db, EXAM_SET, by, f"exam:{exam_id}", payload | reserve, now)
    grades = Counter(plan.right)
    by_grade = tuple(grades[grade] for grade in project_rows.scale(db).grades) if grades else ()
    return ExamReport(len(plan.items), queries, plan.asked, by_grade, plan.most_missed, len(veterans))


def end(db: Database, by: Lead | Operator, purpose: ExamPurpose, *, now: float, replaced: bool = False) -> bool:
    """End the open exam or calibration round, and return whether there was one.

    `replaced` says whether another exam or round takes its place; the event log records this.
    """
    exam_id = exams.end(db, at=now, purpose=purpose)
    if exam_id is not None:
        _refresh_agenda(db, exam_id)
        _tell(db, EXAM_ENDED, by, f"exam:{exam_id}", {"replaced": replaced}, now)
    return exam_id is not None


def _refresh_agenda(db: Database, exam_id: int) -> None:
    for batch_id in exams.batches(db, exam_id):
        candidates_rows.refresh_agenda(db, batch_id)


def _tell(
    db: Database, event: Event, by: Lead | Operator, subject: str, payload: Mapping[str, object], now: float
) -> None:
    events.record(db, event, at=now, actor=by.annotator_id, subject=subject, payload=payload)


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """A pair of a previewed exam. `right` is its right grade; None if the exam begins without right grades."""

    pair: PairKey
    query_id: QueryId
    query: str
    right: int | None


@dataclass(frozen=True, slots=True)
class ExamPreview:
    """A preview of an exam: its items and how well guessing would do, before a lead sets it.

    `grades` counts the items by right grade, from the lowest grade to the highest. `guesses` says how well guessing
    would do. If the right grades are determined only later, `grades` is empty and `guesses` None.

    `short` says how many of the requested pairs are missing; it is empty if none is. `digest` identifies this exam:
    setting it with this digest is refused if something has changed since.
    """

    items: tuple[PreviewItem, ...]
    queries: int
    source: str
    seed: int | None
    most_missed: float
    short: str
    grades: tuple[int, ...]
    guesses: Guesses | None
    digest: str


@permissions.in_charge
def preview_exam(
    project: Project,
    by: Lead | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    key: ExamKey = ExamKey.SETTLED,
    spread: bool = True,
    now: float,
) -> ExamPreview:
    """Return the exam that `set_exam` would set, and how well guessing would do in it.

    Arguments and errors are those of `set_exam`.
    """
    with reading(project.store) as db:
        draw = ExamDraw(queries, pairs, seed, most_missed, key, spread)
        return _preview(db, planning.plan_draw(db, draw, now=now))


@permissions.in_charge
def preview_exam_from_file(
    project: Project, by: Lead | Operator, file: KeyFile, *, most_missed: float | None = None, now: float
) -> ExamPreview:
    """Return the exam that `set_exam_from_file` would set, and how well guessing would do in it.

    Arguments and errors are those of `set_exam_from_file`.
    """
    with reading(project.store) as db:
        return _preview(db, planning.plan_file(db, file, most_missed=most_missed, now=now))


def _preview(db: Database, plan: Plan) -> ExamPreview:
    names = names_of(db, [pair for pair, _, _ in plan.items])
    items = tuple(PreviewItem(*names[pair], right) for pair, right, _ in plan.items)
    queries, grades = len({item.query_id for item in items}), Counter(plan.right)
    return ExamPreview(
        items,
        queries,
        plan.source,
        plan.seed,
        plan.most_missed,
        planning.shortage(plan.asked, len(items), queries),
        tuple(grades[grade] for grade in project_rows.scale(db).grades) if plan.right else (),
        planning.score_guesses(db, plan.right, plan.most_missed) if plan.right else None,
        plan.digest,
    )


TRIAL_QUERIES, TRIAL_PAIRS = 3, 5
_TRIAL_HEADER = ("query_id", "query", "video", "start_s", "end_s", "rank", "annotator", "grade", "note")


@permissions.in_charge
def start_trial(
    project: Project,
    by: Lead | Operator,
    *,
    queries: int = TRIAL_QUERIES,
    pairs: int = TRIAL_PAIRS,
    seed: int = SEED,
    chosen: Sequence[QueryId] = (),
    now: float,
) -> ExamReport:
    """Start a calibration round.

    Everybody grades the same few pairs, and then the team discusses them. Annotators get the exam and work only after
    they finish the round, or a lead ends it.

    Args:
        project: the project.
        by: the user who starts it.
        queries: how many queries to draw.
        pairs: the most pairs of each query: the top candidates that nobody has graded.
        seed: the seed of the draw.
        chosen: take these queries instead of drawing some.
        now: seconds since 1970.

    Raises:
        ProjectError: a round is open already, a chosen query has no pair that nobody has graded, or no query has one.
    """
    with writing(project.store) as db:
        if exams.open_exam(db, ExamPurpose.CALIBRATION) is not None:
            raise ProjectError(said("a calibration round is already open: end it first"))
        among = frozenset(chosen)
        draw = ExamDraw(len(among) or queries, pairs, seed, most_missed=100, key=ExamKey.NONE, among=among)
        return hold(db, by, planning.plan_draw(db, draw, now=now), now=now)


@permissions.in_charge
def end_trial(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """End the calibration round, and return whether one was open. Leads can still read the answers."""
    with writing(project.store) as db:
        return end(db, by, ExamPurpose.CALIBRATION, now=now)


@permissions.in_charge
def trial_round(project: Project, by: Lead | Operator) -> CalibrationRound | None:
    """Return the open calibration round, or else the last one, with everybody's grades and notes.

    Returns None if there was no calibration round.
    """
    with reading(project.store) as db:
        calibration = exams.newest(db, ExamPurpose.CALIBRATION)
        if calibration is None:
            return None
        participants = attempts.calibration_people(db, calibration.exam_id)
        annotators = {
            person.annotator_id: CalibrationPerson(person.annotator_id, person.name) for person in exam_candidates(db)
        }
        people = sorted((annotators | participants).values(), key=lambda member: member.name)
        pairs = sorted(
            attempts.calibration_pairs(db, calibration.exam_id), key=lambda pair: (-pair.spread, -pair.notes)
        )
        return CalibrationRound(
            calibration.set_at, calibration.set_by, calibration.ended_at, calibration.seed, tuple(people), tuple(pairs)
        )


@permissions.in_charge
def trial_csv(project: Project, by: Lead | Operator, *, names: bool = True) -> str:
    """Return every answer of the open or last calibration round as CSV, one row each; an empty text if there was none.

    Without `names`, annotators are called "Annotator 1", "Annotator 2" and so on, the same throughout the file.
    """
    calibration = trial_round(project, by)
    if calibration is None:
        return ""
    labels = calibration.called(names=names)
    rows = [
        (
            *(pair.query_id, pair.query, pair.video, pair.start_s, pair.end_s, pair.rank),
            *(labels[answer.annotator_id], answer.grade, answer.note),
        )
        for pair in calibration.pairs
        for answer in pair.answers
    ]
    return csv_text(_TRIAL_HEADER, rows, for_people=True)
