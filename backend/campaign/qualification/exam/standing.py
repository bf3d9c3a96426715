"""Tell how somebody stands with the exam or the calibration round, and lay it out on their desk.

Derived from attempts, answers and exemptions. *Reads* exams, attempts, answers, waivers. *Writes* nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from backend.campaign.judging.model import Desk, DeskItem, DeskState
from backend.campaign.judging.queue import QUEUE_LENGTH
from backend.campaign.nouns import Person
from backend.campaign.qualification.answers.rules import misses
from backend.campaign.qualification.exam.model import (
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
from backend.campaign.qualification.exam.rules.marking import mark
from backend.core.ids import PairKey
from backend.store.connection import Database


@dataclass(frozen=True, slots=True)
class ExamStanding:
    """How somebody stands with the exam; `items` are those of `attempt`, in the order in which they are shown."""

    phase: ExamPhase
    attempt: Attempt | None
    items: Sequence[ExamItem] = ()


def standing(db: Database, person: Person, held: Exam) -> ExamStanding:
    """Where somebody is, from their newest attempt and what a lead decided last.

    Whoever passed an earlier exam of the project has passed; whoever began one that is not held any more, or waits for
    the key of one, begins anew. Of a calibration round nothing is known but whether it was finished.
    """
    if held.purpose is ExamPurpose.CALIBRATION:
        return _in_calibration(db, person, held)
    waiver, attempt = attempts.newest_waiver(db, person.annotator_id), attempts.newest(db, person.annotator_id)
    if waiver is not None and waiver.kind == "exempt":
        return ExamStanding(ExamPhase.EXEMPT, attempt)
    if attempt is None or not (attempt.held or (attempt.handed_in_at is not None and attempt.keyed)):
        return ExamStanding(ExamPhase.FIRST, attempt)
    if attempt.handed_in_at is not None and waiver is not None and waiver.after_attempt == attempt.number:
        return ExamStanding(ExamPhase.FIRST, attempt)
    there = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    if attempt.handed_in_at is None:
        return ExamStanding(_answering(there), attempt, there)
    if not attempt.keyed:
        return ExamStanding(ExamPhase.WAITING, attempt, there)
    if attempt.read_at is None:
        return ExamStanding(ExamPhase.RESULT, attempt, there)
    if any(to_look_at_again(item, attempt) and not item.blocked for item in there):
        return ExamStanding(ExamPhase.AGAIN, attempt, there)
    return ExamStanding(ExamPhase.PASSED if result(there, attempt).passed else ExamPhase.FAILED, attempt, there)


def _in_calibration(db: Database, person: Person, held: Exam) -> ExamStanding:
    attempt = attempts.newest(db, person.annotator_id, ExamPurpose.CALIBRATION)
    if attempt is None or attempt.exam_id != held.exam_id:
        return ExamStanding(ExamPhase.FIRST, attempt)
    there = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    return ExamStanding(ExamPhase.DONE if attempt.handed_in_at is not None else _answering(there), attempt, there)


def _answering(items: Sequence[ExamItem]) -> ExamPhase:
    left = any(item.own is None and not item.blocked for item in items)
    return ExamPhase.ANSWERING if left else ExamPhase.ANSWERED


def in_order(items: Sequence[ExamItem], attempt: Attempt) -> list[ExamItem]:
    """The order of one attempt: the items of a query together, both shuffled by a key that no browser is sent."""

    def position(of: str) -> bytes:
        return blake2b(f"{attempt.order_key}:{of}".encode(), digest_size=8).digest()

    return sorted(items, key=lambda item: (position(f"query {item.query_id}"), position(f"item {item.item_id}")))


def result(items: Sequence[ExamItem], attempt: Attempt) -> ExamResult:
    """What an attempt came to."""
    answers = [(item.own, item.right) for item in items if item.own is not None and item.right is not None]
    return mark(answers, attempt.most_missed, attempt.tolerance, attempt.rule_version)


def is_missed(item: ExamItem, attempt: Attempt) -> bool:
    """Whether the answer to an item misses its key."""
    return item.own is not None and item.right is not None and misses(item.own, item.right, attempt.tolerance)


def to_look_at_again(item: ExamItem, attempt: Attempt) -> bool:
    """Whether an item was missed, and has not been graded again within reach of its key."""
    still = item.again is None or item.right is None or misses(item.again, item.right, attempt.tolerance)
    return is_missed(item, attempt) and still


_KEY = re.compile(r"([0-9a-f]{16})-(\d{1,6})(r?)")


_NAME = "{}-{}{}"
"""An item in a browser: the attempt's random key, the place in the order, `r` when it is looked at again."""


