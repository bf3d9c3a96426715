"""What all steps of the page "Set up" share: the step's type, its jobs, and the options for encoder and video files."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.server import jobs
from annotate_app.server.job_functions import HowToMeasure
from backend.campaign.nouns import Person
from backend.campaign.review.model import StatusCounts
from backend.campaign.selection.candidates.choosing import encoder_name
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import list_jobs
from backend.campaign.setup.serving.model import Job, JobKind
from backend.core.errors import ProjectError

_OFFLINE = "minilm"
_DECODE = {"": marked("if it is quick"), "yes": marked("always"), "no": marked("never")}
USUAL_FPS = "3"
"""The usual frames per second of videos that are folders of frames, as in TVR."""


class StepStanding(NamedTuple):
    """The state of a step of the page "Set up".

    Attributes:
        done: whether the step is complete.
        told: a short summary shown after the step's title, such as `9 videos`.
        waits: a sentence that names what must be done before the step; empty if nothing.
    """

    done: bool
    told: str
    waits: str = ""


class SetUpStep(NamedTuple):
    """A step of the page "Set up".

    Attributes:
        key: the step's name, which is also the subject of its jobs.
        title: the title.
        standing: returns the step's state, from the project, the lead and the counts of `status_counts`.
        show: draws the step, from the same arguments.
        optional: whether a campaign can do without the step.
        then: draws what a lead can do after the step's job has ended.
    """

    key: str
    title: str
    standing: Callable[[Project, Person, StatusCounts], StepStanding]
    show: Callable[[Project, Person, StatusCounts], None]
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
    """Begin the background job of a step of the page "Set up".

    Args:
        project: the project.
        lead: the lead who starts the job.
        step: the key of the step.
        title: the title of the job on pages.
        function: does the work in another process; see `jobs.JobFunction`.
        arguments: its arguments.
        asked: options to store with the job, so that a later job can use them again.
    """
    jobs.begin(project, lead, JobKind.SET_UP, step, title, function, *arguments, asked=asked, now=time.time())


def last_job(project: Project, lead: Person) -> Job | None:
    """Return the newest job of the page "Set up", running or ended, whichever step began it.

    Return None if there was none, or somebody dismissed its outcome.
    """
    return next((job for job in list_jobs(project, lead, now=time.time()) if job.kind is JobKind.SET_UP), None)


def encoder_box(project: Project, lead: Person, key: str) -> None:
    """Draw the choice of a sentence encoder: the project's, a small one that works offline, or one that the lead names.

    `key` is the Streamlit key of the input.
    """
    now = encoder_name(project, lead)
    st.selectbox(
        tr("Encoder"),
        list(dict.fromkeys([now, _OFFLINE])),
        key=key,
        accept_new_options=True,
        format_func=lambda name: tr("{one} (works offline)", one=name) if name == _OFFLINE else name,
        help=tr("A sentence encoder: its name on the model hub, or a folder on the server."),
    )


def measuring_options(key: str) -> None:
    """Draw the options for finding out the duration and frame rate of videos.

    `key` is the beginning of the inputs' Streamlit keys.
    """
    st.text_input(
        tr("Frames per second of image folders"),
        USUAL_FPS,
        key=f"{key}_fps",
        help=tr("A folder of numbered images is a video too. TVR has 3 frames per second."),
    )
    st.selectbox(
        tr("Check every frame"),
        list(_DECODE),
        format_func=lambda option: tr(_DECODE[option]),
        key=f"{key}_decode",
        help=tr("Finds damage inside a file. Takes about a minute per hour of video."),
    )


def measuring_asked(key: str) -> tuple[str, str]:
    """Return what the reader chose in the options drawn by `measuring_options`: two texts.

    The first is the frames per second. The second says whether to check every frame: `yes`, `no`, or empty to check
    only if it is quick.
    """
    return st.session_state[f"{key}_fps"].strip(), st.session_state[f"{key}_decode"]


def measuring(asked: tuple[str, str]) -> HowToMeasure:
    """Convert the texts from `measuring_asked` to options for the job that reads the video files.

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
