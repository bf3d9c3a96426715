"""Sending files to the project's folder: dropped or chosen, one after the other, each with how far it has come.

The bytes go to a route of our own (`annotate_app.server.uploads`), which streams them onto the disk; Streamlit's
uploader would keep them in the memory of the server.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_upload",
    html='<div class="rr-upload"></div>',
    css=(_HERE / "upload.css").read_text(encoding="utf-8"),
    js=(_HERE / "upload.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def upload(kind: str, label: str, extensions: Sequence[str], on_sent: Callable[[list[str]], None]) -> None:
    """Draws where files are dropped.

    Args:
        kind: under which the route takes them.
        label: what is to be dropped there: `Videos from your computer`.
        extensions: of the files that can be chosen.
        on_sent: callback, given the names of what arrived, once everything that was chosen is over.
    """
    data = {"kind": kind, "label": label, "extensions": list(extensions)}
    key = f"upload-{kind}"
    _mount(key=key, data=data, on_sent_change=lambda: on_sent(st.session_state[key]["sent"]))
