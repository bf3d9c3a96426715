"""What somebody is shown before their desk: the tutorial, or what changed in the guideline."""

from dataclasses import asdict
from typing import Any

from annotate_app.language import retold
from backend import api
from backend.campaign.guideline.model import Reading
from backend.campaign.nouns import Person


def lesson(project: api.Project, person: Person, *, now: float) -> dict[str, Any]:
    """The lesson as plain JSON values; the guideline's words travel beside it.

    Returns:
        `{"version": of the guideline, "reading": "first", "changed" or "again", "reasons": [text],
        "changes": [{"where", "before", "after"}], "practice": [{"pair", "query", "whole", "own"}]}`. Reasons and
        changes are of a guideline that changed. No right grade is in it.
    """
    due = api.guideline_due(project, person)
    news = api.guideline_news(project, person)
    return {
        "version": api.guideline_version(project, person),
        "reading": due.value if due else "again",
        "reasons": list(news.reasons) if news else [],
        "changes": [{part: retold(text) for part, text in asdict(change).items()} for change in news.changes]
        if news
        else [],
        "practice": []
        if due is Reading.CHANGED
        else [asdict(item) for item in api.practice_items(project, person, now=now)],
    }
