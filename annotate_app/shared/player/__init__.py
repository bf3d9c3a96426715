"""The grading player, in which annotators watch clips and grade them: its files, and drawing it with the guideline."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.language import browser_texts, current, tr
from annotate_app.session import auth
from annotate_app.session.addresses import full_path
from annotate_app.shared import DESK_SCRIPTS, grade_colours, joined, wording
from backend.campaign.judging.rules import renewal_interval_s
from backend.campaign.nouns import Person
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.qualification.guideline.versions import examples
from backend.campaign.setup.project.model import StoredSettings

FOLDER = Path(__file__).parent
SCRIPTS = (
    "../../language/browser.js",
    "../../shared/full_path.js",
    "../../shared/keyboard.js",
    *DESK_SCRIPTS,
    "skipping.js",
    "recent.js",
    "exam.js",
    "unsent.js",
    "notes.js",
    "work.js",
    "windows.js",
    "keys.js",
    "sync.js",
    "attention.js",
    "stage.js",
    "context.js",
    "storyboard.js",
    "view.js",
    "guide.js",
    "player.js",
    "lesson_words.js",
    "lesson.js",
    "mount.js",
)


def script() -> str:
    """Return the JavaScript of the grading player as one module."""
    return joined(FOLDER, SCRIPTS)


def markup() -> str:
    """Return the HTML of the grading player, without any text of a project."""
    return (FOLDER / "player.html").read_text(encoding="utf-8")


def style() -> str:
    """Return the CSS of the grading player. Colours and fonts come from the app's theme."""
    return grade_colours() + joined(FOLDER, ("../../shared/desk/desk.css", "player.css"))


_mount = st.components.v2.component("reelrank_player", html=markup(), css=style(), js=script())


def player(
    desk_json: dict[str, Any],
    person: Person,
    key: str = "player",
    *,
    lesson: dict[str, Any] | None = None,
    assigned: int | None = None,
) -> None:
    """Draw the grading player on the page.

    Grades travel from the browser to `/desk/exchange`, never through Streamlit. So when Streamlit reruns the page, it
    neither waits for a grade nor loses one.

    Args:
        desk_json: the annotator's pairs and state, in the format of `/desk/exchange`; see `player/sync.js`.
        person: the annotator. The browser stores unsent grades under their number, so that two people who share a
            computer never send each other's grades.
        key: Streamlit's key of this element.
        lesson: the tutorial to show before the first pair, from `screens.grade.lesson`; None for none.
        assigned: number of pairs assigned to the annotator; None if no queries are assigned.
    """
    project = auth.project()
    words = guideline(project.campaign, examples(project, person))
    data = {
        "desk": desk_json,
        "person": int(person.annotator_id),
        "guideline": words,
        "lesson": lesson,
        "assigned": assigned,
        "renew_s": renewal_interval_s(project.lease_s),
    }
    _mount(data=data | browser_texts(FOLDER, (*SCRIPTS, "player.html")), key=key)


def guideline(
    campaign: StoredSettings, examples: Sequence[Example] = (), language: str | None = None
) -> dict[str, Any]:
    """Return the texts of the guideline as plain JSON values, the lowest grade first.

    Args:
        campaign: the campaign, whose guideline has the grades and the questions to ask oneself before grading.
        examples: the example clips that leads have chosen for some grades.
        language: the language of the texts; None for the reader's.

    Returns:
        `{"grades": [{"grade", "label", "meaning", "detail", "example", "shown"}], "choose": heading of the grades,
        "ask": heading of the questions, "before": heading of the questions in the tutorial, "questions": [{"title",
        "text"}], "reminders": [text], "example_query": text}`. For a grade with an example clip, `shown` is `{"query",
        "note", "clip": URL}`, else None. Further details of an example are not sent to browsers.
    """
    language = current() if language is None else language
    grading = campaign.grading.in_language(language)
    meanings, count = grading.scale.meanings, len(grading.questions)
    number = wording.number(count).lower()
    shown = {
        example.grade: {
            "query": example.query,
            "note": campaign.grading.told(example.note, language),
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
