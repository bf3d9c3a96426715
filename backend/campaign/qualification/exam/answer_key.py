"""Compute, explain and store the answer key of an exam; turn exam answers into judgements (stored grades).

*Reads* attempts, answers, seats (annotators' places on a pair). *Writes* exam, judgements, seats, consensus, agenda
(batches with free seats), events.

An exam may ask open pairs, which nobody has graded. Its answer key is then computed once, from answers that were given
without knowing the right grades. Everybody who has handed in now sees their result. Annotators who take the exam later
get the same key.

Answers about open pairs can also become judgements. They must be from a first attempt that was handed in, and given
before any explanation. Answers of leads never become judgements. Each pair takes at most two answers, because its first
round has two seats. `rules.marking.spread` chooses whose answers, without looking at any grade. Then the consensus rule
derives the final grade of the pair from its grades, as usual. Such a judgement keeps the time of its answer. Its event
key, which identifies the key press, begins with `FROM_EXAM`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.campaign.judging.rows import judgements, pair_status, seats
from backend.campaign.judging.verdicts import settle
from backend.campaign.nouns import FIRST_ROUND_SEATS, FROM_EXAM, Lead, Operator
from backend.campaign.qualification.exam import planning
from backend.campaign.qualification.exam.model import EXAM_CLOSED, EXAM_EXPLAINED, EXAM_USED, Exam, ExamItem, ExamKey
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.attempts import BlindAnswer
from backend.campaign.qualification.exam.rules.marking import Guesses, median, spread
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, reading, writing

FEWEST = 2
"""The fewest people who must have finished to close a round: a median of one is one person's opinion."""


@dataclass(frozen=True, slots=True)
class KeyReport:
    """A summary of an answer key that was stored.

    `finished` is how many annotators had handed in the exam. `items` is how many items have a right grade. `grades`
    counts these items by their right grade, from the lowest grade to the highest.
    """

    finished: int
    items: int
    grades: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeyPreview:
    """The answer key that an exam would get if it were stored now, in numbers.

    `grades` counts the items by their right grade, from the lowest grade to the highest. `guesses` says how well an
    annotator would do by giving one grade throughout, or random grades.
    """

    grades: tuple[int, ...]
    guesses: Guesses


@permissions.in_charge
def exam_items(project: Project, by: Lead | Operator) -> list[ExamItem]:
    """Return the items of the current exam, with their right grades and explanations; empty if there is none."""
    with reading(project.store) as db:
        exam = exams.open_exam(db)
        return exams.items(db, exam.exam_id) if exam else []


@permissions.lead_only
def explain_exam_item(project: Project, lead: Lead, item_id: int, explanation: str, *, now: float) -> None:
    """Set the explanation of an item: why its right grade is right. An empty text removes it.

    Annotators who missed the item read the explanation after they have handed in.

    Raises:
        ProjectError: no such item.
    """
    explanation = planning.one_line(explanation)
    with writing(project.store) as db:
        pair_id = exams.explain(db, item_id, explanation)
        if pair_id is None:
            raise ProjectError(said("this item of the exam no longer exists: reload the page"))
        payload, subject = {"pair": pair_id, "explanation": explanation}, f"exam_item:{item_id}"
        events.record(db, EXAM_EXPLAINED, at=now, actor=lead.annotator_id, subject=subject, payload=payload)


@permissions.in_charge
def preview_exam_key(project: Project, by: Lead | Operator) -> KeyPreview | None:
    """Return a summary of the answer key that the current exam would get now, and how well guessing would do.

    Returns None while the key cannot be computed: there is no exam, it has its key, or too few answers are handed in.
    """
    with reading(project.store) as db:
        try:
            exam = _open_round(db)
            key = list(_key(db, exam).values())
        except ProjectError:
            return None
        return KeyPreview(_by_grade(db, key), planning.score_guesses(db, key, exam.most_missed))


