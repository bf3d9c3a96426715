"""Lay out an exam, or a calibration round, on somebody's desk, and name its items in a browser.

*Reads* attempts, items. *Writes* nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from backend.campaign.judging.model import Desk, DeskItem, DeskState
from backend.campaign.judging.queue import QUEUE_LENGTH
from backend.campaign.qualification.exam.model import Exam, ExamDesk, ExamItem, ExamMiss, ExamPhase
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.attempts import Attempt
from backend.campaign.qualification.exam.standing import ExamStanding, in_order, is_missed, result, to_look_at_again
from backend.core.ids import PairKey
from backend.store.connection import Database

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
