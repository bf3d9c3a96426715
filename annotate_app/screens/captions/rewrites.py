"""The part "Rewrites" of the page "Captions": a lead accepts or rejects one rewritten caption after the other.

A rewrite replaces specifics such as names with generic words. The browser sends decisions to `/rewriting/decision`,
not through Streamlit. So it can show the next rewrite before the server has answered.
"""

from pathlib import Path
from typing import Any

import msgspec
import streamlit as st

from annotate_app.language import as_builtins, browser_texts, tr
from annotate_app.plain import plain
from annotate_app.screens.captions.captions_in_use import captions_in_use
from annotate_app.shared import joined, look
from backend.campaign.corpus.captions.decisions import rewrite_queue
from backend.campaign.corpus.captions.model import RewriteCounts
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project

_HERE = Path(__file__).parent
_KEY = "rewrites"
_TYPED = "rewrites_typed"
_SCRIPTS = ("../../language/browser.js", "../../shared/full_path.js", "../../shared/keyboard.js", "rewrites.js")
_mount = st.components.v2.component(
    "reelrank_rewrites",
    html=(_HERE / "rewrites.html").read_text(encoding="utf-8"),
    css=(_HERE / "rewrites.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
)


def show(project: Project, lead: Person) -> None:
    """Draw the next rewritten caption that needs a lead's decision, and the list of accepted captions.

    Once queries have been chosen from the captions, no rewrite can be decided any more. Draw instead how many rewrites
    were accepted, rejected and left undecided.
    """
    queue = rewrite_queue(project, lead)
    if not queue.counts.rewritten:
        drawn = tr("Queries are drawn from the captions as published.")
        st.info(
            tr(
                "No captions are rewritten yet. {fixed}",
                fixed=drawn if queue.fixed else tr("Next: {then}", then=plain(queue.then)),
            )
        )
    elif queue.fixed:
        st.info(tr("Queries are drawn from these captions. Rewriting is closed."), icon=":material/lock:")
        _how_it_ended(queue.counts)
    else:
        _queue(as_builtins(queue), lead)
    captions_in_use(project, lead)


def _how_it_ended(counts: RewriteCounts) -> None:
    look.metrics(
        {
            tr("Accepted"): f"{counts.accepted:,}",
            tr("By hand"): f"{counts.by_hand:,}",
            tr("Retried"): f"{counts.retried:,}",
            tr("Rejected"): f"{counts.rejected:,}",
            tr("Undecided"): f"{counts.waiting:,}",
        }
    )


def _queue(queue: dict[str, Any], person: Person) -> None:
    """Draw the page element in which a lead decides on rewritten captions one by one.

    Args:
        queue: the rewrites that wait, as plain JSON values, in the same format as the answer of `/rewriting/decision`.
        person: the lead who decides. If somebody else signs in meanwhile, the server refuses the decisions.
    """
    _mount(
        key=_KEY,
        data={"queue": queue, "person": int(person.annotator_id), "typed": _typed()}
        | browser_texts(_HERE, (*_SCRIPTS, "rewrites.html")),
        default={"typed": ""},
        on_typed_change=_keep,
    )


def _keep() -> None:
    """Keep the unsaved texts that the lead has typed for rewrites in the session.

    If the lead is signed out, `navigation.signed_out` saves them from there.
    """
    st.session_state[_TYPED] = st.session_state[_KEY]["typed"]


def _typed() -> dict[str, str]:
    kept: str = st.session_state.get(_TYPED, "")
    return msgspec.json.decode(kept, type=dict[str, str]) if kept else {}
