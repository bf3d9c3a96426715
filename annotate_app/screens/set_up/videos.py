"""The steps of the page "Set up" that add videos, and that propose moments if no annotation file has any."""

import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st

from annotate_app.language import marked, tr, trn
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
from annotate_app.server.job_functions import VideosPreview
from annotate_app.session import auth
from annotate_app.shared import look, wording
from annotate_app.shared.review_clip import reported_clips, video_troubles
from annotate_app.shared.upload import upload
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.describing.opening import describing_choice
from backend.campaign.corpus.importing.model import Trouble
from backend.campaign.corpus.moments.model import ByShots, ByWindows, Origin
from backend.campaign.monitoring.videos.adding import remove_videos
from backend.campaign.monitoring.videos.allowed_folders import allowed_folders, allowed_path
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Person, Role
from backend.campaign.review.model import StatusCounts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import job_result
from backend.campaign.setup.serving.model import Job
from backend.core.errors import ProjectError
from backend.core.messages import said

VIDEOS = "videos"
_MEASURING = "videos"
_FOLDER = "folder"
"""The stored value that tells a preview from other jobs of this step."""
MOMENTS = "moments"
_SHOTS, _WINDOWS = marked("Shots"), marked("Windows")
_WORDS = {
    Origin.IMPORTED: marked("from files"),
    Origin.SHOTS: marked("shots"),
    Origin.WINDOWS: marked("windows"),
    Origin.DESCRIBED: marked("described"),
    Origin.POOLED: marked("from pooled runs"),
}


@look.lead_callback("set_up_videos_problem")
def preview(project: Project, lead: Person) -> None:
    """Begin the job that previews the videos in the folder that the lead typed."""
    typed = st.session_state["set_up_folder"].strip()
    if not typed:
        raise ProjectError(tr("Enter a folder first."))
    _preview(project, lead, allowed_path(project, lead, typed))


@look.lead_callback("set_up_videos_problem")
def preview_sent(project: Project, lead: Person, names: list[str] | None = None) -> None:
    """Begin the job that previews all uploaded videos. `names` is not used; the upload area passes it."""
    _preview(project, lead, project.folder / lead_routes.KINDS["videos"].folder)


def _preview(project: Project, lead: Person, folder: Path) -> None:
    fps, decode = measuring_asked(_MEASURING)
    asked = {_FOLDER: str(folder), "fps": fps, "decode": decode}
    how = measuring((fps, decode))
    title = said("Previewing the videos in {folder}", folder=folder)
    begin_step(project, lead, VIDEOS, title, job_functions.preview_videos, folder, how, asked=asked)


@look.lead_callback("set_up_videos_problem")
def add(project: Project, lead: Person) -> None:
    """Begin the job that adds the videos of the previewed folder, with the options of the preview."""
    job = last_job(project, lead)
    if job is None or job.subject != VIDEOS or _FOLDER not in job.asked:
        raise ProjectError(tr("Somebody dismissed the preview. Preview the folder again."))
    folder = Path(job.asked[_FOLDER])
    title = said("Adding the videos in {folder}", folder=folder)
    how = measuring((job.asked["fps"], job.asked["decode"]))
    begin_step(project, lead, VIDEOS, title, job_functions.add_videos, folder, how)


def _after_job(job: Job) -> None:
    """Draw pictures of the previewed videos, and the button that adds these videos to the project."""
    project, lead = auth.project(), auth.require(Role.LEAD)
    if _FOLDER not in job.asked or (preview_report := job_result(project, lead, job.key, VideosPreview)) is None:
        return
    cards = "".join(
        f"<figure><img src='data:image/webp;base64,{escape(picture.webp)}' alt=''>"
        f"<figcaption><b>{escape(picture.name)}</b> {picture.duration_s:,.1f} s</figcaption></figure>"
        for picture in preview_report.pictures
        if picture.webp
    )
    if cards:
        with st.container(width="stretch", key="video-cards"):
            st.html(f"<div class='rr-video-cards'>{cards}</div>")
            if preview_report.new > len(preview_report.pictures):
                shown = len(preview_report.pictures)
                st.caption(tr("Pictures of the first {shown} of {n:,} new videos.", shown=shown, n=preview_report.new))
    label = (
        trn("Add {n} video", "Add {n} videos", preview_report.new)
        if preview_report.new
        else tr("Update file locations")
    )
    st.button(label, key="add_videos", on_click=add, type="primary")


