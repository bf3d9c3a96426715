"""Data types for a campaign: settings, scale of grades, guideline, licence; and functions that check a guideline."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from backend.campaign.nouns import GradeMeaning, Rounding, Scale
from backend.core.events import Event, EventGroup
from backend.core.messages import said, said_n
from backend.core.text_files import control_fault
from backend.core.typed_text import is_visible

People = Literal["counted", "joined", "apart"]
"""A way to name several people in a caption: `two people`, `two women`, or `a woman and another woman`."""


@dataclass(frozen=True, slots=True)
class ExamSettings:
    """Default values for a new qualification exam, which annotators must pass before they work.

    `queries` is the number of queries, and `pairs` the number of pairs of each query. `most_missed` is the largest
    share of answers that may be wrong in a passed exam, in percent.
    """

    queries: int
    pairs: int
    most_missed: float


@dataclass(frozen=True, slots=True)
class GoldSettings:
    """The settings of gold questions: pairs with known grades, hidden in an annotator's work to check their care.

    `share` is the share of an annotator's pairs that are gold questions, above 0 and at most 0.5. An annotator's
    accuracy is computed from their last `window` answers, once they have given `fewest` answers. Below `warn` percent,
    they are warned. Below `pause` percent, or below `warn` for the second time, they get no more pairs.
    """

    on: bool
    share: float
    window: int
    fewest: int
    warn: float
    pause: float


@dataclass(frozen=True, slots=True)
class Question:
    """One of the questions that annotators ask themselves before they grade."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Grading:
    """The scale of grades of a campaign, its rules for combining grades, and the guideline that annotators read.

    `tolerance` is how far two grades may differ and still agree. `rounding` says how a mean halfway between two grades
    is rounded. `example_query` is the query to which the examples of all grades belong. `questions` and `reminders` are
    the other texts of the guideline. `translations` maps a language tag to {original text: translation}, for the
    guideline's texts and the notes of examples.
    """

    scale: Scale
    tolerance: int
    rounding: Rounding
    example_query: str
    questions: tuple[Question, ...]
    reminders: tuple[str, ...]
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """Every text of the scale and the guideline that annotators read."""
        of_grades = [
            text for grade in self.scale.meanings for text in (grade.label, grade.meaning, grade.detail, grade.example)
        ]
        of_questions = [text for question in self.questions for text in (question.title, question.text)]
        return [*of_grades, self.example_query, *of_questions, *self.reminders]

    def told(self, text: str, language: str) -> str:
        """Return the translation of a guideline text into a language, or the text itself if there is none."""
        return self.translations.get(language, {}).get(text, text)

    def in_language(self, language: str) -> "Grading":
        """Return a copy with all texts translated into a language; texts without a translation stay as they are."""

        def translated(text: str) -> str:
            return self.told(text, language)

        meanings = (
            GradeMeaning(
                grade.grade,
                translated(grade.label),
                translated(grade.meaning),
                translated(grade.detail),
                translated(grade.example),
            )
            for grade in self.scale.meanings
        )
        return replace(
            self,
            scale=Scale(tuple(meanings)),
            example_query=translated(self.example_query),
            questions=tuple(
                Question(translated(question.title), translated(question.text)) for question in self.questions
            ),
            reminders=tuple(map(translated, self.reminders)),
            translations={},
        )


@dataclass(frozen=True, slots=True)
class GuidelineVersion:
    """One version of the guideline, in force until the next version.

    `since` is when it began, in seconds since 1970; None for the first version.
    """

    version: int
    since: float | None
    by: str | None
    """The lead who wrote it; None for the command line, and for the first version."""
    reason: str
    grading: Grading


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """The settings of a campaign that are in the database.

    `rule_version` names the rule that turns grades into a relevance. `seats` annotators grade a pair at first, and
    `further_seats` more if their grades differ too much. `batch_size` is how many pairs of a query are handed out
    together.
    """

    batch_size: int
    grading: Grading
    rule_version: str
    seats: int
    further_seats: int
    exam: ExamSettings
    gold: GoldSettings
    tutorial: bool
    """True if newcomers are shown the tutorial before their first clip."""

    @property
    def scale(self) -> Scale:
        """The grades that annotators may give, with their labels and meanings."""
        return self.grading.scale

    @property
    def tolerance(self) -> int:
        """The largest difference between two grades that still counts as agreement."""
        return self.grading.tolerance


