"""Compare versions of the guideline, and decide who has to read it."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from backend.campaign.nouns import Rounding
from backend.campaign.qualification.guideline.model import Change, Reading
from backend.campaign.setup.project.model import Grading
from backend.core.messages import said

_PARTS = {
    "label": said("Grade {grade}, label"),
    "meaning": said("Grade {grade}, meaning"),
    "detail": said("Grade {grade}, detail"),
    "example": said("Grade {grade}, example"),
}
_ROUNDINGS = {Rounding.HALF_UP: said("half_up"), Rounding.HALF_DOWN: said("half_down")}


def to_read(seen: int | None, present: int, *, tutorial: bool) -> Reading | None:
    """What somebody has to read before they go on.

    Args:
        seen: the newest version that they were shown; None if they are new.
        present: the version that stands.
        tutorial: whether newcomers are shown the tutorial.

    >>> to_read(None, 1, tutorial=True), to_read(None, 1, tutorial=False), to_read(1, 2, tutorial=False)
    (<Reading.FIRST: 'first'>, None, <Reading.CHANGED: 'changed'>)
    """
    if seen is None:
        return Reading.FIRST if tutorial else None
    return Reading.CHANGED if seen < present else None


def changes(before: Grading, after: Grading) -> list[Change]:
    """Every text that differs, in the order of reading: questions, grades from the best down, reminders."""
    return [
        *_listed(said("Question {number}"), _questions(before), _questions(after)),
        *_grades(before, after),
        *_one(said("Query of the examples"), before.example_query, after.example_query),
        *_listed(said("Reminder {number}"), before.reminders, after.reminders),
        *_one(said("Tolerance"), str(before.tolerance), str(after.tolerance)),
        *_one(said("Rounding"), _ROUNDINGS[before.rounding], _ROUNDINGS[after.rounding]),
    ]


def _grades(before: Grading, after: Grading) -> Iterator[Change]:
    old, new = before.scale.meanings, after.scale.meanings
    for grade in reversed(range(max(len(old), len(new)))):
        for part, where in _PARTS.items():
            texts = [getattr(meanings[grade], part) if grade < len(meanings) else "" for meanings in (old, new)]
            yield from _one(said(where, grade=grade), *texts)


def _questions(grading: Grading) -> list[str]:
    return [f"{one.title} {one.text}" for one in grading.questions]


def _listed(name: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    """Texts in an order: one that was added or taken out makes no others differ."""
    for does, old, old_end, new, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if does == "equal":
            continue
        for step in range(max(old_end - old, new_end - new)):
            was = before[old + step] if old + step < old_end else ""
            now = after[new + step] if new + step < new_end else ""
            number = new + step + 1 if now else old + step + 1
            yield Change(said(name, number=number), was, now)


def _one(where: str, before: str, after: str) -> Iterator[Change]:
    if before != after:
        yield Change(where, before, after)
