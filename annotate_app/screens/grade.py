"""The annotator's page "Grade", which shows a clip and a query and takes a grade."""

import time
from dataclasses import asdict
from typing import Any

import streamlit as st

from annotate_app.language import current, translate_message
from annotate_app.session import auth
from annotate_app.shared.player import player
from backend.campaign.desk import exchange
from backend.campaign.judging.model import DeskState
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.guideline.practice_pairs import practice_items
from backend.campaign.qualification.guideline.rules import Reading
from backend.campaign.qualification.guideline.versions import guideline_due, guideline_news, guideline_version
from backend.campaign.setup.project.folder import Project


def page() -> None:
    """Draw the grading page of the annotator who is signed in.

    This runs once when the page opens. After that, the script in the browser talks to `/desk/exchange` by itself.
    New annotators see the tutorial first, and so does everybody who adds `?tutorial` to the page's URL. Annotators who
    read an earlier version of the guideline see what changed.
    """
    person = auth.require(Role.ANNOTATOR)
    project, now = auth.project(), time.time()
    desk = exchange.desk(project, person, now=now)
    again = "tutorial" in st.query_params
    tutorial = lesson(project, person, now=now) if again or desk.state is DeskState.GUIDELINE else None
    player(asdict(desk), person, lesson=tutorial, assigned=exchange.assigned_pairs(project, person))


def lesson(project: Project, person: Person, *, now: float) -> dict[str, Any]:
    """Return the tutorial as plain JSON values. The page sends the texts of the guideline separately.

    Returns:
        `{"version", "reading", "reasons": [text], "changes": [{"where", "before", "after"}], "practice": [{"pair",
        "query", "whole", "own"}]}`. `version` is the number of the guideline's version. `reading` says why the tutorial
        is shown: `first` to a newcomer, `changed` after a change of the guideline, `again` on request. `reasons` and
        `changes` tell why and how the guideline changed, and are empty if it has not. `practice` has the practice pairs
        without their right grades, and is empty if `reading` is `changed`. `whole` says whether the clip is the whole
        video, and `own` is the annotator's last answer, or None.
    """
    due = guideline_due(project, person)
    news = guideline_news(project, person, current())
    return {
        "version": guideline_version(project, person),
        "reading": due.value if due else "again",
        "reasons": list(news.reasons) if news else [],
        "changes": [{part: translate_message(text) for part, text in asdict(change).items()} for change in news.changes]
        if news
        else [],
        "practice": []
        if due is Reading.CHANGED
        else [asdict(item) for item in practice_items(project, person, now=now)],
    }
