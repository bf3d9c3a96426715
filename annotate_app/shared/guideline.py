"""What the grades mean, in the words that annotators read: one source for every screen."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from annotate_app.language import tr
from annotate_app.session.addresses import full_path
from annotate_app.shared import wording
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.setup.project.model import Campaign


def guideline(campaign: Campaign, examples: Sequence[Example] = ()) -> dict[str, Any]:
    """The guideline as plain JSON values, the lowest grade first.

    Args:
        campaign: whose scale it is.
        examples: what the project shows for some of the grades.

    Returns:
        `{"grades": [{"grade", "label", "meaning", "detail", "example", "shown"}], "choose": heading of the grades,
        "ask": heading of the questions, "before": the same as a page of the tutorial,
        "questions": [{"title", "text"}], "reminders": [text], "example_query": text}`,
        where `shown` is `{"query",
        "note", "clip"}` for a grade with an example of the project, else None; `clip` is its address. Nothing else of
        an example goes to a browser.
    """
    grading = campaign.grading
    meanings, count = grading.scale.meanings, len(grading.questions)
    number = wording.number(count).lower()
    shown = {
        example.grade: {
            "query": example.query,
            "note": example.note,
            "clip": full_path(f"/examples/{example.grade}.mp4?v={example.version}"),
        }
        for example in examples
    }
    return {
        "grades": [asdict(meaning) | {"shown": shown.get(meaning.grade)} for meaning in meanings],
        "choose": tr("Then choose one of {number} grades", number=wording.number(len(meanings)).lower()),
        "ask": tr("Ask one question") if count == 1 else tr("Ask {number} questions", number=number),
        "before": tr("Before each grade: ask one question")
        if count == 1
        else tr("Before each grade: ask {number} questions", number=number),
        "questions": [asdict(question) for question in grading.questions],
        "reminders": list(grading.reminders),
        "example_query": grading.example_query,
    }
