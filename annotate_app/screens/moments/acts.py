"""What a lead does about the moments of a video: change, split, join, add, remove, and undo the last of it."""

import time
from collections.abc import Callable, Sequence

import streamlit as st

from annotate_app.language import tr
from annotate_app.shared import address_state, look
from backend.campaign.corpus.moments.editing import change_moments, join_moments, moments_of_video, split_moment
from backend.campaign.corpus.moments.model import MomentRow
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId

ON_SHOW = "moment"
"""The name in the address of the moment on show."""
VIDEO = "video"
"""The name in the address of the open video."""
PROBLEM = "moments_problem"
_UNDO = "moments_undo"
"""In the session: the video, which spans came and which went by what was done last."""
_Span = tuple[float, float]


def change(row: MomentRow) -> None:
    """Callback of the form: the moment begins and ends where its fields say."""
    span = (float(st.session_state[key("start", row)]), float(st.session_state[key("end", row)]))
    if span == (row.start_s, row.end_s):
        st.session_state[PROBLEM] = tr("Start and end are what they were: type other seconds to change them.")
        return
    _do(row.video, [row], [span], tr("Changed."))


def split(row: MomentRow) -> None:
    """Callback: two moments instead of one, the second from where the field says."""
    at_s = float(st.session_state[key("at", row)])
    spans = [(row.start_s, at_s), (at_s, row.end_s)]

    def act(project: Project, lead: Person) -> None:
        split_moment(project, lead, row.moment_id, at_s, now=time.time())

    _do(row.video, [row], spans, tr("Split in two."), act)


def join(row: MomentRow, following: MomentRow) -> None:
    """Callback: one moment of this one and the next."""
    spans = [(row.start_s, max(row.end_s, following.end_s))]

    def act(project: Project, lead: Person) -> None:
        join_moments(project, lead, [row.moment_id, following.moment_id], now=time.time())

    _do(row.video, [row, following], spans, tr("Joined."), act)


def remove(row: MomentRow) -> None:
    """Callback: the moment is no more."""
    _do(row.video, [row], [], tr("Removed."))


def add(video: str) -> None:
    """Callback of the form: one more moment."""
    span = (float(st.session_state["add-start"]), float(st.session_state["add-end"]))
    _do(video, [], [span], tr("Added."))


def undo() -> None:
    """Callback: what was done last is as it was before."""
    if (last := st.session_state.pop(_UNDO, None)) is None:
        return
    video, came, went = last

    def act(project: Project, lead: Person) -> None:
        there = {(row.start_s, row.end_s): row.moment_id for row in moments_of_video(project, lead, video)}
        gone = [there.get(span, MomentId(0)) for span in came]
        change_moments(project, lead, video, gone, went, now=time.time())

    if problem := look.as_lead(act):
        st.session_state[PROBLEM] = problem
        return
    address_state.go(**{ON_SHOW: None})
    st.toast(tr("It is as it was before."), icon=":material/undo:")


def undo_button() -> None:
    """The way back, while there is something to go back to."""
    if st.session_state.get(_UNDO):
        st.button(tr("Undo"), key="moments-undo", icon=":material/undo:", shortcut="u", on_click=undo)


def key(name: str, row: MomentRow) -> str:
    """Streamlit's key of a field of a moment."""
    return f"{name}-{row.moment_id}"


def _do(
    video: str,
    gone: Sequence[MomentRow],
    come: Sequence[_Span],
    done: str,
    act: Callable[[Project, Person], object] | None = None,
) -> None:
    def usual(project: Project, lead: Person) -> None:
        change_moments(project, lead, video, [row.moment_id for row in gone], come, now=time.time())

    if problem := look.as_lead(act or usual):
        st.session_state[PROBLEM] = problem
        return
    st.session_state[_UNDO] = (video, list(come), [(row.start_s, row.end_s) for row in gone])
    shown: int | None = None
    if come:

        def find(project: Project, lead: Person) -> None:
            nonlocal shown
            rows = moments_of_video(project, lead, video)
            shown = next((row.moment_id for row in rows if (row.start_s, row.end_s) == come[0]), None)

        look.as_lead(find)
    address_state.go(**{ON_SHOW: shown})
    st.toast(done, icon=":material/check:")