@permissions.in_charge
def close_exam_round(project: Project, by: Lead | Operator, *, although: str = "", now: float) -> KeyReport:
    """Store the answer key of the current exam: for each item, the median of the annotators' grades.

    If the exam takes its key from a lead, the lead's own grades are stored instead. Only first attempts that were
    handed in count. An item that nobody could grade, because its clip could not be shown, gets no right grade.

    If somebody could pass the exam with this key by guessing, it is stored only with a reason.

    Args:
        project: the project.
        by: the user who stores the key.
        although: the reason to accept a key with which guessing passes the exam, or nearly does; blank for none.
        now: seconds since 1970.

    Raises:
        ProjectError: there is no exam, or it has its key already; fewer than `FEWEST` annotators have handed in, or the
            lead has not handed in the key; or guessing passes, or nearly passes, and no reason is given.
    """
    with writing(project.store) as db:
        if (held := exams.open_exam(db)) and held.closed_at is not None:
            events.refuse_if_done(db, EXAM_CLOSED, now=now, subject=f"exam:{held.exam_id}")
        exam = _open_round(db)
        key, finished = _key(db, exam), len(attempts.first_finished(db, exam.exam_id))
        _store_key(db, exam, by, key, although, now=now)
        return KeyReport(finished, len(key), _by_grade(db, list(key.values())))


def fix_leads_key(db: Database, exam: Exam, lead: Lead, *, now: float) -> None:
    """Store the answer key that a lead has handed in, unless somebody could pass the exam by guessing.

    Such a weak key is stored only when a lead calls `close_exam_round` with a reason.
    """
    key = _key(db, exam)
    if not planning.score_guesses(db, list(key.values()), exam.most_missed).weak:
        _store_key(db, exam, lead, key, "", now=now)


def _store_key(
    db: Database, exam: Exam, by: Lead | Operator, key: Mapping[int, int], although: str, *, now: float
) -> None:
    """Store the answer key of an exam. `key` maps item ids to right grades.

    `although` is the reason to accept a key with which guessing passes; blank for none.

    Raises:
        ProjectError: guessing (one grade throughout, or random grades) passes, or nearly passes, and there is no reason
            to accept that.
    """
    reserve = planning.check_guessing(db, list(key.values()), exam.most_missed, although)
    exams.close(db, exam.exam_id, key.items(), at=now)
    finished = len(attempts.first_finished(db, exam.exam_id))
    payload = {"key": exam.key_from, "finished": finished, "items": len(key)}
    subject = f"exam:{exam.exam_id}"
    events.record(db, EXAM_CLOSED, at=now, actor=by.annotator_id, subject=subject, payload=payload | reserve)


def _open_round(db: Database) -> Exam:
    exam = exams.open_exam(db)
    if exam is None:
        raise ProjectError(said("no exam is open in this project"))
    if exam.closed_at is not None:
        raise ProjectError(said("this exam already has its answer key"))
    return exam


def _key(db: Database, exam: Exam) -> dict[int, int]:
    """Compute the answer key of an exam from the answers handed in so far, as right grades by item id.

    Raises:
        ProjectError: too few annotators have handed in, or no lead has handed in the key.
    """
    if exam.key_from is ExamKey.OWN:
        own = attempts.leads_attempts(db, exam.exam_id)
        if not own:
            raise ProjectError(
                said(
                    "a lead's own grades are the answer key of this exam: give them on the page Exam, then hand them in"
                )
            )
        return {answer.item_id: answer.grade for answer in attempts.answers(db, own[0].attempt_id)}
    finished = attempts.first_finished(db, exam.exam_id)
    if len(finished) < FEWEST:
        raise ProjectError(
            said(
                "{n} of at least {fewest} people have finished the exam: with fewer, the median would be one "
                "person's opinion",
                n=len(finished),
                fewest=FEWEST,
            )
        )
    grades: defaultdict[int, list[int]] = defaultdict(list)
    for attempt in finished:
        for answer in attempts.answers(db, attempt.attempt_id):
            grades[answer.item_id].append(answer.grade)
    return {item: median(values) for item, values in grades.items()}


