"""How videos are measured, which two steps of Set up ask for."""

from fractions import Fraction

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.server.job_functions import HowToMeasure
from backend.core.errors import ProjectError

_DECODE = {"": marked("where that is quick"), "yes": marked("always"), "no": marked("never")}
USUAL_FPS = "3"
"""Of videos that are folders of frames, as TVR is handed out."""


def measuring_options(key: str) -> None:
    """Draws the options, under keys that begin with `key`."""
    st.text_input(
        tr("Frames a second of folders of frames"),
        USUAL_FPS,
        key=f"{key}_fps",
        help=tr("A folder of numbered pictures is a video too; TVR has 3 a second."),
    )
    st.selectbox(
        tr("Look at every picture"),
        list(_DECODE),
        format_func=lambda one: tr(_DECODE[one]),
        key=f"{key}_decode",
        help=tr("Finds damage inside a file; a minute for every hour of video or so."),
    )


def measuring_asked(key: str) -> tuple[str, str]:
    """What was asked for, as text that can be kept: frames a second, and whether to look at every picture."""
    return st.session_state[f"{key}_fps"].strip(), st.session_state[f"{key}_decode"]


def measuring(asked: tuple[str, str]) -> HowToMeasure:
    """The same as the worker takes it.

    Raises:
        ProjectError: the frames a second are no number above 0.
    """
    fps, decode = asked
    try:
        rate = Fraction(fps)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if rate <= 0:
        raise ProjectError(tr("{fps!r} frames a second are not a number above 0, such as 3 or 24000/1001", fps=fps))
    return HowToMeasure(rate, {"yes": True, "no": False}.get(decode))
