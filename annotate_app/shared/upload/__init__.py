"""Sending files to the project's folder: dropped or chosen, one after the other, each with how far it has come.

The bytes go to a route of our own (`annotate_app.server.lead_routes`), which streams them onto the disk; Streamlit's
uploader would keep them in the memory of the server.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from annotate_app.language import browser_texts, tr
from annotate_app.plain import plain
from annotate_app.shared import joined
from backend.core.typed_text import nfc

_HERE = Path(__file__).parent
_SCRIPTS = ("../../language/browser.js", "../../shared/full_path.js", "upload.js")
_mount = st.components.v2.component(
    "reelrank_upload",
    html='<div class="rr-upload"></div>',
    css=(_HERE / "upload.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
    isolate_styles=False,
)


NOT_TAKEN = "files_not_taken"
"""Where the session has, line by line, why files were refused that came with others; `not_taken` shows it."""


def upload(kind: str, label: str, extensions: Sequence[str], on_sent: Callable[[list[str]], None]) -> None:
    """Draws where files are dropped.

    Args:
        kind: under which the route takes them.
        label: what is to be dropped there: `Videos from your computer`.
        extensions: of the files that can be chosen.
        on_sent: callback, given the names of what arrived, once everything that was chosen is over.
    """
    data = {"kind": kind, "label": label, "extensions": list(extensions)} | browser_texts(_HERE, _SCRIPTS)
    key = f"upload-{kind}"

    def sent() -> None:
        told = st.session_state[key]["sent"]
        on_sent([nfc(name) for name in told["names"]])  # as the route kept them
        st.session_state[NOT_TAKEN] = list(told["refused"])

    _mount(key=key, data=data, on_sent_change=sent)


def not_taken() -> None:
    """Shows why files were refused, until others are sent: the page is drawn anew, often without what sent them."""
    if refused := st.session_state.get(NOT_TAKEN):
        st.warning("\n\n".join([f"**{tr('Not taken:')}**", *map(plain, refused)]), icon=":material/block:")
