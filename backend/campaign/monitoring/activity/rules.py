"""Describe entries of the activity log in words. Pure functions."""

from backend.core.events import EventGroup, Payload, find_events, value_text
from backend.core.messages import said


def event_words(kind: str, payload: Payload) -> str:
    """Return the description of an event, as the rest of a sentence that begins with a person's name.

    >>> event_words("batch_opened", {"number": 2, "pairs": 20})
    'opened batch 2: 20 pairs'
    >>> event_words("adjudicated", {"relevance": 3, "reason": "seen at the end"})
    'adjudicated: relevance 3 (“seen at the end”)'
    >>> event_words("from_another_version", {"a": 1})
    'from_another_version (a 1)'
    """
    if event := find_events().get(kind):
        return event.sentence(payload)
    values = ", ".join(f"{name} {value_text(value)}" for name, value in payload.items())
    return f"{kind} ({values})" if values else kind


def grade_words(grade: int, *, corrected: bool, simulated: bool, imported: bool) -> str:
    """Return a grade in words, saying whether it was given or corrected, and whether it was simulated or imported.

    >>> grade_words(3, corrected=False, simulated=True, imported=False)
    'graded 3 (simulated)'
    """
    what = said("corrected the grade to {grade}", grade=grade) if corrected else said("graded {grade}", grade=grade)
    what = said("{what} (simulated)", what=what) if simulated else what
    return said("{what} (imported)", what=what) if imported else what


def kinds_of(group: EventGroup) -> list[str]:
    """Return the kinds of event that belong to a group of the activity log."""
    return [kind for kind, event in find_events().items() if event.group is group]
