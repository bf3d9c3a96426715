"""Warn before unsaved edits are lost: on a link to another page, and on closing or reloading the tab."""

from pathlib import Path

import streamlit as st

from annotate_app.language import tr

_warn = st.components.v2.component(
    "reelrank_unsaved",
    html='<i class="rr-unsaved" hidden></i>',
    js=(Path(__file__).parent / "unsaved.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def warn_unsaved(container: str, *, changed: bool = False, saved: str = "", leaving: str = "") -> None:
    """Warn the reader who leaves the page while a field of a container has unsaved changes.

        with st.container(key="guideline-words"):
            ...
        warn_unsaved("guideline-words", saved="version 3", changed=typed != stored)

    Args:
        container: Streamlit's key of the container with the fields. Draw the container before this call.
        changed: whether the values that Python has differ from the stored ones. A form sends its values only with its
            submit button, so the browser compares the fields of a form itself.
        saved: any text that identifies the stored values. When it changes, the fields count as saved.
        leaving: CSS selector of buttons that remove the fields, such as those for the pages of a list.
    """
    _warn(
        key=f"unsaved-{container}",
        data={
            "container": f".st-key-{container}",
            "changed": changed,
            "saved": saved,
            "leaving": leaving,
            "question": tr("Leave without saving? Your changes will be lost."),
        },
    )