@dataclass(frozen=True, slots=True)
class Terms:
    """The licence of releases, and how to cite them; both are empty until somebody sets them.

    `by` is the name of the lead who set them, None if the command line did. `at` is in seconds since 1970.
    """

    licence: str = ""
    citation: str = ""
    reason: str = ""
    by: str | None = None
    at: float | None = None


MOST_GRADES = 5
"""The most grades of a scale: the database's tables take grades from 0 to 4."""
LONGEST_LABEL = 24
"""The most characters of a grade's label, which has to fit on a button."""


def grading_problems(
    meanings: Sequence[GradeMeaning],
    tolerance: int,
    example_query: str,
    questions: Sequence[Question],
    reminders: Sequence[str],
) -> Iterator[str]:
    """Yield a sentence for each fault of a scale and guideline; nothing if they are valid."""
    count = len(meanings)
    if not 2 <= count <= MOST_GRADES:
        yield said_n(
            "has {n} grade: a scale has 2 to {most}", "has {n} grades: a scale has 2 to {most}", count, most=MOST_GRADES
        )
    elif tolerance >= count - 1:
        best = "0" if count == 2 else f"0 to {count - 2}"
        yield said(
            "tolerance is {tolerance}, so any two of the {count} grades would agree: write {best}",
            tolerance=tolerance,
            count=count,
            best=best,
        )
    if tolerance < 0:
        yield said("tolerance is {tolerance}: write 0 or more", tolerance=tolerance)
    for n, meaning in enumerate(meanings):
        if not is_visible(meaning.label):
            yield said("grade {n} has no label", n=n)
        elif len(meaning.label.strip()) > LONGEST_LABEL:
            yield said(
                "the label of grade {n} has {length} characters: use at most {longest}, which fit on a button",
                n=n,
                length=len(meaning.label.strip()),
                longest=LONGEST_LABEL,
            )
    labels = Counter(meaning.label.strip().casefold() for meaning in meanings if meaning.label.strip())
    yield from (f"{times} grades have the label {label!r}" for label, times in labels.items() if times > 1)
    if any(meaning.example.strip() for meaning in meanings) and not example_query.strip():
        yield said("has examples but no example_query: add the query that they belong to")
    for n, question in enumerate(questions, start=1):
        if not (is_visible(question.title) and is_visible(question.text)):
            yield (
                said("question {n} has no text", n=n)
                if is_visible(question.title)
                else said("question {n} has no title", n=n)
            )
    yield from (f"reminder {n} is empty" for n, text in enumerate(reminders, start=1) if not is_visible(text))
    texts = [text for meaning in meanings for text in (meaning.label, meaning.meaning, meaning.detail, meaning.example)]
    texts += [example_query, *reminders, *(text for question in questions for text in (question.title, question.text))]
    yield from dict.fromkeys(fault for text in texts if (fault := control_fault(text)))


def translation_problems(grading: Grading, notes: Collection[str] = ()) -> Iterator[str]:
    """Yield a sentence for each fault in the translations of a guideline; the original texts must be valid.

    Args:
        grading: the guideline with its translations.
        notes: explanations of the guideline's example pairs, which may be translated too.
    """
    for language, texts in grading.translations.items():
        for text in sorted(texts.keys() - set(filter(None, (*grading.texts, *notes)))):
            yield said("translations.{language}: {text!r} is no text of this guideline", language=language, text=text)
        translated = grading.in_language(language)
        problems = grading_problems(
            translated.scale.meanings,
            translated.tolerance,
            translated.example_query,
            translated.questions,
            translated.reminders,
        )
        yield from (
            said("translations.{language}: {message}", language=language, message=problem) for problem in problems
        )


PROJECT_SPLIT = Event("project_split", EventGroup.MATERIAL, said("split the project: this is part {part} of {parts}"))
"""split: a random text that all parts have; part, parts: its number and how many; last: the largest id by table;
first_pair: the smallest number of a pair that is handed out from now on"""
