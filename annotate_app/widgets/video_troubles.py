"""The videos with something wrong: which, what, and what it means for their pairs."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.widgets import tables, wording
from backend.campaign.videos.model import VideoState

_SHOWN = 50


def video_troubles(wrong: Sequence[VideoState]) -> None:
    """A table of them."""
    rows = [
        (f"<b>{escape(one.video)}</b>", f"{escape(retold(one.message))}<br><small>{escape(retold(one.advice))}</small>")
        for one in wrong[:_SHOWN]
    ]
    st.html(tables.table((tr("Video"), tr("What is wrong, and what to do")), rows, "rr-videos"))
    if len(wrong) > _SHOWN:
        st.caption(
            tr(
                "The first {shown} of {videos}; `reelrank probe` lists them all.",
                shown=_SHOWN,
                videos=wording.count_of(len(wrong), "video"),
            )
        )
