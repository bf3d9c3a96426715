"""The rewrite queue on the page: the rewrite that waits, what it changed, and the keys that decide about it.

Decisions travel from the browser to `/rewriting/decision`, never through Streamlit: the next rewrite stands there
before the server has answered.
"""

from pathlib import Path
from typing import Any

import msgspec
import streamlit as st

from annotate_app.language import browser_texts
from annotate_app.widgets.desk import joined
from backend.campaign.nouns import Person

_HERE = Path(__file__).parent
_KEY = "rewrites"
_TYPED = "rewrites_typed"
_SCRIPTS = ("../../language/browser.js", "../full_path.js", "../keyboard.js", "rewrites.js")
_mount = st.components.v2.component(
    "reelrank_rewrites",
    html=(_HERE / "rewrites.html").read_text(encoding="utf-8"),
    css=(_HERE / "rewrites.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
)


def rewrites(queue: dict[str, Any], person: Person) -> None:
    """Puts the queue on the page.

    Args:
        queue: as `/rewriting/decision` answers it.
        person: whose decisions these are: if somebody else signs in meanwhile, the server refuses them.
    """
    _mount(
        key=_KEY,
        data={"queue": queue, "person": int(person.annotator_id), "typed": _typed()}
        | browser_texts(_HERE, (*_SCRIPTS, "rewrites.html")),
        default={"typed": ""},
        on_typed_change=_keep,
    )


def _keep() -> None:
    """What was typed when the session turned out to have ended lies where `screens.signed_out` finds and keeps it."""
    st.session_state[_TYPED] = st.session_state[_KEY]["typed"]


def _typed() -> dict[str, str]:
    kept: str = st.session_state.get(_TYPED, "")
    return msgspec.json.decode(kept, type=dict[str, str]) if kept else {}