@look.lead_callback("remove_videos_problem")
def remove(project: Project, lead: Person) -> None:
    """Remove the chosen videos from the project. Their files stay on the server."""
    count = remove_videos(project, lead, st.session_state["remove_videos"], now=time.time())
    st.session_state["remove_videos"] = []
    st.session_state["remove_videos_done"] = trn(
        "{n} video removed. Its file is still on the server.",
        "{n} videos removed. Their files are still on the server.",
        count,
    )


@look.lead_callback("set_up_videos_problem")
def look_again(project: Project, lead: Person) -> None:
    """Begin the job that checks all video files again."""
    accept = tuple(st.session_state.get("accept_videos", ()))
    elsewhere = st.session_state.get("missing_videos", "").strip()
    folder = allowed_path(project, lead, elsewhere) if elsewhere else None
    title = said("Checking the videos")
    how = measuring(measuring_asked(_MEASURING))
    begin_step(project, lead, VIDEOS, title, job_functions.look_at_videos, accept, folder, how)


def _videos_standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    videos = counts["videos"]
    wrong = len(video_states(project, lead, wrong=True))
    told = wording.count_of(videos, "video") if videos else tr("none yet")
    if wrong:
        told = tr("{videos}, {wrong:,} with a problem", videos=told, wrong=wrong)
    return StepStanding(videos > 0, told)


