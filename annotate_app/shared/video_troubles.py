"""The videos with something wrong: which, what, and what it means for their pairs; clips that one person reported."""

import time
from collections.abc import Sequence
from html import escape

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from backend.campaign.judging import queue
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

_SHOWN = 50
_PROBLEM = "reported_problem"


def video_troubles(wrong: Sequence[VideoState]) -> None:
    """A table of them."""
    rows = [
        (f"<b>{escape(one.video)}</b>", f"{escape(retold(one.message))}<br><small>{escape(retold(one.advice))}</small>")
        for one in wrong[:_SHOWN]
    ]
    st.html(look.table((tr("Video"), tr("What is wrong, and what to do")), rows, "rr-videos"))
    if len(wrong) > _SHOWN:
        st.caption(
            tr(
                "The first {shown} of {videos}; `reelrank probe` lists them all.",
                shown=_SHOWN,
                videos=wording.count_of(len(wrong), "video"),
            )
        )


@look.lead_callback(_PROBLEM)
def keep_back(project: Project, lead: Person, pair: PairKey, reason: str) -> None:
    """Callback of a button: a lead agrees that a clip is broken, so nobody gets it any more."""
    queue.block_clip(project, lead, pair, reason, now=time.time())


def reported_clips(project: Project, lead: Person) -> None:
    """The clips that one person reported as broken, which others still get; a lead may keep each back."""
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(plain(problem))
    if not (found := queue.reported_clips(project, lead)):
        return
    st.subheader(tr("Clips that one person reported as broken"), anchor=False)
    st.caption(
        tr(
            "The server can play them, so others still get them. A second report keeps a clip back. See each clip in "
            "the list Skipped of the page Disagreements. To undo all reports of a person, open them on the page People."
        )
    )
    for one in found[:_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"reported-{one.pair}"):
            span = f"{one.start_s:.1f}\u2013{one.end_s:.1f} s"
            st.markdown(
                tr(
                    "**{video}**, {span}, reported by {name}: {reason}",
                    video=plain(one.video),
                    span=span,
                    name=plain(one.by),
                    reason=plain(one.reason),
                )
            )
            st.button(tr("Keep it back"), key=f"keep-{one.pair}", on_click=keep_back, args=(one.pair, one.reason))
    if len(found) > _SHOWN:
        st.caption(tr("The first {shown} of {clips}.", shown=_SHOWN, clips=wording.count_of(len(found), "clip")))
