"""Steps of Set up: the videos, and moments where no annotation file brings them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import (
    SetUpStep,
    StepStanding,
    begin_step,
    last_job,
    measuring,
    measuring_asked,
    measuring_options,
)
from annotate_app.server import job_functions, lead_routes
from annotate_app.shared import look, wording
from annotate_app.shared.review_clip import reported_clips, video_troubles
from annotate_app.shared.upload import upload
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.describing.opening import describing_choice
from backend.campaign.corpus.importing.model import Trouble
from backend.campaign.corpus.moments.model import ByShots, ByWindows, Origin
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said

VIDEOS = "videos"
_MEASURING = "videos"
MOMENTS = "moments"
_SHOTS, _WINDOWS = marked("Shots"), marked("Windows")
_WORDS = {
    Origin.IMPORTED: marked("from files"),
    Origin.SHOTS: marked("shots"),
    Origin.WINDOWS: marked("windows"),
    Origin.DESCRIBED: marked("described"),
    Origin.POOLED: marked("from pooled runs"),
}


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


@look.lead_callback("set_up_problem")
def _take(project: Project, lead: Person, folder: Path | None) -> None:
    where = folder or project.folder / lead_routes.KINDS["videos"].folder
    title = said("Taking the videos that were sent")
    if folder:
        title = said("Taking the videos of {folder}", folder=folder)
    how = measuring(measuring_asked(_MEASURING))
    begin_step(project, lead, VIDEOS, title, job_functions.take_videos, where, how)


@look.lead_callback("set_up_problem")
def look_again(project: Project, lead: Person) -> None:
    """Callback of the button: look at all videos as they lie there now."""
    accept = tuple(st.session_state.get("accept_videos", ()))
    elsewhere = st.session_state.get("missing_videos", "").strip()
    folder = Path(elsewhere).expanduser() if elsewhere else None
    title = said("Looking at the videos again")
    how = measuring(measuring_asked(_MEASURING))
    begin_step(project, lead, VIDEOS, title, job_functions.look_at_videos, accept, folder, how)


def _videos_standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    videos = counts["videos"]
    wrong = len(video_states(project, lead, wrong=True))
    told = wording.count_of(videos, "video") if videos else tr("none yet")
    return StepStanding(
        videos > 0, tr("{told}, {wrong:,} with something wrong", told=told, wrong=wrong) if wrong else told
    )


def _show_videos(project: Project, lead: Person, counts: dict[str, Any]) -> None:
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
    upload("videos", tr("Videos from your computer"), lead_routes.KINDS["videos"].extensions, on_sent=take_sent)
    _not_taken(project, lead)
    if counts["videos"]:
        reported_clips(project, lead)
        _again(video_states(project, lead, wrong=True))


def _not_taken(project: Project, lead: Person) -> None:
    """Files that arrived, but whose page was closed before they were taken."""
    if not (sent := lead_routes.sent_files(project, "videos")):
        return
    taken = {project.file(one.path).resolve() for one in video_states(project, lead) if one.path}
    left = [file.name for file in sent if file.resolve() not in taken]
    if left and last_job(project, lead) is None:
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


VIDEOS_STEP = SetUpStep(VIDEOS, marked("Videos"), _videos_standing, _show_videos)


@look.lead_callback("set_up_problem")
def propose(project: Project, lead: Person) -> None:
    """Callback of the button."""
    state = st.session_state
    how: ByShots | ByWindows
    if state["moments_how"] == _WINDOWS:
        how = ByWindows(_lengths(state["moments_lengths"]), state["moments_stride"])
    else:
        how = ByShots(state["moments_shortest"], state["moments_longest"])
    title = said("Cutting videos into windows") if isinstance(how, ByWindows) else said("Looking for shots")
    begin_step(project, lead, MOMENTS, title, job_functions.propose_moments, how)


def _lengths(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ProjectError(tr("{text!r} are no lengths: write seconds, such as 5, 10, 20", text=text)) from None


def _moments_standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    if not counts["videos"]:
        return StepStanding(False, tr("none yet"), tr("Moments are of videos: these come first."))
    if not counts["moments"]:
        return StepStanding(False, tr("none yet"))
    parts = [f"{count:,} {tr(_WORDS[Origin(origin)])}" for origin, count in counts["moments_from"].items()]
    return StepStanding(True, f"{wording.count_of(counts['moments'], 'moment')}: {', '.join(parts)}")


def _show_moments(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    st.markdown(
        tr(
            "What is judged are moments: spans of videos. An annotation file brings its own. Without one "
            "they are proposed from the videos alone, or described by people. What is proposed in the "
            "same way again takes the place of what was, but for moments that something uses."
        )
    )
    how = st.segmented_control(
        tr("Propose"), [_SHOTS, _WINDOWS], default=_SHOTS, required=True, key="moments_how", format_func=tr
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if how == _WINDOWS:
            st.text_input(tr("Lengths, in seconds"), "5, 10, 20", key="moments_lengths")
            st.number_input(
                tr("Stride"),
                0.05,
                1.0,
                0.5,
                0.05,
                key="moments_stride",
                help=tr("The next window begins this share of its length later."),
            )
        else:
            shots = ByShots()
            st.number_input(tr("Join shots shorter than (s)"), 0.0, value=shots.shortest_s, key="moments_shortest")
            st.number_input(tr("Split shots longer than (s)"), 0.5, value=shots.longest_s, key="moments_longest")
        st.button(tr("Propose moments"), key="propose_moments", type="primary", on_click=propose)
    if counts["moments"]:
        way = WayThere("Moments", "", tr("Look through the moments, and change them"))
        st.html(f"<p class='rr-waiting'>{way.link}</p>")
    chosen = describing_choice(project, lead)
    way = WayThere("Captions", "?part=descriptions&tab=Who describes", tr("Choose who may describe what"))
    told = (
        tr("Describing is open: people mark moments and write a sentence about each.")
        if chosen.open
        else tr("Describing is closed: people mark moments and write a sentence about each.")
    )
    st.html(f"<p class='rr-waiting'>{told} {way.link}</p>")


MOMENTS_STEP = SetUpStep(MOMENTS, marked("Moments"), _moments_standing, _show_moments)
