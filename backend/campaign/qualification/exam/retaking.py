"""Draw the items of a retake, preferring pairs that the annotator has not graded.

Next come pairs whose explanation the annotator has not read. *Reads* attempts, answers, judgements, pairs, consensus.
*Writes* exam_item; frees seats (annotators' places on a pair) whose reservation has expired.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Lead, Operator, Person
from backend.campaign.qualification.answers import rows as answers
from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.exam.model import Exam, ExamItem
from backend.campaign.qualification.exam.results import is_missed
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rules.drawing import draw_retake
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said
from backend.store.connection import Database, reading


@dataclass(frozen=True, slots=True)
class RetakeOutlook:
    """How many pairs an annotator would meet again in a retake that begins now.

    Of the `items` pairs of the retake, the annotator has graded `repeated` before. Of these, `explained` were also
    explained to them.
    """

    items: int
    repeated: int
    explained: int

    @property
    def short(self) -> str:
        """A sentence about the pairs that the annotator would meet again; an empty text if there are none."""
        if not self.repeated:
            return ""
        return said(
            "A retake repeats {repeated} of {items} pairs, {explained} of them explained: too few others are settled.",
            repeated=self.repeated,
            items=self.items,
            explained=self.explained,
        )


@permissions.in_charge
def retake_outlooks(
    project: Project, by: Lead | Operator, annotators: Sequence[AnnotatorId], *, now: float
) -> dict[AnnotatorId, RetakeOutlook]:
    """Return, by annotator, how many pairs they would meet again in a retake of the current exam.

    The dict is empty if there is no exam, or it has no answer key yet.
    """
    with reading(project.store) as db:
        exam = exams.open_exam(db)
        if exam is None or exam.closed_at is None:
            return {}
        settled = answers.settled(db, now=now)
        return {me: _outlook(db, exam, me, settled) for me in annotators}


def add_items(db: Database, person: Person, exam: Exam, number: int, *, now: float) -> list[int]:
    """Draw the items of an annotator's retake, and return their ids.

    Returns an empty list if the attempt asks the exam's original items. It does so if it is the annotator's first
    attempt, if the exam has no answer key, or if they have graded none of its pairs. Drawn pairs that are not in the
    exam yet are added to it as items for retakes only.
    """
    me = person.annotator_id
    if exam.closed_at is None or not attempts.all_of(db, me):
        return []
    draw = _draw(db, exam, me, answers.settled(db, now=now), seed=number)
    if draw is None:
        return []
    item_ids = {item.pair_id: item.item_id for item in exams.items(db, exam.exam_id)}
    for pair in draw:
        if pair.pair_id not in item_ids:
            seats.free_held(db, pair.pair_id)  # nobody grades what the exam explains
            item_ids[pair.pair_id] = exams.add_alternate(db, exam.exam_id, pair)
    return [item_ids[pair.pair_id] for pair in draw]


def _draw(
    db: Database, exam: Exam, me: AnnotatorId, settled: Sequence[KnownPair], *, seed: int
) -> list[KnownPair] | None:
    """Draw the pairs of an annotator's retake; None if it asks the exam's original items.

    `settled` are the pairs with a final grade that may be drawn, besides those of the exam.
    """
    items, seen = exams.items(db, exam.exam_id), attempts.seen_pairs(db, me)
    keyed = [(item, item.right) for item in items if item.right is not None and not item.blocked]
    exam_pairs = [KnownPair(item.pair_id, right, item.query_id) for item, right in keyed if not item.alternate]
    if not any(pair.pair_id in seen for pair in exam_pairs):
        return None
    alternates = [KnownPair(item.pair_id, right, item.query_id) for item, right in keyed if item.alternate]
    not_asked = seen | {item.pair_id for item in items}
    unused = [pair for pair in settled if pair.pair_id not in not_asked]
    return draw_retake(exam_pairs, (*alternates, *unused), seen, _explained(db, me), seed)


def _explained(db: Database, me: AnnotatorId) -> dict[PairId, int]:
    """Return the pairs that were explained to an annotator, each with the number of the last attempt that missed it."""
    finished = [attempt for attempt in attempts.all_of(db, me) if attempt.handed_in_at is not None and attempt.keyed]
    return {item.pair_id: attempt.number for attempt in finished for item in _missed(db, attempt)}


def _missed(db: Database, attempt: attempts.Attempt) -> list[ExamItem]:
    items = exams.items(db, attempt.exam_id, attempt.attempt_id)
    return [item for item in items if is_missed(item, attempt)]


def _outlook(db: Database, exam: Exam, me: AnnotatorId, settled: Sequence[KnownPair]) -> RetakeOutlook:
    draw = _draw(db, exam, me, settled, seed=1)
    if draw is None:
        return RetakeOutlook(exam.showable, 0, 0)
    seen, explained = attempts.seen_pairs(db, me), _explained(db, me)
    pairs = [known.pair_id for known in draw]
    return RetakeOutlook(len(pairs), sum(pair in seen for pair in pairs), sum(pair in explained for pair in pairs))
