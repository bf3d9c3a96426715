"""The annotator's page "Describe": mark moments in a video, and write a sentence for each.

The browser sends descriptions to `/describe/exchange`, never through Streamlit; see `outbox.js`.
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
    """Show the desk for describing. From then on the browser exchanges data with `/describe/` by itself."""
    desk(auth.require(Role.ANNOTATOR))


def script() -> str:
    """Return the component's JavaScript as one module."""
    return joined(FOLDER, SCRIPTS)


def markup() -> str:
    """Return the component's HTML, without any text of a project."""
    return joined(FOLDER, ("describe.html",))


def style() -> str:
    """Return the component's CSS; colours and fonts come from the app's theme."""
    return joined(FOLDER, ("../../shared/desk/desk.css", "describe.css"))


_mount = st.components.v2.component("reelrank_describe", html=markup(), css=style(), js=script())


def desk(person: Person, key: str = "describe") -> None:
    """Draw the desk, which requests its work by itself.

    Args:
        person: the annotator. The browser stores unsent descriptions under their number, so that two people who share
            a computer never send each other's.
        key: Streamlit's key of this element.
    """
    texts = browser_texts(FOLDER, (*SCRIPTS, "describe.html"))
    _mount(data={"person": int(person.annotator_id)} | texts, key=key)
