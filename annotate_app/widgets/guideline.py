"""What the grades mean, in the words that annotators read: one source for every screen."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotate_app.widgets import wording
from backend import api
from backend.campaign.project.model import Campaign


@dataclass(frozen=True, slots=True)
class Question:
    """One of the three questions behind every grade."""

    title: str
    text: str


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


def guideline(campaign: Campaign, examples: Sequence[api.Example] = ()) -> dict[str, Any]:
    """The guideline as plain JSON values, the lowest grade first.

    Args:
        campaign: whose scale it is.
        examples: what the project shows for some of the grades.

    Returns:
        `{"grades": [{"grade", "label", "meaning", "detail", "example", "shown"}], "choose": heading of the grades,
        "questions": [{"title", "text"}], "reminders": [text], "example_query": text}`, where `shown` is `{"query",
        "note", "clip"}` for a grade with an example of the project, else None; `clip` is its address. Nothing else of
        an example goes to a browser.
    """
    meanings = campaign.scale.meanings
    shown = {
        example.grade: {
            "query": example.query,
            "note": example.note,
            "clip": f"/examples/{example.grade}.mp4?v={example.version}",
        }
        for example in examples
    }
    return {
        "grades": [asdict(meaning) | {"shown": shown.get(meaning.grade)} for meaning in meanings],
        "choose": f"Then choose one of {wording.number(len(meanings)).lower()} grades",
        "questions": [asdict(question) for question in QUESTIONS],
        "reminders": list(REMINDERS),
        "example_query": campaign.example_query,
    }
