"""Draw the items of a retake, preferring pairs that the annotator has not graded and, next, not had explained.

*Reads* attempts, answers, judgements, pairs, consensus. *Writes* exam_item; frees seats whose lease has lapsed.
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
    """How many of the `items` of a retake would be `repeated`, and how many of these were `explained` before."""

    items: int
    repeated: int
    explained: int

    @property
    def short(self) -> str:
        """A sentence about the repeated pairs; an empty text if there are none."""
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
    """Return what a retake of the current exam would repeat, by annotator; empty while it has no answer key."""
    with reading(project.store) as db:
        held = exams.held(db)
        if held is None or held.closed_at is None:
            return {}
        settled = answers.settled(db, now=now)
        return {me: _outlook(db, held, me, settled) for me in annotators}


def add_items(db: Database, person: Person, held: Exam, number: int, *, now: float) -> list[int]:
    """Draw the items of a person's attempt and return their ids; add those that the exam does not have to it.

    Returns nothing if the attempt asks the exam's own items. It does if it is the first one, if the exam has no key
    yet, or if the person has graded none of these pairs.
    """
    me = person.annotator_id
    if held.closed_at is None or not attempts.all_of(db, me):
        return []
    draw = _draw(db, held, me, answers.settled(db, now=now), seed=number)
    if draw is None:
        return []
    there = {item.pair_id: item.item_id for item in exams.items(db, held.exam_id)}
    for one in draw:
        if one.pair_id not in there:
            seats.free_lapsed(db, one.pair_id)  # nobody grades what the exam explains
            there[one.pair_id] = exams.add_alternate(db, held.exam_id, one)
    return [there[one.pair_id] for one in draw]


def _draw(
    db: Database, held: Exam, me: AnnotatorId, settled: Sequence[KnownPair], *, seed: int
) -> list[KnownPair] | None:
    """Draw the items of a retake; None means that it asks the exam's own items."""
    items, seen = exams.items(db, held.exam_id), attempts.seen_pairs(db, me)
    keyed = [(item, item.right) for item in items if item.right is not None and not item.blocked]
    asked = [KnownPair(item.pair_id, right, item.query_id) for item, right in keyed if not item.alternate]
    if not any(one.pair_id in seen for one in asked):
        return None
    alternates = [KnownPair(item.pair_id, right, item.query_id) for item, right in keyed if item.alternate]
    not_asked = seen | {item.pair_id for item in items}
    fresh = [one for one in settled if one.pair_id not in not_asked]
    return draw_retake(asked, (*alternates, *fresh), seen, _explained(db, me), seed)


def _explained(db: Database, me: AnnotatorId) -> dict[PairId, int]:
    """Return, for each pair that was explained to a person, the number of the last attempt it was explained after."""
    told = [one for one in attempts.all_of(db, me) if one.handed_in_at is not None and one.keyed]
    return {item.pair_id: one.number for one in told for item in _missed(db, one)}


def _missed(db: Database, attempt: attempts.Attempt) -> list[ExamItem]:
    there = exams.items(db, attempt.exam_id, attempt.attempt_id)
    return [item for item in there if is_missed(item, attempt)]


def _outlook(db: Database, held: Exam, me: AnnotatorId, settled: Sequence[KnownPair]) -> RetakeOutlook:
    draw = _draw(db, held, me, settled, seed=1)
    if draw is None:
        return RetakeOutlook(held.showable, 0, 0)
    seen, told = attempts.seen_pairs(db, me), _explained(db, me)
    pairs = [one.pair_id for one in draw]
    return RetakeOutlook(len(pairs), sum(pair in seen for pair in pairs), sum(pair in told for pair in pairs))
