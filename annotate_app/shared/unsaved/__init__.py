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
    """Warn while a field of a container differs from what it was before the reader edited it.

        with st.container(key="guideline-words"):
            ...
        warn_unsaved("guideline-words", saved="version 3", changed=typed != stored)

    Args:
        container: Streamlit's key of the container that holds the fields. Draw it before.
        changed: whether what has reached Python differs from what is stored. In a form nothing does before the
            submit button; the browser compares the fields itself.
        saved: what is stored, in any words. When it changes, the fields stand as saved.
        leaving: a CSS selector of buttons that take the fields away, such as those of a list's pages.
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
