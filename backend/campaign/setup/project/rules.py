"""Check a guideline with its scale. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from backend.campaign.nouns import GradeMeaning
from backend.campaign.setup.project.model import Question
from backend.core.messages import said, said_n
from backend.core.text_files import control_fault
from backend.core.typed_text import is_visible

MOST_GRADES = 5
"""The tables of grades take 0 to 4."""
LONGEST_LABEL = 24
"""Characters that fit on a button."""


def wrong(
    meanings: Sequence[GradeMeaning],
    tolerance: int,
    example_query: str,
    questions: Sequence[Question],
    reminders: Sequence[str],
) -> Iterator[str]:
    """Return everything that is wrong with a guideline, a sentence each."""
    count = len(meanings)
    if not 2 <= count <= MOST_GRADES:
        yield said_n(
            "has {n} grade: a scale has 2 to {most}", "has {n} grades: a scale has 2 to {most}", count, most=MOST_GRADES
        )
    elif tolerance >= count - 1:
        best = "0" if count == 2 else f"0 to {count - 2}"
        yield said(
            "tolerance is {tolerance}: with {count} grades any two would agree, write {best}",
            tolerance=tolerance,
            count=count,
            best=best,
        )
    if tolerance < 0:
        yield said("tolerance is {tolerance}: it is 0 or more", tolerance=tolerance)
    for n, one in enumerate(meanings):
        if not is_visible(one.label):
            yield said("grade {n} has no label", n=n)
        elif len(one.label.strip()) > LONGEST_LABEL:
            yield said(
                "the label of grade {n} has {length} characters: a button holds {longest}",
                n=n,
                length=len(one.label.strip()),
                longest=LONGEST_LABEL,
            )
    labels = Counter(one.label.strip().casefold() for one in meanings if one.label.strip())
    yield from (f"{times} grades have the label {label!r}" for label, times in labels.items() if times > 1)
    if any(one.example.strip() for one in meanings) and not example_query.strip():
        yield said("has examples but no example_query, which they are for")
    for n, asked in enumerate(questions, start=1):
        if not (is_visible(asked.title) and is_visible(asked.text)):
            yield (
                said("question {n} lacks its text", n=n)
                if is_visible(asked.title)
                else said("question {n} lacks its title", n=n)
            )
    yield from (f"reminder {n} is empty" for n, text in enumerate(reminders, start=1) if not is_visible(text))
    texts = [text for one in meanings for text in (one.label, one.meaning, one.detail, one.example)]
    texts += [example_query, *reminders, *(text for asked in questions for text in (asked.title, asked.text))]
    yield from dict.fromkeys(fault for text in texts if (fault := control_fault(text)))
