"""Data classes of the guideline and of practice pairs; rules for comparing versions and for what annotators read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from backend.campaign.nouns import Rounding
from backend.campaign.setup.project.model import Grading
from backend.core.ids import PairKey
from backend.core.messages import said


class Reading(StrEnum):
    """The part of the guideline that an annotator has to read before they grade."""

    FIRST = "first"
    """A newcomer reads the whole guideline, as the tutorial."""
    CHANGED = "changed"
    """A person who knows an earlier version reads what changed since."""


@dataclass(frozen=True, slots=True)
class Change:
    """A text of the guideline that differs between two versions.

    `where` names the text, such as "Reminder 2". `before` is empty if the text was added, `after` if it was removed.
    """

    where: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Example:
    """The example pair that a lead chose for a grade, with the lead's note about it.

    `version` is a number that changes when a lead chooses another example. `showing` says whether the guideline can
    show the pair: its final grade is still `grade`, and its clip can be shown.
    """

    version: int
    grade: int
    pair: PairKey
    query: str
    note: str
    showing: bool


@dataclass(frozen=True, slots=True)
class PracticeItem:
    """A practice pair as an annotator sees it before answering.

    `pair` is its name in the browser. `whole` says whether the clip is the whole video. `own` is the annotator's newest
    answer to it, if they have practised before; None otherwise.
    """

    pair: str
    query: str
    whole: bool
    own: int | None


@dataclass(frozen=True, slots=True)
class PracticeTold:
    """What an annotator sees after answering a practice pair: their grade, the right grade and the explanation.

    `agrees` says whether the answer is within the tolerance of the right grade.
    """

    own: int
    right: int
    agrees: bool
    explanation: str


@dataclass(frozen=True, slots=True)
class PracticeFigures:
    """A practice pair as leads see it.

    `people` is how many annotators answered it. `missed` is how many of their first answers differed from the right
    grade by more than the tolerance. `hidden` says why annotators are not shown the pair at present; it is empty if
    they are.
    """

    practice_id: int
    key: str
    query: str
    video: str
    start_s: float
    end_s: float
    grade: int
    explanation: str
    hidden: str
    people: int
    missed: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A moment that a lead may choose for a practice text, with the cosine similarity of its caption to the text."""

    moment_id: int
    video: str
    start_s: float
    end_s: float
    caption: str | None
    similarity: float


_PARTS = {
    "label": said("Grade {grade}, label"),
    "meaning": said("Grade {grade}, meaning"),
    "detail": said("Grade {grade}, detail"),
    "example": said("Grade {grade}, example"),
}
_ROUNDINGS = {Rounding.HALF_UP: said("half_up"), Rounding.HALF_DOWN: said("half_down")}


def to_read(seen: int | None, present: int, *, tutorial: bool) -> Reading | None:
    """Return what an annotator has to read before they go on; None for nothing.

    Args:
        seen: the newest guideline version that they have read; None if they are new.
        present: the current version.
        tutorial: whether newcomers are shown the tutorial.

    >>> to_read(None, 1, tutorial=True), to_read(None, 1, tutorial=False), to_read(1, 2, tutorial=False)
    (<Reading.FIRST: 'first'>, None, <Reading.CHANGED: 'changed'>)
    """
    if seen is None:
        return Reading.FIRST if tutorial else None
    return Reading.CHANGED if seen < present else None


def changes(before: Grading, after: Grading) -> list[Change]:
    """Return every text that differs between two guidelines, in reading order.

    The order is: questions, grades from the best down, reminders, tolerance and rounding. The differences between the
    translations follow, one language after the other. They include translated notes on example pairs.
    """
    differences = _changes(before, after)
    for language in sorted({*before.translations, *after.translations}):
        translated = _changes(before.in_language(language), after.in_language(language))
        differences += [
            Change(said("{where} ({language})", where=change.where, language=language), change.before, change.after)
            for change in translated
            if change not in differences
        ]
        old, new = (grading.translations.get(language, {}) for grading in (before, after))
        for note in sorted({*old, *new} - {*before.texts, *after.texts}):
            where = said("Note “{note}” ({language})", note=note, language=language)
            differences += _difference(where, old.get(note, ""), new.get(note, ""))
    return differences


def _changes(before: Grading, after: Grading) -> list[Change]:
    return [
        *_list_differences(said("Question {number}"), _questions(before), _questions(after)),
        *_grades(before, after),
        *_difference(said("Query of the examples"), before.example_query, after.example_query),
        *_list_differences(said("Reminder {number}"), before.reminders, after.reminders),
        *_difference(said("Tolerance"), str(before.tolerance), str(after.tolerance)),
        *_difference(said("Rounding"), _ROUNDINGS[before.rounding], _ROUNDINGS[after.rounding]),
    ]


def _grades(before: Grading, after: Grading) -> Iterator[Change]:
    old, new = before.scale.meanings, after.scale.meanings
    for grade in reversed(range(max(len(old), len(new)))):
        for part, where in _PARTS.items():
            texts = [getattr(meanings[grade], part) if grade < len(meanings) else "" for meanings in (old, new)]
            yield from _difference(said(where, grade=grade), *texts)


def _questions(grading: Grading) -> list[str]:
    return [f"{question.title} {question.text}" for question in grading.questions]


def _list_differences(name: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    """Yield the differences between two lists of texts.

    The lists are aligned first, so that the texts after an added or removed text are not reported as different.
    """
    for does, old, old_end, new, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if does == "equal":
            continue
        for step in range(max(old_end - old, new_end - new)):
            old_text = before[old + step] if old + step < old_end else ""
            new_text = after[new + step] if new + step < new_end else ""
            number = new + step + 1 if new_text else old + step + 1
            yield Change(said(name, number=number), old_text, new_text)


def _difference(where: str, before: str, after: str) -> Iterator[Change]:
    if before != after:
        yield Change(where, before, after)
