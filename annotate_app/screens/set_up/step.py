"""Model of the steps of the page Set up, and inputs that several steps share: encoder, measuring of videos."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.server import jobs
from annotate_app.server.job_functions import HowToMeasure
from backend.campaign.nouns import Person
from backend.campaign.selection.candidates.choosing import encoder_name
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import list_jobs
from backend.campaign.setup.serving.model import Job, JobKind
from backend.core.errors import ProjectError

_OFFLINE = "minilm"
_DECODE = {"": marked("if it is quick"), "yes": marked("always"), "no": marked("never")}
USUAL_FPS = "3"
"""Default frames per second of videos that are folders of frames, as in TVR."""


class StepStanding(NamedTuple):
    """The state of a step, read from the project."""

    done: bool
    told: str
    """Short text after the title: `9 videos`."""
    waits: str = ""
    """A sentence about what has to be done first, or "" for nothing."""


class SetUpStep(NamedTuple):
    """A step of the page. `standing` and `show` get the project, the lead and the counts of `status_counts`.

    `then` draws the buttons for what a lead may do with the outcome of the step's job.
    """

    key: str
    title: str
    standing: Callable[[Project, Person, dict[str, Any]], StepStanding]
    show: Callable[[Project, Person, dict[str, Any]], None]
    optional: bool = False
    then: Callable[[Job], None] | None = None


def begin_step(
    project: Project,
    lead: Person,
    step: str,
    title: str,
    function: jobs.JobFunction,
    *arguments: object,
    asked: dict[str, str] | None = None,
) -> None:
    """Start a background job of a step; see `jobs.begin`."""
    jobs.begin(project, lead, JobKind.SET_UP, step, title, function, *arguments, asked=asked, now=time.time())


def last_job(project: Project, lead: Person) -> Job | None:
    """Return the job of a step that runs or ran last; None if there was none, or its outcome was dismissed."""
    return next((job for job in list_jobs(project, lead, now=time.time()) if job.kind is JobKind.SET_UP), None)


def encoder_box(project: Project, lead: Person, key: str) -> None:
    """Draw the choice of an encoder: the project's, the offline one, or any that is typed."""
    now = encoder_name(project, lead)
    st.selectbox(
        tr("Encoder"),
        list(dict.fromkeys([now, _OFFLINE])),
        key=key,
        accept_new_options=True,
        format_func=lambda one: tr("{one} (works offline)", one=one) if one == _OFFLINE else one,
        help=tr("A sentence encoder: its name on the model hub, or a folder on the server."),
    )


def measuring_options(key: str) -> None:
    """Draw the options for measuring videos, with Streamlit keys that begin with `key`."""
    st.text_input(
        tr("Frames per second of image folders"),
        USUAL_FPS,
        key=f"{key}_fps",
        help=tr("A folder of numbered images is a video too. TVR has 3 frames per second."),
    )
    st.selectbox(
        tr("Check every frame"),
        list(_DECODE),
        format_func=lambda one: tr(_DECODE[one]),
        key=f"{key}_decode",
        help=tr("Finds damage inside a file. Takes about a minute per hour of video."),
    )


def measuring_asked(key: str) -> tuple[str, str]:
    """Return the chosen options for measuring as text: frames per second, and whether to check every frame."""
    return st.session_state[f"{key}_fps"].strip(), st.session_state[f"{key}_decode"]


def measuring(asked: tuple[str, str]) -> HowToMeasure:
    """Convert the options for measuring from text to `HowToMeasure`.

    Raises:
        ProjectError: the frames per second are not a number above 0.
    """
    fps, decode = asked
    try:
        rate = Fraction(fps)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if rate <= 0:
        raise ProjectError(tr("{fps!r} frames per second is not a number above 0, such as 3 or 24000/1001", fps=fps))
    return HowToMeasure(rate, {"yes": True, "no": False}.get(decode))
