"""What the five grades mean, in the words that annotators read: one source for every screen."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from backend import api
from backend.campaign.nouns import Grade


@dataclass(frozen=True, slots=True)
class GradeMeaning:
    """One grade as people see it.

    `label` fits on a button, `meaning` below it, `detail` in the guideline; `example` is a clip that deserves
    this grade for the query `EXAMPLE_QUERY`.
    """

    grade: Grade
    label: str
    meaning: str
    detail: str
    example: str


@dataclass(frozen=True, slots=True)
class Question:
    """One of the three questions behind every grade."""

    title: str
    text: str


EXAMPLE_QUERY = "A woman pours coffee into a red cup."

GRADES = (
    GradeMeaning(
        Grade.UNRELATED,
        "Unrelated",
        "Shows something else",
        "Nothing that matters in the query can be seen.",
        "A man parks a car.",
    ),
    GradeMeaning(
        Grade.TOUCHES,
        "Touches",
        "Some points, not the main action",
        "A thing or a place of the query is there, but its main action does not happen.",
        "A red cup stands on a table; nobody pours anything.",
    ),
    GradeMeaning(
        Grade.PARTLY,
        "Partly",
        "Matches in part, clear gaps",
        "The action is there in part: much of what is asked for is hidden, missing, or outside the clip.",
        "A woman pours coffee, but into a white mug and mostly out of sight.",
    ),
    GradeMeaning(
        Grade.WELL,
        "Well",
        "Matches, a detail is off",
        "The action matches; a detail is missing, or the clip holds some footage that does not belong.",
        "She pours coffee into a red cup, then a long chat follows.",
    ),
    GradeMeaning(
        Grade.EXACTLY,
        "Exactly",
        "All of it, and only that",
        "Every action matches, is easy to see, and the clip covers it from start to end without surplus.",
        "She fills the red cup in full view; the clip begins and ends with the pouring.",
    ),
)

QUESTIONS = (
    Question("Do the actions match?", "Compare what people do with what the query says they do."),
    Question("Can you see it all?", "The action should be in the picture, large and clear enough to follow."),
    Question("Is it all in the clip?", "From its beginning to its end, and with little else around it."),
)

REMINDERS = (
    "A person alone is like a stop word: that somebody is there makes no clip relevant.",
    "It is fine if nothing is relevant. A query may have no good clip at all.",
    "Judge each clip by itself, not against the one before it.",
)


def guideline(examples: Sequence[api.Example] = ()) -> dict[str, Any]:
    """The guideline as plain JSON values, the grades in order 0 to 4.

    Args:
        examples: what the project shows for some of the grades.

    Returns:
        `{"grades": [{"grade", "label", "meaning", "detail", "example", "shown"}], "questions": [{"title", "text"}],
        "reminders": [text], "example_query": text}`, where `shown` is `{"query", "note", "clip"}` for a grade with an
        example of the project, else None; `clip` is its address. Nothing else of an example goes to a browser.

    >>> [grade["label"] for grade in guideline()["grades"]]
    ['Unrelated', 'Touches', 'Partly', 'Well', 'Exactly']
    """
    shown = {
        example.grade: {
            "query": example.query,
            "note": example.note,
            "clip": f"/examples/{example.grade}.mp4?v={example.version}",
        }
        for example in examples
    }
    return {
        "grades": [
            asdict(meaning) | {"grade": int(meaning.grade), "shown": shown.get(int(meaning.grade))}
            for meaning in GRADES
        ],
        "questions": [asdict(question) for question in QUESTIONS],
        "reminders": list(REMINDERS),
        "example_query": EXAMPLE_QUERY,
    }
