"""Step of Set up: the videos."""

import time
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.screens.steps.step import SetUpStep, StepStanding
from annotate_app.server import long_work, set_up_work
from annotate_app.widgets import look, wording
from backend import api
from backend.campaign.nouns import Person

KEY = "videos"


def take() -> None:
    """Callback of the button."""

    def act(project: api.Project, lead: Person) -> None:
        folder = Path(st.session_state["set_up_folder"].strip()).expanduser()
        title = f"Measuring the videos in {folder.name}"
        long_work.begin(project, lead, KEY, title, set_up_work.take_videos, folder, now=time.time())

    st.session_state["set_up_problem"] = look.as_lead(act)


def _standing(project: api.Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    videos = counts["videos"]
    return StepStanding(videos > 0, wording.count_of(videos, "video") if videos else "none yet")


def _show(project: api.Project, lead: Person, counts: dict[str, Any]) -> None:
    st.markdown(
        "Name a folder on the server. Every video file in it, and in the folders below it, is measured; what cannot be "
        "read is listed with its reason. The files stay where they are."
    )
    st.text_input("Folder of the videos", key="set_up_folder", placeholder="/data/videos")
    st.button("Take these videos", key="take_videos", on_click=take, type="primary")


STEP = SetUpStep(KEY, "Videos", _standing, _show)
