"""What leads do about the qualification exam: set it, explain it, end it, grant another attempt, exempt.

*Reads* pairs, consensus, attempts. *Writes* exam, exam_item, exam_ruling, seats that nobody came back to,
agenda, events. How an exam of open pairs gets its key is the business of `keys`.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Lead, Operator, Person, Role
from backend.campaign.qualification.exam import planning
from backend.campaign.qualification.exam.model import ExamKey, ExamPhase, ExamPurpose
from backend.campaign.qualification.exam.planning import SEED, Plan
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.exams import Exam
from backend.campaign.qualification.exam.standing import standing
from backend.campaign.selection.candidates.rows import agenda
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project import rows as facts
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId, QueryId
from backend.core.reading import bytes_of
from backend.core.saying import said
from backend.store import events
from backend.store.connection import Database, Store, writing
from backend.store.events import EventKind

HAD_GRADED = "had graded before the exam was set"


@dataclass(frozen=True, slots=True)
class ExamReport:
    """What was set.

    `asked` is how many (queries, pairs of each) were wanted, None of a file; `grades` how many items have each right
    grade of the scale, nothing while there is no key; `exempted` people had graded before.
    """

    items: int
    queries: int
    asked: tuple[int, int] | None
    grades: tuple[int, ...]
    most_missed: float
    exempted: int

    @property
    def short(self) -> str:
        """What was asked for and is not there, in a sentence; an empty text where all of it is."""
        return planning.short(self.asked, self.items, self.queries)


def set_from_settled(
    store: Store,
    lead: Lead | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    spread: bool = True,
    although: str = "",
    previewed: str = "",
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Hold an exam of settled pairs, in the place of the one that is held; the key is their relevance now.

    What is None is as the campaign's settings say.

    Args:
        store: the project's store.
        lead: who sets it.
        queries: of how many queries.
        pairs: of how many pairs of each, at most.
        seed: of the draw.
        most_missed: percent of the answers that may miss the key.
        spread: whether the draw is as even over the grades as it can be.
        although: why it is held although a constant or chance passes, or nearly; blank for no reason.
        previewed: the `digest` of the plan that the lead looked at; blank if nobody did.
        newcomers_only: exempt everybody who has graded here.
        now: seconds since 1970.

    Raises:
        ProjectError: there is no settled pair to ask, a number makes no sense, the exam tells too little and there is
            no reason, or it is not the one that the lead looked at any more.
    """
    with writing(store) as db:
        plan = planning.of_settled(
            db, queries=queries, pairs=pairs, seed=seed, most_missed=most_missed, spread=spread, now=now
        )
        planning.require_same(plan, previewed)
        return _set(db, lead, plan, although, newcomers_only, now)


def set_from_open(
    store: Store,
    lead: Lead | Operator,
    key: ExamKey,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    previewed: str = "",
    newcomers_only: bool = False,
    among: Collection[QueryId] | None = None,
    now: float,
) -> ExamReport:
    """Hold an exam of open pairs, in the place of the one that is held; or, with `ExamKey.NONE`, a trial.

    Its items are the top candidates of some queries. While it is held nobody is handed them as work; the key comes
    from `key`, later. Arguments as in `set_from_settled`; `among`: of these queries alone.

    Raises:
        ProjectError: there is no open pair to ask, a number makes no sense, or it is not any more what the lead
            looked at.
    """
    with writing(store) as db:
        plan = planning.of_open(
            db, key, queries=queries, pairs=pairs, seed=seed, most_missed=most_missed, among=among, now=now
        )
        planning.require_same(plan, previewed)
        return _set(db, lead, plan, "", newcomers_only, now)