def lay_out(held: Exam, found: ExamStanding, today: int, in_all: int) -> Desk[ExamDesk]:
    """Return the desk of somebody who stands so; they gave so many grades `today` and `in_all`."""
    attempt = found.attempt
    facts = ExamDesk(
        phase=found.phase,
        attempt=attempt.number if attempt else 0,
        items=held.showable,
        queries=held.queries,
        answered=sum(item.own is not None for item in found.items),
        most_missed=held.most_missed,
        tolerance=held.tolerance,
        purpose=held.purpose,
        may_count=held.key_from.comes_later,
    )
    shown: list[DeskItem] = []
    previous: DeskItem | None = None
    if attempt is None or found.phase is ExamPhase.FIRST:
        facts = replace(facts, attempt=facts.attempt + 1)
    elif attempt.handed_in_at is None:
        asked = [
            (item, name) for item, name in _named(found.items, attempt) if item.own is not None or not item.blocked
        ]
        listed = [_on_desk(name, item, nth, len(asked)) for nth, (item, name) in enumerate(asked, 1)]
        shown = [there for there in listed if there.grade is None][:QUEUE_LENGTH]
        previous = next((there for there in reversed(listed) if there.grade is not None), None)
        facts = replace(facts, items=len(asked), most_missed=attempt.most_missed)
    elif attempt.keyed:
        missed = [(item, name) for item, name in _named(found.items, attempt, again=True) if is_missed(item, attempt)]
        to_do = [(nth, item, name) for nth, (item, name) in enumerate(missed, 1) if to_look_at_again(item, attempt)]
        if found.phase is ExamPhase.AGAIN:
            to_do = [(nth, item, name) for nth, item, name in to_do if not item.blocked][:QUEUE_LENGTH]
            shown = [replace(_on_desk(name, item, nth, len(missed)), grade=None) for nth, item, name in to_do]
        facts = replace(
            facts,
            most_missed=attempt.most_missed,
            result=result(found.items, attempt),
            missed=tuple(_miss(item, name) for _, item, name in to_do) if shown else (),
        )
    state = DeskState.READY if shown else DeskState.EXAM
    return Desk(state, tuple(shown), previous, today, in_all, exam=facts)


def names_item(key: PairKey) -> bool:
    """Whether a name in a browser could be that of an item; pairs are named otherwise."""
    return _KEY.fullmatch(key) is not None


def item_named(db: Database, key: PairKey) -> tuple[Attempt, ExamItem, bool] | None:
    """(attempt, item, whether it is looked at again) of an item's name in a browser."""
    named = _KEY.fullmatch(key)
    attempt = attempts.by_key(db, named[1]) if named else None
    if named is None or attempt is None:
        return None
    there = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    nth = int(named[2])
    return (attempt, there[nth - 1], bool(named[3])) if 1 <= nth <= len(there) else None


def _named(items: Sequence[ExamItem], attempt: Attempt, *, again: bool = False) -> list[tuple[ExamItem, PairKey]]:
    """The items of an attempt in order, with their names in a browser."""
    ending = "r" if again else ""
    return [(item, PairKey(_NAME.format(attempt.key, nth, ending))) for nth, item in enumerate(items, 1)]


def _on_desk(name: PairKey, item: ExamItem, nth: int, total: int) -> DeskItem:
    return DeskItem(name, item.query, nth, total, item.duration_s, item.own, item.whole, item.note)


def _miss(item: ExamItem, name: PairKey) -> ExamMiss:
    return ExamMiss(name, item.own or 0, item.right or 0, item.explanation, item.again)