def _show_videos(project: Project, lead: Person, counts: StatusCounts) -> None:
    st.markdown(
        tr(
            "Enter a folder on the server, or upload files. You see a preview before anything is added. Files "
            "on the server stay where they are."
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(tr("Folder on the server"), key="set_up_folder", placeholder="/data/videos")
        with st.popover(tr("More options")):
            measuring_options(_MEASURING)
        st.button(tr("Preview"), key="preview_videos", on_click=preview, type="primary")
    folders = ", ".join(map(str, allowed_folders(project, lead)))
    st.caption(plain(tr("You may use these folders and everything in them: {folders}", folders=folders)))
    upload("videos", tr("Videos from your computer"), lead_routes.KINDS["videos"].extensions, on_sent=preview_sent)
    _not_added(project, lead)
    if counts["videos"]:
        reported_clips(project, lead)
        _again(video_states(project, lead, wrong=True))
        _remove(project, lead)


def _not_added(project: Project, lead: Person) -> None:
    """Draw the names of uploaded videos that nobody has added yet, and the button that previews them."""
    if not (uploads := lead_routes.sent_files(project, "videos")):
        return
    added_paths = {project.file(video.path).resolve() for video in video_states(project, lead) if video.path}
    left = [file.name for file in uploads if file.resolve() not in added_paths]
    if left and last_job(project, lead) is None:
        st.caption(plain(tr("Uploaded but not added: {names}", names=", ".join(left))))
        st.button(tr("Preview uploads"), key="preview_sent", on_click=preview_sent)


def _remove(project: Project, lead: Person) -> None:
    """Draw the choice of videos to remove, and the button that removes them."""
    look.outcome("remove_videos")
    with st.popover(tr("Remove videos"), key="removing", on_change="rerun") as popover:
        if not popover.open:
            return
        st.markdown(
            tr(
                "Videos leave the project; their files stay on the server. A video stays if captions, queries or "
                "grades use its moments, or if somebody describes it."
            )
        )
        names = [video.video for video in video_states(project, lead)]
        chosen = st.multiselect(tr("Videos"), names, key="remove_videos", placeholder=tr("Choose videos"))
        label = trn("Remove {n} video", "Remove {n} videos", len(chosen))
        st.button(label, key="confirm_remove_videos", type="primary", disabled=not chosen, on_click=remove)


def _again(wrong: Sequence[VideoState]) -> None:
    """Draw the videos with problems, and the button that checks all video files again."""
    if wrong:
        video_troubles(wrong)
    if any(video.trouble is Trouble.MISSING for video in wrong):
        st.text_input(tr("Folder that the missing files may be in"), key="missing_videos", placeholder="/data/videos")
    if changed := [video.video for video in wrong if video.trouble is Trouble.CHANGED]:
        st.multiselect(
            tr("Accept the new content of"),
            changed,
            key="accept_videos",
            help=tr("Clips are cut from the new content from now on. Grades given to the former content stay."),
        )
    st.button(
        tr("Check videos again"),
        key="look_at_videos",
        on_click=look_again,
        help=tr("Finds files that were moved or renamed, and lists missing, damaged and changed ones."),
    )


VIDEOS_STEP = SetUpStep(VIDEOS, marked("Videos"), _videos_standing, _show_videos, then=_after_job)


@look.lead_callback("set_up_moments_problem")
def propose(project: Project, lead: Person) -> None:
    """Begin the job that proposes moments: the shots of each video, or windows of given lengths, as the lead chose."""
    state = st.session_state
    how: ByShots | ByWindows
    if state["moments_how"] == _WINDOWS:
        how = ByWindows(_lengths(state["moments_lengths"]), state["moments_stride"])
    else:
        how = ByShots(state["moments_shortest"], state["moments_longest"])
    title = said("Cutting videos into windows") if isinstance(how, ByWindows) else said("Finding shots")
    begin_step(project, lead, MOMENTS, title, job_functions.propose_moments, how)


def _lengths(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ProjectError(
            tr("{text!r} is not a list of lengths. Enter seconds, such as 5, 10, 20.", text=text)
        ) from None


def _moments_standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    if not counts["videos"]:
        return StepStanding(False, tr("none yet"), tr("Add videos first."))
    if not counts["moments"]:
        return StepStanding(False, tr("none yet"))
    parts = [f"{count:,} {tr(_WORDS[Origin(origin)])}" for origin, count in counts["moments_from"].items()]
    return StepStanding(True, f"{wording.count_of(counts['moments'], 'moment')}: {', '.join(parts)}")


def _show_moments(project: Project, lead: Person, counts: StatusCounts) -> None:
    st.markdown(
        tr(
            "Annotators judge moments: parts of videos. An annotation file brings its own. Without one, "
            "propose them here, or let people describe them. Proposing again replaces earlier proposals, except "
            "moments in use."
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
                help=tr("How far the next window begins after this one, as a share of its length."),
            )
        else:
            shots = ByShots()
            st.number_input(tr("Join shots shorter than (s)"), 0.0, value=shots.shortest_s, key="moments_shortest")
            st.number_input(tr("Split shots longer than (s)"), 0.5, value=shots.longest_s, key="moments_longest")
        st.button(tr("Propose moments"), key="propose_moments", type="primary", on_click=propose)
    if counts["moments"]:
        way = WayThere("Moments", "", tr("Open Moments"))
        st.html(f"<p class='rr-waiting'>{way.link}</p>")
    chosen = describing_choice(project, lead)
    way = WayThere("Captions", "?part=descriptions&tab=Who describes", tr("Choose who describes which videos"))
    told = (
        tr("Describing is open: people mark moments and write a sentence for each.")
        if chosen.open
        else tr("Describing is closed. Open it to let people mark moments and write a sentence for each.")
    )
    st.html(f"<p class='rr-waiting'>{told} {way.link}</p>")


MOMENTS_STEP = SetUpStep(MOMENTS, marked("Moments"), _moments_standing, _show_moments)