def set_from_file(
    store: Store,
    lead: Lead | Operator,
    file: Path,
    *,
    most_missed: float | None = None,
    although: str = "",
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Hold an exam with the key of a CSV file `pair_id,grade` and perhaps `query_id,explanation`.

    The pairs must be settled (a discarded one will do), so that nobody has to judge what the exam explains.

    Raises:
        InputError: with every problem of the file, also if it cannot be read; nothing of it was taken.
        ProjectError: a number makes no sense, or the exam tells too little and there is no reason.
    """
    data = bytes_of(file)
    with writing(store) as db:
        plan = planning.of_file(db, data, file.name, most_missed=most_missed, now=now)
        return _set(db, lead, plan, although, newcomers_only, now)


def end(store: Store, lead: Lead | Operator, *, now: float, purpose: ExamPurpose = ExamPurpose.EXAM) -> bool:
    """Hold no exam (or trial) any more, so that everybody may judge; whether one was held.

    Attempts stay in the record. Its open pairs go back to work, for people who have not answered them.
    """
    with writing(store) as db:
        return _end(db, lead, purpose, now, replaced=False)


def grant_retake(store: Store, lead: Lead | Operator, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let somebody take the exam that is held once more; it also takes an exemption back.

    Raises:
        ProjectError: no such annotator, or they can take it as it is.
    """
    with writing(store) as db:
        held, person = _person(db, annotator_id)
        found = standing(db, person, held)
        if found.phase in (ExamPhase.FIRST, ExamPhase.ANSWERING, ExamPhase.ANSWERED):
            raise ProjectError(said("{name} may take the exam already", name=person.name))
        if found.phase is ExamPhase.WAITING:
            raise ProjectError(
                said("{name} has handed in and waits for the key: close the round first", name=person.name)
            )
        after = found.attempt.number if found.attempt else 0
        attempts.rule(db, annotator_id, "retake", "", by=lead.annotator_id, after_attempt=after, at=now)
        _tell(db, EventKind.EXAM_RETAKE, lead, f"annotator:{annotator_id}", {"after_attempt": after}, now)


def exempt(store: Store, lead: Lead | Operator, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Let somebody judge without having passed, for a reason.

    Raises:
        ProjectError: no such annotator, or no reason.
    """
    reason = planning.written(reason)
    if not reason:
        raise ProjectError(said("an exemption needs a reason: write one sentence about why"))
    with writing(store) as db:
        _, person = _person(db, annotator_id)
        _exempt(db, lead, person.annotator_id, reason, now)


def explain(store: Store, lead: Lead, item_id: int, explanation: str, *, now: float) -> None:
    """Write, for who missed an item, why its grade is right; an empty text takes the explanation back.

    Raises:
        ProjectError: no such item.
    """
    explanation = planning.written(explanation)
    with writing(store) as db:
        pair_id = exams.explain(db, item_id, explanation)
        if pair_id is None:
            raise ProjectError(said("there is no such item of the exam (any more): reload the page"))
        payload = {"pair": pair_id, "explanation": explanation}
        _tell(db, EventKind.EXAM_EXPLAINED, lead, f"exam_item:{item_id}", payload, now)


def _set(
    db: Database, lead: Lead | Operator, plan: Plan, although: str, newcomers_only: bool, now: float
) -> ExamReport:
    reserve = planning.accept(db, plan.right, plan.most_missed, although) if plan.right else {}
    _end(db, lead, _purpose(plan.key), now, replaced=True)
    for pair_id, _, _ in plan.items:
        seats.free_lapsed(db, pair_id)  # nobody grades what the exam explains
    exam_id = exams.add(
        db,
        plan.items,
        at=now,
        by=lead.annotator_id,
        source=plan.source,
        seed=plan.seed,
        most_missed=plan.most_missed,
        key_from=plan.key,
    )
    _refresh_agenda(db, exam_id)
    veterans = attempts.graded_before(db) if newcomers_only else []
    for annotator_id in veterans:
        _exempt(db, lead, annotator_id, HAD_GRADED, now)
    held = exams.by_id(db, exam_id)
    queries = held.queries if held else 0
    payload: dict[str, object] = {"source": plan.source, "seed": plan.seed, "items": len(plan.items)}
    payload |= {"queries": queries, "most_missed": plan.most_missed, "exempted": len(veterans), "key": plan.key}
    _tell(db, EventKind.EXAM_SET, lead, f"exam:{exam_id}", payload | reserve, now)
    grades = Counter(plan.right)
    by_grade = tuple(grades[grade] for grade in facts.scale(db).grades) if grades else ()
    return ExamReport(len(plan.items), queries, plan.asked, by_grade, plan.most_missed, len(veterans))


def _end(db: Database, lead: Lead | Operator, purpose: ExamPurpose, now: float, *, replaced: bool) -> bool:
    """End what is held; whether anything was."""
    exam_id = exams.end(db, at=now, purpose=purpose)
    if exam_id is not None:
        _refresh_agenda(db, exam_id)
        _tell(db, EventKind.EXAM_ENDED, lead, f"exam:{exam_id}", {"replaced": replaced}, now)
    return exam_id is not None


def _refresh_agenda(db: Database, exam_id: int) -> None:
    for batch_id in exams.batches(db, exam_id):
        agenda.refresh(db, batch_id)


def _purpose(key: ExamKey) -> ExamPurpose:
    return ExamPurpose.TRIAL if key is ExamKey.NONE else ExamPurpose.EXAM


def _person(db: Database, annotator_id: AnnotatorId) -> tuple[Exam, Person]:
    held, person = exams.held(db), people.by_id(db, annotator_id)
    if held is None:
        raise ProjectError(said("this project has no exam just now"))
    if person is None or person.role is not Role.ANNOTATOR:
        raise ProjectError(said("only annotators take the exam: reload the page"))
    return held, person


def _exempt(db: Database, lead: Lead | Operator, annotator_id: AnnotatorId, reason: str, now: float) -> None:
    attempt = attempts.newest(db, annotator_id)
    after = attempt.number if attempt else 0
    attempts.rule(db, annotator_id, "exempt", reason, by=lead.annotator_id, after_attempt=after, at=now)
    _tell(db, EventKind.EXAM_EXEMPTED, lead, f"annotator:{annotator_id}", {"reason": reason}, now)


def _tell(
    db: Database, kind: EventKind, lead: Lead | Operator, subject: str, payload: Mapping[str, object], now: float
) -> None:
    events.record(db, kind, at=now, actor=lead.annotator_id, subject=subject, payload=payload)
