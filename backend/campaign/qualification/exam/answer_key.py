"""Read, explain and fix the answer key of an exam; turn answers about open pairs into judgements.

*Reads* attempts, answers, seats. *Writes* exam, judgements, seats, consensus, agenda, events.

The key of open pairs is fixed once, from blind answers. From then on everybody who has handed in sees their result.
Anybody who comes later, or had not handed in, takes the exam like any other exam.

Only first attempts that are handed in can become judgements, and only their blind answers. Grades given after an
explanation never count, and neither does a lead's key. Each pair takes as many answers as it has free seats of the
first round, so at most two. `rules.marking.spread` chooses whose answers, without looking at any grade. Then the
consensus rule settles the pair as usual. Such a judgement keeps the time of its answer; its event key begins with
`FROM_EXAM`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.campaign.judging.grades import settle
from backend.campaign.judging.rows import judgements, pair_status, seats
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
    """An answer key that was fixed.

    The key follows from the grades of `finished` people, and gives `items` items a right grade. `grades` counts, for
    each grade of the scale, the items whose right grade it is.
    """

    finished: int
    items: int
    grades: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeyPreview:
    """A preview of the answer key that closing the round would fix now.

    `grades` counts, for each grade of the scale, the items whose right grade it would be. `guesses` says how guessing
    would score with this key.
    """

    grades: tuple[int, ...]
    guesses: Guesses


@permissions.in_charge
def exam_items(project: Project, by: Lead | Operator) -> list[ExamItem]:
    """Return the items of the current exam, with their right grades and explanations."""
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
    """Return a preview of the answer key that closing the round would fix now, and how guessing would score with it.

    Returns None while the round cannot be closed.
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
    """Fix the answer key of the current exam: for each item, the median of the grades of everybody who finished.

    Only first attempts that were handed in count. An item that nobody could grade, because its clip could not be shown,
    leaves the exam. If the key is a lead's own grades, it is normally fixed when they hand it in. It is fixed here only
    if guessing passes the exam with it, and then needs a reason.

    Args:
        project: the project.
        by: the user who closes it.
        although: the reason to take a key with which guessing passes the exam, or nearly passes it; blank for none.
        now: seconds since 1970.

    Raises:
        ProjectError: there is no exam, it has its key already, fewer than `FEWEST` people have finished, or the lead
            has not handed in the key; or guessing passes the exam with this key, or nearly, and no reason is given.
    """
    with writing(project.store) as db:
        exam = _open_round(db)
        key, finished = _key(db, exam), len(attempts.first_finished(db, exam.exam_id))
        _store_key(db, exam, by, key, although, now=now)
        return KeyReport(finished, len(key), _by_grade(db, list(key.values())))


def fix_leads_key(db: Database, exam: Exam, lead: Lead, *, now: float) -> None:
    """Fix the answer key that a lead has handed in, unless guessing passes the exam with it.

    A key that guessing passes waits until a lead closes the round with a reason.
    """
    key = _key(db, exam)
    if not planning.score_guesses(db, list(key.values()), exam.most_missed).weak:
        _store_key(db, exam, lead, key, "", now=now)


def _store_key(
    db: Database, exam: Exam, by: Lead | Operator, key: Mapping[int, int], although: str, *, now: float
) -> None:
    """Store the answer key of an exam; `key` maps the items that have a right grade to it.

    Raises:
        ProjectError: guessing passes the exam with this key, or nearly, and no reason is given.
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
    """Return the right grade of each item that has one, from the answers that are handed in so far."""
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
    """How many answers of an exam became judgements.

    `judgements` is the number of these answers, and `pairs` the number of pairs that they are about. `people` is the
    number of people who had finished the exam. `fewest` and `most` are the smallest and the largest number of these
    judgements that one of these people gave.
    """

    pairs: int
    judgements: int
    people: int
    fewest: int
    most: int


@permissions.in_charge
def exam_to_use(project: Project, by: Lead | Operator) -> Exam | None:
    """Return the newest exam of open pairs if a lead may let its answers count now; else None."""
    exam = exams.newest_of_open_pairs(project.store.db)
    return exam if exam is not None and exam.usable else None


@permissions.in_charge
def use_exam(project: Project, by: Lead | Operator, *, now: float) -> UsedReport:
    """Turn blind first answers of the newest exam of open pairs into judgements of the first round.

    This can be done once, after the exam has its key or is over. Later attempts never count.

    Raises:
        ProjectError: there is no such exam, its answers count already, its round is still open, or nobody has finished
            it.
    """
    with writing(project.store) as db:
        exam = exams.newest_of_open_pairs(db)
        if exam is None:
            raise ProjectError(said("there was no exam of open pairs, and answers about settled pairs never count"))
        if exam.used_at is not None:
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
