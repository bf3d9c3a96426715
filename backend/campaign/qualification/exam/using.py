"""Turn answers of an exam of open pairs into judgements, once a lead says so.

*Reads* attempts, answers, seats. *Writes* judgements, seats, consensus, agenda, exam, events.

Of everybody the first attempt counts, if it is handed in by then: what they graded blind. Never what they graded again,
never a lead's key. Each pair takes as many of them as it has free seats of the first round, so two at most;
`rules.answer_key.spread` says whose, and looks at no grade. Then the consensus rule settles the pair as ever. Such a
judgement keeps the time of its answer; its event key begins with `FROM_EXAM`.
"""

from collections import defaultdict
from dataclasses import dataclass

from backend.campaign.judging import consensus
from backend.campaign.judging.rows import judgements, seats, skips, verdicts
from backend.campaign.nouns import FIRST_ROUND_SEATS, FROM_EXAM, Lead, Operator
from backend.campaign.qualification.exam.model import Exam
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.attempts import BlindAnswer
from backend.campaign.qualification.exam.rules.answer_key import spread
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import writing
from backend.store.events import EventKind


@dataclass(frozen=True, slots=True)
class UsedReport:
    """What became judgements: of how many pairs, by how many people, and how many judgements of the fewest and most."""

    pairs: int
    judgements: int
    people: int
    fewest: int
    most: int


@permissions.in_charge
def exam_to_use(project: Project, by: Lead | Operator) -> Exam | None:
    """Return the newest exam of open pairs, if a lead may let its answers count now."""
    found = exams.newest_of_open_pairs(project.store.db)
    return found if found is not None and found.usable else None


@permissions.in_charge
def use_exam(project: Project, by: Lead | Operator, *, now: float) -> UsedReport:
    """Let blind first answers of the newest exam of open pairs count as judgements of the first round.

    Possible once, when the exam has its key or is over; later attempts never count.

    Raises:
        ProjectError: no such exam, it is used already, its round is still open, or nobody has finished it.
    """
    with writing(project.store) as db:
        found = exams.newest_of_open_pairs(db)
        if found is None:
            raise ProjectError(said("there was no exam of open pairs: answers about settled pairs never count"))
        if found.used_at is not None:
            raise ProjectError(said("the answers of this exam count already"))
        if found.closed_at is None and found.ended_at is None:
            raise ProjectError(said("the round of this exam is still open: fix its key, or end it, first"))
        finished = attempts.first_finished(db, found.exam_id)
        if not finished:
            raise ProjectError(said("nobody has finished this exam, so it has no answers to use"))
        given: defaultdict[PairId, dict[AnnotatorId, BlindAnswer]] = defaultdict(dict)
        for attempt in finished:
            for answer in attempts.answers(db, attempt.attempt_id):
                if seats.seat_of(db, answer.pair_id, attempt.annotator_id) is None:
                    given[answer.pair_id][attempt.annotator_id] = answer
        free = {
            pair: [number for number in seats.free_of(db, pair, now=now) if number in FIRST_ROUND_SEATS]
            for pair in given
            if not verdicts.verdict(db, pair).is_settled
        }
        chosen = spread(given, {pair: len(numbers) for pair, numbers in free.items()}, found.seed or 0)
        had: defaultdict[AnnotatorId, int] = defaultdict(int, {attempt.annotator_id: 0 for attempt in finished})
        for pair, people in chosen.items():
            for seat_no, person in zip(free[pair], people, strict=False):  # a seat may be left
                answer = given[pair][person]
                judgements.add(
                    *(db, seats.give(db, person, pair, seat_no), person, answer.grade),
                    revision=1,
                    at=answer.answered_at,
                    active_ms=answer.active_ms,
                    elapsed_ms=None,
                    contexts=0,
                    event_key=FROM_EXAM + answer.event_key,
                )
                skips.lift(db, pair, person, at=now)  # they could report its clip, and answer it later
                had[person] += 1
            consensus.settle(db, pair, by, now=now)
        exams.note_used(db, found.exam_id, at=now)
        report = UsedReport(len(chosen), sum(had.values()), len(had), min(had.values()), max(had.values()))
        payload = {"pairs": report.pairs, "judgements": report.judgements}
        subject = f"exam:{found.exam_id}"
        events.record(db, EventKind.EXAM_USED, at=now, actor=by.annotator_id, subject=subject, payload=payload)
    return report
