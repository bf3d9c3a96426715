"""Upload files to the project's folder, one after the other, each with its progress.

The files go to a route of this app (`annotate_app.server.lead_routes`), which streams them to the disk. Streamlit's
uploader would keep them in the server's memory.
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
"""Session key of the reasons why files of the last upload were refused, one line each; `not_taken` shows them."""


def upload(kind: str, label: str, extensions: Sequence[str], on_sent: Callable[[list[str]], None]) -> None:
    """Draw an area onto which the lead drops files, or chooses them, to upload them.

    Args:
        kind: kind of file, a key of `KINDS` in `lead_routes`.
        label: name of the files, such as `Videos from your computer`.
        extensions: extensions of the files that can be chosen.
        on_sent: callback with the names of the files that arrived, called once all files are sent or refused.
    """
    data = {"kind": kind, "label": label, "extensions": list(extensions)} | browser_texts(_HERE, _SCRIPTS)
    key = f"upload-{kind}"

    def sent() -> None:
        result = st.session_state[key]["sent"]
        on_sent([nfc(name) for name in result["names"]])  # as the route kept them
        st.session_state[NOT_TAKEN] = list(result["refused"])

    _mount(key=key, data=data, on_sent_change=sent)


def not_taken() -> None:
    """Show why files of the last upload were refused, until the next upload.

    It is separate from `upload`, because after an upload the page is often drawn without the upload area.
    """
    if refused := st.session_state.get(NOT_TAKEN):
        st.warning("\n\n".join([f"**{tr('Not taken:')}**", *map(plain, refused)]), icon=":material/block:")
