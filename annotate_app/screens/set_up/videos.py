"""Step of Set up: the videos."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up.measuring import measuring, measuring_asked, measuring_options
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.server import job_functions, jobs, uploads
from annotate_app.shared import look, wording
from annotate_app.shared.upload import upload
from annotate_app.shared.video_troubles import reported_clips, video_troubles
from backend.campaign.corpus.importing.model import Trouble
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import look_at_work
from backend.core.messages import said

KEY = "videos"
_MEASURING = "videos"


def take() -> None:
    """Callback of the button: take the videos of the folder that is named."""
    named = st.session_state["set_up_folder"].strip()
    if not named:
        st.session_state["set_up_problem"] = tr("Name the folder of the videos first.")
        return
    _take(Path(named).expanduser())


def take_sent(names: list[str]) -> None:
    """Callback of the uploader: take what has arrived."""
    _take(None)


def _take(folder: Path | None) -> None:
    def act(project: Project, lead: Person) -> None:
        where = folder or project.folder / uploads.KINDS["videos"].folder
        title = said("Taking the videos that were sent")
        if folder:
            title = said("Taking the videos of {folder}", folder=folder)
        how = measuring(measuring_asked(_MEASURING))
        jobs.begin(project, lead, KEY, title, job_functions.take_videos, where, how, now=time.time())

    st.session_state["set_up_problem"] = look.as_lead(act)


def look_again() -> None:
    """Callback of the button: look at all videos as they lie there now."""
    accept = tuple(st.session_state.get("accept_videos", ()))
    elsewhere = st.session_state.get("missing_videos", "").strip()
    folder = Path(elsewhere).expanduser() if elsewhere else None

    def act(project: Project, lead: Person) -> None:
        title = said("Looking at the videos again")
        how = measuring(measuring_asked(_MEASURING))
        again = job_functions.look_at_videos
        jobs.begin(project, lead, KEY, title, again, accept, folder, how, now=time.time())

    st.session_state["set_up_problem"] = look.as_lead(act)


def _standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    videos = counts["videos"]
    wrong = len(video_states(project, lead, wrong=True))
    told = wording.count_of(videos, "video") if videos else tr("none yet")
    return StepStanding(
        videos > 0, tr("{told}, {wrong:,} with something wrong", told=told, wrong=wrong) if wrong else told
    )


def _show(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    st.markdown(
        tr(
            "Name a folder on the server, or send files to it. Every video in the folder, and in those "
            "below it, is measured; what cannot be read is listed with its reason. Files on the server "
            "stay where they are."
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(tr("Folder on the server"), key="set_up_folder", placeholder="/data/videos")
        with st.popover(tr("More options")):
            measuring_options(_MEASURING)
        st.button(tr("Take its videos"), key="take_videos", on_click=take, type="primary")
    upload("videos", tr("Videos from your computer"), uploads.KINDS["videos"].extensions, on_sent=take_sent)
    _not_taken(project, lead)
    if counts["videos"]:
        reported_clips(project, lead)
        _again(video_states(project, lead, wrong=True))


def _not_taken(project: Project, lead: Person) -> None:
    """Files that arrived, but whose page was closed before they were taken."""
    if not (sent := uploads.sent_files(project, "videos")):
        return
    taken = {project.file(one.path).resolve() for one in video_states(project, lead) if one.path}
    left = [file.name for file in sent if file.resolve() not in taken]
    if left and look_at_work(project, lead, now=time.time()) is None:
        st.caption(plain(tr("Sent, and not taken: {join}", join=", ".join(left))))
        st.button(tr("Take what was sent"), key="take_sent", on_click=_take, args=(None,))


def _again(wrong: Sequence[VideoState]) -> None:
    """What is wrong with videos that were taken, and a look at all of them as they lie there now."""
    if wrong:
        video_troubles(wrong)
    if any(one.trouble is Trouble.MISSING for one in wrong):
        st.text_input(tr("Folder in which missing files may lie now"), key="missing_videos", placeholder="/data/videos")
    if changed := [one.video for one in wrong if one.trouble is Trouble.CHANGED]:
        st.multiselect(
            tr("Take the new content of"),
            changed,
            key="accept_videos",
            help=tr(
                "Grades given to the former content stay. Nothing else of it does: clips are cut from the new one."
            ),
        )
    st.button(
        tr("Look at the videos again"),
        key="look_at_videos",
        on_click=look_again,
        help=tr("Finds files that were moved or renamed, and tells which are missing, damaged or have changed."),
    )


STEP = SetUpStep(KEY, marked("Videos"), _standing, _show)