def _by_grade(db: Database, key: Sequence[int]) -> tuple[int, ...]:
    counts = Counter(key)
    return tuple(counts[grade] for grade in project_rows.scale(db).grades)


@dataclass(frozen=True, slots=True)
class UsedReport:
    """How many answers of an exam became judgements (stored grades).

    `judgements` is the number of these answers, and `pairs` the number of pairs that they are about. `people` is how
    many annotators had handed in the exam. Each of them gave at least `fewest` and at most `most` of these judgements.
    """

    pairs: int
    judgements: int
    people: int
    fewest: int
    most: int


@permissions.in_charge
def exam_to_use(project: Project, by: Lead | Operator) -> Exam | None:
    """Return the exam whose answers a lead may turn into judgements now; None if there is none.

    It is the newest exam that asked open pairs (pairs that nobody had graded).
    """
    exam = exams.newest_of_open_pairs(project.store.db)
    return exam if exam is not None and exam.usable else None


@permissions.in_charge
def use_exam(project: Project, by: Lead | Operator, *, now: float) -> UsedReport:
    """Turn answers of the newest exam on open pairs into judgements, as if they were given in ordinary work.

    Open pairs are pairs that nobody had graded. Only answers of first attempts count, and only those given before the
    person knew the right grade. This can be done once, after the exam has its answer key or is over.

    Raises:
        ProjectError: there is no such exam, its answers are judgements already, it is open and has no answer key yet,
            or nobody has handed in.
    """
    with writing(project.store) as db:
        exam = exams.newest_of_open_pairs(db)
        if exam is None:
            raise ProjectError(said("there was no exam of open pairs, and answers about settled pairs never count"))
        if exam.used_at is not None:
            events.refuse_if_done(db, EXAM_USED, now=now, subject=f"exam:{exam.exam_id}")
            raise ProjectError(said("the answers of this exam already count as judgements"))
        if exam.closed_at is None and exam.ended_at is None:
            raise ProjectError(said("this exam is still open: fix its answer key first, or end the exam"))
        finished = attempts.first_finished(db, exam.exam_id)
        if not finished:
            raise ProjectError(said("nobody has finished this exam, so it has no answers to use"))
        answers_of: defaultdict[PairId, dict[AnnotatorId, BlindAnswer]] = defaultdict(dict)
        for attempt in finished:
            for answer in attempts.answers(db, attempt.attempt_id):
                if seats.seat_of(db, answer.pair_id, attempt.annotator_id) is None:
                    answers_of[answer.pair_id][attempt.annotator_id] = answer
        free = {
            pair: [number for number in seats.free_of(db, pair, now=now) if number in FIRST_ROUND_SEATS]
            for pair in answers_of
            if not pair_status.verdict(db, pair).is_settled
        }
        chosen = spread(answers_of, {pair: len(numbers) for pair, numbers in free.items()}, exam.seed or 0)
        counts: defaultdict[AnnotatorId, int] = defaultdict(int, {attempt.annotator_id: 0 for attempt in finished})
        for pair, people in chosen.items():
            for seat_no, person in zip(free[pair], people, strict=False):  # a seat may be left
                answer = answers_of[pair][person]
                judgements.add(
                    *(db, seats.assign_seat(db, person, pair, seat_no), person, answer.grade),
                    revision=1,
                    at=answer.answered_at,
                    active_ms=answer.active_ms,
                    elapsed_ms=None,
                    contexts=0,
                    event_key=FROM_EXAM + answer.event_key,
                )
                pair_status.lift_skips(db, pair, person, at=now)  # a person may report a clip, then answer
                counts[person] += 1
            settle(db, pair, by, now=now)
        exams.note_used(db, exam.exam_id, at=now)
        report = UsedReport(len(chosen), sum(counts.values()), len(counts), min(counts.values()), max(counts.values()))
        payload = {"pairs": report.pairs, "judgements": report.judgements}
        subject = f"exam:{exam.exam_id}"
        events.record(db, EXAM_USED, at=now, actor=by.annotator_id, subject=subject, payload=payload)
    return report
