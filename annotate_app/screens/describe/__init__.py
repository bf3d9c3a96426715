"""The annotators' page "Describe": mark moments in a video, and write a sentence for each.

The browser sends descriptions to `/describe/exchange`, not through Streamlit; see `outbox.js`.
"""

from pathlib import Path

import streamlit as st

from annotate_app.language import browser_texts
from annotate_app.session import auth
from annotate_app.shared import DESK_SCRIPTS, joined
from backend.campaign.nouns import Person, Role

FOLDER = Path(__file__).parent
SCRIPTS = (
    "../../language/browser.js",
    "../../shared/full_path.js",
    "../../shared/keyboard.js",
    *DESK_SCRIPTS,
    "spans.js",
    "keys.js",
    "described.js",
    "outbox.js",
    "drafts.js",
    "moment.js",
    "library.js",
    "screen.js",
    "timeline.js",
    "list.js",
    "view.js",
    "showing.js",
    "describe.js",
    "mount.js",
)


def page() -> None:
    """Draw the page on which an annotator describes videos.

    It is drawn once. After that, its script exchanges data with the server's routes under `/describe/`.
    """
    desk(auth.require(Role.ANNOTATOR))


def script() -> str:
    """Return the JavaScript of the page "Describe", joined from its files into one module."""
    return joined(FOLDER, SCRIPTS)


def markup() -> str:
    """Return the HTML of the page "Describe", without any text of a project."""
    return joined(FOLDER, ("describe.html",))


def style() -> str:
    """Return the CSS of the page "Describe". Colours and fonts come from the app's theme."""
    return joined(FOLDER, ("../../shared/desk/desk.css", "describe.css"))


_mount = st.components.v2.component("reelrank_describe", html=markup(), css=style(), js=script())


def desk(person: Person, key: str = "describe") -> None:
    """Draw the element in which an annotator describes videos. Its script fetches videos and descriptions by itself.

    Args:
        person: the annotator. The browser stores unsent descriptions for each person separately, so that two people
            who share a computer never send each other's.
        key: Streamlit's key of this element.
    """
    texts = browser_texts(FOLDER, (*SCRIPTS, "describe.html"))
    _mount(data={"person": int(person.annotator_id)} | texts, key=key)
