"""Step of Set up: the videos."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.screens.steps.step import SetUpStep, StepStanding
from annotate_app.server import long_work, set_up_work, uploads
from annotate_app.widgets import look, wording
from annotate_app.widgets.upload import upload
from annotate_app.widgets.video_troubles import video_troubles
from backend import api
from backend.campaign.corpus.model import Trouble
from backend.campaign.nouns import Person
from backend.campaign.videos.model import VideoState

KEY = "videos"


def take() -> None:
    """Callback of the button: take the videos of the folder that is named."""
    named = st.session_state["set_up_folder"].strip()
    if not named:
        st.session_state["set_up_problem"] = "Name the folder of the videos first."
        return
    _take(Path(named).expanduser())


def take_sent(names: list[str]) -> None:
    """Callback of the uploader: take what has arrived."""
    _take(None)


def _take(folder: Path | None) -> None:
    def act(project: api.Project, lead: Person) -> None:
        where = folder or project.folder / uploads.KINDS["videos"].folder
        title = f"Taking the videos of {folder}" if folder else "Taking the videos that were sent"
        long_work.begin(project, lead, KEY, title, set_up_work.take_videos, where, now=time.time())

    st.session_state["set_up_problem"] = look.as_lead(act)


def look_again() -> None:
    """Callback of the button: look at all videos as they lie there now."""
    accept = tuple(st.session_state.get("accept_videos", ()))

    def act(project: api.Project, lead: Person) -> None:
        title = "Looking at the videos again"
        long_work.begin(project, lead, KEY, title, set_up_work.look_at_videos, accept, now=time.time())

    st.session_state["set_up_problem"] = look.as_lead(act)


def _standing(project: api.Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    videos = counts["videos"]
    wrong = len(api.video_states(project, lead, wrong=True))
    told = wording.count_of(videos, "video") if videos else "none yet"
    return StepStanding(videos > 0, f"{told}, {wrong:,} with something wrong" if wrong else told)


def _show(project: api.Project, lead: Person, counts: dict[str, Any]) -> None:
    st.markdown(
        "Name a folder on the server, or send files to it. Every video in the folder, and in those below it, is "
        "measured; what cannot be read is listed with its reason. Files on the server stay where they are."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Folder on the server", key="set_up_folder", placeholder="/data/videos")
        st.button("Take its videos", key="take_videos", on_click=take, type="primary")
    upload("videos", "Videos from your computer", uploads.KINDS["videos"].extensions, on_sent=take_sent)
    if counts["videos"]:
        _again(api.video_states(project, lead, wrong=True))


def _again(wrong: Sequence[VideoState]) -> None:
    """What is wrong with videos that were taken, and a look at all of them as they lie there now."""
    if wrong:
        video_troubles(wrong)
    if changed := [one.video for one in wrong if one.trouble is Trouble.CHANGED]:
        st.multiselect(
            "Take the new content of",
            changed,
            key="accept_videos",
            help="Grades given to the former content stay. Nothing else of it does: clips are cut from the new one.",
        )
    st.button(
        "Look at the videos again",
        key="look_at_videos",
        on_click=look_again,
        help="Finds files that were moved or renamed, and tells which are missing, damaged or have changed.",
    )


STEP = SetUpStep(KEY, "Videos", _standing, _show)
